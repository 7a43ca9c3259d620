import type { Clock } from '@gitops-reverser/kernel-api';
import { linkAbort, type LinkedAbort } from './abort.js';
import { backoffLadder, FAILURE_LADDER_MS, type Backoff, type Random } from './backoff.js';
import { isKubeError } from './errors.js';

/** Rounds that wait for nothing may follow each other this often before timers and signals have their turn. */
const ROUNDS_IN_A_TURN = 64;

/** What one round on a key asks for next. */
export type WorkOutcome = { readonly requeueAfterMs: number } | undefined;

interface Retry {
  readonly backoff: Backoff;
  /** When the attempt that the last failure asked for is due; 0 once its time has come. */
  dueMs: number;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Runs for one key at a time per key. Throwing puts the key back with a growing delay. */
  work(key: string, signal: AbortSignal): Promise<WorkOutcome | void>;
  /** Keys at a time. Default 4. */
  readonly concurrency?: number;
  /** Default 2, 5, 10, 30, 60 s (30, WP-13). */
  readonly ladderMs?: readonly number[];
  readonly random?: Random;
  /** Told of each failure, before the key waits. */
  onFailure?(key: string, thrown: unknown, retryInMs: number): void;
}

/**
 * Keys waiting for their turn. A key asked for many times runs once; asked for while it runs, it runs once more afterwards, so no
 * change is ever missed and no key runs beside itself.
 */
export class WorkQueue implements AsyncDisposable {
  readonly #options: WorkQueueOptions;
  readonly #stop = new AbortController();
  readonly #ready = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly link: LinkedAbort }>();
  readonly #retries = new Map<string, Retry>();
  #waiters: (() => void)[] = [];
  #isDraining = false;
  #rounds = 0;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Keys that wait for a place, without those that wait for their time. */
  get depth(): number {
    return this.#ready.size;
  }

  get delayed(): number {
    return this.#delayed.size;
  }

  /** As soon as there is a place; a delay of this key that is still running is void. */
  add(key: string): void {
    if (this.#isStopped) return;
    this.#undelay(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#ready.add(key);
    this.#fill();
  }

  /** After `ms`, unless it is due earlier already. */
  addAfter(key: string, ms: number): void {
    if (this.#isStopped) return;
    if (ms <= 0) return this.add(key);
    if (this.#ready.has(key) || this.#again.has(key)) return;
    const dueMs = this.#options.clock.now().getTime() + ms;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.dueMs <= dueMs) return;
    this.#undelay(key);
    const link = linkAbort(this.#stop.signal);
    this.#delayed.set(key, { dueMs, link });
    void this.#options.clock.sleep(ms, link.signal).then(() => {
      if (link.signal.aborted) return;
      const retry = this.#retries.get(key);
      // A timer may come a moment early by the clock: its firing counts.
      if (retry !== undefined && dueMs >= retry.dueMs) retry.dueMs = 0;
      this.add(key);
    });
  }

  /** Forgets a key: what is gone needs no retry. A round that runs now is left to end. */
  remove(key: string): void {
    this.#ready.delete(key);
    this.#again.delete(key);
    this.#retries.delete(key);
    this.#undelay(key);
    this.#settleIdle();
  }

  /** Resolves when no key is ready or running; delayed keys do not count. */
  async whenIdle(): Promise<void> {
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Takes nothing more, forgets what waits, and lets the running rounds end by themselves. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#ready.clear();
    this.#again.clear();
    for (const key of [...this.#delayed.keys()]) this.#undelay(key);
    await Promise.all(this.#running.values());
    this.#settleIdle();
  }

  /** As `drain`, with the running rounds told to stop. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.drain();
  }

  get #isStopped(): boolean {
    return this.#isDraining || this.#stop.signal.aborted;
  }

  get #isIdle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0;
  }

  #fill(): void {
    for (const key of this.#ready) {
      if (this.#running.size >= (this.#options.concurrency ?? 4)) return;
      this.#ready.delete(key);
      this.#running.set(key, this.#round(key));
    }
  }

  async #round(key: string): Promise<void> {
    // One turn later: `add` returns before the work starts, whatever the work does first.
    await Promise.resolve();
    this.#rounds += 1;
    if (this.#rounds % ROUNDS_IN_A_TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    const outcome = await this.#attempt(key);
    this.#running.delete(key);
    if (this.#again.delete(key)) this.add(key);
    else if (outcome !== undefined) this.addAfter(key, outcome.requeueAfterMs);
    this.#fill();
    this.#settleIdle();
  }

  async #attempt(key: string): Promise<WorkOutcome> {
    const { signal } = this.#stop;
    try {
      const outcome = (await this.#options.work(key, signal)) ?? undefined;
      this.#retries.delete(key);
      return outcome;
    } catch (thrown) {
      if (signal.aborted) return undefined;
      const requeueAfterMs = this.#retryDelay(key, thrown);
      this.#options.onFailure?.(key, thrown, requeueAfterMs);
      return { requeueAfterMs };
    }
  }

  /**
   * A failure while the retry of an earlier one still waits, because somebody asked for the key meanwhile, is no further rung: the
   * retry stays due when it was.
   */
  #retryDelay(key: string, thrown: unknown): number {
    const nowMs = this.#options.clock.now().getTime();
    const asked = isKubeError(thrown) ? (thrown.retryAfterSeconds ?? 0) * 1000 : 0;
    const retry = this.#retries.get(key) ?? {
      backoff: backoffLadder(this.#options.ladderMs ?? FAILURE_LADDER_MS, this.#options.random),
      dueMs: 0,
    };
    this.#retries.set(key, retry);
    const delayMs = Math.max(retry.dueMs > nowMs ? retry.dueMs - nowMs : retry.backoff.next(), asked);
    retry.dueMs = nowMs + delayMs;
    return delayMs;
  }

  #undelay(key: string): void {
    const delayed = this.#delayed.get(key);
    if (delayed === undefined) return;
    this.#delayed.delete(key);
    delayed.link[Symbol.dispose]();
  }

  #settleIdle(): void {
    if (!this.#isIdle) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}
