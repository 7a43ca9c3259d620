import { setMaxListeners } from 'node:events';

/** Calls `then` once when `signal` aborts, at once when it has; disposing it forgets. */
export function onAbort(signal: AbortSignal, then: (reason: unknown) => void): Disposable {
  const listener = (): void => then(signal.reason);
  if (signal.aborted) listener();
  else {
    // Hundreds of streams follow one signal by design; Node warns at eleven.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', listener, { once: true });
  }
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', listener) };
}

/** A signal that follows another and can also be aborted alone; disposing it forgets the other. */
export interface LinkedAbort extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

/** `AbortSignal.any` keeps a record in a long-lived parent for each child on Node 20; this one leaves nothing behind. */
export function linkAbort(parent: AbortSignal): LinkedAbort {
  const own = new AbortController();
  const follow = onAbort(parent, (reason) => own.abort(reason));
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    [Symbol.dispose]: () => {
      follow[Symbol.dispose]();
      own.abort();
    },
  };
}
