/** Real time a promise may take before a test says what did not happen. */
export const ANSWER_MS = 5_000;

/** The promise, or an error that says what was waited for. For real waits only; a fake clock is advanced, not waited for. */
export async function within<T>(promise: Promise<T>, what: string, ms = ANSWER_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** As {@link within}, calling `tick` again and again meanwhile: where time is fake, somebody has to move it. */
export async function whileTicking<T>(
  promise: Promise<T>,
  tick: (() => Promise<void>) | undefined,
  what: string,
  ms = ANSWER_MS,
): Promise<T> {
  if (tick === undefined) return within(promise, what, ms);
  let isDone = false;
  const done = promise.finally(() => (isDone = true));
  const ticking = (async () => {
    while (!isDone) {
      await tick();
      await new Promise<void>((resolve) => setTimeout(resolve, 1));
    }
  })();
  try {
    return await within(done, what, ms);
  } finally {
    isDone = true;
    await ticking;
  }
}

/** Reads a stream event by event, each within a bound. */
export class Reader<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #tick: (() => Promise<void>) | undefined;

  constructor(stream: AsyncIterable<T>, tick?: () => Promise<void>) {
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#tick = tick;
  }

  /** The next event; undefined when the stream has ended. */
  async next(what: string, ms?: number): Promise<T | undefined> {
    const result = await whileTicking(this.#iterator.next(), this.#tick, what, ms);
    return result.done === true ? undefined : result.value;
  }

  /** Events up to and with the first that `isLast`. */
  async until(isLast: (event: T) => boolean, what: string): Promise<readonly T[]> {
    const events: T[] = [];
    for (;;) {
      const event = await this.next(`${what}, after ${events.length} other events`);
      if (event === undefined) throw new Error(`${what}: the stream ended first, after ${events.length} events`);
      events.push(event);
      if (isLast(event)) return events;
    }
  }

  /** Everything that still comes before the stream ends. */
  async rest(what: string, ms?: number): Promise<readonly T[]> {
    const events: T[] = [];
    for (let event = await this.next(what, ms); event !== undefined; event = await this.next(what, ms))
      events.push(event);
    return events;
  }

  async stop(): Promise<void> {
    await this.#iterator.return?.();
  }
}
