import { backoffMs, type RuntimeLimits } from './limits.js';

/** Streams that must start over with a replay, because state is owed to Git, and not before when. */
export class OwedReplays {
  readonly #limits: Pick<RuntimeLimits, 'planQuietMs' | 'retryMs' | 'retryMaxMs'>;
  readonly #dueMsByKey = new Map<string, number>();
  readonly #before = new Map<string, { readonly count: number; readonly lastAtMs: number }>();
  /** Collections whose snapshot is not in Git yet since the folder can be used again. */
  readonly #recovering = new Set<string>();

  constructor(limits: Pick<RuntimeLimits, 'planQuietMs' | 'retryMs' | 'retryMaxMs'>) {
    this.#limits = limits;
  }

  get dues(): readonly number[] {
    return [...this.#dueMsByKey.values()];
  }

  /** The mirror of it is not whole yet. */
  isRecovering(key: string): boolean {
    return this.#recovering.has(key);
  }

  /** Asked for again and again it comes slower and slower. */
  owe(keys: Iterable<string>, nowMs: number): void {
    const { planQuietMs, retryMs, retryMaxMs } = this.#limits;
    for (const key of keys) {
      if (this.#dueMsByKey.has(key)) continue;
      const before = this.#before.get(key);
      const isQuiet = before === undefined || nowMs - before.lastAtMs > retryMaxMs;
      const count = isQuiet ? 1 : before.count + 1;
      this.#before.set(key, { count, lastAtMs: nowMs });
      this.#dueMsByKey.set(key, nowMs + Math.max(planQuietMs, backoffMs(count - 1, retryMs, retryMaxMs)));
    }
  }

  /** Once for every repair, so nothing that was waited for before slows it down. */
  recover(keys: Iterable<string>, nowMs: number): void {
    const atMs = nowMs + this.#limits.planQuietMs;
    for (const key of keys) {
      this.#recovering.add(key);
      this.#dueMsByKey.set(key, Math.min(this.#dueMsByKey.get(key) ?? atMs, atMs));
    }
  }

  now(keys: Iterable<string>, nowMs: number): void {
    for (const key of keys) this.#dueMsByKey.set(key, nowMs);
  }

  /** What is due, and from here on no longer owed. */
  take(nowMs: number): ReadonlySet<string> {
    const due = new Set([...this.#dueMsByKey].filter(([, atMs]) => atMs <= nowMs).map(([key]) => key));
    for (const key of due) this.#dueMsByKey.delete(key);
    return due;
  }

  /** @returns whether its mirror is whole with this; while a replay is owed, the snapshot is one from before */
  settled(key: string): boolean {
    return !this.#dueMsByKey.has(key) && this.#recovering.delete(key);
  }

  forget(key: string): void {
    this.#dueMsByKey.delete(key);
    this.#before.delete(key);
    this.#recovering.delete(key);
  }
}
