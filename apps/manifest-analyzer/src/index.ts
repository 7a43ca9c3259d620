export { analyze, type Analysis, type ClassifiedDocument, type Diagnostic, type DocumentClass } from './analyze.js';
export { key } from '@gitops-reverser/toolkit-manifests';
export type { ScanOptions, ScanProgress } from './open-repository.js';
export {
  reportApiVersion,
  toJSON,
  toYAML,
  type Actor,
  type Candidate,
  type CandidateLayout,
  type FolderReport,
  type RefusalReason,
  type ReportIssue,
  type RepoReport,
  type RetainedDocument,
} from './report.js';
export { scanFolder } from './scan-folder.js';
export { scanRepo } from './scan-repo.js';
export { ScanFailed, type Entry, type Source } from './source.js';
export { version } from './version.js';
