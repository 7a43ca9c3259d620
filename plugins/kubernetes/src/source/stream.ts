import {
  cursor as toCursor,
  refOf,
  type Clock,
  type Collection,
  type Cursor,
  type KubeObject,
  type SourceEvent,
  type StreamTrouble,
} from '@gitops-reverser/kernel-api';
import {
  exponentialBackoff,
  isExpired,
  isKubeError,
  isWatchListRefusal,
  jitter,
  listPages,
  type Backoff,
  type CollectionPath,
  type KubeClient,
  type Random,
  type WatchFrame,
} from '@gitops-reverser/toolkit-kube';
import { BufferedWatch } from './buffered-watch.js';
import { EventConverter, isOlder, isTerminating } from './convert.js';

/** A stream that lived this long was healthy: its end is ordinary and its ladder starts again (chapter 30, 2.4 step 8). */
const HEALTHY_MS = 60_000;
/** How long a replay may go without a word before the server is taken not to end its initial events (FC-WCH-4). */
const REPLAY_SILENCE_MS = 30_000;
/** The server ends a watch after a random time in this range, so that many do not end together. */
const TIMEOUT_SECONDS = [300, 600] as const;
const LADDER_MS = [2_000, 60_000] as const;
/** A lagging replica catches up within this; a store that went back does not (chapter 30, 2.4.1). */
const STORE_LOOKS = 3;
const STORE_LOOK_PAUSE_MS = 4_000;

/** What all streams of one server have learned of it. */
export interface ServerTraits {
  hasWatchList: boolean;
}

export interface StreamOptions {
  readonly client: KubeClient;
  readonly collection: Collection;
  readonly clock: Clock;
  readonly traits: ServerTraits;
  readonly random: Random;
  /** A type was not found: discovery is behind. */
  onNotFound(): void;
}

/** How a session ended and what the next one may do. */
type Ending =
  | { readonly kind: 'stopped' }
  /** The server's own time-out, or a healthy stream that was cut: go on at once. */
  | { readonly kind: 'resume' }
  | { readonly kind: 'replay' }
  | {
      readonly kind: 'wait';
      readonly trouble: StreamTrouble;
      readonly message: string;
      readonly atLeastMs: number;
      readonly replay: boolean;
      readonly doubtful: boolean;
    };

/**
 * One collection as a sequence of sessions: replay once, then resume from the cursor; a cursor the server no longer knows is
 * dropped and the set replayed. Yielding an event hands it over; being asked for the next one means it was accepted.
 */
export class CollectionStream {
  readonly #options: StreamOptions;
  readonly #path: CollectionPath;
  readonly #converter: EventConverter;
  readonly #ladder: Backoff;
  #cursor: Cursor | undefined;
  #isDoubtful = false;

  constructor(options: StreamOptions, from: Cursor | undefined) {
    const { group, version, resource } = options.collection.type;
    const { namespace } = options.collection;
    this.#options = options;
    this.#path = { group, version, resource, ...(namespace === undefined ? {} : { namespace }) };
    this.#converter = new EventConverter(options.collection);
    this.#ladder = exponentialBackoff(LADDER_MS[0], LADDER_MS[1], options.random);
    this.#cursor = from;
  }

  async *events(signal: AbortSignal): AsyncGenerator<SourceEvent, void, undefined> {
    while (!signal.aborted) {
      const ending = yield* this.#session(signal);
      if (signal.aborted || ending.kind === 'stopped') return;
      if (ending.kind === 'replay') {
        yield {
          kind: 'trouble',
          reason: 'ExpiredResourceVersion',
          message: `the resume point of ${this.#title} is no longer known; the whole set is read again`,
        };
        // The first replay goes at once; one that fails the same way climbs the ladder (FC-WCH-3).
        if (this.#ladder.failures > 0) await this.#options.clock.sleep(this.#ladder.next(), signal);
        else this.#ladder.next();
        this.#cursor = undefined;
        continue;
      }
      if (ending.kind === 'resume') {
        this.#ladder.reset();
        continue;
      }
      yield { kind: 'trouble', reason: ending.trouble, message: ending.message };
      if (ending.replay) this.#cursor = undefined;
      this.#isDoubtful ||= ending.doubtful;
      await this.#options.clock.sleep(Math.max(this.#ladder.next(), ending.atLeastMs), signal);
    }
  }

  get #title(): string {
    const { type, namespace } = this.#options.collection;
    const resource = type.group === '' ? type.resource : `${type.resource}.${type.group}`;
    return namespace === undefined ? resource : `${resource} in ${namespace}`;
  }

  get #selection(): { readonly labelSelector?: string } {
    const { labelSelector } = this.#options.collection;
    return labelSelector === undefined ? {} : { labelSelector };
  }

  get #timeoutSeconds(): number {
    const [least, most] = TIMEOUT_SECONDS;
    return Math.round(least + (most - least) * this.#options.random());
  }

  async *#session(signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    try {
      if (this.#cursor === undefined) return yield* this.#replay(signal);
      if (this.#isDoubtful && (await this.#storeWentBack(this.#cursor, signal))) return { kind: 'replay' };
      this.#isDoubtful = false;
      return yield* this.#resume(this.#cursor, signal);
    } catch (thrown) {
      if (signal.aborted) return { kind: 'stopped' };
      return this.#afterError(thrown);
    }
  }

  /** The place in the stream is asked of the store before it is trusted: a restored etcd is silent up to it. */
  async #storeWentBack(from: Cursor, signal: AbortSignal): Promise<boolean> {
    for (let look = 1; look <= STORE_LOOKS; look += 1) {
      const { resourceVersion } = await this.#options.client.list(this.#path, { ...this.#selection, limit: 1 }, signal);
      if (!isOlder(resourceVersion, from)) return false;
      if (look < STORE_LOOKS) await this.#options.clock.sleep(STORE_LOOK_PAUSE_MS, signal);
    }
    return true;
  }

  async *#resume(from: Cursor, signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    const watch = {
      ...this.#selection,
      resourceVersion: from as string,
      allowWatchBookmarks: true,
      timeoutSeconds: this.#timeoutSeconds,
    };
    await using stream = await this.#options.client.watch(this.#path, watch, signal);
    yield { kind: 'streaming' };
    return yield* this.#live(stream);
  }

  async *#replay(signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    // Said before the first request, so that whoever limits replays can hold this one back.
    yield { kind: 'snapshot-begin' };
    if (this.#options.traits.hasWatchList) {
      try {
        return yield* this.#replayByWatch(signal);
      } catch (thrown) {
        if (signal.aborted || !(thrown === NEVER_ENDS || isWatchListRefusal(thrown))) throw thrown;
        this.#options.traits.hasWatchList = false;
        yield { kind: 'snapshot-begin' };
      }
    }
    return yield* this.#replayByList(signal);
  }

  async *#replayByWatch(signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    const watch = {
      ...this.#selection,
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      timeoutSeconds: this.#timeoutSeconds,
    };
    await using stream = await this.#options.client.watch(this.#path, watch, signal);
    const frames = stream[Symbol.asyncIterator]();
    let count = 0;
    for (;;) {
      const next = await this.#within(frames.next(), REPLAY_SILENCE_MS, signal);
      if (next.done === true) return { kind: 'stopped' };
      const frame = next.value;
      if (frame.kind === 'event' && frame.type !== 'DELETED') {
        count += 1;
        const member = this.#member(frame.object);
        if (member !== undefined) yield member;
      } else if (frame.kind === 'initial-events-end') {
        yield* this.#complete(frame.resourceVersion);
        return yield* this.#live({ [Symbol.asyncIterator]: () => frames });
      } else if (frame.kind === 'error') {
        // A server whose store cannot tell progress answers a WatchList with an internal error at once.
        if (count === 0 && frame.error.code === 500) throw NEVER_ENDS;
        return this.#afterError(frame.error);
      } else if (frame.kind === 'ended') {
        return this.#afterEnd(frame);
      }
    }
  }

  /** Rejects with NEVER_ENDS when nothing came for `ms`. */
  async #within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
    const done = new AbortController();
    const late = this.#options.clock.sleep(ms, AbortSignal.any([signal, done.signal])).then(() => {
      if (done.signal.aborted || signal.aborted) return work;
      work.catch(() => undefined);
      throw NEVER_ENDS;
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      done.abort();
      late.catch(() => undefined);
    }
  }

  async *#replayByList(signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    const { client } = this.#options;
    const { resourceVersion: start } = await client.list(this.#path, { ...this.#selection, limit: 1 }, signal);
    const watch = { ...this.#selection, allowWatchBookmarks: true, timeoutSeconds: this.#timeoutSeconds };
    const buffered = new BufferedWatch(await client.watch(this.#path, { ...watch, resourceVersion: start }, signal));
    let listed: string;
    try {
      listed = yield* this.#list(signal);
      if (!buffered.hasOverflowed) {
        yield* this.#complete(listed);
        return yield* this.#live(newerThan(listed, buffered.frames()));
      }
    } finally {
      await buffered.close();
    }
    // More changes came than the buffer holds: the watch is opened after the list instead.
    await using stream = await client.watch(this.#path, { ...watch, resourceVersion: listed }, signal);
    yield* this.#complete(listed);
    return yield* this.#live(stream);
  }

  async *#list(signal: AbortSignal): AsyncGenerator<SourceEvent, string, undefined> {
    for await (const event of listPages(this.#options.client, this.#path, this.#selection, signal)) {
      if (event.kind === 'restart') yield { kind: 'snapshot-begin' };
      if (event.kind === 'complete') return event.resourceVersion;
      if (event.kind !== 'page') continue;
      for (const object of event.items) {
        const member = this.#member(object);
        if (member !== undefined) yield member;
      }
    }
    throw new Error('a list ended without its last page');
  }

  /** A terminating object is logically absent (chapter 30, 2.4 step 4). */
  #member(object: KubeObject): SourceEvent | undefined {
    if (isTerminating(object)) return undefined;
    const at = toCursor(object.metadata.resourceVersion ?? '');
    return { kind: 'upsert', ref: refOf(this.#options.collection.type, object), object, via: 'snapshot', cursor: at };
  }

  async *#complete(resourceVersion: string): AsyncGenerator<SourceEvent, void, undefined> {
    const at = toCursor(resourceVersion);
    this.#converter.reset();
    yield { kind: 'snapshot-end', cursor: at };
    // Only an accepted replay may be resumed from.
    this.#cursor = at;
    this.#isDoubtful = false;
    yield { kind: 'streaming' };
  }

  async *#live(frames: AsyncIterable<WatchFrame>): AsyncGenerator<SourceEvent, Ending, undefined> {
    for await (const frame of frames) {
      switch (frame.kind) {
        case 'event': {
          const event = this.#converter.convert(frame);
          yield event;
          this.#cursor = toCursor(frame.resourceVersion);
          break;
        }
        case 'bookmark':
        case 'initial-events-end':
          yield { kind: 'progress', cursor: toCursor(frame.resourceVersion) };
          this.#cursor = toCursor(frame.resourceVersion);
          break;
        case 'error':
          return this.#afterError(frame.error);
        case 'ended':
          return this.#afterEnd(frame);
      }
    }
    return { kind: 'stopped' };
  }

  #afterEnd(frame: Extract<WatchFrame, { readonly kind: 'ended' }>): Ending {
    const isHealthy = frame.aliveMs >= HEALTHY_MS;
    if (isHealthy) this.#ladder.reset();
    if (frame.cause === 'server' && isHealthy && frame.bytes > 0) return { kind: 'resume' };
    const message =
      frame.error?.message ??
      `the watch of ${this.#title} ended after ${Math.round(frame.aliveMs / 1000)} s; opening it again`;
    return {
      kind: 'wait',
      trouble: 'WatchError',
      message,
      atLeastMs: 0,
      replay: false,
      doubtful: frame.cause !== 'server' || frame.bytes === 0,
    };
  }

  #afterError(thrown: unknown): Ending {
    if (isExpired(thrown)) return { kind: 'replay' };
    if (!isKubeError(thrown)) throw thrown;
    const { code, message, retryAfterSeconds } = thrown;
    const atLeastMs = retryAfterSeconds === undefined ? 0 : jitter(retryAfterSeconds * 1000, this.#options.random);
    const wait = { kind: 'wait', message, atLeastMs, replay: isBadCursor(code, message), doubtful: true } as const;
    if (code === 403) {
      const { type, namespace } = this.#options.collection;
      const where = namespace === undefined ? 'in every namespace' : `in namespace ${namespace}`;
      const resource = type.group === '' ? type.resource : `${type.resource}.${type.group}`;
      return {
        ...wait,
        trouble: 'WatchNotPermitted',
        message: `the credential may not list and watch ${resource} ${where}; grant it get, list and watch`,
      };
    }
    if (code === 404) this.#options.onNotFound();
    return { ...wait, trouble: 'WatchError' };
  }
}

const NEVER_ENDS = Symbol('the server never ends its initial events');

/** The server does not take this cursor: another attempt with it would fail for ever. */
function isBadCursor(code: number, message: string): boolean {
  return code === 400 || code === 422 || (code === 500 && message.includes('resourceVersion'));
}

async function* newerThan(
  version: string,
  frames: AsyncIterable<WatchFrame>,
): AsyncGenerator<WatchFrame, void, undefined> {
  for await (const frame of frames) {
    if ('resourceVersion' in frame && (frame.resourceVersion === version || isOlder(frame.resourceVersion, version)))
      continue;
    yield frame;
  }
}
