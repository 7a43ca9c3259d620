import {
  isReverserError,
  messageOf,
  reasonOf,
  type BranchStore,
  type Clock,
  type CommitSha,
  type Labels,
  type Logger,
  type ObjectRef,
  type Refusal,
  type TargetId,
} from '@gitops-reverser/kernel-api';
import { DocumentAccounts } from './document-accounts.js';
import type { Snapshot } from './item.js';
import type { Lane, StandingFindings } from './lane.js';
import { backoffMs, type RuntimeLimits } from './limits.js';
import { gtLabels, type Meters } from './meters.js';
import { arrivalsOf, collectionKeysOf, type PendingWrite, type PlannedCommit } from './pending.js';
import { planWrite, type Planned, type Planning } from './planner.js';
import type { PlanAnswer } from './publication.js';
import { removesOnEvent } from './sweep.js';

interface ClosingGiven {
  readonly store: BranchStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly labels: Labels;
  readonly limits: RuntimeLimits;
  isSensitive(group: string, resource: string): boolean;
  readonly committer: () => { readonly name: string; readonly email: string };
  readonly folderRefused: () => void;
}

/** What comes of a close: a plan, a refusal that is reported, an error that is waited out. Part of the branch's loop. */
export class Closing {
  readonly #given: ClosingGiven;
  readonly #planning: Planning;
  readonly #accounts: DocumentAccounts;

  constructor(given: ClosingGiven) {
    this.#given = given;
    this.#accounts = new DocumentAccounts(given.meters, given.logger);
    this.#planning = {
      store: given.store,
      clock: given.clock,
      logger: given.logger,
      isSensitive: (group, resource) => given.isSensitive(group, resource),
      committer: given.committer,
    };
  }

  async plan(write: PendingWrite, onto: CommitSha | undefined, signal: AbortSignal): Promise<PlanAnswer> {
    const { logger } = this.#given;
    const { lane } = write;
    if (lane.settings.suspend && !write.wasPlanned) return { kind: 'dropped' };
    let planned: Planned;
    try {
      planned = await planWrite(this.#planning, write, onto, signal);
    } catch (error) {
      signal.throwIfAborted();
      return this.#failed(lane, write, error);
    }
    switch (planned.kind) {
      case 'planned':
        this.#accepted(lane, write, planned.found);
        if (planned.problem !== undefined) {
          lane.misworded(planned.problem);
          logger.warn(
            { gitTarget: lane.facts.id, reason: 'CommitMessageFallback', err: planned.problem },
            'a message template failed; the built-in wording was used',
          );
        }
        return { kind: 'planned', plan: planned.plan };
      case 'folder-refused':
        // Recovery asks for a snapshot of everything, so nothing else is owed.
        this.#failure(lane, write, 'refused');
        this.#given.folderRefused();
        return { kind: 'dropped' };
      case 'refused':
        this.#refused(lane, write, planned.found);
        return { kind: 'dropped' };
    }
  }

  settled(write: PendingWrite, plan: PlannedCommit | undefined, commit: CommitSha | undefined): void {
    const { meters, labels, clock, logger } = this.#given;
    const { lane } = write;
    if (plan?.commit !== undefined)
      meters.commits.add({ ...labels, author_kind: plan.authorKind, message_source: plan.messageSource });
    const nowMs = clock.now().getTime();
    for (const arrivedAt of arrivalsOf(write))
      meters.eventToRemote.observe(labels, Math.max(0, nowMs - arrivedAt.getTime()) / 1_000);
    // The series of a target that is gone went with it.
    if (!lane.isGone && plan !== undefined) this.#accounts.settled(lane, plan);
    if (commit !== undefined && lane.lastCommit !== commit) {
      lane.lastCommit = commit;
      lane.events.changed();
    }
    if (plan?.commit === undefined) logger.debug({ gitTarget: write.target }, 'nothing to write: Git says so already');
    else logger.info({ gitTarget: write.target, commit }, 'a write reached the remote');
    if (write.kind === 'snapshot') write.settle('settled');
  }

  #accepted(lane: Lane, write: PendingWrite, found: StandingFindings): void {
    const { refused } = found;
    this.#accounts.refused(lane, refused.values());
    if (write.kind === 'snapshot')
      return lane.cleared(write.snapshot.collectionKey, standing(lane, write.snapshot, found));
    this.#refuse(lane, write, refused);
    if (refused.size > 0)
      this.#given.meters.commitFailures.add({ ...this.#given.labels, kind: 'window', reason: 'encryption' });
    const mayRemove = removesOnEvent(lane.pruneOf(write.prune));
    for (const { operation, collectionKey, refKey } of write.entries) {
      lane.met(collectionKey, refKey, { skip: found.skipped.get(refKey), plaintext: found.plaintext.get(refKey) });
      lane.retainedOne(collectionKey, refKey, operation === 'DELETE' && !mayRemove);
    }
  }

  /** A drop always asks for a scoped snapshot, so that state (not history) is repaired; a snapshot that failed does not. */
  #refused(lane: Lane, write: PendingWrite, { refused }: StandingFindings): void {
    this.#refuse(lane, write, refused);
    this.#accounts.refused(lane, refused.values());
    this.#failure(lane, write, 'refused');
    const [first] = refused.values();
    this.#given.logger.warn(
      { gitTarget: lane.facts.id, reason: first?.code, count: refused.size, first: first?.message },
      'a write was refused',
    );
    if (write.kind === 'window') lane.events.snapshotOwed(collectionKeysOf(write));
  }

  #refuse(lane: Lane, write: PendingWrite, refused: ReadonlyMap<string, Refusal>): void {
    const author = write.author.outcome === 'resolved' ? { author: write.author.actor.username } : {};
    for (const [key, refusal] of refused) lane.refuse(collectionOf(write, key), key, { ...refusal, ...author });
  }

  #failed(lane: Lane, write: PendingWrite, error: unknown): PlanAnswer {
    const { limits, logger, clock } = this.#given;
    write.failures += 1;
    logger.error(
      { gitTarget: lane.facts.id, err: messageOf(error), reason: reasonOf(error), tries: write.failures },
      'planning a write failed',
    );
    if (write.failures < limits.closeTries) {
      write.retryAtMs = clock.now().getTime() + backoffMs(write.failures, limits.closeRetryMs, limits.closeRetryMaxMs);
      return { kind: 'later' };
    }
    this.#failure(lane, write, 'error');
    const refusal = failedRefusal(lane.facts.id, error, write.failures);
    for (const key of collectionKeysOf(write)) lane.refuse(key, '', refusal);
    lane.events.snapshotOwed(collectionKeysOf(write));
    return { kind: 'dropped' };
  }

  #failure(lane: Lane, write: PendingWrite, reason: 'refused' | 'error'): void {
    const { meters, labels } = this.#given;
    meters.commitFailures.add({ ...labels, kind: write.kind === 'window' ? 'window' : 'atomic', reason });
    if (write.kind === 'snapshot') meters.resyncFailures.add(gtLabels(lane.facts));
  }
}

function collectionOf(write: PendingWrite, refKey: string): string {
  if (write.kind === 'snapshot') return write.snapshot.collectionKey;
  return write.entries.find((entry) => entry.refKey === refKey)?.collectionKey ?? '';
}

/** What an accepted snapshot leaves standing: what it had to leave out, and what could not be read. */
function standing(lane: Lane, snapshot: Snapshot, found: StandingFindings): StandingFindings {
  const refused = new Map(found.refused);
  for (const { refKey, ref, reason } of snapshot.unread) refused.set(refKey, unreadRefusal(lane.facts.id, ref, reason));
  return { ...found, refused };
}

/** Fail closed: what could not be reduced to intent is not written. */
export const unreadRefusal = (target: TargetId, ref: ObjectRef, reason: string): Refusal => ({
  code: 'SanitizerFailed',
  message: `${ref.kind} ${ref.namespace === undefined ? '' : `${ref.namespace}/`}${ref.name} of target ${target}: expected the sanitizers to reduce it to intent, found a fault (${reason}); its document stays as it is: report this to the author of the plugin`,
  ref,
});

/** What could not be planned or written for a reason nobody foresaw; the next accepted snapshot clears it. */
const failedRefusal = (target: TargetId, error: unknown, tries: number): Refusal => ({
  code: 'CommitFailed',
  // The words of our own errors are safe to show; those of a plugin's fault may quote an object.
  message: `target ${target}: expected to plan and write its changes, found a fault in each of ${tries} tries (${isReverserError(error) ? `${error.reason}: ${error.message}` : error instanceof Error ? error.name : 'unknown fault'}); the changes were dropped and a snapshot is taken instead: look into the log`,
});
