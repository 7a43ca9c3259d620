/** Tells whoever waits that something changed; carries nothing. */
export interface Bell {
  ring(): void;
  /** Resolves on the next ring, or at once and quietly on abort. */
  rung(signal: AbortSignal): Promise<void>;
}

export function bell(): Bell {
  const waiting = new Set<() => void>();
  return {
    ring: () => [...waiting].forEach((wake) => wake()),
    rung: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const wake = (): void => {
          waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      }),
  };
}
