import type { TargetId } from '@gitops-reverser/kernel-api';
import type { Snapshot, SnapshotOutcome, WriteItem } from './item.js';

/** What a branch is told about changes, in arrival order. */
export type Mail =
  | { readonly kind: 'write'; readonly target: TargetId; readonly item: WriteItem }
  | {
      readonly kind: 'snapshot';
      readonly target: TargetId;
      readonly snapshot: Snapshot;
      readonly settle: (outcome: SnapshotOutcome) => void;
    };

/** Orders of the house; never refused, taken first. */
export type Order = () => void | Promise<void>;

/** The one way into a branch's loop: a bounded lane for changes, an unbounded one for orders. */
export class Mailbox {
  readonly #limit: number;
  readonly #orders: Order[] = [];
  /** A queue over an array: `#head` is the first item still waiting. */
  #mails: (Mail | undefined)[] = [];
  #head = 0;
  #waiting = 0;
  readonly #waitingByTarget = new Map<TargetId, number>();
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Changes that wait. */
  get depth(): number {
    return this.#waiting;
  }

  /** False when it is full, or its target holds half of it, or it is closed: the producer keeps its cursor and says it again. */
  offer(mail: Mail): boolean {
    if (this.#isClosed) return false;
    if (mail.kind === 'snapshot' && this.#replaceQueued(mail)) return true;
    const ofTarget = this.#waitingByTarget.get(mail.target) ?? 0;
    if (this.#waiting >= this.#limit || ofTarget >= Math.max(1, Math.floor(this.#limit / 2))) return false;
    this.#mails.push(mail);
    this.#count(mail.target, 1);
    this.#wake?.();
    return true;
  }

  order(order: Order): void {
    this.#orders.push(order);
    this.#wake?.();
  }

  takeOrder(): Order | undefined {
    return this.#orders.shift();
  }

  takeMail(): Mail | undefined {
    const mail = this.#mails[this.#head];
    if (mail === undefined) return undefined;
    this.#mails[this.#head] = undefined;
    this.#head += 1;
    // 1_024: often enough to give memory back, seldom enough to cost nothing.
    if (this.#head === this.#mails.length || this.#head > 1_024) {
      this.#mails = this.#mails.slice(this.#head);
      this.#head = 0;
    }
    this.#count(mail.target, -1);
    return mail;
  }

  /** Nothing more is accepted; what was accepted can still be taken. */
  close(): void {
    this.#isClosed = true;
  }

  get isEmpty(): boolean {
    return this.#waiting === 0 && this.#orders.length === 0;
  }

  /** Calls `wake` on the next arrival; at most one waiter, the loop. */
  onArrival(wake: (() => void) | undefined): void {
    this.#wake = wake;
  }

  #count(target: TargetId, by: 1 | -1): void {
    this.#waiting += by;
    const left = (this.#waitingByTarget.get(target) ?? 0) + by;
    if (left === 0) this.#waitingByTarget.delete(target);
    else this.#waitingByTarget.set(target, left);
  }

  /** A newer snapshot of one scope takes the place of a queued one, unless something of its target came in between. */
  #replaceQueued(mail: Mail & { readonly kind: 'snapshot' }): boolean {
    for (let index = this.#mails.length - 1; index >= this.#head; index -= 1) {
      const queued = this.#mails[index];
      if (queued === undefined || queued.target !== mail.target) continue;
      if (queued.kind !== 'snapshot') return false;
      if (queued.snapshot.collectionKey === mail.snapshot.collectionKey) {
        this.#mails[index] = mail;
        queued.settle('superseded');
        return true;
      }
      if (doOverlap(queued.snapshot, mail.snapshot)) return false;
    }
    return false;
  }
}

const doOverlap = (a: Snapshot, b: Snapshot): boolean => {
  const [one, two] = [a.collection, b.collection];
  if (one.type.group !== two.type.group || one.type.resource !== two.type.resource) return false;
  return one.namespace === undefined || two.namespace === undefined || one.namespace === two.namespace;
};
