import { targetId, type Collection, type SourceNamespace, type Surface } from '@gitops-reverser/kernel-api';
import { admitsSourceNamespace, applyDefaults, type KubeProviderLender } from '@gitops-reverser/crd-types';
import { GRANT_RETRY_MS, type Grants } from '../grants.js';
import { keyFor, keyOf, type Declared, type Objects } from '../objects.js';
import { storedProblem } from '../validated.js';
import { planWatches, type PlannedRule } from '../watch-plan/watch-plan.js';
import type { TypeJudge } from '../watch-plan/resolve-entry.js';
import type { DeclaredRule } from '../watch-plan/rule.js';

/** What the target decided about one rule. */
export interface RuleFacts {
  readonly authorized: {
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason: 'OwnNamespace' | 'Granted' | 'NotAllowed' | 'GrantUnreadable';
    readonly message: string;
    readonly isStarted: boolean;
  };
  readonly planned: PlannedRule;
}

export interface RulePlan {
  readonly collections: readonly Collection[];
  /** By `kind key`. */
  readonly facts: ReadonlyMap<string, RuleFacts>;
  /** A grant could not be read: plan again after this long. */
  readonly retryMs?: number;
}

type AnyRule = Declared<'WatchRule'> | Declared<'ClusterWatchRule'>;

export const ruleKey = (rule: {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}): string => `${rule.kind} ${keyOf(rule)}`;

/** Rules that name this target. */
export function rulesOf(objects: Objects, target: Declared<'GitTarget'>): readonly AnyRule[] {
  const { namespace = '', name } = target.metadata;
  const own = objects.list('WatchRule', namespace).filter(({ spec }) => spec.gitTargetRef.name === name);
  const wide = objects
    .list('ClusterWatchRule')
    .filter(({ spec }) => spec.gitTargetRef.name === name && spec.gitTargetRef.namespace === namespace);
  return [...own, ...wide];
}

/**
 * Namespaces that the target may hold objects of, and who names them: its own and those of its rules, whether a grant admits
 * them today or not.
 */
export function sourceNamespacesOf(objects: Objects, target: Declared<'GitTarget'>): readonly SourceNamespace[] {
  const namedBy = new Map([[target.metadata.namespace ?? '', new Set([`GitTarget ${keyOf(target)}`])]]);
  for (const rule of usableRules(objects, target)) {
    if (rule.kind === 'ClusterWatchRule') continue;
    for (const { sourceNamespace } of (rule.spec as Declared<'WatchRule'>['spec']).rules) {
      const name = sourceNamespace ?? rule.metadata.namespace ?? '';
      namedBy.set(name, (namedBy.get(name) ?? new Set<string>()).add(`WatchRule ${keyOf(rule)}`));
    }
  }
  return [...namedBy].map(([name, declarations]) => ({ name, namedBy: [...declarations].sort() }));
}

function usableRules(objects: Objects, target: Declared<'GitTarget'>): readonly AnyRule[] {
  return rulesOf(objects, target).filter(
    (rule) => rule.metadata.deletionTimestamp === undefined && storedProblem(rule.kind, rule) === undefined,
  );
}

/** The whole plan of one target: who may read which namespace, then which collections that means. */
export function planRules(
  objects: Objects,
  grants: Grants,
  target: Declared<'GitTarget'>,
  lender: KubeProviderLender & { readonly uid: string },
  surface: Surface | undefined,
  judge: TypeJudge,
): RulePlan {
  const { namespace = '', name } = target.metadata;
  const usable = usableRules(objects, target);
  const authorized = new Map(
    usable.map((rule) => [ruleKey(rule), authorize(rule, lender, grants, keyFor(namespace, name))]),
  );
  const declared = usable.filter((rule) => authorized.get(ruleKey(rule))?.isStarted === true).map(toDeclared);
  const plan = planWatches(targetId(namespace, name), declared, surface, judge);
  const plannedByKey = new Map(
    plan.rules.map((planned) => [
      `${planned.rule.kind} ${planned.rule.namespace === undefined ? planned.rule.name : keyFor(planned.rule.namespace, planned.rule.name)}`,
      planned,
    ]),
  );
  const facts = new Map<string, RuleFacts>();
  for (const rule of usable) {
    const key = ruleKey(rule);
    const verdict = authorized.get(key);
    if (verdict === undefined) continue;
    const waiting: PlannedRule = {
      rule: toDeclared(rule),
      status: 'Unknown',
      reason: 'AwaitingDiscovery',
      message: 'not resolved while the source namespace is not authorized',
      collections: [],
    };
    facts.set(key, { authorized: verdict, planned: plannedByKey.get(key) ?? waiting });
  }
  const isUnreadable = [...authorized.values()].some(({ reason }) => reason === 'GrantUnreadable');
  return { collections: plan.collections, facts, ...(isUnreadable ? { retryMs: GRANT_RETRY_MS } : {}) };
}

/** One denied entry refuses the whole rule (chapter 10, section 6). */
function authorize(
  rule: AnyRule,
  lender: KubeProviderLender & { readonly uid: string },
  grants: Grants,
  target: string,
): RuleFacts['authorized'] {
  if (rule.kind === 'ClusterWatchRule') return { status: 'True', reason: 'OwnNamespace', message: '', isStarted: true };
  const namespace = rule.metadata.namespace ?? '';
  let isOwn = true;
  let unreadable: { readonly message: string; readonly isStarted: boolean } | undefined;
  for (const [index, entry] of (rule.spec as Declared<'WatchRule'>['spec']).rules.entries()) {
    const sourceNamespace = entry.sourceNamespace ?? namespace;
    isOwn &&= sourceNamespace === namespace;
    const borrower = { kind: 'WatchRule', namespace, sourceNamespace } as const;
    const admission = grants.ask(`WatchRule ${keyOf(rule)}:${target}:${lender.uid}:${sourceNamespace}`, {
      lender,
      borrower,
    });
    if (admission.kind === 'denied')
      return {
        status: 'False',
        reason: 'NotAllowed',
        message: `spec.rules[${index}] (${entry.resources.join(', ')}): ${admission.message}`,
        isStarted: false,
      };
    if (admission.kind === 'kept' || admission.kind === 'unreadable') {
      const covers =
        admission.kind === 'kept' &&
        (admission.decision.scope === undefined || admitsSourceNamespace(admission.decision.scope, sourceNamespace));
      unreadable ??= { message: `spec.rules[${index}]: ${admission.message}`, isStarted: covers };
    }
  }
  if (unreadable !== undefined) return { status: 'Unknown', reason: 'GrantUnreadable', ...unreadable };
  return isOwn
    ? { status: 'True', reason: 'OwnNamespace', message: "the rule's own namespace", isStarted: true }
    : { status: 'True', reason: 'Granted', message: 'the KubeProvider admits these namespaces', isStarted: true };
}

function toDeclared(rule: AnyRule): DeclaredRule {
  const { name, namespace } = rule.metadata;
  const createdAt = rule.metadata.creationTimestamp ?? '';
  const entries =
    rule.kind === 'WatchRule'
      ? applyDefaults('WatchRule', rule.spec as Declared<'WatchRule'>['spec']).rules
      : applyDefaults('ClusterWatchRule', rule.spec as Declared<'ClusterWatchRule'>['spec']).rules;
  return {
    kind: rule.kind,
    name,
    createdAt,
    entries: entries as DeclaredRule['entries'],
    ...(namespace === undefined ? {} : { namespace }),
  };
}
