import { createBookkeepingSanitizer, definePlugin } from '@gitops-reverser/kernel-api';
import { bookkeeping } from './bookkeeping.js';

/** Sanitizer for clusters in which Argo CD applies. */
export const plugin = definePlugin({ id: 'argocd', kernelApi: '^1.0', options: {} }, (on) => {
  on.sanitizer({
    bookkeeping: () => bookkeeping,
    needs: {},
    create: () => createBookkeepingSanitizer(bookkeeping),
  });
});
