import type { EffectiveOf, StoredOf } from '../schema/schema.js';
import type { KindDeclaration } from '../kind.js';
import type { ReasonRow, Status } from '../conditions-table.js';
import { argoCDClaim, fluxClaim } from './claims.js';
import { commitRequest } from './commit-request.js';
import { gitBranch } from './git-branch.js';
import { gitProvider } from './git-provider.js';
import { gitReceiver } from './git-receiver.js';
import { gitTarget } from './git-target.js';
import { kubeProvider } from './kube-provider.js';
import { clusterWatchRule, watchRule } from './watch-rules.js';
import type { apiVersion } from '../kind.js';

/** The ten kinds, in the order of the contract. */
export const KINDS = {
  GitProvider: gitProvider,
  GitBranch: gitBranch,
  GitTarget: gitTarget,
  KubeProvider: kubeProvider,
  WatchRule: watchRule,
  ClusterWatchRule: clusterWatchRule,
  CommitRequest: commitRequest,
  GitReceiver: gitReceiver,
  FluxClaim: fluxClaim,
  ArgoCDClaim: argoCDClaim,
} as const;
type Kinds = typeof KINDS;
export type KindName = keyof Kinds;
export const kindNames = Object.keys(KINDS) as readonly KindName[];
export const isKindName = (text: string): text is KindName => Object.hasOwn(KINDS, text);
/** The declaration without its precise types, for code that treats all kinds alike. */
export const kindOf = (kind: KindName): KindDeclaration => KINDS[kind];

/** What may be stored. */
export type SpecOf<K extends KindName> = StoredOf<Kinds[K]['spec']>;
/** What a reader sees: `applyDefaults` gives it. */
export type EffectiveSpecOf<K extends KindName> = EffectiveOf<Kinds[K]['spec']>;
export type StatusOf<K extends KindName> = StoredOf<Kinds[K]['status']>;

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}
export interface ObjectOf<K extends KindName> {
  readonly apiVersion: typeof apiVersion;
  readonly kind: K;
  readonly metadata: ObjectMeta;
  readonly spec: SpecOf<K>;
  readonly status?: StatusOf<K>;
}

type RowsOf<C> = C extends { readonly type: infer T; readonly rows: readonly (infer R)[]; readonly mirrors: boolean }
  ? Contribution<T, R>
  : never;
type Contribution<T, R> =
  | (R extends ReasonRow<infer S, infer N> ? { readonly type: T; readonly status: S; readonly reason: N } : never)
  | { readonly type: T; readonly status: 'True'; readonly reason: 'Succeeded' }
  | { readonly type: T; readonly status: 'Unknown'; readonly reason: 'Progressing' };
/** Condition types of a kind, the trio excepted. */
export type ConditionTypeOf<K extends KindName> = Kinds[K]['conditions'][number]['type'];
type Declared<K extends KindName> = RowsOf<Kinds[K]['conditions'][number]>;
type Mirrored<K extends KindName> =
  'GitTargetReady' extends ConditionTypeOf<K>
    ? { readonly type: 'GitTargetReady'; readonly status: Status; readonly reason: string }
    : never;
type ReadyOnly<K extends KindName> =
  Kinds[K]['ready'][number] extends ReasonRow<infer S, infer N>
    ? { readonly type: 'Ready'; readonly status: S; readonly reason: N }
    : never;
/** Status and reason pairs that the tables of a kind allow. */
export type VerdictOf<K extends KindName> = Declared<K> | Mirrored<K> | ReadyOnly<K>;
