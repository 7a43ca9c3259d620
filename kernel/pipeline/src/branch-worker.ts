import {
  messageOf,
  reasonOf,
  type BranchSettings,
  type BranchSpec,
  type BranchState,
  type BranchStatus,
  type Clock,
  type Logger,
  type ObjectRef,
  type Refusal,
  type TargetId,
  type TargetSettings,
} from '@gitops-reverser/kernel-api';
import { announcer, type Announcer } from './announce.js';
import { Cadence } from './cadence.js';
import { initialVerdicts, pauseOf } from './failure.js';
import type { Snapshot, SnapshotOutcome, WriteItem } from './item.js';
import type { Lane, LanePlugins } from './lane.js';
import { backoffMs, type RuntimeLimits } from './limits.js';
import { Mailbox, type Mail } from './mailbox.js';
import { branchMeters, gtLabels, type BranchMeters, type Gauges, type Meters } from './meters.js';
import { Closing } from './closing.js';
import type { PendingWrite } from './pending.js';
import { Publication, type FetchReason } from './publication.js';
import {
  addToWindow,
  dueReason,
  isSameAuthor,
  openWindow,
  windowDueMs,
  type CloseReason,
  type CommitWindow,
} from './window.js';

export interface WorkerGiven {
  readonly spec: BranchSpec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly gauges: Gauges;
  readonly limits: RuntimeLimits;
  readonly random: () => number;
  readonly isSensitive: (ref: ObjectRef) => boolean;
}

/** 4: live writes are refused once this many times the buffer is held. */
const HARD_LIMIT = 4;

/**
 * The one owner of a branch: its windows, its retained writes, its base. Everybody else sends it messages; one handler runs at
 * a time and awaits its Git work before the next message is taken.
 */
export class BranchWorker {
  readonly spec: BranchSpec;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #meters: Meters;
  readonly #branch: BranchMeters;
  readonly #limits: RuntimeLimits;
  readonly #closing: Closing;
  readonly #mailbox: Mailbox;
  readonly #publication: Publication;
  readonly #cadence: Cadence;
  readonly #announcer: Announcer;
  readonly #laneByTarget = new Map<TargetId, Lane>();
  readonly #gaugeHandles: readonly Disposable[];
  #settings: BranchSettings;
  #signal: AbortSignal = new AbortController().signal;
  #nextId = 1;
  #place = 1;
  #isLookOwed = false;
  #isLookAsked = false;
  #isCooldownWaived = false;
  #rechecks = 0;
  #recheckAtMs = 0;
  #activity: 'Publishing' | 'Draining' | undefined;
  #isStopping = false;
  #budget: AbortSignal | undefined;
  #hasEnded = false;
  /** Who waits for the end of the loop. */
  readonly #ended = new Set<() => void>();
  #wake: () => void = () => undefined;

  constructor(given: WorkerGiven) {
    const { spec, clock, logger, meters, gauges, limits, random } = given;
    this.spec = spec;
    this.#clock = clock;
    this.#logger = logger;
    this.#meters = meters;
    this.#limits = limits;
    this.#settings = spec.settings;
    this.#branch = branchMeters(meters, {
      provider_namespace: spec.provider.namespace,
      provider_name: spec.provider.name,
      branch: spec.branch,
    });
    this.#mailbox = new Mailbox(limits.queueItems);
    this.#announcer = announcer(logger);
    this.#cadence = new Cadence({
      cooldownMs: limits.pushCooldownMs,
      retryMs: limits.retryMs,
      retryMaxMs: limits.retryMaxMs,
      random,
    });
    this.#closing = new Closing({
      store: spec.store,
      branch: spec.id,
      clock,
      logger,
      meters,
      labels: this.#branch.labels,
      limits,
      isSensitive: given.isSensitive,
      committer: () => this.#settings.committer,
      laneOf: (target) => this.#laneByTarget.get(target),
      folderRefused: () => this.#refusedFolderSeen(),
    });
    this.#publication = new Publication({
      store: spec.store,
      clock,
      logger,
      meters: this.#branch,
      verdicts: initialVerdicts(),
      host: {
        plan: (write, onto, signal) => this.#closing.plan(write, onto, signal),
        settled: (write, plan, commit) => this.#closing.settled(write, plan, commit),
        tipSeen: (_from, _to, isForeign) => this.#tipSeen(isForeign),
        changed: () => this.#announcer.changed(),
      },
    });
    this.#gaugeHandles = [
      gauges.queueDepth.add(() => [{ labels: this.#branch.labels, value: this.#mailbox.depth }]),
      gauges.retainedBytes.add(() => [{ labels: this.#branch.labels, value: this.#heldBytes() }]),
      gauges.branchTargets.add(() =>
        [...this.#laneByTarget.values()].map(({ facts }) => ({
          labels: { ...this.#branch.labels, ...gtLabels(facts), source_cluster: facts.sourceCluster },
          value: 1,
        })),
      ),
    ];
  }

  // What others may say; each returns at once.

  /** False: refused; the producer keeps its cursor and says it again. */
  offerWrite(item: WriteItem): boolean {
    const isTooMuch = this.#heldBytes() >= this.#limits.bufferBytes * HARD_LIMIT;
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
    this.#mailbox.order(() => {
      this.#laneByTarget.set(lane.facts.id, lane);
      this.#scan(lane);
    });
  }

  reconfigure(lane: Lane, plugins: LanePlugins, settings: TargetSettings): Promise<void> {
    return this.#ordered(() => {
      if (settings.suspend && !lane.settings.suspend) {
        this.#dropWindow(lane, 'suspend');
        this.#publication.drop(({ target }) => target === lane.facts.id);
      }
      lane.replace(plugins, settings);
      this.#scan(lane);
    });
  }

  /** Nothing new is written for it; what is committed is still pushed, at once. */
  retire(lane: Lane): Promise<void> {
    return this.#ordered(async () => {
      lane.isGone = true;
      lane.window = undefined;
      this.#publication.drop(({ target }) => target === lane.facts.id);
      if (!this.#cadence.isFailing && this.#publication.retained.some(({ target }) => target === lane.facts.id))
        await this.#publishNow();
      if (this.#laneByTarget.get(lane.facts.id) === lane) this.#laneByTarget.delete(lane.facts.id);
      this.#announcer.changed();
    });
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
    this.#mailbox.order(() => {
      this.#settings = settings;
    });
  }

  distrust(): void {
    this.#mailbox.order(() => {
      this.#publication.distrust();
      this.#cadence.dueNow(this.#nowMs());
      this.#isLookOwed = true;
    });
  }

  /** Asks for one look at the remote; coalesced. */
  observe(): void {
    if (this.#isLookAsked) return;
    this.#isLookAsked = true;
    this.#mailbox.order(async () => {
      this.#isLookAsked = false;
      await this.#look('forced_recheck');
    });
  }

  onChange(listener: () => void): Disposable {
    return this.#announcer.onChange(listener);
  }

  status(): BranchStatus {
    const { verdicts, remote, retained, bytes } = this.#publication;
    const oldest = retained[0];
    const isTooMuch = this.#heldBytes() >= this.#limits.bufferBytes * HARD_LIMIT;
    return {
      state: this.#state(),
      ...(remote === undefined ? {} : { remote }),
      parentResolved: verdicts.parentResolved,
      writable: verdicts.writable,
      publishing: isTooMuch
        ? {
            status: 'False',
            reason: 'BacklogFull',
            message: `live changes are refused: ${retained.length} writes of about ${bytes} bytes wait for the remote; they are read again once it takes them`,
          }
        : verdicts.publishing,
      reachable: verdicts.reachable,
      ...(oldest === undefined
        ? {}
        : { retained: { writeCount: retained.length, sizeBytes: bytes, oldestAt: oldest.authoredAt } }),
    };
  }

  /** Refuses new work, closes the windows, publishes once without waiting, and ends the loop. */
  close(budgetMs: number): Promise<void> {
    this.#mailbox.close();
    return new Promise((resolve) => {
      if (this.#hasEnded) return resolve();
      const budget = new AbortController();
      const done = new AbortController();
      void this.#clock.sleep(budgetMs, done.signal).then(() => budget.abort());
      this.#budget ??= budget.signal;
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
    this.#signal = signal;
    try {
      while (!signal.aborted) {
        const order = this.#mailbox.takeOrder();
        const mail = order === undefined ? this.#mailbox.takeMail() : undefined;
        if (order !== undefined) await this.#guard('an order', () => order());
        else if (mail !== undefined) await this.#guard(mail.kind, () => this.#handle(mail));
        else if (this.#isStopping) break;
        await this.#guard('deadlines', () => this.#deadlines());
        if (this.#mailbox.isEmpty && !this.#isStopping) await this.#rest(signal);
      }
      if (!signal.aborted) await this.#drain(signal);
    } finally {
      this.#mailbox.close();
      this.#publication.drop(() => true);
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
      if (!this.#signal.aborted)
        this.#logger.error(
          { branch: this.spec.id, err: messageOf(error), reason: reasonOf(error), what },
          'a handler of the branch failed',
        );
    }
  }

  async #rest(signal: AbortSignal): Promise<void> {
    const dueMs = this.#nextDeadlineMs();
    const nowMs = this.#nowMs();
    if (dueMs !== undefined && dueMs <= nowMs) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    signal.addEventListener('abort', wake, { once: true });
    this.#wake = wake;
    this.#mailbox.onArrival(wake);
    if (dueMs === undefined)
      await new Promise<void>((resolve) => woken.signal.addEventListener('abort', () => resolve(), { once: true }));
    else await this.#clock.sleep(dueMs - nowMs, woken.signal);
    this.#mailbox.onArrival(undefined);
    signal.removeEventListener('abort', wake);
  }

  #handle(mail: Mail): void | Promise<void> {
    const lane = this.#laneByTarget.get(mail.target);
    if (mail.kind === 'write') {
      if (lane !== undefined && !lane.isGone && !lane.settings.suspend) return this.#write(lane, mail.item);
      return undefined;
    }
    if (lane === undefined || lane.isGone) return mail.settle('dropped');
    return this.#snapshot(lane, mail.snapshot, mail.settle);
  }

  async #write(lane: Lane, item: WriteItem): Promise<void> {
    const nowMs = this.#nowMs();
    if (lane.window !== undefined && !isSameAuthor(lane.window.author, item.author))
      await this.#close(lane, 'author-change');
    if (lane.window === undefined) {
      const { idleMs, maxMs } = lane.settings.window;
      lane.window = openWindow(item, { idleMs, maxMs }, this.#place, nowMs);
      this.#place += 1;
      this.#announcer.changed();
    } else addToWindow(lane.window, item, nowMs);
    if (this.#heldBytes() >= this.#limits.bufferBytes)
      for (const open of this.#openWindows()) await this.#close(open, 'buffer-limit');
  }

  async #snapshot(lane: Lane, snapshot: Snapshot, settle: (outcome: SnapshotOutcome) => void): Promise<void> {
    if (lane.settings.suspend) {
      // Observation only: the folder is judged, nothing is written.
      this.#scan(lane);
      return settle('dropped');
    }
    if (lane.window !== undefined) await this.#close(lane, 'snapshot');
    this.#publication.add({
      ...this.#pendingFacts(lane, {
        author: { outcome: 'not_attempted' },
        authoredAt: snapshot.takenAt,
        bytes: snapshot.bytes,
      }),
      kind: 'snapshot',
      snapshot,
      settle,
    });
    await this.#planRetained('snapshot');
  }

  /** Turns the open window into a retained write and plans it, if the remote was ever seen. */
  async #close(lane: Lane, reason: CloseReason): Promise<void> {
    const window = lane.window;
    if (window === undefined) return;
    lane.window = undefined;
    this.#meters.windowsClosed.add({ ...this.#branch.labels, reason });
    this.#publication.add({
      ...this.#pendingFacts(lane, { author: window.author, authoredAt: window.lastArrivedAt, bytes: window.bytes }),
      kind: 'window',
      entries: [...window.entries.values()],
    });
    await this.#planRetained('publication');
  }

  #dropWindow(lane: Lane, reason: CloseReason): void {
    if (lane.window === undefined) return;
    lane.window = undefined;
    this.#meters.windowsClosed.add({ ...this.#branch.labels, reason });
    this.#announcer.changed();
  }

  #pendingFacts(
    lane: Lane,
    facts: Pick<PendingWrite, 'author' | 'authoredAt' | 'bytes'>,
  ): Omit<PendingWrite & { kind: 'window' }, 'kind' | 'entries'> {
    const id = this.#nextId;
    this.#nextId += 1;
    return {
      ...facts,
      id,
      target: lane.facts.id,
      prune: lane.settings.prune,
      messages: lane.settings.messages,
      plan: undefined,
      wasPlanned: false,
      failures: 0,
      retryAtMs: 0,
    };
  }

  /** Plans what waits. Without a base it is retained as it is, and the cycle that is due gets one. */
  async #planRetained(reason: FetchReason): Promise<void> {
    if (this.#publication.base === undefined) {
      if (this.#cadence.isFailing && this.#nowMs() < this.#cadence.notBeforeMs) return;
      await this.#speaking(() =>
        this.#publication.observe(reason === 'snapshot' ? 'snapshot' : 'bootstrap', this.#working()),
      );
    }
    await this.#publication.plan(this.#working());
  }

  // Deadlines.

  async #deadlines(): Promise<void> {
    const due = this.#openWindows().filter(
      ({ window }) => window !== undefined && dueReason(window, this.#nowMs()) !== undefined,
    );
    for (const lane of due) {
      const reason = lane.window === undefined ? undefined : dueReason(lane.window, this.#nowMs());
      if (reason !== undefined) await this.#close(lane, reason);
    }
    const publishAtMs = this.#publishAtMs();
    if (publishAtMs !== undefined && publishAtMs <= this.#nowMs()) await this.#publishNow();
    else if (this.#lookAtMs() !== undefined && (this.#lookAtMs() ?? 0) <= this.#nowMs()) await this.#look('recovery');
  }

  #nextDeadlineMs(): number | undefined {
    const dues: number[] = [];
    for (const { window } of this.#laneByTarget.values()) if (window !== undefined) dues.push(windowDueMs(window));
    for (const due of [this.#publishAtMs(), this.#lookAtMs()]) if (due !== undefined) dues.push(due);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  /** When the next publication cycle is due; undefined when nothing can be published. */
  #publishAtMs(): number | undefined {
    const { retained } = this.#publication;
    if (retained.length === 0) return undefined;
    const paceMs = this.#isCooldownWaived && !this.#cadence.isFailing ? 0 : this.#cadence.notBeforeMs;
    if (retained.some(({ plan }) => plan !== undefined) || this.#publication.base === undefined) return paceMs;
    // Only the first unplanned write of a target counts: those behind it wait for it.
    const firstByTarget = new Map<TargetId, number>();
    for (const { target, retryAtMs } of retained) if (!firstByTarget.has(target)) firstByTarget.set(target, retryAtMs);
    return Math.max(paceMs, Math.min(...firstByTarget.values()));
  }

  /** When the remote is looked at although nothing waits for it: after a failed look, and while a folder is refused. */
  #lookAtMs(): number | undefined {
    const dues: number[] = [];
    if (this.#isLookOwed) dues.push(this.#cadence.notBeforeMs);
    if ([...this.#laneByTarget.values()].some(({ isFolderRefused }) => isFolderRefused))
      dues.push(Math.max(this.#recheckAtMs, this.#cadence.isFailing ? this.#cadence.notBeforeMs : 0));
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  async #publishNow(): Promise<void> {
    this.#activity = this.#isStopping ? 'Draining' : 'Publishing';
    this.#announcer.changed();
    this.#isCooldownWaived = false;
    try {
      await this.#speaking(async () => {
        if (await this.#publication.publish(this.#working())) this.#cadence.succeeded(this.#nowMs());
        else this.#cadence.reached(this.#nowMs());
      });
    } finally {
      this.#activity = undefined;
      this.#announcer.changed();
    }
  }

  async #look(reason: FetchReason): Promise<void> {
    if (this.#publication.base !== undefined) this.#armRecheck();
    const isFine = await this.#speaking(async () => {
      await this.#publication.observe(this.#publication.base === undefined ? 'bootstrap' : reason, this.#working());
      // A look by ourselves says nothing about whether a push would be taken now.
      if (reason === 'forced_recheck' || this.#publication.retained.length === 0) this.#cadence.reached(this.#nowMs());
    });
    for (const lane of this.#laneByTarget.values()) this.#scan(lane);
    if (isFine) await this.#publication.plan(this.#working());
  }

  /** Talks to the remote; a failure is reported, waited out, and costs nothing that is retained. */
  async #speaking(act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      this.#isLookOwed = false;
      return true;
    } catch (error) {
      if (this.#working().aborted) return false;
      this.#isLookOwed = true;
      this.#cadence.failed(this.#nowMs(), pauseOf(error));
      const retryInMs = this.#cadence.notBeforeMs - this.#nowMs();
      this.#logger.warn(
        {
          branch: this.spec.id,
          reason: reasonOf(error),
          err: messageOf(error),
          retryInMs,
          retained: this.#publication.retained.length,
        },
        'the repository could not be reached or refused; everything is kept',
      );
      this.#announcer.changed();
      return false;
    }
  }

  #refusedFolderSeen(): void {
    if (this.#rechecks === 0 || this.#recheckAtMs <= this.#nowMs()) this.#armRecheck();
  }

  #armRecheck(): void {
    const isRefused = [...this.#laneByTarget.values()].some(({ isFolderRefused }) => isFolderRefused);
    this.#rechecks = isRefused ? this.#rechecks + 1 : 0;
    this.#recheckAtMs = this.#nowMs() + backoffMs(this.#rechecks, this.#limits.retryMs, this.#limits.retryMaxMs);
  }

  /** What may still be done: everything until the stop, then what the budget allows. */
  #working(): AbortSignal {
    return this.#budget === undefined ? this.#signal : AbortSignal.any([this.#signal, this.#budget]);
  }

  async #drain(signal: AbortSignal): Promise<void> {
    this.#activity = 'Draining';
    this.#announcer.changed();
    for (const lane of this.#openWindows()) await this.#guard('a window', () => this.#close(lane, 'shutdown'));
    if (this.#publication.retained.length > 0 && !this.#working().aborted)
      await this.#guard('the last publication', () => this.#publishNow());
    const left = this.#publication.retained.length;
    if (left > 0 && !signal.aborted)
      this.#logger.warn(
        { branch: this.spec.id, retained: left },
        'stopped before everything was published; the next snapshot repairs the state',
      );
  }

  // What the publication tells.

  #tipSeen(isForeign: boolean): void {
    if (isForeign) {
      this.#isCooldownWaived = true;
      this.#rechecks = 0;
      this.#logger.info({ branch: this.spec.id }, 'somebody else moved the branch');
    }
    for (const lane of this.#laneByTarget.values()) this.#scan(lane);
  }

  /** Judges the folder as it is at the known tip; costs no Git traffic. */
  #scan(lane: Lane): void {
    const { base } = this.#publication;
    if (base === undefined || lane.isGone) return;
    try {
      lane.judge(this.spec.store.folder(base.kind === 'root' ? undefined : base.commit, lane.settings.path));
      if (lane.isFolderRefused && this.#rechecks === 0) this.#armRecheck();
    } catch (error) {
      this.#logger.error(
        { gitTarget: lane.facts.id, err: messageOf(error), reason: reasonOf(error) },
        'judging a folder failed',
      );
    }
  }

  #openWindows(): readonly (Lane & { window: CommitWindow })[] {
    const open = [...this.#laneByTarget.values()].filter(
      (lane): lane is Lane & { window: CommitWindow } => lane.window !== undefined,
    );
    return open.sort((a, b) => windowDueMs(a.window) - windowDueMs(b.window) || a.window.place - b.window.place);
  }

  #heldBytes(): number {
    let bytes = this.#publication.bytes;
    for (const { window } of this.#laneByTarget.values()) bytes += window?.bytes ?? 0;
    return bytes;
  }

  #state(): BranchState {
    if (this.#activity === 'Draining') return 'Draining';
    if (this.#publication.base === undefined && (this.#publication.retained.length > 0 || this.#isLookOwed))
      return 'Recovering';
    if (this.#activity !== undefined) return this.#activity;
    if (this.#publication.retained.length > 0) return 'Retaining';
    return this.#openWindows().length > 0 ? 'Collecting' : 'Idle';
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

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}
