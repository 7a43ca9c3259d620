/** 10: long work gives way to the event loop this often, so that nobody waits for a snapshot of somebody else. */
const SLICE_MS = 10;

/** Call between units of long work; resolves at once unless the slice is used up. */
export interface Slices {
  /** True when it is time to `await rest()`. Checked apart so that the common case costs no promise. */
  spent(): boolean;
  rest(): Promise<void>;
}

export function slices(): Slices {
  let startedAt = performance.now();
  return {
    spent: () => performance.now() - startedAt >= SLICE_MS,
    async rest() {
      await new Promise<void>((resolve) => setImmediate(resolve));
      startedAt = performance.now();
    },
  };
}
