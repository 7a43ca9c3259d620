import { definePlugin, stripRules, targetSettings } from '@gitops-reverser/kernel-api';
import { FolderCache } from '@gitops-reverser/toolkit-manifests';
import { createPlainLayout } from './layout.js';
import { meanings } from './meanings.js';
import { OpenedFiles } from './opened-files.js';
import { createPlainWriter } from './writer.js';

/** Layout and writer for plain folders of manifests. */
export const plugin = definePlugin(
  {
    id: 'plain',
    kernelApi: '^1.0',
    options: {},
    refusals: meanings,
  },
  (on) => {
    const cache = new FolderCache();
    const files = new OpenedFiles();
    on.layout({
      needs: { settings: targetSettings, rules: stripRules },
      create: ({ needs }) => createPlainLayout({ settings: needs.settings, cache, files, stripRules: needs.rules }),
    });
    on.writer({ order: 'last', needs: {}, create: () => createPlainWriter(cache, files) });
  },
);
