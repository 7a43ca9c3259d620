import { compileStripRules, type KeyScope } from '@gitops-reverser/kernel-api';
import { bookkeeping } from './bookkeeping.js';

const rules = compileStripRules([bookkeeping]);

it.each<[KeyScope, string]>([
  ['annotations', 'argocd.argoproj.io/tracking-id'],
  ['annotations', 'argocd.argoproj.io/installation-id'],
])('20, 3.3, 3.4: the %s key %s never reaches Git', (scope, key) => {
  expect(rules.strippedBy(scope, key)).toBeDefined();
});

it.each<[KeyScope, string]>([
  ['annotations', 'argocd.argoproj.io/sync-wave'],
  ['annotations', 'argocd.argoproj.io/sync-options'],
  ['annotations', 'argocd.argoproj.io/compare-options'],
  ['annotations', 'argocd.argoproj.io/hook'],
  ['annotations', 'argocd.argoproj.io/refresh'],
  ['annotations', 'argocd.argoproj.io/tracking-id-of-mine'],
  ['annotations', 'argocd.argoproj.io/Tracking-id'],
  ['annotations', 'my.argocd.argoproj.io/tracking-id'],
  ['annotations', 'argoproj.io/tracking-id'],
  ['labels', 'argocd.argoproj.io/tracking-id'],
  ['labels', 'argocd.argoproj.io/instance'],
  ['labels', 'app.kubernetes.io/instance'],
])('20, 3.3, 3.4: the %s key %s is not its own to strip', (scope, key) => {
  expect(rules.strippedBy(scope, key)).toBeUndefined();
});
