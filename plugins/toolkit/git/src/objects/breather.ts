const SLICE_MS = 10;

/** Lets other workers run: long loops over objects ask it between two objects (chapter 40, 11.6). */
export class Breather {
  #sliceEndsAt = performance.now() + SLICE_MS;

  get isDue(): boolean {
    return performance.now() >= this.#sliceEndsAt;
  }

  async breathe(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#sliceEndsAt = performance.now() + SLICE_MS;
  }
}
