import fc from 'fast-check';
import { targetId, type ServedType, type Surface } from '@gitops-reverser/kernel-api';
import { planWatches } from './watch-plan.js';
import type { DeclaredRule, RuleEntry } from './rule.js';

const served = (
  group: string,
  version: string,
  resource: string,
  kind: string,
  part: Partial<ServedType> & { namespaced?: boolean } = {},
): ServedType => {
  const { namespaced = true, ...rest } = part;
  return {
    type: { group, version, resource, kind, namespaced },
    singular: kind.toLowerCase(),
    shortNames: [],
    preferred: true,
    verdict: 'followable',
    ...rest,
  };
};
const denied = { reason: 'denied-by-policy', message: 'excluded by default', silent: true };
const surface: Surface = {
  generation: 1,
  reach: { state: 'reachable', reason: 'LocalCluster', message: '' },
  types: [
    served('', 'v1', 'configmaps', 'ConfigMap', { shortNames: ['cm'] }),
    served('', 'v1', 'secrets', 'Secret'),
    served('', 'v1', 'pods', 'Pod', { verdict: 'refused', refusal: denied }),
    served('', 'v1', 'namespaces', 'Namespace', { namespaced: false }),
    served('apps', 'v1', 'deployments', 'Deployment'),
    served('a.test', 'v1', 'gizmos', 'Gizmo'),
    served('b.test', 'v2', 'gizmos', 'Gizmo'),
    served('c.test', 'v1', 'widgets', 'Widget', { preferred: false }),
    served('c.test', 'v2', 'widgets', 'Widget'),
  ],
};
const target = targetId('shop', 'live');
const rule = (name: string, entries: readonly RuleEntry[], createdAt = '2026-01-01T00:00:00Z'): DeclaredRule => ({
  kind: 'WatchRule',
  namespace: 'shop',
  name,
  createdAt,
  entries,
});
const clusterRule = (entries: readonly RuleEntry[]): DeclaredRule => ({
  kind: 'ClusterWatchRule',
  name: 'c',
  createdAt: '2026-01-01T00:00:00Z',
  entries,
});
const plan = (rules: readonly DeclaredRule[], judge: (type: ServedType) => string | undefined = () => undefined) =>
  planWatches(target, rules, surface, judge);
const shown = (rules: readonly DeclaredRule[]) =>
  plan(rules).collections.map(({ type, namespace, labelSelector }) => [
    `${type.group}/${type.version}/${type.resource}`,
    namespace ?? '*',
    labelSelector ?? '',
  ]);

describe('what a rule selects', () => {
  it.each([
    {
      why: 'the rule’s own namespace when none is named',
      entries: [{ resources: ['configmaps'] }],
      expected: [['/v1/configmaps', 'shop', '']],
    },
    {
      why: 'WP-2: one collection for every namespace',
      entries: [{ resources: ['configmaps'], sourceNamespace: '*' }],
      expected: [['/v1/configmaps', '*', '']],
    },
    {
      why: 'the preferred version',
      entries: [{ resources: ['widgets'] }],
      expected: [['c.test/v2/widgets', 'shop', '']],
    },
    {
      why: 'the first listed version that is served',
      entries: [{ resources: ['widgets'], apiVersions: ['v9', 'v1'] }],
      expected: [['c.test/v1/widgets', 'shop', '']],
    },
    {
      why: 'the group that is named',
      entries: [{ resources: ['gizmos'], apiGroups: ['b.test'] }],
      expected: [['b.test/v2/gizmos', 'shop', '']],
    },
    {
      why: 'every group when asked',
      entries: [{ resources: ['gizmos'], apiGroups: ['*'] }],
      expected: [
        ['a.test/v1/gizmos', 'shop', ''],
        ['b.test/v2/gizmos', 'shop', ''],
      ],
    },
    {
      why: 'a wildcard takes only what can be followed',
      entries: [{ resources: ['*'], apiGroups: [''] }],
      expected: [
        ['/v1/configmaps', 'shop', ''],
        ['/v1/secrets', 'shop', ''],
      ],
    },
    {
      why: 'WP-1: equivalent selectors become one spelling',
      entries: [
        {
          resources: ['configmaps'],
          objectSelector: {
            matchExpressions: [
              { key: 'b', operator: 'Exists' as const },
              { key: 'a', operator: 'In' as const, values: ['x'] },
            ],
          },
        },
        {
          resources: ['configmaps'],
          objectSelector: { matchLabels: { a: 'x' }, matchExpressions: [{ key: 'b', operator: 'Exists' as const }] },
        },
      ],
      expected: [['/v1/configmaps', 'shop', 'a=x,b']],
    },
  ])('$why', ({ entries, expected }) => {
    expect(shown([rule('r', entries)])).toEqual(expected);
  });

  it('WP-3: a ClusterWatchRule selects cluster-scoped types only', () => {
    const { rules, collections } = plan([clusterRule([{ resources: ['namespaces', 'configmaps'] }])]);

    expect(collections.map(({ type }) => type.resource)).toEqual(['namespaces']);
    expect(rules[0]).toMatchObject({
      reason: 'ResourceRefused',
      message: 'spec.rules[0]: configmaps is namespaced; select it with a WatchRule',
    });
  });
});

describe('ResourcesResolved', () => {
  it.each([
    {
      reason: 'AmbiguousResource',
      entry: { resources: ['gizmos'] },
      message: 'spec.rules[0]: gizmos is served by more than one group: a.test, b.test; name one in apiGroups',
    },
    {
      reason: 'ResourcesNotServed',
      entry: { resources: ['Deployment'] },
      message: 'spec.rules[0]: Deployment is no plural name; write deployments',
    },
    {
      reason: 'ResourcesNotServed',
      entry: { resources: ['cm'] },
      message: 'spec.rules[0]: cm is no plural name; write configmaps',
    },
    {
      reason: 'ResourcesNotServed',
      entry: { resources: ['nothings'] },
      message: 'spec.rules[0]: nothings is not served by the source cluster',
    },
    {
      reason: 'ResourcesNotServed',
      entry: { resources: ['deployments'], apiGroups: [''] },
      message: 'spec.rules[0]: deployments is not served by "" (core); served by apps',
    },
    {
      reason: 'ResourcesNotServed',
      entry: { resources: ['widgets'], apiVersions: ['v9'] },
      message: 'spec.rules[0]: widgets is not served in any of v9; served: v1, v2',
    },
    {
      reason: 'ResourceRefused',
      entry: { resources: ['pods'] },
      message: 'spec.rules[0]: pods cannot be followed: excluded by default',
    },
    {
      reason: 'ResourceRefused',
      entry: { resources: ['namespaces'] },
      message: 'spec.rules[0]: namespaces is cluster-scoped; select it with a ClusterWatchRule',
    },
    {
      reason: 'InvalidSelector',
      entry: { resources: ['configmaps'], objectSelector: { matchLabels: { 'a b': 'x' } } },
      message: expect.stringMatching(/^spec\.rules\[0\]\.objectSelector: /),
    },
  ])('$reason names the entry and the way out: $message', ({ reason, entry, message }) => {
    expect(plan([rule('r', [entry])]).rules[0]).toMatchObject({ status: 'False', reason, message });
  });

  it('refuses a type the target cannot take, naming why', () => {
    const judge = (type: ServedType) =>
      type.type.resource === 'secrets' ? 'secrets is sensitive and the target has no encryption' : undefined;

    const { rules, collections } = plan([rule('r', [{ resources: ['secrets', 'configmaps'] }])], judge);

    expect(rules[0]).toMatchObject({
      reason: 'ResourceRefused',
      message: 'spec.rules[0]: secrets is sensitive and the target has no encryption',
    });
    expect(collections.map(({ type }) => type.resource)).toEqual(['configmaps']);
  });

  it('a wildcard says what the target cannot take', () => {
    const judge = (type: ServedType) => (type.type.resource === 'secrets' ? 'secrets is sensitive' : undefined);

    expect(plan([rule('r', [{ resources: ['*'], apiGroups: [''] }])], judge).rules[0]).toMatchObject({
      status: 'True',
      message: '1 collection(s) selected; secrets is sensitive',
    });
  });

  it('keeps the entries that resolve when another does not', () => {
    const { rules, collections } = plan([rule('r', [{ resources: ['configmaps'] }, { resources: ['nothings'] }])]);

    expect([rules[0]?.reason, collections.length]).toEqual(['ResourcesNotServed', 1]);
  });

  it('waits while the cluster was not looked at', () => {
    expect(
      planWatches(target, [rule('r', [{ resources: ['configmaps'] }])], undefined, () => undefined).rules[0],
    ).toMatchObject({ status: 'Unknown', reason: 'AwaitingDiscovery' });
  });
});

describe('WP-5: overlap', () => {
  const wide = rule('wide', [{ resources: ['configmaps'], sourceNamespace: '*' }], '2026-01-02T00:00:00Z');
  const narrow = rule('narrow', [{ resources: ['configmaps'] }], '2026-01-01T00:00:00Z');

  it('refuses the whole newer rule and names both collections and the older rule', () => {
    const newer = { ...wide, entries: [...wide.entries, { resources: ['deployments'] }] };

    const { rules, collections } = plan([newer, narrow]);

    expect(collections.map(({ type, namespace }) => [type.resource, namespace])).toEqual([['configmaps', 'shop']]);
    expect(rules[1]).toMatchObject({
      reason: 'CollectionOverlap',
      message:
        'configmaps in every namespace overlaps configmaps in namespace shop of the older WatchRule shop/narrow; narrow or delete one of the two',
    });
  });

  it('WP-6: the newer rule activates when the older one goes', () => {
    expect(plan([wide]).rules[0]?.reason).toBe('Succeeded');
  });

  it('shares an exactly equal collection', () => {
    const { rules, collections } = plan([narrow, { ...narrow, name: 'same', createdAt: '2026-02-01T00:00:00Z' }]);

    expect([rules.map(({ reason }) => reason), collections.length]).toEqual([['Succeeded', 'Succeeded'], 1]);
  });

  it('refuses a rule that overlaps itself, whatever its age', () => {
    const twice = rule('twice', [
      { resources: ['configmaps'] },
      { resources: ['configmaps'], objectSelector: { matchLabels: { a: 'b' } } },
    ]);

    expect(plan([twice]).rules[0]?.reason).toBe('CollectionOverlap');
  });
});

it('WP-7: the plan does not depend on the order of the rules', () => {
  const entry = fc.record({
    resources: fc.constantFrom(['configmaps'], ['deployments'], ['*'], ['gizmos']),
    sourceNamespace: fc.constantFrom('*', 'shop', 'other'),
  });
  const rules = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      createdAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
      entries: fc.array(entry, { minLength: 1, maxLength: 3 }),
    }),
    { selector: ({ name }) => name },
  );

  fc.assert(
    fc.property(rules, fc.infiniteStream(fc.nat()), (declared, salt) => {
      const all = declared.map((part) => rule(part.name, part.entries, part.createdAt));
      const shuffled = all
        .map((item) => ({ item, at: salt.next().value as number }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item);

      expect(plan(shuffled)).toEqual(plan(all));
    }),
  );
});
