import { setTimeout as sleep } from 'node:timers/promises';

export interface PollOptions {
  /** Milliseconds until the wait fails. */
  readonly deadlineMs?: number;
  /** Milliseconds between two looks. */
  readonly intervalMs?: number;
  /** What is waited for, in the words of the error. */
  readonly what?: string;
}

/**
 * Looks until `look` answers something other than `undefined`, `null` or `false`.
 *
 * @throws Error that says what was waited for, for how long, and the last fault a look ended with
 */
export async function poll<T>(
  look: () => T | Promise<T>,
  options: PollOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { deadlineMs = 10_000, intervalMs = 25, what = 'the condition' } = options;
  const end = performance.now() + deadlineMs;
  let fault: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== null && seen !== false) return seen as Exclude<T, undefined | null | false>;
      fault = undefined;
    } catch (error) {
      if (error instanceof StopWaiting) throw error;
      fault = error;
    }
    if (performance.now() >= end) {
      const last =
        fault === undefined ? '' : `; the last look failed: ${fault instanceof Error ? fault.message : String(fault)}`;
      throw new Error(
        `waited ${deadlineMs} ms for ${what} in vain${last}`,
        fault === undefined ? {} : { cause: fault },
      );
    }
    await sleep(intervalMs);
  }
}

/** Thrown by a look to end a wait that can no longer succeed. */
export class StopWaiting extends Error {}
