import type { Clock } from '@gitops-reverser/kernel-api';

/** Aborts when its time is up or `outer` aborts, whichever is first. Must be closed. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly hasPassed: boolean;
  close(): void;
}

export function openDeadline(clock: Clock, ms: number, outer: AbortSignal): Deadline {
  const controller = new AbortController();
  const closing = new AbortController();
  let hasPassed = false;
  const onAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  void clock.sleep(ms, closing.signal).then(() => {
    if (closing.signal.aborted) return;
    hasPassed = true;
    controller.abort();
  });
  return {
    signal: controller.signal,
    get hasPassed() {
      return hasPassed;
    },
    close() {
      outer.removeEventListener('abort', onAbort);
      closing.abort();
    },
  };
}
