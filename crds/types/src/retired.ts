import type { KindName } from './kinds/kinds.js';

/**
 * Spellings that are refused by name (RT-1). From one entry come: the kept schema property with its old type, the CEL
 * refusal on its parent, the check of stored objects, the admission case and the row of the reference.
 */
export interface RetiredField {
  readonly kind: KindName;
  /** From `spec`; `[]` after a list. */
  readonly path: string;
  readonly since: string;
  /** Full path of the replacement; absent when there is none. */
  readonly replacedBy?: string;
  readonly message: string;
  /** `v1beta1`: only with the next version of the API, because its absence permits more (RT-4). */
  readonly removableFrom: string;
  readonly prunesOpen: boolean;
  /** What the property used to hold. */
  readonly type: 'string' | 'integer' | 'boolean' | 'object' | 'strings';
  /** Refused at this value only: anything else may be a default nobody wrote (RT-3). */
  readonly refusedAt?: string | boolean;
}

/** A retired word inside a text that stays legal: only stored objects and the spec webhook can be checked for it. */
export interface RetiredText {
  readonly kind: KindName;
  /** Fields that may hold it; `*` is any key. */
  readonly paths: readonly string[];
  readonly pattern: RegExp;
  readonly word: string;
  readonly replacedBy: string;
}

const since = '0.1.0';
type Old = Pick<RetiredField, 'type'> & Partial<Pick<RetiredField, 'refusedAt' | 'prunesOpen'>>;
const retired = (
  kind: KindName,
  path: string,
  replacedBy: string | undefined,
  remedy: string,
  old: Old,
): RetiredField => ({
  kind,
  path,
  since,
  ...(replacedBy === undefined ? {} : { replacedBy }),
  message: `${path}${old.refusedAt === undefined ? '' : `: ${String(old.refusedAt)}`} is retired: ${remedy}`,
  removableFrom: old.prunesOpen === true ? 'v1beta1' : '0.2.0',
  prunesOpen: false,
  ...old,
});
const use = (path: string): string => `use ${path}`;

const branchMoved = 'use spec.gitBranchRef and a GitBranch that names the branch and its GitProvider';
const grantMoved = use('spec.allowedGitTargets');
const rules = (kind: 'WatchRule' | 'ClusterWatchRule'): readonly RetiredField[] => [
  retired(kind, 'spec.targetRef', 'spec.gitTargetRef', use('spec.gitTargetRef'), { type: 'object' }),
  retired(
    kind,
    'spec.rules[].operations',
    undefined,
    'there is no replacement: a rule selects objects, GitTarget.spec.prune.mode decides about deletions',
    { type: 'strings' },
  ),
  retired(
    kind,
    'spec.rules[].scope',
    'WatchRule',
    'a WatchRule selects namespaced objects, a ClusterWatchRule cluster-scoped ones; leave the field out',
    {
      type: 'string',
      refusedAt: 'Namespaced',
    },
  ),
];
const claim = (kind: 'FluxClaim' | 'ArgoCDClaim'): RetiredField =>
  retired(kind, 'spec.prefetch', undefined, 'there is no replacement: the source is fetched only as part of an apply', {
    type: 'object',
  });

export const retiredFields: readonly RetiredField[] = [
  retired(
    'GitProvider',
    'spec.allowedBranches',
    'spec.allowedGitBranches[].branches',
    use('spec.allowedGitBranches[].branches'),
    { type: 'strings' },
  ),
  retired('GitProvider', 'spec.push', 'GitTarget.spec.commit.window', use('GitTarget.spec.commit.window'), {
    type: 'object',
  }),
  retired('GitProvider', 'spec.commit.message', 'GitTarget.spec.commit.message', use('GitTarget.spec.commit.message'), {
    type: 'object',
  }),
  retired('GitTarget', 'spec.providerRef', 'spec.gitBranchRef', branchMoved, { type: 'object' }),
  retired('GitTarget', 'spec.gitProviderRef', 'spec.gitBranchRef', branchMoved, { type: 'object' }),
  retired('GitTarget', 'spec.branch', 'spec.gitBranchRef', branchMoved, { type: 'string' }),
  retired('GitTarget', 'spec.parentBranch', 'GitBranch.spec.parentBranch', use('GitBranch.spec.parentBranch'), {
    type: 'string',
  }),
  retired('GitTarget', 'spec.clusterProviderRef', 'spec.kubeProviderRef', use('spec.kubeProviderRef'), {
    type: 'object',
  }),
  retired(
    'GitTarget',
    'spec.kubeConfig',
    'spec.kubeProviderRef',
    'use spec.kubeProviderRef and a KubeProvider that holds the connection',
    { type: 'object' },
  ),
  retired(
    'GitTarget',
    'spec.allowedSourceNamespaces',
    'KubeProvider.spec.allowedGitTargets[].sourceNamespaces',
    use('KubeProvider.spec.allowedGitTargets[].sourceNamespaces'),
    { type: 'object', prunesOpen: true },
  ),
  retired(
    'GitTarget',
    'spec.commit.message.eventTemplate',
    'spec.commit.message.liveTemplate',
    use('spec.commit.message.liveTemplate'),
    { type: 'string' },
  ),
  retired(
    'GitTarget',
    'spec.commit.message.groupTemplate',
    'spec.commit.message.liveTemplate',
    use('spec.commit.message.liveTemplate'),
    { type: 'string' },
  ),
  retired('KubeProvider', 'spec.kubeConfig', 'spec.connection', use('spec.connection.secretRef'), { type: 'object' }),
  retired(
    'KubeProvider',
    'spec.connection.configMapRef',
    undefined,
    'workload identity is not supported; use spec.connection.secretRef',
    { type: 'object' },
  ),
  retired('KubeProvider', 'spec.qps', 'spec.client.qps', use('spec.client.qps'), { type: 'integer' }),
  retired('KubeProvider', 'spec.burst', 'spec.client.burst', use('spec.client.burst'), { type: 'integer' }),
  retired('KubeProvider', 'spec.accessFrom', 'spec.allowedGitTargets', `use spec.allowedGitTargets[].namespaces`, {
    type: 'object',
  }),
  retired(
    'KubeProvider',
    'spec.allowedNamespaces',
    'spec.allowedGitTargets',
    `use spec.allowedGitTargets[].namespaces`,
    { type: 'object' },
  ),
  retired(
    'KubeProvider',
    'spec.allowAnySourceNamespace',
    'spec.allowedGitTargets',
    `${grantMoved} with sourceNamespaces: ["*"]`,
    {
      type: 'boolean',
      refusedAt: true,
    },
  ),
  retired(
    'KubeProvider',
    'spec.allowSourceNamespaceOverride',
    'spec.allowedGitTargets',
    `${grantMoved} with sourceNamespaces`,
    {
      type: 'boolean',
      refusedAt: true,
    },
  ),
  retired('WatchRule', 'spec.sourceNamespace', 'spec.rules[].sourceNamespace', use('spec.rules[].sourceNamespace'), {
    type: 'string',
    prunesOpen: true,
  }),
  ...rules('WatchRule'),
  ...rules('ClusterWatchRule'),
  retired('CommitRequest', 'spec.targetRef', 'spec.gitTargetRef', use('spec.gitTargetRef'), { type: 'object' }),
  retired('CommitRequest', 'spec.closeDelaySeconds', 'spec.window.maxDuration', use('spec.window.maxDuration'), {
    type: 'integer',
  }),
  retired('CommitRequest', 'spec.delaySeconds', 'spec.window.maxDuration', use('spec.window.maxDuration'), {
    type: 'integer',
  }),
  retired(
    'CommitRequest',
    'spec.author',
    undefined,
    'there is no replacement: the author is whoever creates the request',
    { type: 'object' },
  ),
  claim('FluxClaim'),
  claim('ArgoCDClaim'),
];

export const retiredTexts: readonly RetiredText[] = [
  {
    kind: 'GitTarget',
    paths: [
      'spec.commit.message.liveTemplate',
      'spec.commit.message.requestTemplate',
      'spec.commit.message.reconcileTemplate',
    ],
    pattern: /\{\{[^}]*\.Revision\b/u,
    word: 'template field .Revision',
    replacedBy: '.ResourceVersion',
  },
  {
    kind: 'GitTarget',
    paths: ['spec.placement.byType.*', 'spec.placement.default'],
    pattern: /\{namespaceOrCluster\}/u,
    word: 'placement variable {namespaceOrCluster}',
    replacedBy: '{namespace}',
  },
];

/** A value whose type changed: the type error of the API server names the field, this names the new form. */
export const retiredShapes: readonly {
  readonly kind: KindName;
  readonly path: string;
  readonly was: 'string';
  readonly message: string;
}[] = [
  {
    kind: 'GitTarget',
    path: 'spec.commit.window',
    was: 'string',
    message: 'spec.commit.window as text is retired: use spec.commit.window.idleTimeout and .maxDuration',
  },
];

/** Entries whose parent is `path` of `kind`, with the last name of their path. */
export const retiredBelow = (kind: KindName, path: string): readonly (RetiredField & { readonly field: string })[] =>
  retiredFields
    .filter(
      (entry) =>
        entry.kind === kind && entry.path.startsWith(`${path}.`) && !/[.[]/u.test(entry.path.slice(path.length + 1)),
    )
    .map((entry) => ({ ...entry, field: entry.path.slice(path.length + 1) }));

/** Whether a stored value carries intent. */
export const isRefused = (entry: RetiredField, value: unknown): boolean =>
  value !== undefined && value !== null && (entry.refusedAt === undefined || value === entry.refusedAt);
