import {
  messageOf,
  reasonOf,
  type BranchSettings,
  type BranchSpec,
  type BranchStatus,
  type Clock,
  type Logger,
  type Refusal,
  type TargetSettings,
} from '@gitops-reverser/kernel-api';
import { announcer, type Announcer } from './announce.js';
import { BranchDesk } from './branch-desk.js';
import type { Snapshot, SnapshotOutcome, WriteItem } from './item.js';
import type { Lane, LanePlugins } from './lane.js';
import type { RuntimeLimits } from './limits.js';
import { Mailbox } from './mailbox.js';
import { branchMeters, type BranchMeters, type Gauges, type Meters } from './meters.js';

export interface WorkerGiven {
  readonly spec: BranchSpec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly gauges: Gauges;
  readonly limits: RuntimeLimits;
  readonly random: () => number;
  isSensitive(group: string, resource: string): boolean;
}

/**
 * The one owner of a branch. Everybody sends it messages; one handler runs at a time and awaits its Git work before the next
 * message is taken. What the handlers do is the desk's.
 */
export class BranchWorker {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #meters: Meters;
  readonly #branch: BranchMeters;
  readonly #mailbox: Mailbox;
  readonly #desk: BranchDesk;
  readonly #announcer: Announcer;
  readonly #gaugeHandles: readonly Disposable[];
  /** Ends all work: the scope closes, or the budget of a stop is spent. */
  readonly #work = new AbortController();
  #isLookAsked = false;
  #isStopping = false;
  #hasEnded = false;
  /** Who waits for the end of the loop. */
  readonly #ended = new Set<() => void>();
  #wake: () => void = () => undefined;

  constructor(given: WorkerGiven) {
    const { spec, clock, logger, meters, gauges, limits } = given;
    this.#clock = clock;
    this.#logger = logger;
    this.#meters = meters;
    this.#branch = branchMeters(meters, {
      provider_namespace: spec.provider.namespace,
      provider_name: spec.provider.name,
      branch: spec.branch,
    });
    this.#mailbox = new Mailbox(limits.queueItems);
    this.#announcer = announcer(logger);
    this.#desk = new BranchDesk({
      ...given,
      branch: this.#branch,
      changed: () => this.#announcer.changed(),
      signal: this.#work.signal,
    });
    const { labels } = this.#branch;
    this.#gaugeHandles = [
      gauges.queueDepth.add(() => [{ labels, value: this.#mailbox.depth }]),
      gauges.retainedBytes.add(() => [{ labels, value: this.#desk.heldBytes }]),
      gauges.branchTargets.add(() => this.#desk.targetSamples()),
    ];
  }

  // What others may say; each returns at once.

  /** False: refused; the producer keeps its cursor and says it again. */
  offerWrite(item: WriteItem): boolean {
    const isTooMuch = this.#desk.isBacklogFull;
    if (isTooMuch) this.#announcer.changed();
    if (!isTooMuch && this.#mailbox.offer({ kind: 'write', target: item.collection.target, item })) return true;
    this.#meters.queueDrops.add({ ...this.#branch.labels, kind: 'write' });
    return false;
  }

  /** Undefined: refused. Otherwise what became of it, once that is known. */
  offerSnapshot(snapshot: Snapshot): Promise<SnapshotOutcome> | undefined {
    let settle: (outcome: SnapshotOutcome) => void = () => undefined;
    const outcome = new Promise<SnapshotOutcome>((resolve) => {
      settle = resolve;
    });
    if (this.#mailbox.offer({ kind: 'snapshot', target: snapshot.collection.target, snapshot, settle })) return outcome;
    this.#meters.queueDrops.add({ ...this.#branch.labels, kind: 'resync' });
    return undefined;
  }

  admit(lane: Lane): void {
    this.#mailbox.order(() => this.#desk.admit(lane));
  }

  /** Resolves when the branch has changed over to the new plugins. */
  reconfigure(lane: Lane, plugins: LanePlugins, settings: TargetSettings): Promise<void> {
    return this.#ordered(() => this.#desk.reconfigure(lane, plugins, settings));
  }

  /** Resolves when nothing new is written for the target; the lane says when its plugins are released. */
  retire(lane: Lane): Promise<void> {
    return this.#ordered(() => this.#desk.retire(lane));
  }

  /** A collection is no longer followed: its windows stay, what is known of it goes. */
  forget(lane: Lane, collectionKey: string): void {
    this.#mailbox.order(() => lane.forget(collectionKey));
  }

  /** An object of a live stream that could not be read. */
  report(lane: Lane, collectionKey: string, refKey: string, refusal: Refusal): void {
    this.#mailbox.order(() => lane.refuse(collectionKey, refKey, refusal));
  }

  configure(settings: BranchSettings): void {
    this.#mailbox.order(() => this.#desk.configure(settings));
  }

  distrust(): void {
    this.#mailbox.order(() => this.#desk.distrust());
  }

  /** Asks for one look at the remote; coalesced. */
  observe(): void {
    if (this.#isLookAsked) return;
    this.#isLookAsked = true;
    this.#mailbox.order(async () => {
      this.#isLookAsked = false;
      await this.#desk.look('forced_recheck');
    });
  }

  onChange(listener: () => void): Disposable {
    return this.#announcer.onChange(listener);
  }

  status(): BranchStatus {
    return this.#desk.status();
  }

  /** Refuses new work, closes the windows, publishes once without waiting, and ends the loop; all within `budgetMs`. */
  close(budgetMs: number): Promise<void> {
    this.#mailbox.close();
    return new Promise((resolve) => {
      if (this.#hasEnded) return resolve();
      const done = new AbortController();
      void this.#clock.sleep(budgetMs, done.signal).then(() => this.#work.abort());
      this.#ended.add(() => {
        done.abort();
        resolve();
      });
      this.#isStopping = true;
      this.#wake();
    });
  }

  // The loop.

  /** Runs until `close` is done or `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#work.abort();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      while (!this.#work.signal.aborted) {
        const order = this.#mailbox.takeOrder();
        const mail = order === undefined ? this.#mailbox.takeMail() : undefined;
        if (order !== undefined) await this.#guard('an order', order);
        else if (mail !== undefined) await this.#guard(mail.kind, () => this.#desk.handle(mail));
        else if (this.#isStopping) break;
        await this.#guard('deadlines', () => this.#desk.deadlines());
        if (this.#mailbox.isEmpty && !this.#isStopping) await this.#rest();
      }
      await this.#guard('the last publication', () => this.#desk.drain());
    } finally {
      signal.removeEventListener('abort', stop);
      this.#mailbox.close();
      this.#desk.abandon();
      for (const handle of this.#gaugeHandles) handle[Symbol.dispose]();
      this.#hasEnded = true;
      for (const end of this.#ended) end();
      this.#ended.clear();
    }
  }

  /** A handler that fails fails its own item, never the loop. */
  async #guard(what: string, act: () => void | Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (this.#work.signal.aborted) return;
      this.#logger.error({ err: messageOf(error), reason: reasonOf(error), what }, 'a handler of the branch failed');
    }
  }

  /** Until the next message or deadline. */
  async #rest(): Promise<void> {
    const dueMs = this.#desk.nextDeadlineMs();
    const nowMs = this.#clock.now().getTime();
    if (this.#work.signal.aborted || (dueMs !== undefined && dueMs <= nowMs)) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#work.signal.addEventListener('abort', wake, { once: true });
    this.#wake = wake;
    this.#mailbox.onArrival(wake);
    if (dueMs === undefined)
      await new Promise<void>((resolve) => woken.signal.addEventListener('abort', () => resolve(), { once: true }));
    else await this.#clock.sleep(dueMs - nowMs, woken.signal);
    this.#mailbox.onArrival(undefined);
    this.#work.signal.removeEventListener('abort', wake);
  }

  #ordered(act: () => void | Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      if (this.#hasEnded) return resolve();
      this.#ended.add(resolve);
      this.#mailbox.order(async () => {
        try {
          await act();
        } finally {
          this.#ended.delete(resolve);
          resolve();
        }
      });
    });
  }
}
