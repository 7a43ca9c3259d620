import { sharedRows, type ConditionRow, type Level, type ReasonRow, type Status } from './conditions-table.js';
import { kindOf, type KindName, type VerdictOf } from './kinds/kinds.js';

export interface Condition {
  readonly type: string;
  readonly status: Status;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** What one gate found. Where the table allows several levels, `level` says which applies. */
export type Gate<K extends KindName> = VerdictOf<K> & { readonly message: string; readonly level?: Level };

export interface RollUpOptions {
  /** The object carries a deletionTimestamp: `Ready` keeps its status. */
  readonly deleting?: boolean;
  /** Settled on purpose without working; the text says what to do to go on. */
  readonly suspended?: string;
  /** Reason and message of `Ready` when every gate is good. */
  readonly settled?: { readonly reason: string; readonly message: string };
}

export const trio = ['Ready', 'Reconciling', 'Stalled'] as const;
/** Characters of a condition message (ST-5). */
export const messageMaxLength = 1024;

interface Contribution {
  readonly type: string;
  readonly status: Status;
  readonly reason: string;
  readonly message: string;
  readonly level?: Level;
}
interface Decision {
  readonly ready: Status;
  readonly reconciling: Status;
  readonly stalled: Status;
  readonly reason: string;
  readonly message: string;
}

/** One line of at most 1024 characters. */
export function cutMessage(text: string): string {
  const line = text.replace(/\s*[\r\n]+\s*/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= messageMaxLength ? line : `${characters.slice(0, messageMaxLength - 1).join('')}…`;
}

/**
 * The conditions of an object from what its gates found: the trio first, then the rest in the order of the kind's table.
 *
 * A gate that was not evaluated reads `Unknown`; an optional condition that was not contributed is absent. The order of
 * `gates` does not matter: the worst level decides, and within one level the order of the table.
 *
 * @param previous conditions as stored; `lastTransitionTime` moves only where a status differs
 * @param generation the generation that was evaluated
 */
export function rollUp<K extends KindName>(
  kind: K,
  gates: readonly Gate<K>[],
  previous: readonly Condition[],
  generation: number,
  now: Date,
  options: RollUpOptions = {},
): readonly Condition[] {
  const declaration = kindOf(kind);
  const found = new Map<string, Contribution>();
  for (const gate of gates as readonly Contribution[]) {
    if (found.has(gate.type)) throw new TypeError(`${kind}: condition ${gate.type} was contributed twice`);
    found.set(gate.type, gate);
  }
  const ordered: (Contribution & { readonly level: Level })[] = [];
  const readyOnly = found.get('Ready');
  if (readyOnly !== undefined)
    ordered.push({ ...readyOnly, level: levelIn(kind, 'Ready', declaration.ready, readyOnly) });
  for (const row of declaration.conditions) {
    const gate = found.get(row.type);
    if (gate !== undefined) ordered.push({ ...gate, level: row.gate ? levelOf(kind, row, gate) : 'none' });
    else if (!row.optional) ordered.push({ ...notEvaluated(row), level: 'progress' });
  }
  const known = new Set(ordered.map(({ type }) => type));
  for (const type of found.keys()) if (!known.has(type)) throw new TypeError(`${kind} has no condition ${type}`);

  const before = new Map(previous.map((condition) => [condition.type, condition]));
  const wasReady = before.get('Ready')?.status;
  const { ready, reconciling, stalled, reason, message } = decideTrio(ordered, wasReady, options);
  const at = now.toISOString().replace(/\.\d{3}Z$/u, 'Z');
  const toCondition = (type: string, status: Status, why: string, text: string): Condition => {
    const old = before.get(type);
    return {
      type,
      status,
      observedGeneration: generation,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : at,
      reason: why,
      message: cutMessage(text),
    };
  };
  return [
    toCondition('Ready', ready, reason, message),
    toCondition('Reconciling', reconciling, reason, message),
    toCondition('Stalled', stalled, reason, message),
    ...ordered
      .filter(({ type }) => type !== 'Ready')
      .map((gate) => toCondition(gate.type, gate.status, gate.reason, gate.message)),
  ];
}

const notEvaluated = (row: ConditionRow): Contribution => ({
  type: row.type,
  status: 'Unknown',
  reason: 'Progressing',
  message: 'not evaluated yet: an earlier condition comes first',
});

function decideTrio(
  gates: readonly (Contribution & { readonly level: Level })[],
  wasReady: Status | undefined,
  { deleting = false, suspended, settled }: RollUpOptions,
): Decision {
  const stalled = gates.find(({ level }) => level === 'stalled');
  if (deleting) {
    const blocked = stalled?.reason === 'ReleaseBlocked' ? stalled : undefined;
    return {
      ready: wasReady ?? 'Unknown',
      reconciling: 'True',
      stalled: blocked === undefined ? 'False' : 'True',
      reason: blocked?.reason ?? 'Progressing',
      message: blocked?.message ?? 'being deleted',
    };
  }
  if (stalled !== undefined)
    return { ready: 'False', reconciling: 'False', stalled: 'True', reason: stalled.reason, message: stalled.message };
  const settledAs = (reason: string, message: string): Decision => ({
    ready: 'True',
    reconciling: 'False',
    stalled: 'False',
    reason,
    message,
  });
  if (suspended !== undefined) return settledAs('Suspended', suspended);
  // a gate that found something says more than one nobody looked at
  const progressing = gates.filter(({ level }) => level === 'progress');
  const decider =
    progressing.find(({ reason, status }) => reason !== 'Progressing' || status !== 'Unknown') ?? progressing[0];
  if (decider !== undefined) {
    const first = decider.status === 'Unknown' && (wasReady === undefined || wasReady === 'Unknown');
    return {
      ready: first ? 'Unknown' : 'False',
      reconciling: 'True',
      stalled: 'False',
      reason: decider.reason,
      message: decider.message,
    };
  }
  const own = gates.find(({ type }) => type === 'Ready');
  if (own !== undefined) return settledAs(own.reason, own.message);
  return settledAs(settled?.reason ?? 'Succeeded', settled?.message ?? 'everything declared is in place');
}

function levelOf(kind: KindName, row: ConditionRow, gate: Contribution): Level {
  if (!row.mirrors) return levelIn(kind, row.type, [...row.rows, ...sharedRows], gate);
  if (gate.level !== undefined) return gate.level;
  return gate.status === 'True' ? 'ok' : 'progress';
}

function levelIn(kind: KindName, type: string, rows: readonly ReasonRow[], gate: Contribution): Level {
  const row = rows.find(({ status, reasons }) => status === gate.status && reasons.includes(gate.reason));
  if (row === undefined)
    throw new TypeError(`${kind}: condition ${type} has no ${gate.status} with reason ${gate.reason}`);
  if (gate.level === undefined) return row.levels[0] ?? 'none';
  if (row.levels.includes(gate.level) || (gate.status === 'True' && gate.level === 'none')) return gate.level;
  throw new TypeError(`${kind}: ${type} ${gate.reason} is ${row.levels.join(' or ')}, never ${gate.level}`);
}

/** Whether a status write would change anything (ST-4). */
export const sameConditions = (a: readonly Condition[], b: readonly Condition[]): boolean =>
  a.length === b.length &&
  a.every((left, index) => {
    const right = b[index];
    return (
      right !== undefined &&
      left.type === right.type &&
      left.status === right.status &&
      left.reason === right.reason &&
      left.message === right.message &&
      left.observedGeneration === right.observedGeneration &&
      left.lastTransitionTime === right.lastTransitionTime
    );
  });

/** The event that a stored change of `Ready` or its reason is worth (ST-6), or nothing. */
export function eventOf(
  previous: readonly Condition[],
  next: readonly Condition[],
): { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string } | undefined {
  const before = previous.find(({ type }) => type === 'Ready');
  const after = next.find(({ type }) => type === 'Ready');
  if (after === undefined || (before?.status === after.status && before.reason === after.reason)) return undefined;
  const isStalled = next.some(({ type, status }) => type === 'Stalled' && status === 'True');
  return { type: isStalled ? 'Warning' : 'Normal', reason: after.reason, message: after.message };
}
