import type { LabelSelector } from '@gitops-reverser/crd-types';

/** One entry of a rule, as declared. */
export interface RuleEntry {
  readonly resources: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly objectSelector?: LabelSelector;
  /** `*`: every namespace. Absent: the rule's own. */
  readonly sourceNamespace?: string;
}

/** A rule of either kind; `namespace` is absent for a cluster-scoped one, which selects cluster-scoped types. */
export interface DeclaredRule {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** RFC 3339; the older of two overlapping rules keeps its collections. */
  readonly createdAt: string;
  readonly entries: readonly RuleEntry[];
}

export const ruleTitle = (rule: DeclaredRule): string =>
  rule.namespace === undefined ? `${rule.kind} ${rule.name}` : `${rule.kind} ${rule.namespace}/${rule.name}`;

/** Older first: creation time, then namespace and name. */
export function byAge(a: DeclaredRule, b: DeclaredRule): number {
  return (
    compare(a.createdAt, b.createdAt) ||
    compare(a.namespace ?? '', b.namespace ?? '') ||
    compare(a.name, b.name) ||
    compare(a.kind, b.kind)
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
