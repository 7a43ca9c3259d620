import type { Clock, JsonObject, KubeObject } from '@gitops-reverser/kernel-api';
import { onAbort } from './abort.js';
import type { KubeError } from './errors.js';
import type { OpenedStream } from './http2-streams.js';
import { parseJson } from '@gitops-reverser/toolkit-yaml';
import { LineSplitter } from './line-splitter.js';
import { toEventError } from './status-error.js';
import { toTransportError, transportError } from './transport-error.js';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * Why a watch stopped. `server`: the server just closed the stream, as it does at its `timeoutSeconds`. `cut`: in the middle of a
 * line, or the connection broke. `silence`: no byte for the whole limit, so we closed it (30, SC-16). `malformed` and
 * `oversized`: a line that is no watch event, or longer than the limit.
 */
export type WatchEndCause = 'server' | 'cut' | 'silence' | 'malformed' | 'oversized';

export type WatchFrame =
  | {
      readonly kind: 'event';
      readonly type: WatchEventType;
      readonly object: KubeObject;
      readonly resourceVersion: string;
    }
  | { readonly kind: 'bookmark'; readonly resourceVersion: string }
  /** The bookmark after which the replayed set is complete. */
  | { readonly kind: 'initial-events-end'; readonly resourceVersion: string }
  /** An ERROR event. The last frame. */
  | { readonly kind: 'error'; readonly error: KubeError }
  /** The last frame of a stream nobody aborted. `error` is there for every cause but `server`. */
  | {
      readonly kind: 'ended';
      readonly cause: WatchEndCause;
      readonly error?: KubeError;
      readonly aliveMs: number;
      readonly bytes: number;
    };

export interface WatchStreamOptions {
  readonly asked: string;
  readonly clock: Clock;
  readonly silenceMs: number;
  readonly maxLineBytes: number;
}

/** One watch request: iterate it once, or close it. Aborting its signal ends the iteration quietly. */
export class WatchStream implements AsyncIterable<WatchFrame>, AsyncDisposable {
  readonly #stream: OpenedStream;
  readonly #options: WatchStreamOptions;
  readonly #signal: AbortSignal;
  readonly #done = new AbortController();
  readonly #openedAt: number;
  #waitingSince: number | undefined;
  #silent = false;
  #bytes = 0;

  constructor(stream: OpenedStream, options: WatchStreamOptions, signal: AbortSignal) {
    this.#stream = stream;
    this.#options = options;
    this.#signal = signal;
    this.#openedAt = options.clock.now().getTime();
  }

  /** For messages: what was watched, and where. */
  get asked(): string {
    return this.#options.asked;
  }

  close(): void {
    this.#done.abort();
    this.#stream.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchFrame, void, undefined> {
    const watchdog = this.#watchSilence();
    const follow = onAbort(this.#signal, () => this.close());
    try {
      yield* this.#frames();
    } finally {
      follow[Symbol.dispose]();
      this.close();
      await watchdog;
    }
  }

  async *#frames(): AsyncGenerator<WatchFrame, void, undefined> {
    const lines = new LineSplitter(this.#options.maxLineBytes);
    const chunks = (this.#stream.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    for (;;) {
      const read = await this.#read(chunks);
      if (this.#done.signal.aborted && !this.#silent) return;
      if (!(read instanceof Uint8Array)) {
        yield this.#ended(read, lines);
        return;
      }
      for (const line of lines.push(read)) {
        const frame = this.#toFrame(line);
        if (frame === undefined) continue;
        yield frame;
        if (frame.kind === 'error' || frame.kind === 'ended') return;
        if (this.#done.signal.aborted) return;
      }
      if (lines.isOversized) {
        yield this.#end(
          'oversized',
          transportError(this.#options.asked, 'ResponseTooLarge', {
            found: `one line of more than ${this.#options.maxLineBytes} bytes`,
          }),
        );
        return;
      }
    }
  }

  /** Time counts as silence only while we wait: a busy consumer does not make a server silent. */
  async #read(chunks: AsyncIterator<Buffer>): Promise<Buffer | 'end' | { readonly thrown: unknown }> {
    this.#waitingSince = this.#options.clock.now().getTime();
    try {
      const next = await chunks.next();
      if (next.done === true) return 'end';
      this.#bytes += next.value.length;
      return next.value;
    } catch (thrown) {
      return { thrown };
    } finally {
      this.#waitingSince = undefined;
    }
  }

  #ended(read: 'end' | { readonly thrown: unknown }, lines: LineSplitter): WatchFrame {
    const { asked, silenceMs } = this.#options;
    if (this.#silent)
      return this.#end('silence', transportError(asked, 'RequestTimeout', { found: `no byte for ${silenceMs} ms` }));
    if (read !== 'end') return this.#end('cut', toTransportError(asked, read.thrown));
    if (lines.hasRemainder)
      return this.#end('cut', transportError(asked, 'ConnectionCut', { found: 'in the middle of a line' }));
    if (this.#stream.wasCut()) return this.#end('cut', transportError(asked, 'ConnectionCut'));
    return this.#end('server');
  }

  #end(cause: WatchEndCause, error?: KubeError): WatchFrame {
    const aliveMs = this.#options.clock.now().getTime() - this.#openedAt;
    return { kind: 'ended', cause, aliveMs, bytes: this.#bytes, ...(error === undefined ? {} : { error }) };
  }

  async #watchSilence(): Promise<void> {
    const { clock, silenceMs } = this.#options;
    const done = this.#done.signal;
    while (!done.aborted) {
      const now = clock.now().getTime();
      const left = (this.#waitingSince ?? now) + silenceMs - now;
      if (left <= 0) {
        this.#silent = true;
        this.close();
        return;
      }
      await clock.sleep(left, done);
    }
  }

  #toFrame(line: Buffer): WatchFrame | undefined {
    const text = line.toString('utf8');
    if (text.trim() === '') return undefined;
    const { asked, clock } = this.#options;
    let event: unknown;
    try {
      event = parseJson(text);
    } catch {
      // The parser's message quotes the text, and the text is an object's body.
      return this.#end(
        'malformed',
        transportError(asked, 'MalformedResponse', { found: `a line of ${line.length} bytes that is not JSON` }),
      );
    }
    const { type, object } = (isObject(event) ? event : {}) as { type?: unknown; object?: unknown };
    if (type === 'ERROR') return { kind: 'error', error: toEventError(asked, object, clock.now()) };
    const resourceVersion = resourceVersionOf(object);
    if (resourceVersion !== undefined) {
      if (type === 'BOOKMARK')
        return { kind: endsInitialEvents(object as JsonObject) ? 'initial-events-end' : 'bookmark', resourceVersion };
      if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')
        return { kind: 'event', type, object: object as KubeObject, resourceVersion };
    }
    return this.#end(
      'malformed',
      transportError(asked, 'MalformedResponse', {
        found: 'a line that is no watch event with a type and a resourceVersion',
      }),
    );
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function resourceVersionOf(object: unknown): string | undefined {
  const metadata = isObject(object) ? object['metadata'] : undefined;
  const version = isObject(metadata) ? metadata['resourceVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}

/** 30, 2.4 step 2: the object of a bookmark holds a version and annotations and nothing else. */
function endsInitialEvents(object: JsonObject): boolean {
  const annotations = (object['metadata'] as JsonObject)['annotations'];
  return isObject(annotations) && annotations['k8s.io/initial-events-end'] === 'true';
}
