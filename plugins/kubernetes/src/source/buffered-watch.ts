import type { WatchFrame, WatchStream } from '@gitops-reverser/toolkit-kube';

/** Events a watch may deliver while the list beside it is read (chapter 30, 2.4 step 3). */
export const BUFFER_CAPACITY = 1024;

/** Reads a watch into a bounded buffer while a list is under way, then hands it over frame by frame. */
export class BufferedWatch implements AsyncDisposable {
  readonly #stream: WatchStream;
  readonly #frames: AsyncGenerator<WatchFrame, void, undefined>;
  readonly #capacity: number;
  readonly #pump: Promise<void>;
  #buffer: IteratorResult<WatchFrame, void>[] = [];
  #isBuffering = true;
  #failure: { readonly thrown: unknown } | undefined;
  #hasOverflowed = false;

  constructor(stream: WatchStream, capacity = BUFFER_CAPACITY) {
    this.#stream = stream;
    this.#capacity = capacity;
    this.#frames = stream[Symbol.asyncIterator]();
    this.#pump = this.#fill();
  }

  /** The list is complete. From here on nothing is read ahead: whoever asks for frames sets the pace. */
  stopBuffering(): 'whole' | 'overflowed' {
    this.#isBuffering = false;
    return this.#hasOverflowed ? 'overflowed' : 'whole';
  }

  /** The buffered frames in order, then the live ones. */
  async *frames(): AsyncGenerator<WatchFrame, void, undefined> {
    this.#isBuffering = false;
    // One frame may be on its way when buffering stops.
    for (let isPumping = true; ;) {
      const next = this.#buffer.shift();
      if (next !== undefined) {
        if (next.done === true) return;
        yield next.value;
      } else if (isPumping) {
        await this.#pump;
        isPumping = false;
      } else break;
    }
    if (this.#failure !== undefined) throw this.#failure.thrown;
    for (;;) {
      const live = await this.#frames.next();
      if (live.done === true) return;
      yield live.value;
    }
  }

  async close(): Promise<void> {
    this.#isBuffering = false;
    this.#stream.close();
    await this.#pump;
    this.#buffer = [];
    await this.#frames.return();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #fill(): Promise<void> {
    try {
      while (this.#isBuffering) {
        if (this.#buffer.length >= this.#capacity) {
          this.#hasOverflowed = true;
          this.#stream.close();
          return;
        }
        const next = await this.#frames.next();
        this.#buffer.push(next);
        if (next.done === true) return;
      }
    } catch (thrown) {
      this.#failure = { thrown };
    }
  }
}
