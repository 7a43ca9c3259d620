import { falseOr, gate, good, mirrorGate, stalls, unknownOr, waits } from '../conditions-table.js';
import { ageColumn, defineKind, fact, messageColumn, readyColumn, reasonColumn, wideShowing } from '../kind.js';
import { rule } from '../schema/rule.js';
import { list, object, optional, string } from '../schema/schema.js';
import { dnsLabel, dnsSubdomain, handled, localRef, objectSelector } from '../schema/shapes.js';
import { streamRows, streams } from './streams.js';

const entryFields = {
  resources: list(
    'Plural names of types, or `*` alone. A kind or a singular name is no plural name.',
    string('Plural name.', { min: 1, max: 63, pattern: '^[^/\\s]{1,63}$' }),
    {
      min: 1,
      max: 64,
      rules: [
        rule<readonly string[]>({
          id: 'WR-3',
          cel: "self.all(r, !r.contains('/'))",
          message: 'spec.rules[].resources: subresources are not mirrored by rules',
          holds: (self) => self.every((r) => !r.includes('/')),
        }),
        rule<readonly string[]>({
          id: 'WR-2',
          cel: "size(self) == 1 || !('*' in self)",
          message: 'spec.rules[].resources: "*" stands alone',
          holds: (self) => self.length === 1 || !self.includes('*'),
        }),
      ],
    },
  ),
  apiGroups: optional(
    list('API groups: "" is core, `*` alone is every group.', string('Group.', { max: 253 }), { max: 64 }),
    'the one served group that has the name',
  ),
  apiVersions: optional(
    list(
      'Versions, the first served one is used.',
      string('Version.', { min: 1, max: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
      { max: 8 },
    ),
    'the preferred served version',
  ),
  objectSelector: optional(objectSelector('Labels an object must have; evaluated by the API server.'), 'all objects'),
};
const entryRules = [
  rule<{ readonly apiGroups?: readonly string[] }>({
    id: 'WR-2',
    cel: "!has(self.apiGroups) || size(self.apiGroups) == 1 || !('*' in self.apiGroups)",
    message: 'spec.rules[].apiGroups: "*" stands alone',
    fieldPath: '.apiGroups',
    holds: ({ apiGroups = [] }) => apiGroups.length === 1 || !apiGroups.includes('*'),
  }),
];
const named = rule<{ readonly name: string }>({
  id: 'WR-1',
  cel: "self.name != ''",
  message: 'spec.gitTargetRef.name must name a GitTarget',
  fieldPath: '.name',
  holds: (self) => self.name !== '',
});

const status = object('What was observed.', { ...handled, streams: optional(streams) });

const validated = gate(
  'Validated',
  'The declaration can be used.',
  good('Succeeded'),
  stalls('GitTargetNotFound', 'InvalidSpec', 'RetiredField'),
);
const resolved = gate(
  'ResourcesResolved',
  'Every entry names types that can be followed.',
  good('Succeeded'),
  stalls('CollectionOverlap', 'InvalidSelector', 'AmbiguousResource'),
  falseOr(['progress', 'stalled'], 'ResourcesNotServed'),
  stalls('ResourceRefused'),
  waits('AwaitingDiscovery'),
);
const targetReady = mirrorGate('GitTargetReady', "Mirrors the target's Ready: status and reason.");
const running = gate('StreamsRunning', 'Every collection of this rule is streaming.', ...streamRows);

const targetColumn = fact('GitTarget', '.spec.gitTargetRef.name', 'GitTarget the objects go into.');
const streamsColumn = fact('Streams', '.status.streams.summary', 'Streams that run, of all.');

export const watchRule = defineKind({
  kind: 'WatchRule',
  plural: 'watchrules',
  shortNames: ['wrule'],
  scope: 'Namespaced',
  doc: 'Selects namespaced objects of the source cluster of its GitTarget. Removing a rule never removes documents.',
  spec: object('Which objects go into which target.', {
    gitTargetRef: localRef('GitTarget, in the namespace of this object.', [named]),
    rules: list(
      'An object is selected if any entry selects it.',
      object(
        'One selection.',
        {
          ...entryFields,
          sourceNamespace: optional(
            string(
              'Namespace of the source cluster; `*` is one cluster-wide collection. Anything but the own namespace needs a grant of the KubeProvider.',
              {
                min: 1,
                max: 63,
                pattern: '^(\\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$',
              },
            ),
            "the rule's own namespace",
          ),
        },
        { rules: entryRules },
      ),
      { min: 1, max: 64 },
    ),
  }),
  status,
  conditions: [
    validated,
    gate(
      'SourceNamespaceAuthorized',
      'The KubeProvider lets this rule read the namespaces it names.',
      good('OwnNamespace', 'Granted'),
      stalls('NotAllowed'),
      unknownOr(['progress', 'none'], 'GrantUnreadable'),
    ),
    resolved,
    targetReady,
    running,
  ],
  ready: [],
  columns: [
    targetColumn,
    readyColumn,
    reasonColumn,
    streamsColumn,
    wideShowing('Validated'),
    wideShowing('SourceNamespaceAuthorized', 'SourceAuthorized'),
    wideShowing('ResourcesResolved'),
    wideShowing('GitTargetReady'),
    wideShowing('StreamsRunning'),
    messageColumn,
    ageColumn,
  ],
});

export const clusterWatchRule = defineKind({
  kind: 'ClusterWatchRule',
  plural: 'clusterwatchrules',
  shortNames: ['cwrule'],
  scope: 'Cluster',
  doc: 'Selects cluster-scoped objects of the source cluster of its GitTarget. Whoever may create one may copy every cluster-scoped object the credential can read.',
  spec: object('Which objects go into which target.', {
    gitTargetRef: object(
      'GitTarget, with its namespace.',
      { name: dnsSubdomain('Name of the GitTarget.'), namespace: dnsLabel('Namespace of the GitTarget.') },
      { rules: [named] },
    ),
    rules: list(
      'An object is selected if any entry selects it.',
      object('One selection.', entryFields, { rules: entryRules }),
      { min: 1, max: 64 },
    ),
  }),
  status,
  conditions: [validated, resolved, targetReady, running],
  ready: [],
  columns: [
    targetColumn,
    readyColumn,
    reasonColumn,
    streamsColumn,
    wideShowing('Validated'),
    wideShowing('ResourcesResolved'),
    wideShowing('GitTargetReady'),
    wideShowing('StreamsRunning'),
    messageColumn,
    ageColumn,
  ],
});
