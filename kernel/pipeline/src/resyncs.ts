interface Resync {
  readonly token: string;
  readonly epoch: number;
  /** Collections whose snapshot is not settled yet. */
  readonly waiting: Set<string>;
}

/** Who asked for a fresh snapshot of everything, and whether they have it. */
export class Resyncs {
  #epoch = 1;
  #open: readonly Resync[] = [];
  #settledToken: string | undefined;

  /** Streams begun in it answer every request made so far. */
  get epoch(): number {
    return this.#epoch;
  }
  get settledToken(): string | undefined {
    return this.#settledToken;
  }

  ask(token: string, collectionKeys: Iterable<string>): void {
    this.#epoch += 1;
    const others = this.#open.filter((each) => each.token !== token);
    this.#open = [...others, { token, epoch: this.#epoch, waiting: new Set(collectionKeys) }];
  }

  /** A snapshot that a stream of `epoch` gathered is settled. */
  done(collectionKey: string, epoch: number): void {
    for (const resync of this.#open) if (epoch >= resync.epoch) resync.waiting.delete(collectionKey);
  }

  /** @returns whether a request was answered; what is not wanted any more is not waited for */
  settle(isWanted: (collectionKey: string) => boolean): boolean {
    let isSettled = false;
    for (const resync of this.#open) {
      for (const key of resync.waiting) if (!isWanted(key)) resync.waiting.delete(key);
      if (resync.waiting.size > 0) continue;
      this.#open = this.#open.filter(({ epoch }) => epoch > resync.epoch);
      this.#settledToken = resync.token;
      isSettled = true;
    }
    return isSettled;
  }
}
