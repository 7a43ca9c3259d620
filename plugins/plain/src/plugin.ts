import { definePlugin, targetSettings } from '@gitops-reverser/kernel-api';
import { FolderCache } from '@gitops-reverser/toolkit-manifests';
import { createPlainLayout } from './layout.js';
import { createPlainWriter } from './writer.js';

/** Layout and writer for plain folders of manifests. */
export const plugin = definePlugin(
  {
    id: 'plain',
    kernelApi: '^1.0',
    options: {},
    reasons: {
      'invalid-yaml': 'A file of the folder does not parse as YAML; repair or remove it.',
      'non-krm-yaml': 'A YAML file holds no Kubernetes manifest; remove it or name it in .gittargetignore.',
      'impure-managed-file': 'A file mixes manifests with other or empty documents; split it.',
      'mixed-managed-allowlisted': 'A manifest stands in a file with another purpose; move it.',
      'duplicate-identity': 'Two documents are the same object; remove one.',
      'foreign-file': 'A file is no manifest; remove it or name it in .gittargetignore.',
      'foreign-symlink': 'Symbolic links are never followed; remove it or name it in .gittargetignore.',
      'foreign-submodule': 'Submodules are never read; remove it.',
      'ignore-shadows-managed': 'A pattern of .gittargetignore hides manifests; narrow it.',
      'too-many-files': 'The folder holds more files than one target may; split it.',
      'unplaceable-edit': 'The document cannot be edited without guessing; the message names why.',
      invalid_path: 'The placement template gives no usable path for this object; change it.',
      sensitive_append: 'A sensitive object may join no other file; give it a template of its own.',
      plaintext_onto_encrypted: 'A plain object may not join an encrypted file; change the template.',
      mixed_sensitivity_new_file: 'A sensitive and a plain object would share a file; change the template.',
      multi_document_target: 'The file to append to holds something other than editable manifests.',
      unclassified: 'The object cannot be placed; the message says why.',
      StepNotAccepted: 'A layout planned a step for another writer; load the plugin that knows it.',
    },
  },
  (on) => {
    const cache = new FolderCache();
    on.layout({
      needs: { settings: targetSettings },
      create: ({ needs }) => createPlainLayout({ settings: needs.settings, cache }),
    });
    on.writer({ order: 'last', needs: {}, create: () => createPlainWriter() });
  },
);
