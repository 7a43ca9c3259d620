export { openBranchStore } from './branch-store.js';
export type { GitReason } from './errors.js';
export { probeRemote, type ProbedRemote } from './probe.js';
export {
  classifyPush,
  settlePush,
  type PushAnswer,
  type PushClass,
  type PushVerdict,
  type TipNow,
} from './protocol/push-classification.js';
export type { PushReport } from './protocol/report-status.js';
export { parseRepositoryUrl, type RepositoryUrl } from './repository-url.js';
export { checkBranchName, type BranchStoreOptions, type RemoteAccess } from './store/options.js';
export type { GitCredentials } from './transport/credentials.js';
export type { GitService, Transport, TransportAnswer } from './transport/transport.js';
