export { startReconcilers, type ReconcilersOptions, type RunningReconcilers } from './reconcilers.js';
export type { Repositories, RepositoryAccess } from './repositories.js';
