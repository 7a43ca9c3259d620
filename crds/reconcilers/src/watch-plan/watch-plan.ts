import { collectionKey, type Collection, type Surface, type TargetId } from '@gitops-reverser/kernel-api';
import { ENTRY_REASONS, resolveEntry, type EntryProblem, type TypeJudge } from './resolve-entry.js';
import { byAge, ruleTitle, type DeclaredRule } from './rule.js';

export type ResourcesReason = 'Succeeded' | 'CollectionOverlap' | (typeof ENTRY_REASONS)[number] | 'AwaitingDiscovery';

export interface PlannedRule {
  readonly rule: DeclaredRule;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: ResourcesReason;
  readonly message: string;
  readonly collections: readonly Collection[];
}

export interface WatchPlan {
  readonly rules: readonly PlannedRule[];
  /** Every collection once, in a stable order. */
  readonly collections: readonly Collection[];
}

/**
 * Which collections the rules of one target select of its cluster's surface. Pure, and independent of the order of `rules`
 * (WP-7): age decides who keeps an overlapping collection.
 */
export function planWatches(
  target: TargetId,
  rules: readonly DeclaredRule[],
  surface: Surface | undefined,
  judge: TypeJudge,
): WatchPlan {
  const accepted = new Map<string, { readonly collection: Collection; readonly owner: DeclaredRule }>();
  const planned = [...rules].sort(byAge).map((rule): PlannedRule => {
    if (surface === undefined || surface.generation === 0) {
      return {
        rule,
        status: 'Unknown',
        reason: 'AwaitingDiscovery',
        message: 'waiting for the first look at what the source cluster serves',
        collections: [],
      };
    }
    const { collections, problems, notes } = collectionsOf(target, rule, surface, judge);
    const overlap = selfOverlap(collections) ?? olderOverlap(collections, [...accepted.values()]);
    if (overlap !== undefined)
      return { rule, status: 'False', reason: 'CollectionOverlap', message: overlap, collections: [] };
    for (const collection of collections) {
      const key = collectionKey(collection);
      if (!accepted.has(key)) accepted.set(key, { collection, owner: rule });
    }
    return { rule, ...verdict(problems, notes, collections), collections };
  });
  const keys = [...accepted.keys()].sort();
  return { rules: planned, collections: keys.flatMap((key) => accepted.get(key)?.collection ?? []) };
}

function collectionsOf(
  target: TargetId,
  rule: DeclaredRule,
  surface: Surface,
  judge: TypeJudge,
): {
  readonly collections: readonly Collection[];
  readonly problems: readonly EntryProblem[];
  readonly notes: readonly string[];
} {
  const byKey = new Map<string, Collection>();
  const problems: EntryProblem[] = [];
  const notes: string[] = [];
  rule.entries.forEach((entry, index) => {
    const resolved = resolveEntry(rule, index, entry, surface, judge);
    problems.push(...resolved.problems);
    notes.push(...resolved.notes);
    for (const { served, ...scope } of resolved.scopes) {
      const collection: Collection = { target, type: served.type, ...scope };
      byKey.set(collectionKey(collection), collection);
    }
  });
  return { collections: [...byKey.values()], problems, notes };
}

function verdict(
  problems: readonly EntryProblem[],
  notes: readonly string[],
  collections: readonly Collection[],
): Pick<PlannedRule, 'status' | 'reason' | 'message'> {
  const reason = ENTRY_REASONS.find((candidate) => problems.some((problem) => problem.reason === candidate));
  if (reason === undefined)
    return {
      status: 'True',
      reason: 'Succeeded',
      message: [`${collections.length} collection(s) selected`, ...new Set(notes)].join('; '),
    };
  return { status: 'False', reason, message: problems.map((problem) => problem.message).join('; ') };
}

/** Same type, and the same namespace or one that covers all, whatever the selectors; an equal collection is shared. */
function overlaps(a: Collection, b: Collection): boolean {
  if (a.type.group !== b.type.group || a.type.resource !== b.type.resource) return false;
  if (collectionKey(a) === collectionKey(b)) return false;
  return a.namespace === b.namespace || a.namespace === undefined || b.namespace === undefined;
}

function selfOverlap(collections: readonly Collection[]): string | undefined {
  for (const [index, first] of collections.entries()) {
    const second = collections.slice(index + 1).find((other) => overlaps(first, other));
    if (second !== undefined)
      return `${title(first)} and ${title(second)} of this rule overlap; merge the entries or narrow one`;
  }
  return undefined;
}

function olderOverlap(
  collections: readonly Collection[],
  accepted: readonly { readonly collection: Collection; readonly owner: DeclaredRule }[],
): string | undefined {
  for (const collection of collections) {
    const older = accepted.find((held) => overlaps(collection, held.collection));
    if (older !== undefined)
      return `${title(collection)} overlaps ${title(older.collection)} of the older ${ruleTitle(older.owner)}; narrow or delete one of the two`;
  }
  return undefined;
}

function title({ type, namespace, labelSelector }: Collection): string {
  const resource = type.group === '' ? type.resource : `${type.resource}.${type.group}`;
  const where = !type.namespaced ? '' : namespace === undefined ? ' in every namespace' : ` in namespace ${namespace}`;
  return `${resource}${where}${labelSelector === undefined ? '' : ` with a selector`}`;
}
