import { applyDelta, MalformedData, MAX_INFLATED_BYTES, TooLarge } from './delta.js';
import type { Oid, ObjectType } from './oid.js';
import type { PackBytes } from './pack-bytes.js';
import {
  compressedBound,
  inflateEntry,
  MAX_ENTRY_HEADER_BYTES,
  PACK_TRAILER_BYTES,
  parseEntryHeader,
  type EntryHeader,
} from './pack-entry.js';
import type { PackIndex } from './pack-index.js';

export interface GitObject {
  readonly type: ObjectType;
  readonly data: Buffer;
}

/** Inflated objects, by pack and offset; bounded by bytes. */
export class ObjectCache {
  readonly #objectByKey = new Map<string, GitObject>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): GitObject | undefined {
    const found = this.#objectByKey.get(key);
    if (found === undefined) return undefined;
    this.#objectByKey.delete(key);
    this.#objectByKey.set(key, found);
    return found;
  }

  set(key: string, object: GitObject): void {
    // One object may not push out everything else.
    if (object.data.length > this.#maxBytes / 4) return;
    const before = this.#objectByKey.get(key);
    if (before !== undefined) this.#bytes -= before.data.length;
    this.#objectByKey.delete(key);
    this.#objectByKey.set(key, object);
    this.#bytes += object.data.length;
    for (const [oldest, { data }] of this.#objectByKey) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#objectByKey.delete(oldest);
      this.#bytes -= data.length;
    }
  }

  clear(): void {
    this.#objectByKey.clear();
    this.#bytes = 0;
  }
}

/** Finds what a REF_DELTA is based on when its own pack does not hold it. */
export type ReadElsewhere = (oid: Oid) => GitObject | undefined;

export interface RawEntry {
  readonly header: EntryHeader;
  readonly data: Buffer;
  /** Header and compressed data together. */
  readonly entryBytes: number;
}

let packCount = 0;

/** One pack and its index. */
export class PackFile {
  readonly bytes: PackBytes;
  readonly index: PackIndex;
  /** 40 hex digits: the pack's own checksum, as in its file name. */
  readonly name: string;
  readonly key: string;

  constructor(bytes: PackBytes, index: PackIndex) {
    this.bytes = bytes;
    this.index = index;
    this.name = bytes.slice(bytes.length - PACK_TRAILER_BYTES, PACK_TRAILER_BYTES).toString('hex');
    packCount += 1;
    this.key = `${packCount}:`;
  }

  /** @throws TooLarge when its entry states more than `maxBytes` */
  read(oid: Oid, cache: ObjectCache, elsewhere: ReadElsewhere, maxBytes?: number): GitObject | undefined {
    const offset = this.index.offsetOf(oid);
    if (offset === undefined) return undefined;
    const baseOf: ReadElsewhere = (base) => this.read(base, cache, elsewhere) ?? elsewhere(base);
    return readAt(this.bytes, offset, this.key, cache, baseOf, maxBytes);
  }

  /** The same pack, read from somewhere else. */
  movedTo(bytes: PackBytes): PackFile {
    return new PackFile(bytes, this.index);
  }

  close(): void {
    this.bytes.close();
  }
}

/** @throws TooLarge when the entry states more than `maxBytes` */
export function readEntry(bytes: PackBytes, offset: number, maxBytes = MAX_INFLATED_BYTES): RawEntry {
  const header = parseEntryHeader(bytes.slice(offset, MAX_ENTRY_HEADER_BYTES));
  if (header.size > maxBytes) throw new TooLarge(header.size);
  const { data, usedBytes } = inflateEntry(
    bytes.slice(offset + header.headerBytes, compressedBound(header.size)),
    header.size,
  );
  return { header, data, entryBytes: header.headerBytes + usedBytes };
}

/**
 * The object at an offset, its chain of deltas applied.
 *
 * @throws MalformedData when the pack is damaged or a base is nowhere
 */
export function readAt(
  bytes: PackBytes,
  offset: number,
  key: string,
  cache: ObjectCache,
  baseOf: ReadElsewhere,
  maxBytes?: number,
): GitObject {
  const deltas: { readonly at: number; readonly delta: Buffer }[] = [];
  let at = offset;
  let object: GitObject | undefined;
  while (object === undefined) {
    object = cache.get(`${key}${at}`);
    if (object !== undefined) break;
    const { header, data } = readEntry(bytes, at, maxBytes);
    if (header.kind === 'whole') {
      object = { type: header.type, data };
      cache.set(`${key}${at}`, object);
    } else if (header.kind === 'ofs-delta') {
      deltas.push({ at, delta: data });
      at -= header.distance;
      if (header.distance <= 0 || at < 0) throw new MalformedData('a delta points outside its pack');
    } else {
      deltas.push({ at, delta: data });
      object = baseOf(header.base);
      if (object === undefined) throw new MalformedData(`a delta is based on ${header.base}, which is not here`);
    }
  }
  for (let next = deltas.pop(); next !== undefined; next = deltas.pop()) {
    object = { type: object.type, data: applyDelta(object.data, next.delta) };
    cache.set(`${key}${next.at}`, object);
  }
  return object;
}
