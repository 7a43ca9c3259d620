import {
  cursor as toCursor,
  type Clock,
  type Collection,
  type Cursor,
  type KubeObject,
  type SourceEvent,
} from '@gitops-reverser/kernel-api';
import {
  exponentialBackoff,
  isKubeError,
  isWatchListRefusal,
  KubeError,
  listPages,
  type Backoff,
  type CollectionPath,
  type KubeClient,
  type Random,
  type WatchFrame,
  type WatchOptions,
  type WatchStream,
} from '@gitops-reverser/toolkit-kube';
import { BufferedWatch } from './buffered-watch.js';
import { EventConverter, isOlder } from './convert.js';
import { ReplayDeadline } from './replay-deadline.js';
import { afterEnd, afterError, SPREAD_MS, titleOf, type Ending, type EndingFacts } from './session-ending.js';

/** A stream that lived this long was healthy: its end is ordinary and its ladder starts again (30, 2.4 step 8). */
const HEALTHY_MS = 60_000;
/** How long a replay may go without a word before the server is taken not to end its initial events (FC-WCH-4). */
const REPLAY_SILENCE_MS = 30_000;
/** The server ends a watch after a random time in this range, so that many do not end together (30, SC-16). */
const TIMEOUT_SECONDS = [300, 600] as const;
const LADDER_MS = [2_000, 60_000] as const;
/** A lagging replica catches up within this; a store that went back does not (30, 2.4.1). */
const STORE_LOOKS = 3;
const STORE_LOOK_PAUSE_MS = 4_000;

/** What the streams of one server have learned of it. */
export interface ServerTraits {
  /** Group versions whose server does not do WatchList: one cluster may have many servers behind it. */
  readonly withoutWatchList: Set<string>;
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
  /** A cursor from elsewhere is as doubtful as one from before an outage: the store may be another one by now. */
  #isDoubtful = true;
  #hasExpired = false;
  #streamingSince: number | undefined;
  #timeoutSeconds = 0;

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
    const { clock, collection, onNotFound } = this.#options;
    while (!signal.aborted) {
      this.#streamingSince = undefined;
      const ending = yield* this.#session(signal);
      if (signal.aborted || ending.kind === 'stopped') return;
      if (this.#isHealthy) {
        this.#ladder.reset();
        this.#hasExpired = false;
      }
      switch (ending.kind) {
        case 'resume':
          this.#isDoubtful ||= ending.doubtful;
          await clock.sleep(ending.afterMs, signal);
          break;
        case 'replay':
          this.#cursor = undefined;
          yield {
            kind: 'trouble',
            reason: 'ExpiredResourceVersion',
            message: `the resume point of ${titleOf(collection)} is no longer known; the whole set is read again`,
          };
          // The first replay goes at once; one after the other would be a loop (FC-WCH-3).
          if (this.#hasExpired) await this.#pause(0, signal);
          this.#hasExpired = true;
          break;
        case 'wait':
          this.#isDoubtful ||= ending.doubtful;
          if (ending.notFound) onNotFound();
          yield { kind: 'trouble', reason: ending.trouble, message: ending.message };
          await this.#pause(ending.atLeastMs, signal);
          break;
      }
    }
  }

  async #pause(atLeastMs: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    await clock.sleep(Math.max(this.#ladder.next(), atLeastMs) + Math.round(SPREAD_MS * random()), signal);
  }

  async *#session(signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    try {
      if (this.#cursor === undefined) return yield* this.#replay(signal);
      if (this.#isDoubtful && (await this.#storeWentBack(this.#cursor, signal))) return { kind: 'replay' };
      return yield* this.#resume(this.#cursor, signal);
    } catch (thrown) {
      if (signal.aborted) return { kind: 'stopped' };
      return afterError(thrown, this.#facts);
    }
  }

  /** A store that was restored from a backup is silent up to the cursor, so it is asked where it is. */
  async #storeWentBack(from: Cursor, signal: AbortSignal): Promise<boolean> {
    for (let look = 1; look <= STORE_LOOKS; look += 1) {
      const { resourceVersion } = await this.#options.client.list(this.#path, { ...this.#selection, limit: 1 }, signal);
      if (!isOlder(resourceVersion, from)) return false;
      if (look < STORE_LOOKS) await this.#options.clock.sleep(STORE_LOOK_PAUSE_MS, signal);
      if (signal.aborted) return false;
    }
    return true;
  }

  async *#resume(from: Cursor, signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    await using stream = await this.#watch({ resourceVersion: from }, signal);
    this.#isDoubtful = false;
    yield this.#streaming();
    return yield* this.#live(stream);
  }

  async *#replay(signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    const { withoutWatchList } = this.#options.traits;
    const { group, version } = this.#path;
    // Said before the first request, so that whoever limits replays can hold this one back.
    yield { kind: 'snapshot-begin' };
    if (!withoutWatchList.has(`${group}/${version}`)) {
      try {
        return yield* this.#replayByWatch(signal);
      } catch (thrown) {
        if (signal.aborted || !isNoWatchList(thrown)) throw thrown;
        withoutWatchList.add(`${group}/${version}`);
        yield { kind: 'snapshot-begin' };
      }
    }
    return yield* this.#replayByList(signal);
  }

  async *#replayByWatch(signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    const { clock } = this.#options;
    await using stream = await this.#watch({ sendInitialEvents: true }, signal);
    await using frames = closing(stream);
    await using deadline = new ReplayDeadline({
      clock,
      silenceMs: REPLAY_SILENCE_MS,
      // A server that keeps its own time-out ends an endless replay before we have to.
      totalMs: this.#timeoutSeconds * 1000 + REPLAY_SILENCE_MS,
      close: () => stream.close(),
    });
    this.#converter.beginReplay();
    for (let isFirst = true; ; isFirst = false) {
      const next = await deadline.during(frames.next());
      if (deadline.isOver) throw NEVER_ENDS;
      if (next.done === true) return { kind: 'stopped' };
      const frame = next.value;
      switch (frame.kind) {
        case 'event': {
          const member = this.#converter.duringReplay(frame);
          if (member !== undefined) yield member;
          break;
        }
        case 'initial-events-end':
          await deadline[Symbol.asyncDispose]();
          yield* this.#complete(frame.resourceVersion);
          return yield* this.#live(frames);
        case 'bookmark':
          // Ordinary bookmarks come after the end mark: this server never sends it.
          throw NEVER_ENDS;
        case 'error':
          // A server whose store cannot tell progress answers a WatchList so, at once.
          if (isFirst && frame.error.code === 500) throw NEVER_ENDS;
          return afterError(frame.error, this.#facts);
        case 'ended':
          if (frame.cause === 'server' && frame.aliveMs >= HEALTHY_MS) throw NEVER_ENDS;
          return afterEnd(frame, this.#facts);
      }
    }
  }

  async *#replayByList(signal: AbortSignal): AsyncGenerator<SourceEvent, Ending, undefined> {
    const { client } = this.#options;
    const start = await client.list(this.#path, { ...this.#selection, limit: 1 }, signal);
    const resourceVersion = this.#required(start.resourceVersion);
    this.#converter.beginReplay();
    await using buffered = new BufferedWatch(await this.#watch({ resourceVersion }, signal));
    const listed = this.#required(yield* this.#list(signal));
    if (buffered.stopBuffering() === 'whole') {
      yield* this.#complete(listed);
      return yield* this.#live(newerThan(listed, buffered.frames()));
    }
    // More changes came than the buffer holds: the watch is opened after the list instead.
    await buffered.close();
    await using stream = await this.#watch({ resourceVersion: listed }, signal);
    yield* this.#complete(listed);
    return yield* this.#live(stream);
  }

  async *#list(signal: AbortSignal): AsyncGenerator<SourceEvent, string, undefined> {
    for await (const event of listPages(this.#options.client, this.#path, this.#selection, signal)) {
      if (event.kind === 'complete') return event.resourceVersion;
      if (event.kind === 'restart') yield { kind: 'snapshot-begin' };
      else yield* this.#members(event.items);
    }
    throw new Error('a list ended without its last page');
  }

  *#members(items: readonly KubeObject[]): Generator<SourceEvent, void, undefined> {
    for (const object of items) {
      const member = this.#converter.member(object);
      if (member !== undefined) yield member;
    }
  }

  async *#complete(resourceVersion: string): AsyncGenerator<SourceEvent, void, undefined> {
    const at = toCursor(this.#required(resourceVersion));
    yield { kind: 'snapshot-end', cursor: at };
    // Only an accepted replay may be resumed from.
    this.#cursor = at;
    this.#isDoubtful = false;
    yield* this.#converter.endReplay(at);
    yield this.#streaming();
  }

  async *#live(frames: AsyncIterable<WatchFrame>): AsyncGenerator<SourceEvent, Ending, undefined> {
    for await (const frame of frames) {
      switch (frame.kind) {
        case 'event':
          yield this.#converter.convert(frame);
          this.#cursor = toCursor(frame.resourceVersion);
          break;
        case 'bookmark':
        case 'initial-events-end':
          yield { kind: 'progress', cursor: toCursor(frame.resourceVersion) };
          this.#cursor = toCursor(frame.resourceVersion);
          break;
        case 'error':
          return afterError(frame.error, this.#facts);
        case 'ended':
          return afterEnd(frame, this.#facts);
      }
    }
    return { kind: 'stopped' };
  }

  #streaming(): SourceEvent {
    this.#streamingSince = this.#options.clock.now().getTime();
    return { kind: 'streaming' };
  }

  get #isHealthy(): boolean {
    const since = this.#streamingSince;
    return since !== undefined && this.#options.clock.now().getTime() - since >= HEALTHY_MS;
  }

  get #facts(): EndingFacts {
    const { collection, random } = this.#options;
    return {
      collection,
      random,
      timeoutMs: this.#timeoutSeconds * 1000,
      isHealthy: this.#isHealthy,
      hasCursor: this.#cursor !== undefined,
    };
  }

  get #selection(): { readonly labelSelector?: string } {
    const { labelSelector } = this.#options.collection;
    return labelSelector === undefined ? {} : { labelSelector };
  }

  #watch(
    form: Pick<WatchOptions, 'sendInitialEvents' | 'resourceVersion'>,
    signal: AbortSignal,
  ): ReturnType<KubeClient['watch']> {
    const [least, most] = TIMEOUT_SECONDS;
    this.#timeoutSeconds = Math.round(least + (most - least) * this.#options.random());
    const shared = { ...this.#selection, allowWatchBookmarks: true, timeoutSeconds: this.#timeoutSeconds };
    return this.#options.client.watch(this.#path, { ...shared, ...form }, signal);
  }

  /** A watch from no version, or from `0`, would send the whole set as if it were new (30, 2.4 step 3). */
  #required(resourceVersion: string): string {
    if (resourceVersion !== '' && resourceVersion !== '0') return resourceVersion;
    throw new KubeError({
      code: 0,
      reason: 'MalformedResponse',
      message: `${titleOf(this.#options.collection)}: expected a list with a resourceVersion to watch from, found ${resourceVersion === '' ? 'none' : resourceVersion}; this API cannot be followed until its server gives one`,
    });
  }
}

const NEVER_ENDS = Symbol('the server never ends its initial events');

/** Its server does not know WatchList, or our request for one; the list form tells whether something else is wrong. */
const isNoWatchList = (thrown: unknown): boolean =>
  thrown === NEVER_ENDS ||
  isWatchListRefusal(thrown) ||
  (isKubeError(thrown) && (thrown.code === 400 || thrown.code === 422));

/** The frames of a stream, which is closed and forgotten when they are disposed of. */
function closing(stream: WatchStream): AsyncGenerator<WatchFrame, void, undefined> & AsyncDisposable {
  const frames = stream[Symbol.asyncIterator]();
  return Object.assign(frames, {
    [Symbol.asyncDispose]: async (): Promise<void> => {
      stream.close();
      await frames.return();
    },
  });
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
