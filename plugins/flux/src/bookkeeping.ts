import { keyRules, type Bookkeeping } from '@gitops-reverser/kernel-api';

const kustomize = (key: string): string => `kustomize.toolkit.fluxcd.io/${key}`;

/** What Flux notes on objects it applies (chapter 20, 3.3 and 3.4), and what people tell Flux by annotations. */
export const bookkeeping: Bookkeeping = {
  strips: [
    ...keyRules('labels', kustomize('')),
    ...keyRules('labels', 'helm.toolkit.fluxcd.io/name', 'helm.toolkit.fluxcd.io/namespace'),
    ...keyRules('labels', 'resourceset.fluxcd.controlplane.io/name', 'resourceset.fluxcd.controlplane.io/namespace'),
    ...keyRules('annotations', kustomize('')),
  ],
  keeps: keyRules('annotations', ...['reconcile', 'prune', 'ssa', 'substitute'].map(kustomize)),
};
