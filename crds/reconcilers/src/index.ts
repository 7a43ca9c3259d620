export { FOLDER_REASONS } from './git-target/gates.js';
export { startReconcilers, type ReconcilersOptions, type RunningReconcilers } from './reconcilers.js';
export type { Repositories, RepositoryAccess } from './repositories.js';
