import type { Clock } from '@gitops-reverser/kernel-api';

export interface ReplayDeadlineOptions {
  readonly clock: Clock;
  /** Longest time without a word while we wait for one. */
  readonly silenceMs: number;
  /** Longest time for the whole replay. */
  readonly totalMs: number;
  /** Ends the replay's stream. */
  close(): void;
}

/** Closes a replay that does not come to its end (FC-WCH-4). A consumer that takes its time does not make a server silent. */
export class ReplayDeadline implements AsyncDisposable {
  readonly #options: ReplayDeadlineOptions;
  readonly #done = new AbortController();
  readonly #task: Promise<void>;
  #waitingSince: number | undefined;
  #isOver = false;

  constructor(options: ReplayDeadlineOptions) {
    this.#options = options;
    this.#task = this.#run();
  }

  /** True once it closed the stream. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Awaits the server's next word. */
  async during<T>(next: Promise<T>): Promise<T> {
    this.#waitingSince = this.#options.clock.now().getTime();
    try {
      return await next;
    } finally {
      this.#waitingSince = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#done.abort();
    await this.#task;
  }

  async #run(): Promise<void> {
    const { clock, silenceMs, totalMs, close } = this.#options;
    const startedAt = clock.now().getTime();
    while (!this.#done.signal.aborted) {
      const now = clock.now().getTime();
      const left = Math.min((this.#waitingSince ?? now) + silenceMs, startedAt + totalMs) - now;
      if (left <= 0) {
        this.#isOver = true;
        close();
        return;
      }
      await clock.sleep(left, this.#done.signal);
    }
  }
}
