import { keyRules, type Bookkeeping } from '@gitops-reverser/kernel-api';

/**
 * Notes of kubectl, kustomize, the Helm client, applysets, kro and of Kubernetes' own controllers (chapter 20, 3.3 and 3.4). What
 * Flux, Argo CD and kcp write is known to their plugins.
 */
export const bookkeeping: Bookkeeping = {
  strips: [
    ...keyRules('labels', 'applyset.kubernetes.io/', 'kro.run/'),
    ...keyRules('annotations', 'kubectl.kubernetes.io/', 'applyset.kubernetes.io/'),
    ...keyRules('annotations', 'meta.helm.sh/release-name', 'meta.helm.sh/release-namespace'),
    ...keyRules('annotations', 'config.kubernetes.io/origin', 'alpha.config.kubernetes.io/transformations'),
    ...keyRules('annotations', 'deployment.kubernetes.io/', 'deprecated.daemonset.template.generation'),
    ...keyRules('annotations', 'control-plane.alpha.kubernetes.io/'),
    ...keyRules(
      'annotations',
      'autoscaling.alpha.kubernetes.io/conditions',
      'autoscaling.alpha.kubernetes.io/current-metrics',
    ),
    ...keyRules(
      'annotations',
      'pv.kubernetes.io/bind-completed',
      'pv.kubernetes.io/bound-by-controller',
      'volume.kubernetes.io/selected-node',
      'volume.kubernetes.io/storage-provisioner',
      'volume.beta.kubernetes.io/storage-provisioner',
    ),
    ...keyRules('annotations', 'batch.kubernetes.io/job-tracking', 'endpoints.kubernetes.io/last-change-trigger-time'),
    ...keyRules('annotations', 'objectset.rio.cattle.io/'),
  ],
  keeps: [
    ...keyRules(
      'annotations',
      'kubectl.kubernetes.io/default-container',
      'kubectl.kubernetes.io/default-logs-container',
      'autoscaling.alpha.kubernetes.io/metrics',
      'autoscaling.alpha.kubernetes.io/behavior',
    ),
    // Bearers of the last two are owned by a controller; `managed-by` goes only where kustomize wrote its version there.
    ...keyRules('labels', 'app.kubernetes.io/managed-by', 'helm.sh/chart'),
    ...keyRules('labels', 'pod-template-hash', 'controller-revision-hash'),
  ],
};
