export * from './fake-clock.js';
export * from './fake-logger.js';
export * from './fake-metrics.js';
export type { MemoryCommit, MemoryFile, MemoryTree } from './git-objects.js';
export * from './memory-branch-store.js';
export { memoryFolder, type FileContent, type FileContents } from './memory-folder.js';
export {
  memoryRemote,
  type Fault,
  type FileChanges,
  type ForeignPush,
  type MemoryRemote,
  type MemoryRemoteOptions,
  type RemoteOperation,
} from './memory-remote.js';
export * from './objects.js';
