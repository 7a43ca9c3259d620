import type { Clock } from '@gitops-reverser/kernel-api';

interface Sleeper {
  readonly dueMs: number;
  readonly place: number;
  wake(): void;
}

/** Time that moves only when told to. */
export interface FakeClock extends Clock {
  /**
   * Moves time forward and wakes every sleeper that falls due, in order of their due time, then of their asking. Between two
   * sleepers everything that can run without waiting for the outside world has run, so a loop that sleeps again is woken
   * again at its right time.
   */
  advance(ms: number): Promise<void>;
  /** Advances to the next sleeper's due time; false when nobody sleeps. */
  advanceToNext(): Promise<boolean>;
  /** Lets everything run that needs neither time nor the outside world. */
  settle(): Promise<void>;
  /** How many sleep now. Not zero at the end of a test: something forgot to stop. */
  readonly sleeping: number;
  /** When each sleeper is due, in the order they will wake. */
  due(): readonly Date[];
}

/** Promise chains of any length end within one turn of the event loop; a few more cover code that yields to it. */
const TURNS = 4;

/** A clock that starts at `start` and stands still. `sleep(0)` returns on the next turn without being advanced. */
export function fakeClock(start: string | Date = '2026-01-01T00:00:00Z'): FakeClock {
  let nowMs = new Date(start).getTime();
  if (Number.isNaN(nowMs)) throw new TypeError(`fakeClock: expected an RFC 3339 time, found ${JSON.stringify(start)}`);
  let asked = 0;
  const sleepers = new Set<Sleeper>();

  const inOrder = (): Sleeper[] => [...sleepers].sort((a, b) => a.dueMs - b.dueMs || a.place - b.place);

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  };

  const advance = async (ms: number): Promise<void> => {
    if (!(ms >= 0)) throw new RangeError(`fakeClock.advance: expected 0 or more milliseconds, found ${ms}`);
    const targetMs = nowMs + ms;
    await settle();
    for (let next = inOrder()[0]; next !== undefined && next.dueMs <= targetMs; next = inOrder()[0]) {
      nowMs = Math.max(nowMs, next.dueMs);
      next.wake();
      await settle();
    }
    nowMs = targetMs;
  };

  return {
    now: () => new Date(nowMs),
    sleep(ms, signal) {
      if (signal.aborted) return Promise.resolve();
      if (ms <= 0) return new Promise((resolve) => setImmediate(resolve));
      return new Promise((resolve) => {
        asked += 1;
        const sleeper: Sleeper = {
          dueMs: nowMs + ms,
          place: asked,
          wake: () => {
            sleepers.delete(sleeper);
            signal.removeEventListener('abort', sleeper.wake);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener('abort', sleeper.wake, { once: true });
      });
    },
    advance,
    async advanceToNext() {
      await settle();
      const next = inOrder()[0];
      if (next === undefined) return false;
      await advance(Math.max(0, next.dueMs - nowMs));
      return true;
    },
    settle,
    get sleeping() {
      return sleepers.size;
    },
    due: () => inOrder().map((sleeper) => new Date(sleeper.dueMs)),
  };
}
