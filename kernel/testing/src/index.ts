export {
  corpusFolder,
  describeCorpus,
  expectationOf,
  type Corpus,
  type CorpusEntry,
  type CorpusSuite,
} from './corpus.js';
export * from './fake-clock.js';
export * from './fake-logger.js';
export * from './fake-metrics.js';
export type { MemoryCommit, MemoryFile, MemoryTree } from './git-objects.js';
export * from './leak-guard.js';
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
export { optionsTable } from './options-table.js';
export * from './samples/fixed-attributor.js';
export { jsonLines } from './samples/json-lines.js';
export * from './samples/memory-applier.js';
export * from './samples/memory-source.js';
export * from './samples/simple-sanitizer.js';
export * from './suites/applier.js';
export * from './suites/attributor.js';
export * from './suites/branch-store.js';
export type { Instance, SuiteFacts, Surroundings } from './suites/instance.js';
export * from './suites/layout.js';
export * from './suites/sanitizer.js';
export * from './suites/source.js';
export * from './suites/writer.js';
export * from './waiting.js';
