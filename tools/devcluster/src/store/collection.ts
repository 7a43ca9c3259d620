import type { KubeObject } from '../object.js';
import { type Change, type ChangeType, Entry } from './entry.js';

export type Listener = (change: Change) => void;

/** All objects of one type, with the ring of recent changes that watches resume from. */
export class Collection {
  readonly name: string;
  readonly #ringSize: number;
  readonly #entriesByKey = new Map<string, Entry>();
  readonly #listeners = new Set<Listener>();
  #ring: Change[] = [];
  #oldest: number;
  #sorted: readonly Entry[] | undefined;

  /** @param startVersion nothing at or before this version can be asked for again, except the version itself */
  constructor(name: string, ringSize: number, startVersion: number) {
    this.name = name;
    this.#ringSize = ringSize;
    this.#oldest = startVersion;
  }

  get size(): number {
    return this.#entriesByKey.size;
  }

  get(key: string): Entry | undefined {
    return this.#entriesByKey.get(key);
  }

  /** By namespace and name, in the byte order etcd lists keys. */
  entries(): readonly Entry[] {
    return (this.#sorted ??= [...this.#entriesByKey.values()].sort((a, b) =>
      a.key < b.key ? -1 : a.key > b.key ? 1 : 0,
    ));
  }

  /** The oldest version a watch may start from. */
  get oldestVersion(): number {
    return this.#oldest;
  }

  /** Changes after `version`, or `undefined` when the ring no longer reaches back that far. */
  changesSince(version: number): readonly Change[] | undefined {
    if (version < this.#oldest) return undefined;
    let from = this.#ring.length;
    while (from > 0 && (this.#ring[from - 1] as Change).version > version) from -= 1;
    return this.#ring.slice(from);
  }

  /** The objects as they were at `version`: recent changes are undone. `undefined` when that is too long ago. */
  entriesAt(version: number): readonly Entry[] | undefined {
    const since = this.changesSince(version);
    if (since === undefined || since.length === 0) return since === undefined ? undefined : this.entries();
    const entriesByKey = new Map(this.#entriesByKey);
    for (const change of [...since].reverse()) {
      if (change.previous === undefined) entriesByKey.delete(change.entry.key);
      else entriesByKey.set(change.entry.key, change.previous);
    }
    return [...entriesByKey.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  put(key: string, version: number, object: KubeObject): Entry {
    const previous = this.#entriesByKey.get(key);
    const entry = new Entry(key, version, object);
    this.#entriesByKey.set(key, entry);
    this.#record(previous === undefined ? 'ADDED' : 'MODIFIED', entry, previous);
    return entry;
  }

  remove(key: string, version: number, last: KubeObject): Entry {
    const previous = this.#entriesByKey.get(key);
    this.#entriesByKey.delete(key);
    const entry = new Entry(key, version, last);
    this.#record('DELETED', entry, previous);
    return entry;
  }

  /** Forgets every recorded change, as a restarted API server does: older versions are expired from here on. */
  expireBefore(version: number): void {
    this.#ring = [];
    this.#oldest = version;
  }

  #record(type: ChangeType, entry: Entry, previous: Entry | undefined): void {
    const change: Change = { type, version: entry.version, entry, previous };
    this.#sorted = undefined;
    this.#ring.push(change);
    // Trimmed in blocks, so that one change costs no copy of the ring.
    if (this.#ring.length > this.#ringSize * 2 || (this.#ringSize < 16 && this.#ring.length > this.#ringSize)) {
      const dropped = this.#ring.splice(0, this.#ring.length - this.#ringSize);
      this.#oldest = dropped.at(-1)?.version ?? this.#oldest;
    }
    for (const listener of [...this.#listeners]) listener(change);
  }
}
