import { crc32 } from 'node:zlib';
import { Breather } from './breather.js';
import { MalformedData } from './delta.js';
import { hashObject, type Oid } from './oid.js';
import { checksum, windows, type PackBytes } from './pack-bytes.js';
import {
  encodeEntry,
  hashEntry,
  MAX_ENTRY_HEADER_BYTES,
  PACK_HEADER_BYTES,
  PACK_TRAILER_BYTES,
  packHeader,
  parseEntryHeader,
  parsePackHeader,
} from './pack-entry.js';
import { ObjectCache, PackFile, readAt, readEntry, type ReadElsewhere } from './pack-file.js';
import { PackIndex, type IndexedEntry } from './pack-index.js';

interface Delta {
  readonly offset: number;
  readonly crc: number;
  /** Offset of the base in this pack, or its id. */
  readonly base: number | Oid;
}

const INDEXING_CACHE_BYTES = 32 * 1024 * 1024;
/** Objects above this are named without being held: a repository may carry what is no manifest. */
const STREAMED_BYTES = 8 * 1024 * 1024;

/**
 * Checks a received pack whole, names every object in it, and completes a thin one with the bases it left out.
 *
 * @param elsewhere objects held already: what deltas of a thin pack may be based on
 * @throws MalformedData when the pack is damaged or a base is nowhere
 */
export async function indexPack(bytes: PackBytes, elsewhere: ReadElsewhere): Promise<PackFile> {
  const count = parsePackHeader(bytes.slice(0, PACK_HEADER_BYTES));
  const bodyEnd = bytes.length - PACK_TRAILER_BYTES;
  if (bodyEnd < PACK_HEADER_BYTES || !checksum(bytes, bodyEnd).equals(bytes.slice(bodyEnd, PACK_TRAILER_BYTES)))
    throw new MalformedData('a pack is damaged: its checksum does not match');

  const breather = new Breather();
  const cache = new ObjectCache(INDEXING_CACHE_BYTES);
  const entries: IndexedEntry[] = [];
  const deltas: Delta[] = [];
  const offsetByOid = new Map<Oid, number>();
  const deltaByOffset = new Map<number, Delta>();
  let offset = PACK_HEADER_BYTES;
  for (let nth = 0; nth < count; nth += 1) {
    if (offset >= bodyEnd) throw new MalformedData(`a pack ends after ${nth} of ${count} objects`);
    const stated = parseEntryHeader(bytes.slice(offset, MAX_ENTRY_HEADER_BYTES));
    if (stated.kind === 'whole' && stated.size > STREAMED_BYTES) {
      const { oid, usedBytes } = await hashEntry(bytes, offset + stated.headerBytes, stated.type, stated.size);
      const entryBytes = stated.headerBytes + usedBytes;
      let crc = 0;
      for (const piece of windows(bytes, offset, entryBytes)) crc = crc32(piece, crc);
      offsetByOid.set(oid, offset);
      entries.push({ oid, offset, crc });
      offset += entryBytes;
      continue;
    }
    const { header, data, entryBytes } = readEntry(bytes, offset);
    const crc = crc32(bytes.slice(offset, entryBytes));
    if (header.kind === 'whole') {
      const oid = hashObject(header.type, data);
      cache.set(String(offset), { type: header.type, data });
      offsetByOid.set(oid, offset);
      entries.push({ oid, offset, crc });
    } else {
      const delta = { offset, crc, base: header.kind === 'ofs-delta' ? offset - header.distance : header.base };
      deltas.push(delta);
      deltaByOffset.set(offset, delta);
    }
    offset += entryBytes;
    if (breather.isDue) await breather.breathe();
  }
  if (offset !== bodyEnd) throw new MalformedData(`a pack has ${bodyEnd - offset} bytes behind its ${count} objects`);

  // A REF_DELTA may name an object that is itself a delta further on: repeat until nothing new is resolved.
  const missing = new Set<Oid>();
  const inPack = (oid: Oid): ReturnType<ReadElsewhere> => {
    const at = offsetByOid.get(oid);
    return at === undefined ? undefined : readAt(bytes, at, '', cache, baseOf);
  };
  const baseOf: ReadElsewhere = (oid) => inPack(oid) ?? elsewhere(oid);
  const isReady = (delta: Delta): boolean => {
    for (let at: Delta | undefined = delta; at !== undefined;) {
      if (typeof at.base === 'string') {
        if (offsetByOid.has(at.base)) return true;
        if (elsewhere(at.base) === undefined) return false;
        missing.add(at.base);
        return true;
      }
      at = deltaByOffset.get(at.base);
    }
    return true;
  };
  let waiting = deltas;
  while (waiting.length > 0) {
    const left: Delta[] = [];
    for (const delta of waiting) {
      if (!isReady(delta)) {
        left.push(delta);
        continue;
      }
      const object = readAt(bytes, delta.offset, '', cache, baseOf);
      const oid = hashObject(object.type, object.data);
      offsetByOid.set(oid, delta.offset);
      entries.push({ oid, offset: delta.offset, crc: delta.crc });
      if (breather.isDue) await breather.breathe();
    }
    if (left.length === waiting.length)
      throw new MalformedData(`a pack has ${left.length} deltas whose base is neither in it nor here`);
    waiting = left;
  }
  for (const oid of missing) if (offsetByOid.has(oid)) missing.delete(oid);
  if (missing.size > 0) complete(bytes, count, [...missing], elsewhere, entries);
  return new PackFile(bytes, PackIndex.of(entries));
}

function complete(
  bytes: PackBytes,
  count: number,
  missing: readonly Oid[],
  elsewhere: ReadElsewhere,
  entries: IndexedEntry[],
): void {
  bytes.truncate(bytes.length - PACK_TRAILER_BYTES);
  for (const oid of missing) {
    const object = elsewhere(oid);
    if (object === undefined) throw new MalformedData(`a delta is based on ${oid}, which is not here`);
    const entry = encodeEntry(object.type, object.data);
    entries.push({ oid, offset: bytes.length, crc: crc32(entry) });
    bytes.append(entry);
  }
  bytes.overwrite(0, packHeader(count + missing.length));
  bytes.append(checksum(bytes, bytes.length));
}
