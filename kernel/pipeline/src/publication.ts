import {
  hasReason,
  ReverserError,
  type Base,
  type BranchStore,
  type Clock,
  type CommitSha,
  type Logger,
  type PublishOutcome,
  type RemoteStatus,
  type TargetId,
} from '@gitops-reverser/kernel-api';
import { recordFailure, succeeded, type BranchVerdicts } from './failure.js';
import { isSameBase, PushLedger } from './ledger.js';
import type { BranchMeters } from './meters.js';
import type { PendingWrite, PlannedCommit } from './pending.js';

/** What happened to a write when it was planned; `undefined`: it stays unplanned for now and blocks its target. */
export type PlanAnswer =
  | { readonly kind: 'planned'; readonly plan: PlannedCommit }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'later' };

export interface PublicationHost {
  plan(write: PendingWrite, onto: CommitSha | undefined, signal: AbortSignal): Promise<PlanAnswer>;
  /** The remote holds it; `commit` is its own, or the tip where it was found. */
  settled(write: PendingWrite, plan: PlannedCommit | undefined, commit: CommitSha | undefined): void;
  /** The branch moved by other hands, or was seen for the first time. */
  tipSeen(from: Base | undefined, to: Base, isForeign: boolean): void;
  changed(): void;
}

export type FetchReason =
  'publication' | 'contention' | 'recovery' | 'forced_recheck' | 'bootstrap' | 'push_failure_probe' | 'snapshot';

/** 3: a branch that moves under each of them belongs to somebody in a greater hurry; we come back later. */
const ATTEMPTS = 3;

/**
 * The retained writes of one branch, the base they are planned on, and the cycle that brings them to the remote. Lives inside
 * the branch's loop: nothing here is ever called concurrently.
 */
export class Publication {
  readonly verdicts: BranchVerdicts;
  readonly #store: BranchStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #meters: BranchMeters;
  readonly #host: PublicationHost;
  readonly #ledger = new PushLedger();
  #retained: PendingWrite[] = [];
  #bytes = 0;
  #base: Base | undefined;
  #isTrusted = false;
  /** Last commit of the chain that is planned on the base. */
  #head: CommitSha | undefined;
  #chain = 0;
  #remote: RemoteStatus | undefined;
  /** Newest write that was here when the tip was last looked at: for those the look is proof enough. */
  #provenThrough = 0;

  constructor(given: {
    readonly store: BranchStore;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly meters: BranchMeters;
    readonly host: PublicationHost;
    readonly verdicts: BranchVerdicts;
  }) {
    this.#store = given.store;
    this.#clock = given.clock;
    this.#logger = given.logger;
    this.#meters = given.meters;
    this.#host = given.host;
    this.verdicts = given.verdicts;
  }

  get base(): Base | undefined {
    return this.#base;
  }
  get remote(): RemoteStatus | undefined {
    return this.#remote;
  }
  get retained(): readonly PendingWrite[] {
    return this.#retained;
  }
  get bytes(): number {
    return this.#bytes;
  }

  /** When the next cycle is due, not before `paceMs`; undefined when nothing can be published. */
  dueMs(paceMs: number): number | undefined {
    if (this.#retained.length === 0) return undefined;
    if (this.#retained.some(({ plan }) => plan !== undefined) || this.#base === undefined) return paceMs;
    // Only the first unplanned write of a target counts: those behind it wait for it.
    const firstByTarget = new Map<TargetId, number>();
    for (const { target, retryAtMs } of this.#retained)
      if (!firstByTarget.has(target)) firstByTarget.set(target, retryAtMs);
    return Math.max(paceMs, Math.min(...firstByTarget.values()));
  }

  add(write: PendingWrite): void {
    const last = this.#retained.findLast(({ target }) => target === write.target);
    if (write.kind === 'snapshot' && last?.kind === 'snapshot' && isReplacedBy(last, write)) {
      this.#remove(last);
      last.settle('superseded');
    }
    this.#retained.push(write);
    this.#bytes += write.bytes;
    this.#host.changed();
  }

  /** Takes back what never became a commit. */
  drop(isDropped: (write: PendingWrite) => boolean): void {
    for (const write of this.#retained.filter((each) => !each.wasPlanned && isDropped(each))) this.#discard(write);
  }

  distrust(): void {
    this.#isTrusted = false;
    this.#store.distrust();
  }

  /** Proves the tip now. @throws what the store throws */
  async observe(reason: FetchReason, signal: AbortSignal): Promise<void> {
    this.#isTrusted = false;
    let found: Base;
    try {
      found = await this.#store.observe(signal);
    } catch (error) {
      recordFailure(this.verdicts, error, 'observe', this.#retained.length > 0);
      this.#host.changed();
      throw error;
    }
    this.#absorb(found, reason);
  }

  /**
   * Plans what is not planned yet, in order. A write that waits out an error holds back later ones of its target alone: paths of
   * different targets never meet. What failed once is tried again on a proven tip alone: the repair may be there already.
   */
  async plan(signal: AbortSignal): Promise<void> {
    if (this.#base === undefined) return;
    const nowMs = this.#clock.now().getTime();
    const held = new Set<string>();
    let hasFailed = false;
    for (const write of [...this.#retained]) {
      if (write.plan !== undefined) continue;
      if (held.has(write.target) || write.retryAtMs > nowMs || (write.failures > 0 && !this.#isTrusted)) {
        held.add(write.target);
        continue;
      }
      signal.throwIfAborted();
      const answer = await this.#host.plan(write, this.#head, signal);
      if (answer.kind === 'later') {
        held.add(write.target);
        hasFailed = true;
      } else if (answer.kind === 'dropped') this.#discard(write);
      else {
        write.plan = answer.plan;
        write.wasPlanned = true;
        this.#head = answer.plan.commit ?? this.#head;
      }
    }
    if (hasFailed) this.#isTrusted = false;
    this.#host.changed();
  }

  /** Makes sure there is a trusted base and everything that can be planned is. @throws what the store throws */
  async prepare(signal: AbortSignal): Promise<void> {
    if (this.#base === undefined || !this.#isTrusted)
      await this.observe(this.#base === undefined ? 'bootstrap' : 'publication', signal);
    await this.plan(signal);
  }

  /**
   * One publication cycle: proves or moves the remote until every planned write is there.
   * @returns whether anything was settled
   * @throws ReverserError BranchMoving after three lost attempts, and what the store throws; everything stays retained
   */
  async publish(signal: AbortSignal): Promise<boolean> {
    const startedAt = this.#clock.now().getTime();
    const before = this.#retained.length;
    let isRetriedPack = false;
    try {
      for (let lost = 0; ;) {
        await this.prepare(signal);
        const carried = this.#carried();
        if (carried.length === 0) break;
        if (carried.every(({ plan }) => plan?.commit === undefined)) {
          if (carried.every(({ id }) => id <= this.#provenThrough) || (await this.#isUnmoved('publication', signal))) {
            this.#settle(carried);
            break;
          }
        } else {
          let outcome: PublishOutcome;
          try {
            outcome = await this.#send(carried, signal);
          } catch (error) {
            if (isRetriedPack || !hasReason(error, 'RemoteRejectedPack')) throw error;
            // The server could not use our pack: perhaps it lost what we built on. Everything is fetched and built once more.
            isRetriedPack = true;
            this.distrust();
            this.#unplan();
            continue;
          }
          if (outcome.kind !== 'moved') {
            this.#arrived(outcome.commit);
            this.#settle(carried);
            break;
          }
          this.#meters.pushRetry(outcome.what);
          if (await this.#isUnmoved('contention', signal)) throw this.#stuck();
        }
        if (this.#retained.length === 0) break;
        lost += 1;
        if (lost >= ATTEMPTS) throw this.#moving();
      }
    } catch (error) {
      if (!signal.aborted) this.#meters.push('failed', this.#clock.now().getTime() - startedAt);
      throw error;
    }
    const hasSettled = this.#retained.length < before;
    if (hasSettled) this.#meters.push('pushed', this.#clock.now().getTime() - startedAt);
    this.verdicts.publishing = succeeded('everything retained reached the remote');
    this.#host.changed();
    return hasSettled;
  }

  async #send(carried: readonly PendingWrite[], signal: AbortSignal): Promise<PublishOutcome> {
    const [onto, head] = [this.#base, this.#head];
    if (onto === undefined || head === undefined) throw new TypeError('a commit without a base');
    this.#ledger.sending({
      head,
      onto,
      chain: this.#chain,
      commitByWrite: new Map(carried.map(({ id, plan }) => [id, plan?.commit])),
    });
    try {
      return await this.#store.publish(onto, head, signal);
    } catch (error) {
      this.#isTrusted = false;
      recordFailure(this.verdicts, error, 'publish', true);
      throw error;
    }
  }

  /** Everything planned, in chain order. */
  #carried(): readonly PendingWrite[] {
    return this.#retained.filter(({ plan }) => plan !== undefined);
  }

  /** Our head is the tip now. */
  #arrived(head: CommitSha): void {
    this.#base = { kind: 'branch', commit: head };
    this.#isTrusted = true;
    this.#ledger.proven(this.#base);
    this.verdicts.writable = succeeded('the last push was accepted');
    this.verdicts.reachable = succeeded('the repository answers');
    this.verdicts.parentResolved = { status: 'True', reason: 'NotNeeded', message: 'the branch exists' };
    this.#seen('Push');
  }

  async #isUnmoved(reason: FetchReason, signal: AbortSignal): Promise<boolean> {
    const before = this.#base;
    await this.observe(reason, signal);
    return this.#base !== undefined && isSameBase(before, this.#base);
  }

  #settle(writes: readonly PendingWrite[], landed?: ReadonlyMap<number, CommitSha | undefined>): void {
    const tip = this.#base?.kind === 'branch' ? this.#base.commit : undefined;
    for (const write of writes) {
      this.#remove(write);
      const own = landed === undefined ? write.plan?.commit : landed.get(write.id);
      this.#host.settled(write, write.plan, own ?? tip);
    }
    this.#host.changed();
  }

  /** Takes a proven tip as the new base and decides what is left of the chain. */
  #absorb(found: Base, reason: FetchReason): void {
    const before = this.#base;
    const landed = this.#ledger.proven(found);
    this.#base = found;
    this.#isTrusted = true;
    this.#provenThrough = this.#retained.at(-1)?.id ?? this.#provenThrough;
    this.verdicts.reachable = succeeded('the repository answers');
    this.verdicts.parentResolved =
      found.kind === 'parent'
        ? succeeded(`the branch starts at ${found.branch}`)
        : {
            status: 'True',
            reason: 'NotNeeded',
            message: found.kind === 'branch' ? 'the branch exists' : 'the repository is empty',
          };
    const isMoved = !isSameBase(before, found);
    if (isMoved) this.#meters.fetched(reason);
    if (landed !== undefined) {
      this.#logger.info({ commit: landed.head }, 'a push without an answer had landed');
      this.#settle(
        this.#retained.filter(({ id }) => landed.commitByWrite.has(id)),
        landed.commitByWrite,
      );
      if (landed.chain !== this.#chain) this.#unplan();
    } else if (isMoved) this.#unplan();
    this.#seen('Fetch');
    if (isMoved) {
      const isOurs = landed !== undefined || (found.kind === 'branch' && this.#ledger.isNewestOwn(found.commit));
      const isForeign = before !== undefined && !isOurs;
      if (isForeign) this.#meters.foreign(found.kind === 'branch' && this.#ledger.hasPushed(found.commit));
      this.#host.tipSeen(before, found, isForeign);
    }
    this.#host.changed();
  }

  /** The chain does not hold on the present base any more. */
  #unplan(): void {
    this.#chain += 1;
    for (const write of this.#retained) write.plan = undefined;
    this.#head = this.#base === undefined || this.#base.kind === 'root' ? undefined : this.#base.commit;
  }

  #seen(verifiedBy: 'Push' | 'Fetch'): void {
    const base = this.#base;
    this.#remote = {
      lastVerifiedAt: this.#clock.now(),
      verifiedBy,
      ...(base?.kind === 'branch' ? { commit: base.commit } : {}),
      ...(base?.kind === 'parent' ? { parent: { branch: base.branch, state: 'Present' } } : {}),
    };
  }

  #discard(write: PendingWrite): void {
    this.#remove(write);
    if (write.kind === 'snapshot') write.settle('dropped');
  }

  #remove(write: PendingWrite): void {
    const index = this.#retained.indexOf(write);
    if (index < 0) return;
    this.#retained.splice(index, 1);
    this.#bytes -= write.bytes;
  }

  #stuck(): ReverserError {
    const error = new ReverserError({
      reason: 'RemoteUnavailable',
      retry: 'backoff',
      message:
        'the remote refused to move the branch although nobody else moved it, as a left-over lock file makes it do; it will be tried again',
    });
    recordFailure(this.verdicts, error, 'publish', true);
    return error;
  }

  #moving(): ReverserError {
    const error = new ReverserError({
      reason: 'BranchMoving',
      retry: 'backoff',
      message: `the branch moved during each of ${ATTEMPTS} attempts to push; everything is kept and tried again later`,
    });
    recordFailure(this.verdicts, error, 'publish', true);
    return error;
  }
}

type SnapshotWrite = PendingWrite & { readonly kind: 'snapshot' };
/** A newer snapshot of the same scope says everything an older one says that made no commit. */
const isReplacedBy = (older: SnapshotWrite, newer: SnapshotWrite): boolean =>
  older.plan?.commit === undefined && older.snapshot.collectionKey === newer.snapshot.collectionKey;
