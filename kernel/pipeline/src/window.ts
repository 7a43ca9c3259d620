import type { KubeObject, ObjectRef, TargetId } from '@gitops-reverser/kernel-api';
import type { Authorship, Observation, Operation, WriteItem } from './item.js';

/** The net effect of everything one window heard about one object. */
export interface WindowEntry extends Observation {
  readonly ref: ObjectRef;
  readonly refKey: string;
  readonly collectionKey: string;
  readonly operation: Operation;
  /** The first thing heard was its creation: a DELETE then means nothing unless Git has such a document. */
  readonly isBornHere: boolean;
  readonly object?: KubeObject;
  readonly bytes: number;
  /** Arrival of its first change. */
  readonly arrivedAt: Date;
}

/** Open, uncommitted changes of one author for one target. */
export interface CommitWindow {
  readonly target: TargetId;
  readonly author: Authorship;
  /** In first-seen order. */
  readonly entries: Map<string, WindowEntry>;
  /** Place of the first write among all windows of the branch. */
  readonly place: number;
  readonly openedAtMs: number;
  /** Snapshotted when the window opened: editing a target never moves a running deadline. */
  readonly idleMs: number;
  readonly maxMs: number;
  lastAtMs: number;
  /** Arrival of the last write: the author date of the commit. */
  lastArrivedAt: Date;
  bytes: number;
}

export type CloseReason =
  'idle-timeout' | 'max-duration' | 'author-change' | 'buffer-limit' | 'snapshot' | 'suspend' | 'shutdown';

/** One window belongs to one author and one attribution outcome; two unresolved changes share one. */
export function isSameAuthor(a: Authorship, b: Authorship): boolean {
  if (a.outcome !== b.outcome) return false;
  return a.outcome !== 'resolved' || b.outcome !== 'resolved' || a.actor.username === b.actor.username;
}

export function openWindow(
  item: WriteItem,
  timers: { readonly idleMs: number; readonly maxMs: number },
  place: number,
  nowMs: number,
): CommitWindow {
  const window: CommitWindow = {
    target: item.collection.target,
    author: item.author,
    entries: new Map(),
    place,
    openedAtMs: nowMs,
    idleMs: timers.idleMs,
    maxMs: timers.maxMs,
    lastAtMs: nowMs,
    lastArrivedAt: item.receivedAt,
    bytes: 0,
  };
  addToWindow(window, item, nowMs);
  return window;
}

/** Last value wins, first-seen position is kept, the operation becomes the net effect. */
export function addToWindow(window: CommitWindow, item: WriteItem, nowMs: number): void {
  const before = window.entries.get(item.refKey);
  const entry: WindowEntry = {
    ref: item.ref,
    refKey: item.refKey,
    collectionKey: item.collectionKey,
    uid: item.uid,
    resourceVersion: item.resourceVersion,
    generation: item.generation,
    operation: before === undefined ? item.operation : netOperation(before, item.operation),
    isBornHere: before?.isBornHere ?? item.operation === 'CREATE',
    ...(item.object === undefined ? {} : { object: item.object }),
    bytes: item.bytes,
    arrivedAt: before?.arrivedAt ?? item.receivedAt,
  };
  window.entries.set(item.refKey, entry);
  window.bytes += entry.bytes - (before?.bytes ?? 0);
  window.lastAtMs = nowMs;
  window.lastArrivedAt = item.receivedAt;
}

function netOperation(before: Pick<WindowEntry, 'operation' | 'isBornHere'>, next: Operation): Operation {
  if (next === 'DELETE') return 'DELETE';
  return before.isBornHere ? 'CREATE' : 'UPDATE';
}

/** When the window closes if nothing more arrives. */
export const windowDueMs = (window: CommitWindow): number =>
  Math.min(window.lastAtMs + window.idleMs, window.openedAtMs + window.maxMs);

/** The deadline that was reached first; undefined while neither is. */
export function dueReason(window: CommitWindow, nowMs: number): 'idle-timeout' | 'max-duration' | undefined {
  if (nowMs < windowDueMs(window)) return undefined;
  return window.lastAtMs + window.idleMs <= window.openedAtMs + window.maxMs ? 'idle-timeout' : 'max-duration';
}
