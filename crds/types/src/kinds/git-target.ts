import {
  falseOr,
  gate,
  good,
  grantRows,
  notice,
  shows,
  stalls,
  unknownOr,
  unsure,
  waits,
} from '../conditions-table.js';
import { toNanoseconds } from '../duration.js';
import { ageColumn, defineKind, detail, fact, messageColumn, readyColumn, reasonColumn, wideShowing } from '../kind.js';
import { rule } from '../schema/rule.js';
import {
  block,
  boolean,
  count,
  immutable,
  list,
  map,
  object,
  oneOf,
  optional,
  set,
  string,
  time,
  withDefault,
} from '../schema/schema.js';
import { clusterRef, commitId, duration, folderPath, grantedRef, handled, sameGrantedRef } from '../schema/shapes.js';
import { encryption } from './git-target-encryption.js';
import { sourceReachableRows } from './kube-provider.js';
import { streamRows, streams } from './streams.js';

const template = (doc: string) => string(doc, { min: 1, max: 16384 });
const placementTemplate = (doc: string) => string(doc, { min: 1, max: 512 });
const filterId = string('Id of a filter.', { min: 1, max: 63, pattern: '^(\\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$' });
const immutableTail = (field: string, what: string): string =>
  `spec.${field} is immutable; delete and recreate the GitTarget to change ${what}`;

const commitWindow = object(
  'When pending edits become a commit.',
  {
    idleTimeout: withDefault(
      duration('Quiet time after which the window closes; 0s closes after every change.', 'GT-8', {
        path: 'spec.commit.window.idleTimeout',
        least: '0s',
        most: '24h',
      }),
      '5s',
    ),
    maxDuration: withDefault(
      duration('Longest time a window stays open.', 'GT-8', {
        path: 'spec.commit.window.maxDuration',
        least: '0s',
        most: '24h',
      }),
      '1m',
    ),
  },
  {
    rules: [
      rule<{ readonly idleTimeout?: string; readonly maxDuration?: string }>({
        id: 'GT-4',
        cel: '!has(self.idleTimeout) || !has(self.maxDuration) || duration(self.idleTimeout) <= duration(self.maxDuration)',
        message: 'spec.commit.window.idleTimeout must not exceed maxDuration; maxDuration: 0s needs idleTimeout: 0s',
        messageExpression:
          "'spec.commit.window.idleTimeout ' + self.idleTimeout + ' must not exceed maxDuration ' + self.maxDuration + '; maxDuration: 0s needs idleTimeout: 0s'",
        fieldPath: '.idleTimeout',
        holds: ({ idleTimeout, maxDuration }) =>
          idleTimeout === undefined ||
          maxDuration === undefined ||
          (toNanoseconds(idleTimeout) ?? 0n) <= (toNanoseconds(maxDuration) ?? 0n),
        explain: ({ idleTimeout, maxDuration }) =>
          `spec.commit.window.idleTimeout ${idleTimeout} must not exceed maxDuration ${maxDuration}; maxDuration: 0s needs idleTimeout: 0s`,
      }),
    ],
  },
);

const spec = object(
  'Which folder of which branch, from which cluster, written how.',
  {
    gitBranchRef: immutable(
      grantedRef(
        'GitBranch that is written; it must admit this target. Stands in for providerRef and branch of earlier releases.',
      ),
    ),
    path: immutable(
      folderPath(
        'Folder of the repository that this target owns; `.` is the root. It has no default on purpose.',
        'GT-9',
        'spec.path',
      ),
    ),
    kubeProviderRef: immutable(
      withDefault(clusterRef('KubeProvider that is read; it must admit this target.'), { name: 'default' }),
    ),
    commit: block(
      object('How commits are made.', {
        window: block(commitWindow),
        message: block(
          object('Templates of commit messages.', {
            liveTemplate: optional(template('Message of a live commit.'), 'built in'),
            requestTemplate: optional(
              template('Message of a commit that a CommitRequest asked for.'),
              "the request's message verbatim",
            ),
            reconcileTemplate: optional(template('Message of a commit that a snapshot made.'), 'built in'),
          }),
        ),
      }),
    ),
    placement: block(
      object('Where new documents go.', {
        byType: optional(
          map('Path template by [group/]version/resource.', placementTemplate('Template.'), {
            max: 256,
            rules: [
              rule<Readonly<Record<string, string>>>({
                id: 'GT-10',
                cel: String.raw`self.all(k, k.size() <= 317 && k.matches('^([a-z0-9.-]+/)?[a-z0-9]+/[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))`,
                message:
                  'spec.placement.byType: every key must be [group/]version/resource, such as apps/v1/deployments or v1/secrets',
                holds: (self) =>
                  Object.keys(self).every(
                    (k) => k.length <= 317 && /^([a-z0-9.-]+\/)?[a-z0-9]+\/[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u.test(k),
                  ),
              }),
            ],
          }),
        ),
        default: optional(placementTemplate('Path template of every other type.'), 'the canonical path'),
        useKustomize: withDefault(boolean('Keep kustomization.yaml files that list new documents.'), false),
      }),
    ),
    serializeNamespace: optional(boolean('Whether documents carry metadata.namespace.'), 'decided per document'),
    prune: block(
      object('When documents are removed.', {
        mode: withDefault(
          oneOf(
            'Never; OnEvent: when a deletion was observed; Always: also when a complete snapshot lacks the object.',
            ['Never', 'OnEvent', 'Always'],
          ),
          'OnEvent',
        ),
      }),
    ),
    onRefusal: withDefault(
      oneOf('What an edit that cannot be written leads to.', ['Ignore', 'PushEmptyCommit']),
      'Ignore',
    ),
    suspend: withDefault(boolean('Stop mirroring; files stay.'), false),
    includeGenerated: withDefault(
      set('Filters to switch off, by id; `*` is every default filter.', filterId, { max: 32 }),
      [],
    ),
    excludeGenerated: withDefault(
      set('Filters to switch on that are off by default, by id.', filterId, { max: 32 }),
      [],
    ),
    encryption: optional(encryption, 'sensitive writes are refused'),
  },
  {
    rules: [
      {
        ...sameGrantedRef('gitBranchRef', 'GT-1', immutableTail('gitBranchRef', 'its destination')),
        reason: 'FieldValueForbidden',
      },
      rule<{ readonly path: string }>({
        id: 'GT-2',
        cel: 'self.path == oldSelf.path',
        message: immutableTail('path', 'its destination'),
        fieldPath: '.path',
        reason: 'FieldValueForbidden',
        holds: (self, old) => self.path === old.path,
      }),
      rule<{ readonly kubeProviderRef?: { readonly name: string } }>({
        id: 'GT-3',
        cel: 'has(self.kubeProviderRef) == has(oldSelf.kubeProviderRef) && (!has(self.kubeProviderRef) || self.kubeProviderRef == oldSelf.kubeProviderRef)',
        message: immutableTail('kubeProviderRef', 'the cluster it mirrors'),
        fieldPath: '.kubeProviderRef',
        reason: 'FieldValueForbidden',
        holds: (self, old) => self.kubeProviderRef?.name === old.kubeProviderRef?.name,
      }),
      rule<{ readonly includeGenerated?: readonly string[]; readonly excludeGenerated?: readonly string[] }>({
        id: 'GT-5',
        cel: '!has(self.includeGenerated) || !has(self.excludeGenerated) || !self.includeGenerated.exists(i, i in self.excludeGenerated)',
        message: 'an id may not be in spec.includeGenerated and in spec.excludeGenerated',
        messageExpression:
          "'filter ' + self.includeGenerated.filter(i, i in self.excludeGenerated)[0] + ' is in spec.includeGenerated and in spec.excludeGenerated; list it once'",
        fieldPath: '.excludeGenerated',
        holds: ({ includeGenerated = [], excludeGenerated = [] }) =>
          !includeGenerated.some((id) => excludeGenerated.includes(id)),
        explain: ({ includeGenerated = [], excludeGenerated = [] }) =>
          `filter ${includeGenerated.find((id) => excludeGenerated.includes(id))} is in spec.includeGenerated and in spec.excludeGenerated; list it once`,
      }),
    ],
  },
);

const status = object('What was observed.', {
  ...handled,
  streams: optional(streams),
  retention: optional(
    object('Documents kept although their object is gone. Absent: nothing measured yet, or suspended.', {
      mode: optional(oneOf('Effective mode.', ['Never', 'OnEvent', 'Always'])),
      retainedDocuments: count('Documents kept; 0 is measured and converged.'),
      observedAt: optional(time('When it was measured.')),
    }),
  ),
  placement: optional(
    object('Layout of the folder, as last resolved.', {
      mode: optional(oneOf('Kind of layout.', ['Plain', 'KustomizeRoot', 'KustomizeOverlay'])),
      renderRoot: optional(string('Folder that is rendered.', { max: 512 })),
      readOnlyBases: optional(
        list('Folders that are read, never written.', string('Folder.', { max: 512 }), { max: 16 }),
      ),
      resolvedAtCommit: optional(commitId('Commit it was resolved at.')),
      resolvedAt: optional(time('When it was resolved.')),
    }),
  ),
  remote: optional(
    object("Copy of the branch's: is it there.", {
      commit: optional(commitId('Commit of the branch on the remote.')),
      lastVerifiedAt: optional(time('Last proof.')),
      verifiedBy: optional(oneOf('What proved it.', ['Push', 'Fetch'])),
    }),
  ),
  refusals: optional(
    object('Standing write refusals. Absent when there are none.', {
      count: count('How many.'),
      sample: optional(
        list(
          'Some of them.',
          object('A refused object.', {
            group: optional(string('API group; empty is core.', { max: 253 })),
            resource: optional(string('Plural name.', { max: 63 })),
            namespace: optional(string('Namespace.', { max: 63 })),
            name: optional(string('Name.', { max: 253 })),
            reason: string('Why.', { max: 128 }),
          }),
          { max: 5 },
        ),
      ),
    }),
  ),
  encryption: optional(
    object('Who can read.', {
      recipientCount: count('Recipients in force.'),
      staleDocumentCount: count('Documents that still carry an older set.'),
    }),
  ),
  applierClaims: optional(
    list(
      'Claims that cover this folder.',
      object('A claim.', {
        kind: oneOf('Kind of the claim.', ['FluxClaim', 'ArgoCDClaim']),
        namespace: string('Namespace.', { max: 63 }),
        name: string('Name.', { max: 253 }),
        held: boolean('Whether its applier is held.'),
        level: boolean('Whether the applied commit is the tip.'),
      }),
      { max: 16 },
    ),
  ),
});

export const gitTarget = defineKind({
  kind: 'GitTarget',
  plural: 'gittargets',
  shortNames: ['gtgt'],
  scope: 'Namespaced',
  doc: 'One folder of one branch that mirrors objects of one cluster. It borrows the branch and the cluster; WatchRule objects say what goes into it. Deleting it never touches Git.',
  spec,
  status,
  conditions: [
    gate(
      'Validated',
      'The declaration can be used.',
      good('Succeeded'),
      stalls(
        'GitBranchNotFound',
        'KubeProviderNotFound',
        'TargetConflict',
        'InvalidConfig',
        'InvalidGeneratedFilter',
        'InvalidSpec',
        'RetiredField',
        'PluginUnavailable',
      ),
    ),
    gate('TargetAllowed', 'The GitBranch and the KubeProvider admit this target.', ...grantRows),
    gate(
      'GitBranchReady',
      'The branch is ready.',
      good('Succeeded'),
      falseOr(['stalled', 'progress'], 'BranchNotWritable', 'GitBranchNotReady'),
      unknownOr(['stalled', 'progress'], 'GitBranchNotReady'),
    ),
    gate(
      'KubeProviderReady',
      'The connection is ready.',
      good('Succeeded'),
      falseOr(['stalled', 'progress'], 'KubeProviderNotReady'),
      unknownOr(['stalled', 'progress'], 'KubeProviderNotReady'),
    ),
    gate('SourceClusterReachable', 'The source cluster answers.', ...sourceReachableRows),
    gate(
      'EncryptionConfigured',
      'Sensitive objects can be encrypted.',
      good('Succeeded', 'NotRequired'),
      stalls(
        'SecretNotFound',
        'SecretMalformed',
        'SecretCreateForbidden',
        'NoRecipients',
        'RecipientsDiverged',
        'InvalidConfig',
      ),
    ),
    gate(
      'GitPathAccepted',
      'What the folder holds can be kept.',
      waits('NotScanned'),
      good('Succeeded'),
      stalls(
        'UnsupportedContent',
        'IgnoreShadowsManagedPath',
        'MultipleSourceNamespaces',
        'AmbiguousLayout',
        'UnrenderedPlacement',
        'WriteBoundaryRefused',
      ),
    ),
    notice(
      'LayoutResolved',
      'The layout of the folder is known. Not a gate: a refusal shows on GitPathAccepted.',
      unsure('NotScanned'),
      good('SingleKustomization', 'None'),
      shows('Ambiguous'),
    ),
    gate(
      'RenderMatchesLive',
      'What the folder renders equals what is live.',
      waits('Rechecking'),
      good('Succeeded'),
      stalls('RenderDoesNotMatchLive'),
    ),
    gate('StreamsRunning', 'Every followed collection is streaming.', ...streamRows),
  ],
  ready: [],
  columns: [
    readyColumn,
    reasonColumn,
    fact('Streams', '.status.streams.summary', 'Streams that run, of all.'),
    detail('Branch', '.spec.gitBranchRef.name', 'GitBranch that is written.'),
    detail('Path', '.spec.path', 'Folder of the repository.'),
    detail('KubeProvider', '.spec.kubeProviderRef.name', 'KubeProvider that is read.'),
    detail('Suspended', '.spec.suspend', 'Whether mirroring is stopped.', 'boolean'),
    detail('Verified', '.status.remote.lastVerifiedAt', 'Time since the last proof.', 'date'),
    detail('Layout', '.status.placement.mode', 'Kind of layout.'),
    detail('RenderRoot', '.status.placement.renderRoot', 'Folder that is rendered.'),
    wideShowing('Validated'),
    wideShowing('TargetAllowed'),
    wideShowing('GitBranchReady'),
    wideShowing('KubeProviderReady'),
    wideShowing('SourceClusterReachable', 'SourceReachable'),
    wideShowing('EncryptionConfigured'),
    wideShowing('GitPathAccepted'),
    wideShowing('LayoutResolved'),
    wideShowing('RenderMatchesLive'),
    wideShowing('StreamsRunning'),
    messageColumn,
    ageColumn,
  ],
});
