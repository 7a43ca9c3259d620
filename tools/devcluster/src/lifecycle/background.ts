/** Work that controllers do after the request that caused it was answered, one step at a time and in order. */
export class Background {
  #steps: (() => void)[] = [];
  #handle: NodeJS.Immediate | undefined;
  #waiting: (() => void)[] = [];
  #isStopped = false;

  schedule(step: () => void): void {
    if (this.#isStopped) return;
    this.#steps.push(step);
    this.#handle ??= setImmediate(() => this.#run());
  }

  /** Resolves when nothing is left to do. */
  idle(): Promise<void> {
    return this.#steps.length === 0 && this.#handle === undefined
      ? Promise.resolve()
      : new Promise((resolve) => this.#waiting.push(resolve));
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#handle !== undefined) clearImmediate(this.#handle);
    this.#handle = undefined;
    this.#steps = [];
    this.#settle();
  }

  #run(): void {
    const steps = this.#steps;
    this.#steps = [];
    this.#handle = undefined;
    for (const step of steps) step();
    if (this.#steps.length === 0) this.#settle();
  }

  #settle(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
