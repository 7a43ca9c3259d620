/** A signal that follows another and can also be aborted alone; disposing it forgets the other. */
export interface LinkedAbort extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

/** `AbortSignal.any` keeps a record in a long-lived parent for each child on Node 20; this one leaves nothing behind. */
export function linkAbort(parent: AbortSignal): LinkedAbort {
  const own = new AbortController();
  const follow = (): void => own.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    [Symbol.dispose]: () => {
      parent.removeEventListener('abort', follow);
      own.abort();
    },
  };
}
