import type { GeneratedFile } from './generated-file.js';
import { manifestFiles } from './manifests.js';
import { pluginFiles } from './plugins.js';
import { referenceFiles } from './reference.js';
import { refusalFiles } from './refusals.js';

/** Everything that is generated from what the code declares. */
export const generatedFiles = (): readonly GeneratedFile[] => [
  ...manifestFiles(),
  ...referenceFiles(),
  ...refusalFiles(),
  ...pluginFiles(),
];
