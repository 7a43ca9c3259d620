interface Known {
  readonly uid: string;
  readonly hash: string;
}

/** Takes one step of the baseline back. */
export type Undo = () => void;

/**
 * What one stream said last about each object. It runs ahead of acceptance, so that an event is compared with the newest pending
 * one; steps whose items were refused are taken back, newest first.
 */
export class Baseline {
  #known = new Map<string, Known>();

  get(refKey: string): Known | undefined {
    return this.#known.get(refKey);
  }

  set(refKey: string, known: Known): Undo {
    const [map, before] = [this.#known, this.#known.get(refKey)];
    map.set(refKey, known);
    return () => void (before === undefined ? map.delete(refKey) : map.set(refKey, before));
  }

  delete(refKey: string): Undo {
    const [map, before] = [this.#known, this.#known.get(refKey)];
    map.delete(refKey);
    return () => void (before === undefined ? undefined : map.set(refKey, before));
  }

  /** A complete replay replaces everything. */
  replace(known: Map<string, Known>): Undo {
    const before = this.#known;
    this.#known = known;
    return () => {
      this.#known = before;
    };
  }
}
