import {
  messageOf,
  reasonOf,
  type BranchSettings,
  type BranchSpec,
  type BranchState,
  type BranchStatus,
  type Clock,
  type Logger,
  type TargetId,
  type TargetSettings,
} from '@gitops-reverser/kernel-api';
import { Cadence } from './cadence.js';
import { Closing } from './closing.js';
import { initialVerdicts, pauseOf } from './failure.js';
import type { Snapshot, SnapshotOutcome, WriteItem } from './item.js';
import type { Lane, LanePlugins } from './lane.js';
import { backoffMs, type RuntimeLimits } from './limits.js';
import type { Mail } from './mailbox.js';
import { gtLabels, type BranchMeters, type Meters, type Sample } from './meters.js';
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

export interface DeskGiven {
  readonly spec: BranchSpec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly branch: BranchMeters;
  readonly limits: RuntimeLimits;
  readonly random: () => number;
  isSensitive(group: string, resource: string): boolean;
  readonly changed: () => void;
  /** What may still be done: aborted by the stop, or when its budget is spent. */
  readonly signal: AbortSignal;
}

/** 4: live writes are refused once this many times the buffer is held. */
const HARD_LIMIT = 4;

/**
 * What a branch knows and does: windows, retained writes, base, deadlines. Not safe to enter twice at the same time; the
 * branch's loop is the only one who calls what changes anything.
 */
export class BranchDesk {
  readonly #spec: BranchSpec;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #meters: Meters;
  readonly #branch: BranchMeters;
  readonly #limits: RuntimeLimits;
  readonly #changed: () => void;
  readonly #signal: AbortSignal;
  readonly #closing: Closing;
  readonly #publication: Publication;
  readonly #cadence: Cadence;
  readonly #laneByTarget = new Map<TargetId, Lane>();
  /** Retired, and not settled yet. */
  readonly #leaving = new Set<Lane>();
  #settings: BranchSettings;
  #nextId = 1;
  #place = 1;
  #isLookOwed = false;
  #isCooldownWaived = false;
  #rechecks = 0;
  #recheckAtMs = 0;
  #activity: 'Publishing' | 'Draining' | undefined;

  constructor(given: DeskGiven) {
    const { spec, clock, logger, meters, branch, limits, random, changed, signal } = given;
    this.#spec = spec;
    this.#clock = clock;
    this.#logger = logger;
    this.#meters = meters;
    this.#branch = branch;
    this.#limits = limits;
    this.#changed = changed;
    this.#signal = signal;
    this.#settings = spec.settings;
    this.#cadence = new Cadence({
      cooldownMs: limits.pushCooldownMs,
      retryMs: limits.retryMs,
      retryMaxMs: limits.retryMaxMs,
      random,
    });
    this.#closing = new Closing({
      store: spec.store,
      clock,
      logger,
      meters,
      labels: branch.labels,
      limits,
      isSensitive: (group, resource) => given.isSensitive(group, resource),
      committer: () => this.#settings.committer,
      folderRefused: () => this.#refusedFolderSeen(),
    });
    this.#publication = new Publication({
      store: spec.store,
      clock,
      logger,
      meters: branch,
      verdicts: initialVerdicts(),
      host: {
        plan: (write, onto, signal) => this.#closing.plan(write, onto, signal),
        settled: (write, plan, commit) => this.#closing.settled(write, plan, commit),
        tipSeen: (_from, _to, isForeign) => this.#tipSeen(isForeign),
        changed,
      },
    });
  }

  // Lanes and settings.

  admit(lane: Lane): void {
    this.#laneByTarget.set(lane.facts.id, lane);
    this.#scan(lane);
  }

  reconfigure(lane: Lane, plugins: LanePlugins, settings: TargetSettings): void {
    if (settings.suspend && !lane.settings.suspend) {
      this.#dropWindow(lane, 'suspend');
      this.#publication.drop((write) => write.lane === lane);
    }
    lane.replace(plugins, settings);
    this.#scan(lane);
  }

  /** Nothing new is written for it; what is committed is still pushed, at once if the remote can be reached. */
  async retire(lane: Lane): Promise<void> {
    lane.isGone = true;
    lane.window = undefined;
    this.#publication.drop((write) => write.lane === lane);
    if (this.#isRetained(lane) && !this.#cadence.isFailing) await this.#publishNow();
    if (this.#laneByTarget.get(lane.facts.id) === lane) this.#laneByTarget.delete(lane.facts.id);
    this.#leaving.add(lane);
    this.#release();
    this.#changed();
  }

  /** Lanes leave once nothing of theirs is retained. */
  #release(): void {
    for (const lane of this.#leaving) {
      if (this.#isRetained(lane)) continue;
      this.#leaving.delete(lane);
      lane.events.released();
    }
  }

  #isRetained(lane: Lane): boolean {
    return this.#publication.retained.some((write) => write.lane === lane);
  }

  configure(settings: BranchSettings): void {
    this.#settings = settings;
  }

  distrust(): void {
    this.#publication.distrust();
    this.#cadence.dueNow(this.#nowMs());
    this.#isLookOwed = true;
  }

  // Changes.

  handle(mail: Mail): void | Promise<void> {
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
      this.#changed();
    } else addToWindow(lane.window, item, nowMs);
    if (this.heldBytes >= this.#limits.bufferBytes)
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
    this.#changed();
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
      lane,
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
        this.#publication.observe(reason === 'snapshot' ? 'snapshot' : 'bootstrap', this.#signal),
      );
    }
    await this.#publication.plan(this.#signal);
  }

  // Deadlines.

  /** Does what is due. */
  async deadlines(): Promise<void> {
    const due = this.#openWindows().filter(
      ({ window }) => window !== undefined && dueReason(window, this.#nowMs()) !== undefined,
    );
    for (const lane of due) {
      const reason = lane.window === undefined ? undefined : dueReason(lane.window, this.#nowMs());
      if (reason !== undefined) await this.#close(lane, reason);
    }
    const publishAtMs = this.#publishAtMs();
    if (publishAtMs !== undefined && publishAtMs <= this.#nowMs()) await this.#publishNow();
    else if (this.#lookAtMs() !== undefined && (this.#lookAtMs() ?? 0) <= this.#nowMs()) await this.look('recovery');
  }

  nextDeadlineMs(): number | undefined {
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

  /** When the remote is looked at although nothing waits for it: after a failed look, and while a folder is refused or in doubt. */
  #lookAtMs(): number | undefined {
    const dues: number[] = [];
    if (this.#isLookOwed) dues.push(this.#cadence.notBeforeMs);
    if ([...this.#laneByTarget.values()].some(({ isLookNeeded }) => isLookNeeded))
      dues.push(Math.max(this.#recheckAtMs, this.#cadence.isFailing ? this.#cadence.notBeforeMs : 0));
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  async #publishNow(): Promise<void> {
    const before = this.#activity;
    this.#activity ??= 'Publishing';
    this.#changed();
    this.#isCooldownWaived = false;
    try {
      await this.#speaking(async () => {
        if (await this.#publication.publish(this.#signal)) this.#cadence.succeeded(this.#nowMs());
        else this.#cadence.reached(this.#nowMs());
      });
    } finally {
      this.#activity = before;
      this.#release();
      this.#changed();
    }
  }

  async look(reason: FetchReason): Promise<void> {
    if (this.#publication.base !== undefined) this.#armRecheck();
    const isFine = await this.#speaking(async () => {
      await this.#publication.observe(this.#publication.base === undefined ? 'bootstrap' : reason, this.#signal);
      // A look by ourselves says nothing about whether a push would be taken now.
      if (reason === 'forced_recheck' || this.#publication.retained.length === 0) this.#cadence.reached(this.#nowMs());
    });
    for (const lane of this.#laneByTarget.values()) this.#scan(lane);
    if (isFine) await this.#publication.plan(this.#signal);
  }

  /** Talks to the remote; a failure is reported, waited out, and costs nothing that is retained. */
  async #speaking(act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      this.#isLookOwed = false;
      return true;
    } catch (error) {
      if (this.#signal.aborted) return false;
      this.#isLookOwed = true;
      this.#cadence.failed(this.#nowMs(), pauseOf(error));
      const retryInMs = this.#cadence.notBeforeMs - this.#nowMs();
      this.#logger.warn(
        {
          reason: reasonOf(error),
          err: messageOf(error),
          retryInMs,
          retained: this.#publication.retained.length,
        },
        'the repository could not be reached or refused; everything is kept',
      );
      this.#changed();
      return false;
    }
  }

  #refusedFolderSeen(): void {
    if (this.#rechecks === 0 || this.#recheckAtMs <= this.#nowMs()) this.#armRecheck();
  }

  #armRecheck(): void {
    const isNeeded = [...this.#laneByTarget.values()].some(({ isLookNeeded }) => isLookNeeded);
    this.#rechecks = isNeeded ? this.#rechecks + 1 : 0;
    this.#recheckAtMs = this.#nowMs() + backoffMs(this.#rechecks, this.#limits.retryMs, this.#limits.retryMaxMs);
  }

  /** The last of it: windows are closed, what is retained is pushed once without waiting. */
  async drain(): Promise<void> {
    this.#activity = 'Draining';
    this.#changed();
    for (const lane of this.#openWindows()) await this.#close(lane, 'shutdown');
    if (this.#publication.retained.length > 0 && !this.#signal.aborted) await this.#publishNow();
  }

  /** Gives up what never became a commit. */
  abandon(): void {
    const left = this.#publication.retained.length;
    if (left > 0)
      this.#logger.warn(
        { retained: left },
        'stopped before everything was published; the next snapshot repairs the state',
      );
    this.#publication.drop(() => true);
    for (const lane of this.#leaving) lane.events.released();
    this.#leaving.clear();
  }

  // What the publication tells.

  #tipSeen(isForeign: boolean): void {
    if (isForeign) {
      // Once, and for what is here: the replay follows at once.
      this.#isCooldownWaived = this.#publication.retained.length > 0;
      this.#rechecks = 0;
      this.#logger.info({}, 'somebody else moved the branch');
    }
    for (const lane of this.#laneByTarget.values()) this.#scan(lane);
  }

  /** Judges the folder as it is at the known tip; costs no Git traffic. */
  #scan(lane: Lane): void {
    const { base } = this.#publication;
    if (base === undefined || lane.isGone) return;
    const commit = base.kind === 'root' ? undefined : base.commit;
    try {
      lane.judge(() => this.#spec.store.folder(commit, lane.settings.path), commit);
    } catch (error) {
      this.#logger.error(
        { gitTarget: lane.facts.id, err: messageOf(error), reason: reasonOf(error) },
        'judging a folder failed',
      );
    }
    if (lane.isLookNeeded && this.#rechecks === 0) this.#armRecheck();
  }

  // What others may read at any time.

  /** Above it live writes are refused; control and publication go on. */
  get isBacklogFull(): boolean {
    return this.heldBytes >= this.#limits.bufferBytes * HARD_LIMIT;
  }

  #openWindows(): readonly (Lane & { window: CommitWindow })[] {
    const open = [...this.#laneByTarget.values()].filter(
      (lane): lane is Lane & { window: CommitWindow } => lane.window !== undefined,
    );
    return open.sort((a, b) => windowDueMs(a.window) - windowDueMs(b.window) || a.window.place - b.window.place);
  }

  get heldBytes(): number {
    let bytes = this.#publication.bytes;
    for (const { window } of this.#laneByTarget.values()) bytes += window?.bytes ?? 0;
    return bytes;
  }

  targetSamples(): readonly Sample[] {
    return [...this.#laneByTarget.values()].map(({ facts }) => ({
      labels: { ...this.#branch.labels, ...gtLabels(facts), source_cluster: facts.sourceCluster },
      value: 1,
    }));
  }

  status(): BranchStatus {
    const { verdicts, remote, retained, bytes } = this.#publication;
    const oldest = retained[0];
    return {
      state: this.#state(),
      ...(remote === undefined ? {} : { remote }),
      parentResolved: verdicts.parentResolved,
      writable: verdicts.writable,
      publishing: this.isBacklogFull
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

  #state(): BranchState {
    if (this.#activity === 'Draining') return 'Draining';
    if (this.#publication.base === undefined && (this.#publication.retained.length > 0 || this.#isLookOwed))
      return 'Recovering';
    if (this.#activity !== undefined) return this.#activity;
    if (this.#publication.retained.length > 0) return 'Retaining';
    return this.#openWindows().length > 0 ? 'Collecting' : 'Idle';
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}
