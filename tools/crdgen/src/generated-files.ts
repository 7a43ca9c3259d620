import type { GeneratedFile } from './generated-file.js';
import { manifestFiles } from './manifests.js';
import { referenceFiles } from './reference.js';

/** Everything that is generated from the declarations of the kinds. */
export const generatedFiles = (): readonly GeneratedFile[] => [...manifestFiles(), ...referenceFiles()];
