import { compileStripRules, type KeyScope } from '@gitops-reverser/kernel-api';
import { bookkeeping } from './bookkeeping.js';

const rules = compileStripRules([bookkeeping]);

it.each<[KeyScope, string]>([['annotations', 'kcp.io/cluster']])(
  '20, 3.4: the %s key %s never reaches Git',
  (scope, key) => {
    expect(rules.strippedBy(scope, key)).toBeDefined();
  },
);

it.each<[KeyScope, string]>([
  ['annotations', 'kcp.io/path'],
  ['annotations', 'kcp.io/clusters'],
  ['annotations', 'kcp.io/Cluster'],
  ['annotations', 'tenancy.kcp.io/cluster'],
  ['annotations', 'experimental.tenancy.kcp.io/owner'],
  ['annotations', 'kcp.io'],
  ['labels', 'kcp.io/cluster'],
])('20, 3.4: the %s key %s is not its own to strip', (scope, key) => {
  expect(rules.strippedBy(scope, key)).toBeUndefined();
});
