/** Delays in milliseconds for repeated failures; the last one stays. */
export interface Backoff {
  /** The delay before the next attempt, jittered; each call climbs one rung. */
  next(): number;
  /** Back to the first rung. */
  reset(): void;
  readonly failures: number;
}

/** 30, WP-13. */
export const FAILURE_LADDER_MS: readonly number[] = [2_000, 5_000, 10_000, 30_000, 60_000];

/** `random` in [0, 1); injected so that tests and property checks can hold it. */
export type Random = () => number;

/** A delay between `ms` and `ms * (1 + spread)`: never earlier than asked for, and many clients do not come in step. */
export function jitter(ms: number, random: Random = Math.random, spread = 0.25): number {
  return Math.round(ms * (1 + spread * random()));
}

export function backoffLadder(rungsMs: readonly number[] = FAILURE_LADDER_MS, random: Random = Math.random): Backoff {
  let failures = 0;
  return {
    next: () => {
      const rung = rungsMs[Math.min(failures, rungsMs.length - 1)] ?? 0;
      failures += 1;
      return jitter(rung, random);
    },
    reset: () => {
      failures = 0;
    },
    get failures() {
      return failures;
    },
  };
}

/** From `firstMs` doubling to `lastMs`, jittered over half of each delay (30, 2.4 step 8: 2 s to 60 s; FC-WCH-2). */
export function exponentialBackoff(firstMs: number, lastMs: number, random: Random = Math.random): Backoff {
  let failures = 0;
  return {
    next: () => {
      const ms = Math.min(lastMs, firstMs * 2 ** failures);
      failures += 1;
      return jitter(ms, random, 0.5);
    },
    reset: () => {
      failures = 0;
    },
    get failures() {
      return failures;
    },
  };
}
