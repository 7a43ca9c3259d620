import {
  falseOr,
  gate,
  good,
  grantRows,
  notice,
  progresses,
  shows,
  stalls,
  unknownOr,
  unsure,
  waits,
} from '../conditions-table.js';
import { durationMaxLength, durationOrZeroPattern, toNanoseconds } from '../duration.js';
import {
  ageColumn,
  defineKind,
  detail,
  fact,
  messageColumn,
  readyColumn,
  reasonColumn,
  showing,
  wideShowing,
  type Column,
} from '../kind.js';
import { rule, type Rule } from '../schema/rule.js';
import {
  boolean,
  count,
  immutable,
  intOrString,
  integer,
  list,
  map,
  object,
  oneOf,
  optional,
  string,
  time,
  withDefault,
} from '../schema/schema.js';
import { clusterRef, commitId, dnsLabel, dnsSubdomain, duration, handled, localRef } from '../schema/shapes.js';

const isConvergeInterval = (value: number | string): boolean => {
  if (typeof value === 'number') return value === 0;
  const ns = toNanoseconds(value);
  return ns !== undefined && (ns === 0n || (ns >= 10_000_000_000n && ns <= 86_400_000_000_000n));
};
const applierRef = (doc: string) =>
  object(doc, {
    name: dnsSubdomain('Name of the applier object.'),
    namespace: optional(
      dnsLabel("Namespace of the applier object, in the provider's cluster."),
      "the claim's own namespace",
    ),
  });

const shared = {
  kubeProviderRef: immutable(
    clusterRef('KubeProvider of the cluster the applier object lives in. No default: a write permission is named.'),
  ),
  gitBranchRef: immutable(
    localRef("GitBranch, in the namespace of this object: the branch's owner decides who drives appliers from it."),
  ),
  convergeInterval: withDefault(
    intOrString('How often the tip is applied without being asked; 0 is off.', {
      max: durationMaxLength,
      pattern: durationOrZeroPattern,
      rules: [
        rule<number | string>({
          id: 'CL-1',
          cel: "type(self) == int ? self == 0 : (duration(self) == duration('0s') || (duration(self) >= duration('10s') && duration(self) <= duration('24h')))",
          message: 'spec.convergeInterval must be 0 or between 10s and 24h',
          holds: isConvergeInterval,
        }),
      ],
    }),
    '1m',
  ),
  timeout: withDefault(
    duration('Longest time an apply may take.', 'CL-3', { path: 'spec.timeout', least: '30s', most: '1h' }),
    '5m',
  ),
  suspend: withDefault(boolean('Keep the hold, ask for nothing.'), false),
  releasePolicy: withDefault(
    oneOf('What the applier is left with when the claim goes.', ['Restore', 'Resume', 'KeepHeld']),
    'Restore',
  ),
  whenRefused: withDefault(oneOf('What a refused edit leads to.', ['Withhold', 'Apply']), 'Withhold'),
  applierFieldManagers: optional(
    list(
      'Field managers of the applier: explains its events, never drops them.',
      string('Field manager.', { min: 1, max: 128 }),
      { min: 1, max: 8 },
    ),
    'decided by the applier plugin',
  ),
};
const sameRefs = (ref: string): Rule => {
  interface Spec {
    readonly [field: string]: { readonly name: string; readonly namespace?: string } | undefined;
  }
  const fields = ['kubeProviderRef', 'gitBranchRef', ref];
  return rule<Spec>({
    id: 'CL-2',
    cel: fields.map((field) => `self.${field} == oldSelf.${field}`).join(' && '),
    message: `spec.kubeProviderRef, spec.gitBranchRef and spec.${ref} are immutable; delete the claim, wait for the release, create a new one`,
    fieldPath: `.${ref}`,
    reason: 'FieldValueForbidden',
    holds: (self, old) =>
      fields.every(
        (field) => self[field]?.name === old[field]?.name && self[field]?.namespace === old[field]?.namespace,
      ),
  });
};

const applyReason = string('Why it was asked for.', { max: 64 });
const status = object('What was observed.', {
  ...handled,
  coveredTargets: optional(
    list(
      'GitTarget objects whose folder the applier reads.',
      object('A target.', {
        namespace: string('Namespace.', { max: 63 }),
        name: string('Name.', { max: 253 }),
        relation: oneOf("How the applier's path lies to the folder.", ['Equal', 'Inside', 'Contains']),
      }),
      { max: 64 },
    ),
  ),
  hold: optional(
    object('The hold.', {
      heldSince: optional(time('Since when.')),
      original: optional(string('What was found when it was taken.', { max: 1024 })),
      owner: optional(string('Who holds.', { max: 512 })),
    }),
  ),
  source: optional(
    object("The applier's source.", {
      kind: optional(string('Kind.', { max: 63 })),
      namespace: optional(string('Namespace.', { max: 63 })),
      name: optional(string('Name.', { max: 253 })),
      revision: optional(string("The applier's own identifier.", { max: 512 })),
      suspended: optional(boolean('Whether it is suspended.')),
    }),
  ),
  tip: optional(
    object('Tip of the branch.', {
      commit: optional(commitId('Commit.')),
      own: optional(boolean('Whether we made it.')),
    }),
  ),
  applied: optional(
    object('What was applied last.', {
      commit: optional(commitId('Commit.')),
      at: optional(time('When.')),
      reason: optional(applyReason),
      durationSeconds: optional(count('How long it took.')),
    }),
  ),
  behindSince: optional(time('Since when the applied commit is not the tip.')),
  nextConvergeAt: optional(time('Next apply without being asked.')),
  apply: optional(
    object('Apply that is running. Absent when idle.', {
      id: string('Id.', { max: 64 }),
      commit: optional(commitId('Commit.')),
      reason: optional(applyReason),
      step: optional(string('Where it is.', { max: 64 })),
      startedAt: optional(time('When it started.')),
      attempt: optional(integer('Attempt.', { min: 0, format: 'int32' })),
    }),
  ),
  lastFailure: optional(
    object('Last failure.', {
      outcome: string('What went wrong.', { max: 64 }),
      commit: optional(commitId('Commit.')),
      at: optional(time('When.')),
      message: optional(string('What was found.', { max: 1024 })),
    }),
  ),
  lastWindow: optional(
    object('Events while the last apply ran.', {
      applyId: optional(string('Id of the apply.', { max: 64 })),
      openedAt: optional(time('When it opened.')),
      closedAt: optional(time('When it closed.')),
      withheldCount: optional(count('Events withheld.')),
      collisionCount: optional(count('Events that were somebody else.')),
      outcomes: optional(map('Count by outcome.', count('Count.'), { max: 8 })),
    }),
  ),
  reconciledElsewhere: optional(
    object('Applies we did not ask for.', {
      count: count('How many.'),
      lastAt: optional(time('Last one.')),
      lastCommit: optional(commitId('Commit.')),
      manager: optional(string('Field manager.', { max: 128 })),
    }),
  ),
});

const conditions = [
  gate(
    'Validated',
    'The declaration can be used.',
    good('Succeeded'),
    stalls(
      'GitBranchNotFound',
      'KubeProviderNotFound',
      'NoCoveredTarget',
      'InvalidSpec',
      'RetiredField',
      'PluginUnavailable',
    ),
  ),
  gate('ClaimAllowed', 'The KubeProvider admits this claim.', ...grantRows),
  gate(
    'ApplierFound',
    'The applier object is there and can be held.',
    good('Found'),
    stalls('Forbidden', 'ApplierTooOld'),
    progresses('NotFound', 'ApplierGone'),
    waits('ClusterUnreachable'),
  ),
  gate(
    'SourceMatched',
    'The applier reads our repository and branch.',
    good('Matched'),
    stalls('UnsupportedSource', 'SourceNotBranch', 'RepositoryMismatch'),
    waits('Progressing'),
  ),
  gate(
    'Held',
    'The applier applies only when asked.',
    good('Fenced', 'Settled', 'AlreadyManual', 'Applying'),
    stalls('HoldContested', 'AlreadyClaimed'),
    progresses('NotHeld'),
    waits('Unconfirmed'),
  ),
  gate(
    'InSync',
    'The tip is applied.',
    good('Applied'),
    falseOr(['none', 'progress'], 'Behind'),
    progresses(
      'TargetRefused',
      'SourceFailed',
      'SourceBehind',
      'AppliedUnhealthy',
      'BlockedBySyncWindow',
      'OperationNotStarted',
    ),
    falseOr(['progress', 'stalled'], 'ApplyFailed'),
    stalls('PathMissing', 'WouldEmptyFolder', 'SourceStalled'),
    unknownOr(['progress'], 'Timeout', 'Unpublished', 'Waiting'),
  ),
  notice(
    'DestinationVerified',
    'What was applied was seen in the source cluster. Not a gate: it never moves Ready.',
    good('Seen'),
    shows('NotSeenInSourceCluster'),
    unsure('NotApplied'),
  ),
] as const;
const ready = [stalls('ReleaseBlocked')] as const;
const columns = (applierPath: string): readonly Column[] => [
  readyColumn,
  showing('Held'),
  fact('Applied', '.status.applied.commit', 'Commit that is applied.'),
  fact('Tip', '.status.tip.commit', 'Tip of the branch.'),
  reasonColumn,
  detail('Applier', applierPath, 'Applier object.'),
  detail('KubeProvider', '.spec.kubeProviderRef.name', 'KubeProvider whose credential is borrowed.'),
  detail('Branch', '.spec.gitBranchRef.name', 'GitBranch that is applied.'),
  wideShowing('Validated'),
  wideShowing('ClaimAllowed'),
  wideShowing('ApplierFound'),
  wideShowing('SourceMatched'),
  wideShowing('InSync'),
  wideShowing('DestinationVerified'),
  messageColumn,
  ageColumn,
];

export const fluxClaim = defineKind({
  kind: 'FluxClaim',
  plural: 'fluxclaims',
  shortNames: ['fclaim'],
  scope: 'Namespaced',
  doc: 'Holds a Flux Kustomization so that it applies only when asked, and asks it for each commit of a branch. It names no GitTarget: coverage follows from branch and path.',
  spec: object(
    'Which Kustomization applies which branch.',
    {
      ...shared,
      kustomizationRef: immutable(applierRef("Flux Kustomization, in the provider's cluster.")),
      sourceHold: withDefault(oneOf('When the source is held too.', ['Always', 'DuringApply']), 'Always'),
    },
    { rules: [sameRefs('kustomizationRef')] },
  ),
  status,
  conditions,
  ready,
  columns: columns('.spec.kustomizationRef.name'),
});

export const argoCDClaim = defineKind({
  kind: 'ArgoCDClaim',
  plural: 'argocdclaims',
  shortNames: ['aclaim'],
  scope: 'Namespaced',
  doc: 'Holds an Argo CD Application so that it applies only when asked, and asks it for each commit of a branch. It names no GitTarget: coverage follows from branch and path.',
  spec: object(
    'Which Application applies which branch.',
    {
      ...shared,
      applicationRef: immutable(applierRef("Argo CD Application, in the provider's cluster.")),
      prune: withDefault(oneOf('Whether a sync removes objects.', ['FromPolicy', 'Never', 'Always']), 'FromPolicy'),
    },
    { rules: [sameRefs('applicationRef')] },
  ),
  status,
  conditions,
  ready,
  columns: columns('.spec.applicationRef.name'),
});
