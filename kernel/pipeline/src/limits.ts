/** Bounds and paces of the river. Every one has a default that suits production; tests and benches narrow them. */
export interface RuntimeLimits {
  /** How long a live change waits for its author. */
  readonly graceMs: number;
  /** Live changes of one stream that may wait for their author at the same time. */
  readonly outstandingQuestions: number;
  /** A changed plan starts this long after the last `follow`. */
  readonly planQuietMs: number;
  /** And at latest this long after the first. */
  readonly planLatestMs: number;
  /** Replays at the same time, in the process and for one cluster. */
  readonly replays: number;
  readonly replaysPerCluster: number;
  /** A stream that ended for a bad reason is followed again after this, doubling up to the maximum. */
  readonly streamRetryMs: number;
  readonly streamRetryMaxMs: number;
  /** Items waiting for one branch; one target may take half. */
  readonly queueItems: number;
  /** Estimated bytes at which open windows close; four times as much refuses live writes. */
  readonly bufferBytes: number;
  /** Pause after every successful publication. */
  readonly pushCooldownMs: number;
  /** Publication retries, looks at an unreachable remote, rechecks of a refused folder: first pause, doubling up to the maximum. */
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** A close that met an unexpected planner or writer error is tried again after this, doubling up to the maximum. */
  readonly closeRetryMs: number;
  readonly closeRetryMaxMs: number;
  readonly closeTries: number;
}

export const DEFAULT_LIMITS: RuntimeLimits = Object.freeze({
  graceMs: 3_000,
  outstandingQuestions: 256,
  planQuietMs: 2_000,
  planLatestMs: 10_000,
  replays: 4,
  replaysPerCluster: 2,
  streamRetryMs: 2_000,
  streamRetryMaxMs: 60_000,
  queueItems: 1_000,
  bufferBytes: 8 * 1024 * 1024,
  pushCooldownMs: 5_000,
  retryMs: 10_000,
  retryMaxMs: 300_000,
  closeRetryMs: 1_000,
  closeRetryMaxMs: 30_000,
  closeTries: 10,
});

/** Pause before try number `failures` + 1. */
export function backoffMs(failures: number, firstMs: number, maxMs: number): number {
  return failures <= 0 ? 0 : Math.min(firstMs * 2 ** Math.min(failures - 1, 30), maxMs);
}
