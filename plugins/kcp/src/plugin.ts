import { createBookkeepingSanitizer, definePlugin } from '@gitops-reverser/kernel-api';
import { bookkeeping } from './bookkeeping.js';

/** Sanitizer for workspaces of kcp. */
export const plugin = definePlugin({ id: 'kcp', kernelApi: '^1.0', options: {} }, (on) => {
  on.sanitizer({
    bookkeeping: () => bookkeeping,
    needs: {},
    create: () => createBookkeepingSanitizer(bookkeeping),
  });
});
