import { conditionTable, type ConditionCase } from '../testing/condition-table.fixture.js';
import { surfaceOf } from '../testing/fake-runtime.fixture.js';
import type { World } from '../testing/world.fixture.js';

type RuleKind = 'WatchRule' | 'ClusterWatchRule';
/** A resource of the kind's scope, another one, and one of the other scope. */
const NAMES = {
  WatchRule: { own: 'configmaps', wrong: 'namespaces', other: 'ClusterWatchRule' },
  ClusterWatchRule: { own: 'namespaces', wrong: 'configmaps', other: 'WatchRule' },
} as const;
const rule = (kind: RuleKind, ...entries: readonly object[]) => ({
  gitTargetRef: kind === 'WatchRule' ? { name: 'live' } : { name: 'live', namespace: 'shop' },
  rules: entries,
});
const LATER = { creationTimestamp: '2026-01-02T00:00:00Z' };

function commonCases(kind: RuleKind): readonly ConditionCase[] {
  const { own, wrong, other } = NAMES[kind];
  const selects =
    (...entries: readonly object[]) =>
    (world: World): void =>
      world.amend(kind, { rules: entries });
  const unresolved = (reason: string, why: string, entry: object, says: readonly string[]): ConditionCase => ({
    row: `ResourcesResolved False ${reason}`,
    why,
    level: reason === 'ResourcesNotServed' ? 'progress' : 'stalled',
    says: ['spec.rules[0]', ...says],
    given: selects(entry),
  });
  const streams = (
    status: string,
    reason: 'Replaying' | 'ExpiredResourceVersion' | 'WatchError' | 'WatchNotPermitted',
    ageMs = 0,
  ): ConditionCase => ({
    row: `StreamsRunning ${status} ${reason}`,
    why: `as its own streams say, after ${ageMs} ms`,
    level: 'none',
    says: [],
    when: (world) => {
      const since = new Date(world.clock.now().getTime() - ageMs);
      world
        .target()
        .stream(
          reason === 'Replaying'
            ? { state: 'Replaying' }
            : { state: 'Blocked', trouble: { reason, message: `${own}: ${reason}`, since } },
        );
    },
  });
  const withLevel = (each: ConditionCase, level: 'stalled' | 'progress', decidedBy?: string): ConditionCase => ({
    ...each,
    level,
    ...(decidedBy === undefined ? {} : { decidedBy }),
  });
  return [
    { row: 'Validated True Succeeded', why: 'the quick start', level: 'ok', says: ['can be used'] },
    {
      row: 'Validated False GitTargetNotFound',
      why: 'no target',
      level: 'stalled',
      says: ['spec.gitTargetRef', 'GitTarget shop/live', 'does not exist', 'create it'],
      given: (world) => world.cluster.remove('GitTarget', 'shop/live'),
    },
    {
      row: 'Validated False InvalidSpec',
      why: 'a subresource, stored before the rule existed',
      level: 'stalled',
      says: ['spec.rules[0].resources'],
      given: selects({ resources: ['pods/status'] }),
    },
    {
      row: 'Validated False RetiredField',
      why: 'the operations of an earlier release',
      level: 'stalled',
      says: ['operations', 'no replacement'],
      given: selects({ resources: [own], operations: ['CREATE'] }),
    },
    { row: 'ResourcesResolved True Succeeded', why: 'the quick start', level: 'ok', says: ['1 collection'] },
    {
      row: 'ResourcesResolved False CollectionOverlap',
      why: 'an older rule has the collection with another selector',
      level: 'stalled',
      of: kind === 'WatchRule' ? 'shop/younger' : 'younger',
      says: [own, 'older', kind === 'WatchRule' ? 'shop/basics' : 'wide', 'narrow or delete'],
      given: (world) =>
        world.declare(
          kind,
          kind === 'WatchRule' ? 'shop/younger' : 'younger',
          rule(kind, { resources: [own], objectSelector: { matchLabels: { env: 'prod' } } }),
          LATER,
        ),
    },
    {
      row: 'ResourcesResolved False AmbiguousResource',
      why: 'two groups serve the name',
      level: 'stalled',
      says: ['spec.rules[0]', own, 'other.example.test', 'apiGroups'],
      given: (world) => {
        selects({ resources: [own] })(world);
        const { types } = surfaceOf();
        const twin = types
          .filter(({ type }) => type.resource === own)
          .map((served) => ({ ...served, type: { ...served.type, group: 'other.example.test' } }));
        world.runtime.surface = surfaceOf({ types: [...types, ...twin] });
      },
    },
    unresolved('ResourcesNotServed', 'a type nobody serves, so far', { resources: ['plums'] }, [
      'plums is not served by the source cluster',
    ]),
    {
      row: 'ResourcesResolved False ResourcesNotServed',
      why: 'after five minutes it is a matter for a person',
      level: 'stalled',
      says: ['plums'],
      given: selects({ resources: ['plums'] }),
      when: async (world) => world.clock.advance(300_000),
    },
    unresolved('ResourcesNotServed', 'a kind instead of its plural', { resources: [own.slice(0, -1)] }, [
      `write ${own}`,
    ]),
    unresolved('ResourceRefused', 'a type of the other scope', { resources: [wrong] }, [wrong, other]),
    {
      row: 'ResourcesResolved Unknown AwaitingDiscovery',
      why: 'nobody looked so far',
      level: 'progress',
      says: ['waiting for the first look'],
      given: (world) => void (world.runtime.surface = undefined),
    },
    { row: 'GitTargetReady True Succeeded', why: 'the quick start', level: 'ok', says: ['GitTarget shop/live'] },
    {
      row: 'GitTargetReady False TargetConflict',
      why: 'mirrored with its reason',
      level: 'stalled',
      says: ['GitTarget shop/live', 'older GitTarget shop/older'],
      given: (world) =>
        world.declare(
          'GitTarget',
          'shop/older',
          { gitBranchRef: { name: 'main' }, path: '.' },
          { creationTimestamp: '2020-01-01T00:00:00Z' },
        ),
    },
    { row: 'StreamsRunning True AllStreamsReady', why: 'the quick start', level: 'ok', says: ['1 stream(s)'] },
    {
      row: 'StreamsRunning True NoResolvedTypes',
      why: 'nothing resolved',
      level: 'progress',
      decidedBy: 'ResourcesNotServed',
      says: [],
      given: selects({ resources: ['plums'] }),
    },
    withLevel(streams('Unknown', 'Replaying'), 'progress'),
    withLevel(streams('False', 'ExpiredResourceVersion'), 'progress'),
    withLevel(streams('False', 'WatchError'), 'progress'),
    withLevel(streams('False', 'WatchError', 600_000), 'stalled'),
    withLevel(streams('False', 'WatchNotPermitted'), 'stalled'),
  ];
}

const INVALID_SELECTOR = {
  'ResourcesResolved InvalidSelector': 'a stored selector that is none is InvalidSpec; the plan has its own tests',
};

describe('WatchRule', () => {
  conditionTable(
    'WatchRule',
    [
      ...commonCases('WatchRule'),
      {
        row: 'ResourcesResolved False ResourceRefused',
        why: 'a sensitive type without encryption',
        level: 'stalled',
        says: ['spec.rules[0]', 'secrets is sensitive', 'nothing is ever written in clear'],
        given: (world) => world.amend('WatchRule', { rules: [{ apiGroups: [''], resources: ['secrets'] }] }),
      },
      { row: 'SourceNamespaceAuthorized True OwnNamespace', why: 'the quick start', level: 'ok', says: ['own'] },
      {
        row: 'SourceNamespaceAuthorized True Granted',
        why: 'another namespace, admitted',
        level: 'ok',
        says: ['admits'],
        given: (world) => {
          world.amend('KubeProvider', {
            allowedGitTargets: [{ namespaces: { names: ['shop'] }, sourceNamespaces: ['{namespace}', 'depot'] }],
          });
          world.amend('WatchRule', { rules: [{ resources: ['configmaps'], sourceNamespace: 'depot' }] });
        },
      },
      {
        row: 'SourceNamespaceAuthorized False NotAllowed',
        why: 'one denied entry refuses the whole rule: index, resources, namespace, grant',
        level: 'stalled',
        says: ['spec.rules[1] (services)', 'source namespace depot', 'sourceNamespaces: [depot]'],
        given: (world) =>
          world.amend('WatchRule', {
            rules: [{ resources: ['configmaps'] }, { resources: ['services'], sourceNamespace: 'depot' }],
          }),
      },
      {
        row: 'SourceNamespaceAuthorized False NotAllowed',
        why: 'a given list is exhaustive, the own namespace included',
        level: 'stalled',
        says: ['source namespace shop'],
        given: (world) =>
          world.amend('KubeProvider', {
            allowedGitTargets: [{ namespaces: { names: ['shop'] }, sourceNamespaces: ['depot'] }],
          }),
      },
      {
        row: 'SourceNamespaceAuthorized Unknown GrantUnreadable',
        why: '12.2: granted before: its streams keep running',
        level: 'none',
        says: ['spec.rules[0]', 'Namespace shop'],
        given: (world) =>
          world.amend('KubeProvider', {
            allowedGitTargets: [{ namespaces: { selector: { matchLabels: { tier: 'tenant' } } } }],
          }),
        when: (world) => {
          world.cluster.namespaceTrouble = 'timeout';
          world.annotate('WatchRule', 'again');
        },
      },
    ],
    INVALID_SELECTOR,
  );
});

describe('ClusterWatchRule', () => {
  conditionTable('ClusterWatchRule', commonCases('ClusterWatchRule'), INVALID_SELECTOR);
});
