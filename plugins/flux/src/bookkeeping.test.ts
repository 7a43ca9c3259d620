import { compileStripRules, type KeyScope } from '@gitops-reverser/kernel-api';
import { bookkeeping } from './bookkeeping.js';

const rules = compileStripRules([bookkeeping]);

it.each<[KeyScope, string]>([
  ['labels', 'kustomize.toolkit.fluxcd.io/name'],
  ['labels', 'kustomize.toolkit.fluxcd.io/namespace'],
  ['labels', 'kustomize.toolkit.fluxcd.io/reconcile'],
  ['labels', 'helm.toolkit.fluxcd.io/name'],
  ['labels', 'helm.toolkit.fluxcd.io/namespace'],
  ['labels', 'resourceset.fluxcd.controlplane.io/name'],
  ['labels', 'resourceset.fluxcd.controlplane.io/namespace'],
  ['annotations', 'kustomize.toolkit.fluxcd.io/checksum'],
  ['annotations', 'kustomize.toolkit.fluxcd.io/Prune'],
])('20, 3.3, 3.4: the %s key %s never reaches Git', (scope, key) => {
  expect(rules.strippedBy(scope, key)).toBeDefined();
});

it.each<[KeyScope, string]>([
  ['annotations', 'kustomize.toolkit.fluxcd.io/reconcile'],
  ['annotations', 'kustomize.toolkit.fluxcd.io/prune'],
  ['annotations', 'kustomize.toolkit.fluxcd.io/ssa'],
  ['annotations', 'kustomize.toolkit.fluxcd.io/substitute'],
  ['annotations', 'helm.toolkit.fluxcd.io/driftDetection'],
  ['annotations', 'helm.toolkit.fluxcd.io/name'],
  ['annotations', 'reconcile.fluxcd.io/requestedAt'],
  ['annotations', 'resourceset.fluxcd.controlplane.io/name'],
  ['labels', 'helm.toolkit.fluxcd.io/driftDetection'],
  ['labels', 'helm.toolkit.fluxcd.io/names'],
  ['labels', 'kustomize.toolkit.fluxcd.io'],
  ['labels', 'my.kustomize.toolkit.fluxcd.io/name'],
  ['labels', 'kustomize.toolkit.fluxcd.io.example.test/name'],
  ['labels', 'kustomize.toolkit.fluxcd.iox/name'],
  ['labels', 'Kustomize.toolkit.fluxcd.io/name'],
  ['labels', 'app.kubernetes.io/name'],
])('20, 3.3, 3.4: the %s key %s is not its own to strip', (scope, key) => {
  expect(rules.strippedBy(scope, key)).toBeUndefined();
});
