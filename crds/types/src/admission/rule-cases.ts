import type { KindName } from '../kinds/kinds.js';
import type { AdmissionCase } from './admission-case.js';
import { edited } from './edit.js';
import { anObject, fullSpecsOf } from './full-objects.js';

const full = (kind: KindName, variant = 0): unknown => fullSpecsOf(kind)[variant];
const change = (spec: unknown, changes: Readonly<Record<string, unknown>>): unknown =>
  Object.entries(changes).reduce((value, [path, to]) => edited(value, path.split('.').slice(1), to), spec);

type Rows = readonly (readonly [why: string, changes: Readonly<Record<string, unknown>>, refused?: string])[];
/** Creates: a full object with some places changed. */
const creates = (kind: KindName, id: string, rows: Rows, variant = 0): readonly AdmissionCase[] =>
  rows.map(([why, changes, refused]) => ({
    name: `${id} ${kind}: ${why}`,
    id,
    object: anObject(kind, 'case', change(full(kind, variant), changes)),
    ...(refused === undefined ? {} : { refused }),
  }));
/** Updates of a stored full object; `from` is changed before it is stored. */
const updates = (
  kind: KindName,
  id: string,
  rows: Rows,
  from: Readonly<Record<string, unknown>> = {},
): readonly AdmissionCase[] =>
  rows.map(([why, changes, refused]) => {
    const stored = change(full(kind), from);
    return {
      name: `${id} ${kind}: ${why}`,
      id,
      stored: anObject(kind, 'case', stored),
      object: anObject(kind, 'case', change(stored, changes)),
      ...(refused === undefined ? {} : { refused }),
    };
  });

const urlForms = 'spec.url must be https://host/path';
const gitProvider: readonly AdmissionCase[] = [
  ...updates('GitProvider', 'GP-1', [
    ['the address stays', { 'spec.secretRef.name': 'other' }],
    [
      'another repository',
      { 'spec.url': 'https://git.example.com/other.git' },
      'spec.url is immutable; delete and recreate the GitProvider to use another repository',
    ],
  ]),
  ...creates('GitProvider', 'GP-2', [
    ['plain http', { 'spec.url': 'http://git.example.com/a.git' }],
    ['ssh with user and port', { 'spec.url': 'ssh://git@git.example.com:2222/platform/tenants.git' }],
    ['scp form', { 'spec.url': 'git@github.com:acme/infra.git' }],
    ['scp form without user', { 'spec.url': 'git.example.com:acme/infra' }],
    ['a bare user over https, as Azure DevOps writes it', { 'spec.url': 'https://acme@dev.azure.com/acme/p/_git/r' }],
    ['no path', { 'spec.url': 'https://git.example.com' }, urlForms],
    ['the root as path', { 'spec.url': 'https://git.example.com/' }, urlForms],
    ['a query', { 'spec.url': 'https://git.example.com/a?b=c' }, urlForms],
    ['a fragment', { 'spec.url': 'https://git.example.com/a#b' }, urlForms],
    ['a blank', { 'spec.url': 'https://git.example.com/a b' }, urlForms],
    ['a backslash', { 'spec.url': 'https://git.example.com/a\\b' }, urlForms],
    ['a file', { 'spec.url': 'file:///srv/repo.git' }, urlForms],
    ['a local path', { 'spec.url': '/srv/repo.git' }, urlForms],
  ]),
  ...creates('GitProvider', 'GP-3', [
    [
      'a password in the address',
      { 'spec.url': 'https://bot:hunter2@git.example.com/a.git' },
      'credentials belong into spec.secretRef',
    ],
    [
      'an empty user with a password',
      { 'spec.url': 'https://:hunter2@git.example.com/a.git' },
      'credentials belong into spec.secretRef',
    ],
  ]),
  ...creates('GitProvider', 'GP-5', [
    [
      'a signing Secret without a name',
      { 'spec.commit.signing.secretRef.name': '' },
      'spec.commit.signing.secretRef.name must name a Secret',
    ],
  ]),
  ...creates('GitProvider', 'GP-4', [
    ['a proxy without credential', { 'spec.proxy.secretRef': undefined }],
    ['a proxy credential without proxy', { 'spec.proxy.url': undefined }, 'spec.proxy.secretRef needs spec.proxy.url'],
  ]),
];

const gitBranch: readonly AdmissionCase[] = [
  ...updates('GitBranch', 'GB-1', [
    ['another parent is fine', { 'spec.parentBranch': 'trunk' }],
    [
      'another provider',
      { 'spec.gitProviderRef.name': 'other' },
      'spec.gitProviderRef is immutable; delete and recreate',
    ],
    ['another namespace', { 'spec.gitProviderRef.namespace': 'team-b' }, 'spec.gitProviderRef is immutable'],
    [
      'the namespace left out later',
      { 'spec.gitProviderRef.namespace': undefined },
      'spec.gitProviderRef is immutable',
    ],
  ]),
  ...updates(
    'GitBranch',
    'GB-1',
    [
      [
        'the own namespace spelled out later',
        { 'spec.gitProviderRef.namespace': 'admission' },
        'spec.gitProviderRef is immutable',
      ],
    ],
    {
      'spec.gitProviderRef.namespace': undefined,
    },
  ),
  ...updates('GitBranch', 'GB-2', [
    ['another branch', { 'spec.branch': 'main' }, 'spec.branch is immutable; delete and recreate'],
  ]),
  ...['spec.branch', 'spec.parentBranch'].flatMap((field) =>
    creates('GitBranch', 'GB-3', [
      [`${field} with parts`, { [field]: 'feature/plums-2.0' }],
      [`${field} that only looks reserved`, { [field]: 'HEADS/x.locked' }],
      [`${field} starts with -`, { [field]: '-x' }, `${field} is a short branch name`],
      [`${field} starts with /`, { [field]: '/x' }, `${field} is a short branch name`],
      [`${field} is a full ref`, { [field]: 'refs/heads/main' }, `${field} is a short branch name`],
      [`${field} ends with /`, { [field]: 'x/' }, `${field} must not end with`],
      [`${field} ends with .`, { [field]: 'x.' }, `${field} must not end with`],
      [`${field} has two dots`, { [field]: 'a..b' }, `${field} must not contain`],
      [`${field} has two slashes`, { [field]: 'a//b' }, `${field} must not contain`],
      [`${field} has a reflog mark`, { [field]: 'a@{1}' }, `${field} must not contain`],
      [`${field} is @`, { [field]: '@' }, `${field} must not be "@" or "HEAD"`],
      [`${field} is HEAD`, { [field]: 'HEAD' }, `${field} must not be "@" or "HEAD"`],
      [`${field} has a hidden part`, { [field]: 'a/.b' }, `${field}: no part between slashes`],
      [`${field} ends with .lock`, { [field]: 'a.lock' }, `${field}: no part between slashes`],
      [`${field} has a part that ends with .lock`, { [field]: 'a.lock/b' }, `${field}: no part between slashes`],
    ]),
  ),
  ...creates('GitBranch', 'GB-4', [
    ['every folder', { 'spec.allowedGitTargets.0.paths': ['.'] }],
    ['a way out', { 'spec.allowedGitTargets.0.paths': ['teams/../other'] }, 'must not contain a segment'],
  ]),
  ...creates('GitBranch', 'grant', [
    ['own namespace, any folder', { 'spec.allowedGitTargets': [{}] }],
    ['nobody', { 'spec.allowedGitTargets': [] }],
    ['every namespace', { 'spec.allowedGitTargets': [{ namespaces: { selector: {} } }] }],
  ]),
];

const destination = 'delete and recreate the GitTarget to change its destination';
const gitTarget: readonly AdmissionCase[] = [
  ...updates('GitTarget', 'GT-1', [
    ['another prune mode is fine', { 'spec.prune.mode': 'Never' }],
    ['another branch', { 'spec.gitBranchRef.name': 'other' }, `spec.gitBranchRef is immutable; ${destination}`],
    [
      'the namespace left out later',
      { 'spec.gitBranchRef.namespace': undefined },
      `spec.gitBranchRef is immutable; ${destination}`,
    ],
  ]),
  ...updates('GitTarget', 'GT-2', [
    ['another folder', { 'spec.path': 'elsewhere' }, `spec.path is immutable; ${destination}`],
  ]),
  ...updates('GitTarget', 'GT-3', [
    [
      'another cluster',
      { 'spec.kubeProviderRef.name': 'other' },
      'delete and recreate the GitTarget to change the cluster it mirrors',
    ],
  ]),
  ...creates('GitTarget', 'GT-4', [
    ['equal durations, spelled differently', { 'spec.commit.window': { idleTimeout: '60s', maxDuration: '1m' } }],
    ['both zero: every change at once', { 'spec.commit.window': { idleTimeout: '0s', maxDuration: '0s' } }],
    [
      'a window that closes before it may',
      { 'spec.commit.window': { idleTimeout: '2m', maxDuration: '90s' } },
      'spec.commit.window.idleTimeout 2m must not exceed maxDuration 90s; maxDuration: 0s needs idleTimeout: 0s',
    ],
  ]),
  ...creates('GitTarget', 'GT-5', [
    ['different ids', { 'spec.includeGenerated': ['injected-ca'], 'spec.excludeGenerated': ['release-owned'] }],
    [
      'one id in both lists',
      {
        'spec.includeGenerated': ['injected-ca', 'kube-root-ca'],
        'spec.excludeGenerated': ['release-owned', 'kube-root-ca'],
      },
      'filter kube-root-ca is in spec.includeGenerated and in spec.excludeGenerated; list it once',
    ],
  ]),
  ...creates('GitTarget', 'GT-6', [
    [
      'a generated key nobody reads',
      { 'spec.encryption.age.recipients.extractFromSecret': false },
      'generateWhenMissing needs extractFromSecret: true',
    ],
    [
      'public keys alone',
      {
        'spec.encryption.age.recipients': {
          publicKeys: ['age1wdparewgc469c4cez89n5s504qkdl3eqzaf8z8dg8fuwxpnq337qw2nq47'],
        },
      },
    ],
  ]),
  ...creates('GitTarget', 'GT-7', [
    [
      'recipients from a Secret that is not named',
      { 'spec.encryption.secretRef': undefined },
      'needs spec.encryption.secretRef',
    ],
  ]),
  ...['idleTimeout', 'maxDuration'].flatMap((field) =>
    creates('GitTarget', 'GT-8', [
      [`${field} at its end`, { 'spec.commit.window': { idleTimeout: '0s', [field]: '24h', maxDuration: '24h' } }],
      [
        `${field} beyond its end`,
        { [`spec.commit.window.${field}`]: '24h1s' },
        `spec.commit.window.${field} must be between 0s and 24h`,
      ],
      [
        `${field} that overflows a parser`,
        { [`spec.commit.window.${field}`]: '99999999999h' },
        `spec.commit.window.${field} must be between 0s and 24h`,
      ],
    ]),
  ),
  ...creates('GitTarget', 'GT-9', [
    ['the root', { 'spec.path': '.' }],
    ['names that only look special', { 'spec.path': '.github/..a/b.git' }],
    ['a way out', { 'spec.path': '../other' }, 'spec.path must not contain a segment'],
    ['a way out in the middle', { 'spec.path': 'a/../../b' }, 'spec.path must not contain a segment'],
    ['a dot segment', { 'spec.path': './a' }, 'spec.path must not contain a segment'],
    ["Git's own folder", { 'spec.path': 'a/.git/hooks' }, 'spec.path must not contain a segment'],
    ["Git's own folder on a file system without case", { 'spec.path': '.GIT' }, 'spec.path must not contain a segment'],
  ]),
  ...creates('GitTarget', 'GT-10', [
    ['a grouped type', { 'spec.placement.byType': { 'apps/v1/deployments': 'x/{name}' } }],
    [
      'a type without version',
      { 'spec.placement.byType': { secrets: 'x/{name}' } },
      'every key must be [group/]version/resource',
    ],
  ]),
  ...creates('GitTarget', 'default', [
    ['no cluster named', { 'spec.kubeProviderRef': undefined }],
    ['no encryption', { 'spec.encryption': undefined }],
    [
      'only maxDuration, below the default idleTimeout',
      { 'spec.commit.window': { idleTimeout: '5s', maxDuration: '0s' } },
      'maxDuration: 0s needs idleTimeout: 0s',
    ],
  ]),
];

const kubeProvider: readonly AdmissionCase[] = [
  ...creates('KubeProvider', 'KP-1', [
    [
      'neither way to connect',
      { 'spec.connection.secretRef': undefined },
      'exactly one of inCluster: {} and secretRef',
    ],
    ['both ways to connect', { 'spec.connection.inCluster': {} }, 'exactly one of inCluster: {} and secretRef'],
  ]),
  ...creates('KubeProvider', 'KP-3', [
    [
      'a Secret without a name',
      { 'spec.connection.secretRef.name': '' },
      'spec.connection.secretRef.name must name a Secret',
    ],
  ]),
  ...updates('KubeProvider', 'KP-2', [
    ['other limits are fine', { 'spec.client.burst': 30 }],
    [
      'another Secret',
      { 'spec.connection.secretRef.name': 'other' },
      "spec.connection is immutable: a name must not silently mean another cluster; rotate the Secret's content instead",
    ],
    ['another dialect', { 'spec.connection.dialect': 'kubernetes' }, 'spec.connection is immutable'],
  ]),
  ...creates('KubeProvider', 'KP-4', [
    ['equal', { 'spec.client': { qps: 20, burst: 20 } }],
    ['qps alone', { 'spec.client': { qps: 20 } }],
    [
      'a burst below the rate',
      { 'spec.client': { qps: 20, burst: 10 } },
      'spec.client.burst 10 must not be below qps 20',
    ],
  ]),
  ...creates('KubeProvider', 'KP-5', [
    ['neither', { 'spec.attribution.clientCertificate': {} }, 'exactly one of subjectAltName and sha256Fingerprint'],
    [
      'both',
      { 'spec.attribution.clientCertificate.sha256Fingerprint': 'a'.repeat(64) },
      'exactly one of subjectAltName and sha256Fingerprint',
    ],
  ]),
  ...creates('KubeProvider', 'KP-7', [
    ['every namespace', { 'spec.allowedGitTargets.0.sourceNamespaces': ['*'] }],
    ['every namespace and one more', { 'spec.allowedGitTargets.0.sourceNamespaces': ['*', 'a'] }, '"*" stands alone'],
  ]),
  ...creates('KubeProvider', 'grant', [
    [
      'a grant without namespaces',
      { 'spec.allowedGitTargets': [{}] },
      'spec.allowedGitTargets[0].namespaces: Required value',
    ],
    ['a grant that admits nobody', { 'spec.allowedGitTargets': [{ namespaces: {} }] }],
  ]),
];

const watchRules: readonly AdmissionCase[] = (['WatchRule', 'ClusterWatchRule'] as const).flatMap((kind) => [
  ...creates(kind, 'WR-1', [
    ['a target without a name', { 'spec.gitTargetRef.name': '' }, 'spec.gitTargetRef.name must name a GitTarget'],
  ]),
  ...creates(kind, 'WR-2', [
    ['every group', { 'spec.rules.0.apiGroups': ['*'] }],
    ['every type', { 'spec.rules.0.resources': ['*'] }],
    [
      'every group and one more',
      { 'spec.rules.0.apiGroups': ['*', 'apps'] },
      'spec.rules[].apiGroups: "*" stands alone',
    ],
    [
      'every type and one more',
      { 'spec.rules.0.resources': ['*', 'pods'] },
      'spec.rules[].resources: "*" stands alone',
    ],
  ]),
  ...creates(kind, 'WR-3', [
    ['a subresource', { 'spec.rules.0.resources': ['pods/log'] }, 'subresources are not mirrored by rules'],
  ]),
  ...updates(kind, 'mutable', [['another target is fine', { 'spec.gitTargetRef.name': 'other' }]]),
]);

const frozen = 'CommitRequest spec is immutable after creation';
const commitRequest: readonly AdmissionCase[] = [
  ...updates('CommitRequest', 'CR-1', [
    [
      'durations spelled anew by a typed client',
      { 'spec.window.attachTimeout': '5000ms', 'spec.ttlAfterFinished': '24h0m0s' },
    ],
    ['another target', { 'spec.gitTargetRef.name': 'other' }, frozen],
    ['another message', { 'spec.message': 'other' }, frozen],
    ['no message', { 'spec.message': undefined, 'spec.whenNothingToCommit': 'Resolve' }, frozen],
    ['another ending', { 'spec.whenNothingToCommit': 'Resolve' }, frozen],
    ['another time to live', { 'spec.ttlAfterFinished': '25h' }, frozen],
    ['no time to live', { 'spec.ttlAfterFinished': undefined }, frozen],
    ['another attachment', { 'spec.window.attach': 'CurrentOrNext' }, frozen],
    ['another wait', { 'spec.window.attachTimeout': '6s' }, frozen],
    ['another quiet time', { 'spec.window.idleTimeout': '2s' }, frozen],
    ['no quiet time', { 'spec.window.idleTimeout': undefined }, frozen],
    ['another longest time', { 'spec.window.maxDuration': '11s' }, frozen],
  ]),
  ...creates('CommitRequest', 'CR-2', [
    ['blank but for one character', { 'spec.message': ' \n x' }],
    ['blanks', { 'spec.message': ' \n ' }, 'spec.message must contain a non-whitespace character'],
    [
      'blanks of Unicode',
      { 'spec.message': '\u00a0\u2003\u3000\u2028' },
      'spec.message must contain a non-whitespace character',
    ],
    ['a zero-width space is no White_Space', { 'spec.message': '\u200b' }],
  ]),
  ...creates('CommitRequest', 'CR-3', [
    ['equal', { 'spec.window.idleTimeout': '10s' }],
    [
      'a window that closes before it may',
      { 'spec.window.idleTimeout': '11s' },
      'spec.window.idleTimeout must not exceed spec.window.maxDuration',
    ],
  ]),
  ...creates('CommitRequest', 'CR-4', [
    ['no wait for the current window', { 'spec.window.attach': 'CurrentOrNext', 'spec.window.attachTimeout': '0s' }],
    [
      'no wait for the next window',
      { 'spec.window.attachTimeout': '0s' },
      'spec.window.attach Next needs an attachTimeout above 0s',
    ],
  ]),
  ...creates('CommitRequest', 'CR-5', [
    ['no message, nothing to commit is fine', { 'spec.message': undefined, 'spec.whenNothingToCommit': 'Resolve' }],
    ['an empty commit without message', { 'spec.message': undefined }, 'CommitEmpty requires spec.message'],
  ]),
  ...['attachTimeout', 'idleTimeout', 'maxDuration'].flatMap((field) =>
    creates('CommitRequest', 'CR-6', [
      [`${field} at its end`, { 'spec.window.maxDuration': '5m', [`spec.window.${field}`]: '5m' }],
      [
        `${field} beyond its end`,
        { 'spec.window.maxDuration': '5m', [`spec.window.${field}`]: '301s' },
        `spec.window.${field} must be between 0s and 5m`,
      ],
    ]),
  ),
  ...creates('CommitRequest', 'CR-7', [
    ['for ever', { 'spec.ttlAfterFinished': '0s' }],
    ['a year', { 'spec.ttlAfterFinished': '8760h' }],
    ['more than a year', { 'spec.ttlAfterFinished': '8761h' }, 'spec.ttlAfterFinished must be between 0s and 8760h'],
  ]),
  ...creates('CommitRequest', 'default', [['no window', { 'spec.window': undefined }]]),
];

const gitReceiver: readonly AdmissionCase[] = updates('GitReceiver', 'GR-1', [
  ['another Secret is fine', { 'spec.secretRef.name': 'other' }],
  ['another host', { 'spec.type': 'GitLab' }, 'spec.type is immutable; create another receiver'],
]);

const interval = 'spec.convergeInterval must be 0 or between 10s and 24h';
const claims: readonly AdmissionCase[] = (
  [
    ['FluxClaim', 'kustomizationRef'],
    ['ArgoCDClaim', 'applicationRef'],
  ] as const
).flatMap(([kind, ref]) => [
  ...creates(kind, 'CL-1', [
    ['zero as a number', { 'spec.convergeInterval': 0 }],
    ['zero as text', { 'spec.convergeInterval': '0' }],
    ['zero with a unit', { 'spec.convergeInterval': '0s' }],
    ['the least', { 'spec.convergeInterval': '10s' }],
    ['the most', { 'spec.convergeInterval': '24h' }],
    ['below the least', { 'spec.convergeInterval': '9s' }, interval],
    ['above the most', { 'spec.convergeInterval': '24h1s' }, interval],
    ['a number that is not zero', { 'spec.convergeInterval': 60 }, interval],
  ]),
  ...updates(kind, 'CL-2', [
    ['another interval is fine', { 'spec.convergeInterval': '1h' }],
    [
      'another cluster',
      { 'spec.kubeProviderRef.name': 'other' },
      'are immutable; delete the claim, wait for the release, create a new one',
    ],
    [
      'another branch',
      { 'spec.gitBranchRef.name': 'other' },
      'are immutable; delete the claim, wait for the release, create a new one',
    ],
    [
      'another applier',
      { [`spec.${ref}.name`]: 'other' },
      'are immutable; delete the claim, wait for the release, create a new one',
    ],
  ]),
  ...creates(kind, 'CL-3', [
    ['the least', { 'spec.timeout': '30s' }],
    ['the most', { 'spec.timeout': '1h' }],
    ['below the least', { 'spec.timeout': '29s' }, 'spec.timeout must be between 30s and 1h'],
    ['above the most', { 'spec.timeout': '61m' }, 'spec.timeout must be between 30s and 1h'],
  ]),
]);

const badOperator = 'operators In and NotIn need values; Exists and DoesNotExist take none';
/** The same shape stands in many places: each has its rules. */
const selectors: readonly AdmissionCase[] = (
  [
    ['GitProvider', 'spec.allowedGitBranches.0.namespaces.selector'],
    ['GitBranch', 'spec.allowedGitTargets.0.namespaces.selector'],
    ['KubeProvider', 'spec.allowedGitTargets.0.namespaces.selector'],
    ['KubeProvider', 'spec.allowedApplierClaims.0.namespaces.selector'],
    ['GitReceiver', 'spec.namespaces.selector'],
    ['WatchRule', 'spec.rules.0.objectSelector'],
    ['ClusterWatchRule', 'spec.rules.0.objectSelector'],
  ] as const
).flatMap(([kind, path]) => [
  ...creates(kind, 'LS-1', [
    [`${path} with keys with and without prefix`, { [path]: { matchLabels: { tier: 'a', 'example.com/b': '' } } }],
    [`${path} with what is no label key`, { [path]: { matchLabels: { 'a b': 'c' } } }, 'every key must be a label key'],
    [
      `${path} with too long a key`,
      { [path]: { matchLabels: { ['a'.repeat(318)]: 'c' } } },
      'every key must be a label key',
    ],
  ]),
  ...creates(kind, 'WR-4', [
    [`${path}: Exists without values`, { [path]: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } }],
    [
      `${path}: Exists with values`,
      { [path]: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
      badOperator,
    ],
    [`${path}: In without values`, { [path]: { matchExpressions: [{ key: 'a', operator: 'In' }] } }, badOperator],
    [
      `${path}: NotIn with no values`,
      { [path]: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: [] }] } },
      badOperator,
    ],
  ]),
]);

/** Every CEL rule: what it lets through and what it refuses. */
export const ruleCases = (): readonly AdmissionCase[] => [
  ...gitProvider,
  ...gitBranch,
  ...gitTarget,
  ...kubeProvider,
  ...watchRules,
  ...commitRequest,
  ...gitReceiver,
  ...claims,
  ...selectors,
];
