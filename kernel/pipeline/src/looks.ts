import { backoffMs, type RuntimeLimits } from './limits.js';

/** When the remote is looked at although nothing waits for it: after a failed look, and while a folder is refused or in doubt. */
export class Looks {
  readonly #limits: Pick<RuntimeLimits, 'retryMs' | 'retryMaxMs'>;
  readonly #isNeeded: () => boolean;
  /** The last one failed. */
  isOwed = false;
  #rechecks = 0;
  #recheckAtMs = 0;

  /** @param isNeeded whether a folder is refused or in doubt */
  constructor(limits: Pick<RuntimeLimits, 'retryMs' | 'retryMaxMs'>, isNeeded: () => boolean) {
    this.#limits = limits;
    this.#isNeeded = isNeeded;
  }

  /** @param notBeforeMs what the pace of the branch allows; it binds a recheck only while the branch is failing */
  dueMs(notBeforeMs: number, isFailing: boolean): number | undefined {
    const dues: number[] = [];
    if (this.isOwed) dues.push(notBeforeMs);
    if (this.#isNeeded()) dues.push(Math.max(this.#recheckAtMs, isFailing ? notBeforeMs : 0));
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  /** A look begins: the next one comes later, or not at all. */
  arm(nowMs: number): void {
    const { retryMs, retryMaxMs } = this.#limits;
    this.#rechecks = this.#isNeeded() ? this.#rechecks + 1 : 0;
    this.#recheckAtMs = nowMs + backoffMs(this.#rechecks, retryMs, retryMaxMs);
  }

  /** A folder that cannot be used was met. */
  troubled(nowMs: number): void {
    if (this.#rechecks === 0 || this.#recheckAtMs <= nowMs) this.arm(nowMs);
  }

  /** A judgement found a folder it cannot use: the first recheck is scheduled, a later one stays as it is. */
  judged(nowMs: number): void {
    if (this.#rechecks === 0) this.arm(nowMs);
  }

  /** Somebody else changed something: rechecks begin anew. */
  restart(): void {
    this.#rechecks = 0;
  }
}
