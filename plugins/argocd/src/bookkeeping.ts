import { keyRules, type Bookkeeping } from '@gitops-reverser/kernel-api';

/** How Argo CD finds its own objects again (chapter 20, 3.3 and 3.4); everything else of its annotations is said by people. */
export const bookkeeping: Bookkeeping = {
  strips: keyRules('annotations', 'argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/installation-id'),
  keeps: [
    ...keyRules('annotations', 'argocd.argoproj.io/'),
    // With label tracking Argo CD writes it, and so do charts: the two cannot be told apart.
    ...keyRules('labels', 'app.kubernetes.io/instance'),
  ],
};
