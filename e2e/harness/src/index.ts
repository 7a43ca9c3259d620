export { poll } from './waiting.js';
export type { PollOptions } from './waiting.js';
export { describeExit, freePort, runCommand, ServerProcess, startProcess, tempDir } from './processes.js';
export type { Exit, Finished, RunOptions, StartOptions, TempDir } from './processes.js';
export { cleanGitEnv, git, tryGit } from './git-command.js';
export type { GitOptions } from './git-command.js';
export { createBareRepository, GitRepository } from './git-repository.js';
export type {
  CommitOptions,
  CreateRepositoryOptions,
  FileEdit,
  FileEdits,
  HookName,
  LoggedCommit,
  Person,
  RefStamp,
} from './git-repository.js';
export type { Access, Account, AuthorizationScheme } from './git-access.js';
export type { Fault, FaultHandle, FaultOptions, GitStep } from './git-faults.js';
export { GitHost, startGitHost } from './git-host.js';
export type { GitHostOptions, HostedRepositoryOptions } from './git-host.js';
export type { LoggedRequest } from './git-requests.js';
export { resolveServerBinaries } from './server-binaries.js';
export type { ServerBinaries, ServerBinariesOptions, ServerName, ServerPaths } from './server-binaries.js';
export { Kubectl } from './kubectl.js';
export type { KubectlOptions, KubectlRunOptions } from './kubectl.js';
export { ControlPlane, startControlPlane } from './control-plane.js';
export type { ApiAnswer, ControlPlaneOptions, ControlPlaneUser } from './control-plane.js';
export { OperatorProcess, startOperator } from './operator-process.js';
export type { OperatorOptions } from './operator-process.js';
export { operatorBundle } from './operator-bundle.js';
export type { OperatorBundleOptions } from './operator-bundle.js';
export { ApiClient, ApiRefusal } from './api-client.js';
export type { ApiClientOptions, ApiRequest } from './api-client.js';
export { findCluster } from './cluster.js';
export type { Cluster, ClusterSource } from './cluster.js';
