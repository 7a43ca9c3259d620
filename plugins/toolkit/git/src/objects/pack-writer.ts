import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Oid } from './oid.js';
import { MemoryBytes } from './pack-bytes.js';
import { packHeader, PACK_HEADER_BYTES, PACK_TRAILER_BYTES } from './pack-entry.js';
import { PackFile } from './pack-file.js';
import { PackIndex, type IndexedEntry } from './pack-index.js';

export interface EncodedObject {
  readonly oid: Oid;
  /** As `encodeEntry` makes it. */
  readonly entry: Uint8Array;
}

/** Joins encoded objects to one pack: the body of a push and the file in the cache are these same bytes. */
export function buildPack(objects: readonly EncodedObject[]): { readonly bytes: Buffer; readonly pack: PackFile } {
  const length = objects.reduce((sum, { entry }) => sum + entry.byteLength, PACK_HEADER_BYTES + PACK_TRAILER_BYTES);
  const bytes = Buffer.allocUnsafeSlow(length);
  packHeader(objects.length).copy(bytes);
  const entries: IndexedEntry[] = [];
  let offset = PACK_HEADER_BYTES;
  for (const { oid, entry } of objects) {
    bytes.set(entry, offset);
    entries.push({ oid, offset, crc: crc32(entry) });
    offset += entry.byteLength;
  }
  createHash('sha1').update(bytes.subarray(0, offset)).digest().copy(bytes, offset);
  return { bytes, pack: new PackFile(new MemoryBytes(bytes), PackIndex.of(entries)) };
}
