import { definePlugin, keyRules, option } from '@gitops-reverser/kernel-api';
import { createNoteStripper } from './note-stripper.js';

export const plugin = definePlugin(
  {
    id: 'strip-notes',
    kernelApi: '^1.0',
    options: {
      prefixes: option.list({
        default: ['example.test/'],
        maxItems: 16,
        pattern: /^[a-z0-9.-]+\/$/,
        doc: 'Annotations whose key begins with one of these stay out of Git.',
      }),
    },
    reasons: {
      NotesOnly: 'the object is a notebook of the team; it is meant for the cluster alone, nothing is to be done',
    },
  },
  (on) => {
    on.sanitizer({
      bookkeeping: ({ prefixes }) => ({ strips: keyRules('annotations', ...prefixes), keeps: [] }),
      needs: {},
      create: ({ options }) => createNoteStripper(options.prefixes),
    });
  },
);
