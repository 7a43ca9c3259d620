import { gitError } from '../errors.js';
import { MalformedData, TooLarge } from './delta.js';
import { EMPTY_TREE_OID, hashObject, type ObjectType, type Oid } from './oid.js';
import { encodeEntry, inflateEntry, parseEntryHeader } from './pack-entry.js';
import { ObjectCache, type GitObject, type PackFile } from './pack-file.js';
import type { EncodedObject } from './pack-writer.js';

/** All objects held of one repository: packs, and what was made and not published yet. */
export class ObjectStore {
  readonly #cache: ObjectCache;
  #packs: PackFile[] = [];
  /** Encoded as in a pack; not yet in one. Counted: two commits may have made the same object. */
  readonly #made = new Map<Oid, { readonly entry: Uint8Array; uses: number }>();
  readonly #onMissing: () => void;

  /** @param options.onMissing told when something that should be here is not, or cannot be read */
  constructor(options: { readonly cacheBytes: number; readonly onMissing?: () => void }) {
    this.#cache = new ObjectCache(options.cacheBytes);
    this.#onMissing = options.onMissing ?? (() => undefined);
  }

  get packs(): readonly PackFile[] {
    return this.#packs;
  }

  find(oid: Oid, maxBytes?: number): GitObject | undefined {
    const made = this.#made.get(oid);
    if (made !== undefined)
      return decodeMade(Buffer.from(made.entry.buffer, made.entry.byteOffset, made.entry.byteLength));
    for (const pack of this.#packs) {
      const object = pack.read(oid, this.#cache, (base) => this.find(base), maxBytes);
      if (object !== undefined) return object;
    }
    return oid === EMPTY_TREE_OID ? { type: 'tree', data: Buffer.alloc(0) } : undefined;
  }

  has(oid: Oid): boolean {
    return this.#made.has(oid) || this.#packs.some((pack) => pack.index.offsetOf(oid) !== undefined);
  }

  /**
   * @throws ReverserError ObjectMissing when it is not held, damaged or of another type
   * @throws TooLarge when it has more than `maxBytes`, as far as that is known before reading
   */
  read(oid: Oid, type: ObjectType, maxBytes?: number): Buffer {
    let found: GitObject | undefined;
    try {
      found = this.find(oid, maxBytes);
    } catch (error) {
      if (!(error instanceof MalformedData) || error instanceof TooLarge) throw error;
      this.#onMissing();
      throw gitError(
        'ObjectMissing',
        `${type} ${oid} cannot be read from the cache: ${error.message}; it is fetched again`,
        { oid },
      );
    }
    if (found === undefined) {
      this.#onMissing();
      throw gitError('ObjectMissing', `${type} ${oid} is not in the cache; it is fetched again`, { oid });
    }
    if (found.type !== type)
      throw gitError(
        'ObjectMissing',
        `expected ${oid} to be a ${type}, found a ${found.type}; the repository is damaged or names the wrong object`,
        { oid },
      );
    return found.data;
  }

  /** Keeps an object until it was released as often as it was made. */
  make(type: ObjectType, data: Uint8Array, oid: Oid = hashObject(type, data)): Oid {
    const made = this.#made.get(oid);
    if (made === undefined) this.#made.set(oid, { entry: encodeEntry(type, data), uses: 1 });
    else made.uses += 1;
    return oid;
  }

  /** The object in the form a pack takes: as made, or encoded anew. */
  encoded(oid: Oid): EncodedObject {
    const made = this.#made.get(oid);
    if (made !== undefined) return { oid, entry: made.entry };
    const object = this.find(oid);
    if (object === undefined)
      throw gitError('ObjectMissing', `object ${oid} is not in the cache; it is fetched again`, { oid });
    return { oid, entry: encodeEntry(object.type, object.data) };
  }

  release(oids: Iterable<Oid>): void {
    for (const oid of oids) {
      const made = this.#made.get(oid);
      if (made === undefined) continue;
      made.uses -= 1;
      if (made.uses === 0) this.#made.delete(oid);
    }
  }

  /** Newest first: what is asked for next is likely in it. */
  addPack(pack: PackFile): void {
    this.#packs.unshift(pack);
  }

  replacePacks(gone: ReadonlySet<PackFile>, added: readonly PackFile[]): void {
    this.#packs = [...added, ...this.#packs.filter((pack) => !gone.has(pack))];
    for (const pack of gone) pack.close();
  }

  clear(): void {
    for (const pack of this.#packs) pack.close();
    this.#packs = [];
    this.#made.clear();
    this.#cache.clear();
  }
}

function decodeMade(entry: Buffer): GitObject {
  const header = parseEntryHeader(entry);
  if (header.kind !== 'whole') throw new MalformedData('an object made here is a delta');
  return { type: header.type, data: inflateEntry(entry.subarray(header.headerBytes), header.size).data };
}
