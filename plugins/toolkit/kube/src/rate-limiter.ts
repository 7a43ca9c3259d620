import type { Clock } from '@gitops-reverser/kernel-api';

export interface RateLimit {
  /** Requests a second in the long run, at least 1. */
  readonly qps: number;
  /** Requests at once after a pause, at least 1. */
  readonly burst: number;
}

/** A token bucket (30, SC-14). Waiters are served in the order of their coming. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  #tokens: number;
  #at: number;

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = { qps: Math.max(1, limit.qps), burst: Math.max(1, limit.burst) };
    this.#clock = clock;
    this.#tokens = this.#limit.burst;
    this.#at = clock.now().getTime();
  }

  /** @throws the abort reason when `signal` aborts before the turn comes; the turn is then given back. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const now = this.#clock.now().getTime();
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + (Math.max(0, now - this.#at) / 1000) * this.#limit.qps);
    this.#at = now;
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    await this.#clock.sleep(Math.ceil((-this.#tokens / this.#limit.qps) * 1000), signal);
    if (signal.aborted) {
      this.#tokens += 1;
      throw signal.reason;
    }
  }
}
