import type { DiscoveredResource, DiscoveryScan } from '@gitops-reverser/toolkit-kube';
import { resourcePolicy } from './policy.js';
import { TypeRegistry } from './registry.js';

const resource = (group: string, name: string, part: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  group,
  version: 'v1',
  resource: name,
  kind: name[0]?.toUpperCase() + name.slice(1, -1),
  singular: name.slice(0, -1),
  shortNames: [],
  namespaced: true,
  verbs: ['get', 'list', 'watch', 'create'],
  preferred: true,
  subresources: [],
  ...part,
});
const scan = (entries: readonly DiscoveredResource[], failed: readonly string[] = []): DiscoveryScan => ({
  entries,
  scanned: [...new Set(entries.map(({ group, version }) => (group === '' ? version : `${group}/${version}`)))],
  failed: failed.map((groupVersion) => ({ groupVersion, reason: 'ServiceUnavailable' })),
  complete: failed.length === 0,
});
const registry = () => new TypeRegistry(resourcePolicy([], []));
const at = (seconds: number): Date => new Date(seconds * 1000);
const configmaps = resource('', 'configmaps');
const gizmos = resource('gizmo.test', 'gizmos');
const verdicts = (change: ReturnType<TypeRegistry['take']>): Record<string, string> =>
  Object.fromEntries(change.types.map(({ type, verdict }) => [type.resource, verdict]));

describe('type registry', () => {
  it('FC-WCH-6: types of a group that fails keep their last facts for as long as it fails', () => {
    const types = registry();
    types.take(scan([configmaps, gizmos]), at(0));

    const during = types.take(scan([configmaps], ['gizmo.test/v1']), at(30));
    const later = types.take(scan([configmaps], ['gizmo.test/v1']), at(600));
    const after = types.take(scan([configmaps, gizmos]), at(630));

    expect([verdicts(during), verdicts(later), verdicts(after)]).toEqual([
      { configmaps: 'followable', gizmos: 'retained' },
      { configmaps: 'followable', gizmos: 'retained' },
      { configmaps: 'followable', gizmos: 'followable' },
    ]);
    expect([during.wobbling, after.recovered]).toEqual([['gizmo.test/v1/gizmos'], ['gizmo.test/v1/gizmos']]);
  });

  it('drops a type only after 60 s of continued absence from complete scans', () => {
    const types = registry();
    types.take(scan([configmaps, gizmos]), at(0));

    const gone = types.take(scan([configmaps]), at(30));
    const inGrace = types.take(scan([configmaps]), at(89));
    const settled = types.take(scan([configmaps]), at(90));

    expect([
      verdicts(gone)['gizmos'],
      verdicts(inGrace)['gizmos'],
      verdicts(settled)['gizmos'],
      settled.removed,
    ]).toEqual(['retained', 'retained', undefined, ['gizmo.test/v1/gizmos']]);
  });

  it('a scan that could not look neither resets nor extends a running grace', () => {
    const types = registry();
    types.take(scan([configmaps, gizmos]), at(0));
    types.take(scan([configmaps]), at(10));
    types.take(scan([configmaps], ['gizmo.test/v1']), at(40));

    expect(types.take(scan([configmaps]), at(70)).removed).toEqual(['gizmo.test/v1/gizmos']);
  });

  it('a scan that failed as a whole changes nothing', () => {
    const types = registry();
    types.take(scan([configmaps, gizmos]), at(0));

    expect(verdicts(types.take(undefined, at(600)))).toEqual({ configmaps: 'followable', gizmos: 'followable' });
  });

  it.each([
    {
      reason: 'missing-verb',
      entries: [resource('', 'bindings', { verbs: ['create'] })],
      message: 'missing required verb: get, list, watch',
    },
    {
      reason: 'denied-by-policy',
      entries: [resource('', 'pods')],
      message: 'it is excluded by default (--allowed-resources changes that)',
    },
    {
      reason: 'gvk-not-unique',
      entries: [resource('x.test', 'things', { kind: 'Thing' }), resource('x.test', 'stuffs', { kind: 'Thing' })],
      message: 'kind Thing is served under more than one plural of x.test/v1',
    },
    {
      reason: 'gvr-not-unique',
      entries: [resource('x.test', 'things', { kind: 'Thing' }), resource('x.test', 'things', { kind: 'Stuff' })],
      message: 'things is served with more than one kind in x.test/v1',
    },
  ])('gives the one reason a type is refused: $reason', ({ reason, entries, message }) => {
    expect(registry().take(scan(entries), at(0)).types[0]).toMatchObject({
      verdict: 'refused',
      refusal: { reason, message },
    });
  });
});

describe('20, 12: the first check that fails is the reason', () => {
  const refusalOf = (...entries: readonly DiscoveredResource[]) =>
    registry().take(scan(entries), at(0)).types[0]?.refusal;

  it.each<[string, readonly DiscoveredResource[]]>([
    [
      'gvk-not-unique',
      [resource('', 'pods', { kind: 'Pod', verbs: ['create'] }), resource('', 'podlings', { kind: 'Pod' })],
    ],
    ['scope-unknown', [resource('', 'pods', { namespaced: undefined, verbs: ['create'] })]],
    ['missing-verb', [resource('', 'pods', { verbs: ['get', 'list', 'patch'] })]],
    ['denied-by-policy', [resource('', 'pods')]],
  ])('%s, whatever fails behind it', (reason, entries) => {
    expect(refusalOf(...entries)?.reason).toBe(reason);
  });

  it('a kind that takes over a plural from one scan to the next is no second one', () => {
    const types = registry();
    types.take(scan([resource('x.test', 'things', { kind: 'Thing' })]), at(0));

    const { types: after } = types.take(scan([resource('x.test', 'things', { kind: 'Stuff' })]), at(30));

    expect(after).toMatchObject([{ type: { kind: 'Stuff' }, verdict: 'followable' }]);
  });

  it('patching is not needed', () => {
    expect(refusalOf(resource('', 'configmaps', { verbs: ['get', 'list', 'watch'] }))).toBeUndefined();
  });
});

describe('DC-10: resource policy', () => {
  it.each([
    {
      group: '',
      resource: 'pods',
      allowed: [],
      denied: [],
      isDenied: true,
      why: 'nobody authors a Pod of a Deployment',
    },
    { group: '', resource: 'pods', allowed: ['pods'], denied: [], isDenied: false, why: 'the operator may allow it' },
    {
      group: '',
      resource: 'pods',
      allowed: ['core/pods'],
      denied: [],
      isDenied: false,
      why: 'core is the empty group',
    },
    {
      group: 'metrics.k8s.io',
      resource: 'pods',
      allowed: [],
      denied: [],
      isDenied: false,
      why: 'the list names groups',
    },
    { group: 'batch', resource: 'cronjobs', allowed: [], denied: [], isDenied: false, why: 'authored intent' },
    {
      group: 'batch',
      resource: 'cronjobs',
      allowed: ['cronjobs'],
      denied: ['batch/cronjobs'],
      isDenied: true,
      why: 'denying wins',
    },
  ])('$group/$resource: $why', ({ group, resource: name, allowed, denied, isDenied }) => {
    expect(resourcePolicy(allowed, denied).denies(group, name) !== undefined).toBe(isDenied);
  });

  it.each(['events', 'events.k8s.io/events', 'leases'])('never allows %s', (item) => {
    expect(() => resourcePolicy([item], [])).toThrow('can never be mirrored');
  });
});
