import { keyRules, type Bookkeeping } from '@gitops-reverser/kernel-api';

/** The name of the workspace an object was read from (chapter 20, 3.4): it says where the object is, not what. */
export const bookkeeping: Bookkeeping = {
  strips: keyRules('annotations', 'kcp.io/cluster'),
  keeps: keyRules('annotations', 'kcp.io/'),
};
