import { setMaxListeners } from 'node:events';
import type { Collection, Cursor, Source, SourceEvent } from '@gitops-reverser/kernel-api';
import { ask, type Asking } from './attribute.js';
import type { Undo } from './baseline.js';
import type { Heard, Intake } from './intake.js';
import type { Authorship, Snapshot, WriteItem } from './item.js';
import { slices } from './slices.js';

/** What one stream's session touches on its way down the river. */
export interface Stages {
  readonly collection: Collection;
  readonly collectionKey: string;
  readonly epoch: number;
  readonly cluster: Parameters<typeof ask>[1]['cluster'];
  readonly source: Source;
  readonly intake: Intake;
  readonly asking: Asking;
  readonly outstandingQuestions: number;
  readonly now: () => Date;
  nextSequence(): number;
  /** False: refused; the session ends and everything after the last accepted cursor is said again. */
  write(item: WriteItem): boolean;
  snapshot(snapshot: Snapshot): boolean;
  /** A replay starts: resolves when it may, false when the session was stopped meanwhile. */
  replayBegins(signal: AbortSignal): Promise<boolean>;
  /** Everything up to here is accepted. */
  accepted(cursor: Cursor, what: 'snapshot' | 'change' | 'progress'): void;
  heard(event: SourceEvent): void;
  /** Census of what was received. */
  record(
    outcome: 'routed' | 'unchanged' | 'excluded' | 'bookmark' | 'stream_error' | 'route_failed' | 'shutdown',
    filter?: string,
  ): void;
  handled(receivedAt: Date): void;
  unreadable(heard: Heard & { readonly kind: 'unreadable' }): void;
}

export type SessionEnd = 'ended' | 'refused' | 'stopped';

/** Something received and not accepted yet, in order. */
interface Step {
  readonly undo: Undo | undefined;
  /** What it waits for; absent: nothing. */
  readonly ready: Promise<unknown> | undefined;
  /** False: refused. */
  deliver(): boolean;
}

/**
 * Runs one session of one stream, from its cluster to the branch, in the order received. Waits for authors overlap; delivery
 * never does. Whatever is refused is taken back, so that the next session starts from the last accepted cursor.
 */
export async function runSession(stages: Stages, from: Cursor | undefined, signal: AbortSignal): Promise<SessionEnd> {
  const session = new AbortController();
  // Every open question listens, and so do the source and the line.
  setMaxListeners(stages.outstandingQuestions + 16, session.signal);
  const stop = (): void => session.abort();
  if (signal.aborted) return 'stopped';
  signal.addEventListener('abort', stop, { once: true });
  const line = new DeliveryLine(stages.outstandingQuestions, session);
  const rhythm = slices();
  try {
    for await (const event of stages.source.follow(stages.collection, from, session.signal)) {
      if (session.signal.aborted) break;
      stages.heard(event);
      const step = await receive(event, stages, session.signal);
      if (step !== undefined) {
        line.add(step);
        if (line.isFull) await line.hasRoom();
      }
      if (rhythm.spent()) await rhythm.rest();
    }
    await line.empty();
  } finally {
    signal.removeEventListener('abort', stop);
    session.abort();
    stages.intake.abandon();
    await line.abandon();
  }
  if (line.hasRefused) return 'refused';
  return signal.aborted ? 'stopped' : 'ended';
}

async function receive(event: SourceEvent, stages: Stages, signal: AbortSignal): Promise<Step | undefined> {
  const { intake } = stages;
  switch (event.kind) {
    case 'snapshot-begin':
      intake.begin();
      await stages.replayBegins(signal);
      return undefined;
    case 'snapshot-end':
      return completed(event.cursor, stages);
    case 'upsert': {
      if (event.via === 'live') return changed(event, stages, signal);
      const filtered = intake.gather(event);
      stages.record(filtered === undefined ? 'routed' : 'excluded', filtered?.filter);
      return undefined;
    }
    case 'delete':
      if (intake.isGathering) intake.ungather(event);
      return changed(event, stages, signal);
    case 'progress':
      stages.record('bookmark');
      return progress(event.cursor, stages);
    case 'streaming':
      return undefined;
    case 'trouble':
      stages.record('stream_error');
      return undefined;
  }
}

function progress(cursor: Cursor, stages: Stages): Step {
  return {
    undo: undefined,
    ready: undefined,
    deliver: () => {
      stages.accepted(cursor, 'progress');
      return true;
    },
  };
}

function completed(cursor: Cursor, stages: Stages): Step | undefined {
  const gathered = stages.intake.complete(cursor, stages.epoch, stages.collectionKey, stages.now());
  if (gathered === undefined) return undefined;
  return {
    undo: gathered.undo,
    ready: undefined,
    deliver: () => {
      const isTaken = stages.snapshot(gathered.snapshot);
      if (isTaken) stages.accepted(cursor, 'snapshot');
      return isTaken;
    },
  };
}

/** The author's clock starts when the change arrives, so the question is asked first; noise takes it back. */
function changed(
  event: SourceEvent & { readonly kind: 'upsert' | 'delete' },
  stages: Stages,
  signal: AbortSignal,
): Step {
  const receivedAt = stages.now();
  const question = ask(stages.asking, changeOf(event, stages), signal);
  const heard = event.kind === 'upsert' ? stages.intake.upsert(event) : stages.intake.delete(event);
  if (heard.kind !== 'change') {
    question.abort();
    if (heard.kind === 'noise') stages.record(heard.outcome, heard.filter);
    else {
      stages.record('excluded');
      stages.unreadable(heard);
    }
    return progress(event.cursor, stages);
  }
  const sequence = stages.nextSequence();
  let author: Authorship = { outcome: 'unresolved' };
  const isWaiting = question.answer instanceof Promise;
  if (!(question.answer instanceof Promise)) author = question.answer;
  return {
    undo: heard.undo,
    ready: isWaiting
      ? Promise.resolve(question.answer).then((answer) => {
          author = answer;
        })
      : undefined,
    deliver: () => {
      const isTaken = stages.write(toItem(heard, sequence, author, stages, receivedAt));
      stages.record(isTaken ? 'routed' : 'route_failed');
      if (!isTaken) return false;
      stages.accepted(event.cursor, 'change');
      stages.handled(receivedAt);
      return true;
    },
  };
}

function changeOf(
  event: SourceEvent & { readonly kind: 'upsert' | 'delete' },
  { cluster }: Stages,
): Parameters<typeof ask>[1] {
  const uid = event.kind === 'delete' ? (event.uid ?? event.object?.metadata.uid) : event.object.metadata.uid;
  const isGoing = event.kind === 'delete' || event.object.metadata['deletionTimestamp'] !== undefined;
  return {
    cluster,
    ref: event.ref,
    removal: isGoing,
    resourceVersion: event.object?.metadata.resourceVersion ?? '',
    ...(uid === undefined ? {} : { uid }),
  };
}

function toItem(
  heard: Heard & { readonly kind: 'change' },
  sequence: number,
  author: Authorship,
  stages: Stages,
  receivedAt: Date,
): WriteItem {
  const { operation, ref, refKey, object, bytes, observed } = heard;
  return {
    collection: stages.collection,
    collectionKey: stages.collectionKey,
    sequence,
    ref,
    refKey,
    operation,
    ...(object === undefined ? {} : { object }),
    bytes,
    author,
    receivedAt,
    ...observed,
  };
}

/** Delivers steps strictly in order, each as soon as it is ready. The first that is refused ends everything after it. */
class DeliveryLine {
  readonly #limit: number;
  readonly #session: AbortController;
  /** Received, not delivered; oldest first. */
  readonly #waiting: Step[] = [];
  #tail: Promise<void> | undefined;
  #room: (() => void) | undefined;
  hasRefused = false;

  constructor(limit: number, session: AbortController) {
    this.#limit = limit;
    this.#session = session;
    session.signal.addEventListener('abort', () => this.#room?.(), { once: true });
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#limit;
  }

  add(step: Step): void {
    this.#waiting.push(step);
    if (this.#tail !== undefined) return;
    if (step.ready === undefined) return this.#deliver(step);
    this.#tail = this.#deliverAll();
  }

  async #deliverAll(): Promise<void> {
    for (let step = this.#waiting[0]; step !== undefined && !this.#session.signal.aborted; step = this.#waiting[0]) {
      if (step.ready !== undefined) await step.ready;
      this.#deliver(step);
    }
    this.#tail = undefined;
  }

  /** Sequential by construction: `step` is the oldest. A session that was stopped delivers nothing more. */
  #deliver(step: Step): void {
    if (this.#session.signal.aborted) return;
    if (step.deliver()) this.#waiting.shift();
    else {
      this.hasRefused = true;
      this.#session.abort();
    }
    this.#room?.();
  }

  hasRoom(): Promise<void> {
    if (!this.isFull || this.#session.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#room = () => {
        this.#room = undefined;
        resolve();
      };
    });
  }

  /** Everything received was delivered, or the session was stopped. */
  async empty(): Promise<void> {
    await this.#tail;
  }

  /** What was not delivered is taken back, newest first. */
  async abandon(): Promise<void> {
    await this.#tail;
    for (const step of this.#waiting.splice(0).reverse()) step.undo?.();
  }
}
