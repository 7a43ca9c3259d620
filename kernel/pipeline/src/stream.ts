import {
  messageOf,
  reasonOf,
  type ClusterId,
  type Collection,
  type Cursor,
  type Clock,
  type Labels,
  type Logger,
  type ObjectRef,
  type Source,
  type SourceEvent,
  type StreamStatus,
  type StreamTrouble,
} from '@gitops-reverser/kernel-api';
import type { Asking } from './attribute.js';
import { runSession, type SessionEnd, type Stages } from './flow.js';
import { Intake, type IntakeSettings } from './intake.js';
import type { Snapshot, WriteItem } from './item.js';
import { backoffMs, type RuntimeLimits } from './limits.js';
import { gvrLabels, type Meters } from './meters.js';
import type { ReplayGate } from './replay-gate.js';

export interface StreamGiven {
  readonly collection: Collection;
  readonly collectionKey: string;
  readonly epoch: number;
  readonly cluster: ClusterId;
  readonly source: Source;
  readonly intake: IntakeSettings;
  readonly asking: Asking;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly targetLabels: Labels;
  readonly limits: RuntimeLimits;
  readonly gate: ReplayGate;
  write(item: WriteItem): boolean;
  snapshot(snapshot: Snapshot): boolean;
  unreadable(refKey: string, ref: ObjectRef, reason: string): void;
  changed(): void;
}

/** 60_000: a session that streamed this long was healthy, and the next failure starts the ladder anew. */
const HEALTHY_MS = 60_000;

/** The running follow of one collection: one session after another until it is stopped. */
export class Stream {
  readonly collection: Collection;
  readonly epoch: number;
  readonly #given: StreamGiven;
  readonly #intake: Intake;
  readonly #stop = new AbortController();
  readonly #gvr: Labels;
  #state: StreamStatus['state'] = 'Replaying';
  #trouble: StreamStatus['trouble'];
  #cursor: Cursor | undefined;
  /** A later session resumes only if an earlier replay of this stream was accepted. */
  #hasReplayed = false;
  #sequence = 0;
  #leaveGate: (() => void) | undefined;
  #replayStartedAtMs = 0;
  #isRunning = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(given: StreamGiven) {
    this.#given = given;
    this.collection = given.collection;
    this.epoch = given.epoch;
    this.#gvr = gvrLabels(given.collection.type);
    this.#intake = new Intake(given.collection, given.intake);
  }

  /** Starts it as a loop of `run`. */
  start(run: (loop: (signal: AbortSignal) => Promise<void>) => void): void {
    this.#ended = new Promise((resolve) => {
      // A loop that may not run any more has ended.
      this.#stop.signal.addEventListener('abort', () => (this.#isRunning ? undefined : resolve()), { once: true });
      run(async (signal) => {
        this.#isRunning = true;
        try {
          await this.#sessions(AbortSignal.any([signal, this.#stop.signal]));
        } finally {
          resolve();
        }
      });
    });
  }

  /** Nothing is enqueued after this returns; resolves when the source let go. */
  stop(): Promise<void> {
    this.#stop.abort();
    return this.#ended;
  }

  status(): StreamStatus {
    return {
      collection: this.collection,
      state: this.#state,
      ...(this.#trouble === undefined ? {} : { trouble: this.#trouble }),
      ...(this.#cursor === undefined ? {} : { cursor: this.#cursor }),
    };
  }

  async #sessions(signal: AbortSignal): Promise<void> {
    const { clock, limits, logger, meters, targetLabels } = this.#given;
    for (let failures = 0; !signal.aborted;) {
      const startedAtMs = clock.now().getTime();
      const from = this.#hasReplayed ? this.#cursor : undefined;
      let end: SessionEnd = 'ended';
      try {
        if (from === undefined && !(await this.#replayBegins(signal))) return;
        const { group, resource } = this.#gvr;
        meters.watchRecovery.add({
          ...targetLabels,
          group: group ?? '',
          resource: resource ?? '',
          mode: from === undefined ? 'replay' : 'cursor_resume',
        });
        end = await runSession(this.#stages(), from, signal);
      } catch (error) {
        if (signal.aborted) return;
        logger.warn(
          {
            collection: this.#given.collectionKey,
            reason: reasonOf(error),
            err: messageOf(error),
          },
          'a stream failed',
        );
        this.#inTrouble(troubleOf(error), messageOf(error));
      } finally {
        this.#endReplay();
        meters.watchSessionsEnded.add({
          ...this.#gvr,
          reason: signal.aborted ? 'stopped' : this.#trouble?.reason === 'ExpiredResourceVersion' ? 'expired' : 'error',
        });
      }
      if (signal.aborted || end === 'stopped') return;
      failures = clock.now().getTime() - startedAtMs >= HEALTHY_MS ? 1 : failures + 1;
      if (!this.#hasReplayed) this.#set('Replaying', this.#trouble);
      await clock.sleep(backoffMs(failures, limits.streamRetryMs, limits.streamRetryMaxMs), signal);
    }
  }

  #stages(): Stages {
    const { collection, collectionKey, epoch, cluster, source, asking, clock, limits, meters, targetLabels } =
      this.#given;
    const labels = { ...targetLabels, ...this.#gvr };
    const [routed, bookmark] = [
      { ...labels, outcome: 'routed' },
      { ...labels, outcome: 'bookmark' },
    ];
    return {
      collection,
      collectionKey,
      epoch,
      cluster,
      source,
      intake: this.#intake,
      asking,
      outstandingQuestions: limits.outstandingQuestions,
      now: () => clock.now(),
      nextSequence: () => {
        this.#sequence += 1;
        return this.#sequence;
      },
      write: (item) => !this.#stop.signal.aborted && this.#given.write(item),
      snapshot: (snapshot) => !this.#stop.signal.aborted && this.#given.snapshot(snapshot),
      replayBegins: (signal) => this.#replayBegins(signal),
      accepted: (cursor, what) => this.#accepted(cursor, what),
      heard: (event) => this.#heard(event),
      record: (outcome, filter) => {
        meters.watchEvents.add(
          outcome === 'routed' ? routed : outcome === 'bookmark' ? bookmark : { ...labels, outcome },
        );
        if (filter !== undefined) meters.objectsFiltered.add({ ...labels, reason: filter });
      },
      handled: (receivedAt) =>
        meters.watchHandling.observe(this.#gvr, Math.max(0, clock.now().getTime() - receivedAt.getTime()) / 1_000),
      unreadable: ({ refKey, ref, reason }) => this.#given.unreadable(refKey, ref, reason),
    };
  }

  async #replayBegins(signal: AbortSignal): Promise<boolean> {
    this.#set('Replaying', this.#trouble);
    if (this.#leaveGate === undefined) {
      this.#leaveGate = await this.#given.gate.enter(this.#given.cluster, signal);
      this.#replayStartedAtMs = this.#given.clock.now().getTime();
    }
    return this.#leaveGate !== undefined;
  }

  #endReplay(): void {
    this.#leaveGate?.();
    this.#leaveGate = undefined;
  }

  #accepted(cursor: Cursor, what: 'snapshot' | 'change' | 'progress'): void {
    this.#cursor = cursor;
    if (what !== 'snapshot') return;
    const { clock, meters } = this.#given;
    this.#hasReplayed = true;
    meters.watchReplay.observe(this.#gvr, Math.max(0, clock.now().getTime() - this.#replayStartedAtMs) / 1_000);
    this.#endReplay();
    this.#set('Streaming', undefined);
  }

  #heard(event: SourceEvent): void {
    if (event.kind === 'trouble') {
      // A place in the replay queue is for those who replay; this one waits for its cluster.
      this.#endReplay();
      this.#inTrouble(event.reason, event.message);
    } else if (event.kind === 'streaming')
      this.#set(this.#hasReplayed && !this.#intake.isGathering ? 'Streaming' : 'Replaying', undefined);
  }

  #inTrouble(reason: StreamTrouble, message: string): void {
    const since = this.#trouble?.reason === reason ? this.#trouble.since : this.#given.clock.now();
    if (reason === 'ExpiredResourceVersion') this.#hasReplayed = false;
    this.#set(reason === 'ExpiredResourceVersion' ? 'Replaying' : 'Blocked', { reason, message, since });
  }

  #set(state: StreamStatus['state'], trouble: StreamStatus['trouble']): void {
    const isSame =
      state === this.#state && trouble?.reason === this.#trouble?.reason && trouble?.message === this.#trouble?.message;
    this.#state = state;
    this.#trouble = trouble;
    if (!isSame) this.#given.changed();
  }
}

const TROUBLES: readonly string[] = [
  'ExpiredResourceVersion',
  'WatchError',
  'WatchNotPermitted',
] satisfies readonly StreamTrouble[];
const troubleOf = (error: unknown): StreamTrouble => {
  const reason = reasonOf(error);
  return isTrouble(reason) ? reason : 'WatchError';
};
const isTrouble = (reason: string): reason is StreamTrouble => TROUBLES.includes(reason);
