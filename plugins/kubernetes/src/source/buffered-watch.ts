import type { WatchFrame, WatchStream } from '@gitops-reverser/toolkit-kube';

/** Events a watch may deliver while the list beside it is read (chapter 30, 2.4 step 3). */
export const BUFFER_CAPACITY = 1024;

/** Reads a watch into a bounded buffer while a list is under way, then hands it over frame by frame. */
export class BufferedWatch {
  readonly #stream: WatchStream;
  readonly #frames: AsyncIterator<WatchFrame, void>;
  readonly #capacity: number;
  #buffer: IteratorResult<WatchFrame, void>[] = [];
  #isBuffering = true;
  #pump: Promise<void>;
  #failure: { readonly thrown: unknown } | undefined;
  hasOverflowed = false;

  constructor(stream: WatchStream, capacity = BUFFER_CAPACITY) {
    this.#stream = stream;
    this.#capacity = capacity;
    this.#frames = stream[Symbol.asyncIterator]();
    this.#pump = this.#fill();
  }

  /** The buffered frames in order, then the live ones; from here on the reader sets the pace. */
  async *frames(): AsyncGenerator<WatchFrame, void, undefined> {
    this.#isBuffering = false;
    for (;;) {
      const next = this.#buffer.shift();
      if (next === undefined) {
        await this.#pump;
        if (this.#failure !== undefined) throw this.#failure.thrown;
        if (this.#buffer.length > 0) continue;
        const live = await this.#frames.next();
        if (live.done === true) return;
        yield live.value;
        continue;
      }
      if (next.done === true) return;
      yield next.value;
    }
  }

  async close(): Promise<void> {
    this.#stream.close();
    await this.#pump;
  }

  async #fill(): Promise<void> {
    try {
      while (this.#isBuffering) {
        if (this.#buffer.length >= this.#capacity) {
          this.hasOverflowed = true;
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
