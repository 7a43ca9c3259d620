import { backoffMs } from './limits.js';

export interface Pace {
  readonly cooldownMs: number;
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** 0..1, for jitter. */
  readonly random: () => number;
}

/** When the remote may be spoken to next: a pause after success, a growing one after failure. */
export class Cadence {
  readonly #pace: Pace;
  #failures = 0;
  #notBeforeMs = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }
  get notBeforeMs(): number {
    return this.#notBeforeMs;
  }

  succeeded(nowMs: number): void {
    this.#failures = 0;
    this.#notBeforeMs = nowMs + this.#pace.cooldownMs;
  }

  /** The remote answered, though nothing was published: no pause follows, a waiting retry is due. */
  reached(nowMs: number): void {
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#notBeforeMs = nowMs;
  }

  failed(nowMs: number, leastMs: number): void {
    this.#failures += 1;
    // ±10 %: many branches of one host that failed together do not come back together.
    const jittered =
      backoffMs(this.#failures, this.#pace.retryMs, this.#pace.retryMaxMs) * (0.9 + 0.2 * this.#pace.random());
    this.#notBeforeMs = nowMs + Math.max(Math.round(jittered), leastMs);
  }

  /** Whatever was waited for may be different now. */
  dueNow(nowMs: number): void {
    this.#notBeforeMs = Math.min(this.#notBeforeMs, nowMs);
  }
}
