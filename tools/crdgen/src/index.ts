export { findDrift, mend, type Drift, type GeneratedFile } from './generated-file.js';
export { generatedFiles } from './generated-files.js';
export { manifestFiles } from './manifests.js';
export { referenceFiles } from './reference.js';
