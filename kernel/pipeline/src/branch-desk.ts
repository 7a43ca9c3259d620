import {
  messageOf,
  reasonOf,
  type BranchSettings,
  type BranchSpec,
  type BranchStatus,
  type Clock,
  type Logger,
  type TargetSettings,
} from '@gitops-reverser/kernel-api';
import { branchStatus } from './branch-report.js';
import { Cadence } from './cadence.js';
import { Closing } from './closing.js';
import { initialVerdicts, pauseOf } from './failure.js';
import type { Snapshot, SnapshotOutcome, WriteItem } from './item.js';
import type { Lane, LanePlugins } from './lane.js';
import { Lanes } from './lanes.js';
import type { RuntimeLimits } from './limits.js';
import { Looks } from './looks.js';
import type { Mail } from './mailbox.js';
import { gtLabels, type BranchMeters, type Meters, type Sample } from './meters.js';
import { pendingFacts, type PendingFacts, type PendingWrite } from './pending.js';
import { Publication, type FetchReason } from './publication.js';
import { addToWindow, dueReason, isSameAuthor, openWindow, windowDueMs, type CloseReason } from './window.js';

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
  readonly #lanes = new Lanes();
  readonly #looks: Looks;
  #settings: BranchSettings;
  #nextId = 1;
  #place = 1;
  #isCooldownWaived = false;
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
    this.#looks = new Looks(limits, () => this.#lanes.isLookNeeded);
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
      folderRefused: () => this.#looks.troubled(this.#nowMs()),
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
    this.#lanes.add(lane);
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
    this.#lanes.leave(lane);
    this.#release();
    this.#changed();
  }

  /** Lanes leave once nothing of theirs is retained. */
  #release(): void {
    this.#lanes.release((lane) => this.#isRetained(lane));
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
    this.#looks.isOwed = true;
  }

  // Changes.

  handle(mail: Mail): void | Promise<void> {
    const lane = this.#lanes.get(mail.target);
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
      for (const open of this.#lanes.open()) await this.#close(open, 'buffer-limit');
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

  #pendingFacts(lane: Lane, facts: Pick<PendingWrite, 'author' | 'authoredAt' | 'bytes'>): PendingFacts {
    const id = this.#nextId;
    this.#nextId += 1;
    return pendingFacts(lane, id, facts);
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
    const due = this.#lanes.open().filter(({ window }) => dueReason(window, this.#nowMs()) !== undefined);
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
    const [first] = this.#lanes.open();
    if (first !== undefined) dues.push(windowDueMs(first.window));
    for (const due of [this.#publishAtMs(), this.#lookAtMs()]) if (due !== undefined) dues.push(due);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  #publishAtMs(): number | undefined {
    return this.#publication.dueMs(this.#isCooldownWaived && !this.#cadence.isFailing ? 0 : this.#cadence.notBeforeMs);
  }

  #lookAtMs(): number | undefined {
    return this.#looks.dueMs(this.#cadence.notBeforeMs, this.#cadence.isFailing);
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
    if (this.#publication.base !== undefined) this.#looks.arm(this.#nowMs());
    const isFine = await this.#speaking(async () => {
      await this.#publication.observe(this.#publication.base === undefined ? 'bootstrap' : reason, this.#signal);
      // A look by ourselves says nothing about whether a push would be taken now.
      if (reason === 'forced_recheck' || this.#publication.retained.length === 0) this.#cadence.reached(this.#nowMs());
    });
    for (const lane of this.#lanes.all()) this.#scan(lane);
    if (isFine) await this.#publication.plan(this.#signal);
  }

  /** Talks to the remote; a failure is reported, waited out, and costs nothing that is retained. */
  async #speaking(act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      this.#looks.isOwed = false;
      return true;
    } catch (error) {
      if (this.#signal.aborted) return false;
      this.#looks.isOwed = true;
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

  /** The last of it: windows are closed, what is retained is pushed once without waiting. */
  async drain(): Promise<void> {
    this.#activity = 'Draining';
    this.#changed();
    for (const lane of this.#lanes.open()) await this.#close(lane, 'shutdown');
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
    this.#lanes.release(() => false);
  }

  // What the publication tells.

  #tipSeen(isForeign: boolean): void {
    if (isForeign) {
      // Once, and for what is here: the replay follows at once.
      this.#isCooldownWaived = this.#publication.retained.length > 0;
      this.#looks.restart();
      this.#logger.info({}, 'somebody else moved the branch');
    }
    for (const lane of this.#lanes.all()) this.#scan(lane);
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
    if (lane.isLookNeeded) this.#looks.judged(this.#nowMs());
  }

  // What others may read at any time.

  /** Above it live writes are refused; control and publication go on. */
  get isBacklogFull(): boolean {
    return this.heldBytes >= this.#limits.bufferBytes * HARD_LIMIT;
  }

  get heldBytes(): number {
    return this.#publication.bytes + this.#lanes.heldBytes;
  }

  targetSamples(): readonly Sample[] {
    return [...this.#lanes.all()].map(({ facts }) => ({
      labels: { ...this.#branch.labels, ...gtLabels(facts), source_cluster: facts.sourceCluster },
      value: 1,
    }));
  }

  status(): BranchStatus {
    return branchStatus({
      publication: this.#publication,
      activity: this.#activity,
      isLookOwed: this.#looks.isOwed,
      isBacklogFull: this.isBacklogFull,
      hasOpenWindow: this.#lanes.open().length > 0,
    });
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}
