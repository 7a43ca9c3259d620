import type { Clock } from '@gitops-reverser/kernel-api';

/** How long code of a plugin may take to be loaded or started (style guide 4.2). */
export const START_LIMIT_MS = 30_000;

export type Limited<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' };

/**
 * Waits for a promise for `limitMs` of the clock's time. A late promise goes on alone; what it ends in later is handed to
 * `onStraggler`, and by default forgotten.
 */
export async function within<T>(
  promise: Promise<T>,
  limitMs: number,
  clock: Clock,
  onStraggler: (error: unknown) => void = () => undefined,
): Promise<Limited<T>> {
  const stop = new AbortController();
  let isLate = false;
  const outcome = promise.then(
    (value): Limited<T> => ({ kind: 'done', value }),
    (error: unknown): Limited<T> => {
      if (isLate) onStraggler(error);
      return { kind: 'failed', error };
    },
  );
  const alarm = clock.sleep(limitMs, stop.signal).then((): Limited<T> => ({ kind: 'late' }));
  try {
    const first = await Promise.race([outcome, alarm]);
    isLate = first.kind === 'late';
    return first;
  } finally {
    stop.abort();
  }
}
