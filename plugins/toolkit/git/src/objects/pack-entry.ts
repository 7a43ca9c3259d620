import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createInflate, deflateSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { MalformedData } from './delta.js';
import type { ObjectType, Oid } from './oid.js';
import { windows, type PackBytes } from './pack-bytes.js';

const TYPE_BY_CODE: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const CODE_BY_TYPE: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };
const OFS_DELTA = 6;
const REF_DELTA = 7;

export const PACK_HEADER_BYTES = 12;
export const PACK_TRAILER_BYTES = 20;
/** Type and size take at most 10 bytes, a base 20, and both are read at once. */
export const MAX_ENTRY_HEADER_BYTES = 32;

export type EntryHeader = {
  /** Inflated size: of the object, or of the delta. */
  readonly size: number;
  /** Bytes before the compressed data. */
  readonly headerBytes: number;
} & (
  | { readonly kind: 'whole'; readonly type: ObjectType }
  | { readonly kind: 'ofs-delta'; readonly distance: number }
  | { readonly kind: 'ref-delta'; readonly base: string }
);

export function packHeader(count: number): Buffer {
  const header = Buffer.alloc(PACK_HEADER_BYTES);
  header.write('PACK', 0, 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  return header;
}

/** @throws MalformedData unless this is the start of a version 2 or 3 pack */
export function parsePackHeader(bytes: Buffer): number {
  if (bytes.length < PACK_HEADER_BYTES || bytes.toString('latin1', 0, 4) !== 'PACK')
    throw new MalformedData('not a pack: it does not begin with PACK');
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw new MalformedData(`a pack of version ${version}; known are 2 and 3`);
  return bytes.readUInt32BE(8);
}

/** One undeltified object as it stands in a pack. Level 1: the network and the disk are faster than deflate. */
export function encodeEntry(type: ObjectType, data: Uint8Array): Buffer {
  const header: number[] = [];
  let size = data.byteLength;
  let byte = (CODE_BY_TYPE[type] << 4) | (size & 0x0f);
  size = Math.floor(size / 16);
  while (size > 0) {
    header.push(byte | 0x80);
    byte = size & 0x7f;
    size = Math.floor(size / 128);
  }
  header.push(byte);
  return Buffer.concat([Buffer.from(header), deflateSync(data, deflateOptions(data.byteLength))]);
}

/** Of what zlib does for a small object most is allocating for a large one: 10 000 manifests take a third of the time with these. */
function deflateOptions(size: number): ZlibOptions {
  const chunkSize = Math.min(compressedBound(size), 64 * 1024);
  if (size <= 1024) return { level: 1, windowBits: 10, memLevel: 4, chunkSize };
  return size <= 4096 ? { level: 1, windowBits: 12, memLevel: 5, chunkSize } : { level: 1, chunkSize };
}

/** @throws MalformedData when `bytes` does not begin with an entry header */
export function parseEntryHeader(bytes: Buffer): EntryHeader {
  let at = 0;
  const next = (): number => {
    const byte = bytes[at];
    if (byte === undefined) throw new MalformedData('a pack ends inside an entry');
    at += 1;
    return byte;
  };
  let byte = next();
  const code = (byte >> 4) & 7;
  let size = byte & 0x0f;
  let factor = 16;
  while (byte >= 0x80) {
    byte = next();
    size += (byte & 0x7f) * factor;
    factor *= 128;
    if (factor > 2 ** 49) throw new MalformedData('a pack entry states an impossible size');
  }
  if (code === OFS_DELTA) {
    byte = next();
    let distance = byte & 0x7f;
    while (byte >= 0x80) {
      byte = next();
      distance = (distance + 1) * 128 + (byte & 0x7f);
    }
    return { kind: 'ofs-delta', size, distance, headerBytes: at };
  }
  if (code === REF_DELTA) {
    if (at + 20 > bytes.length) throw new MalformedData('a pack ends inside an entry');
    return { kind: 'ref-delta', size, base: bytes.toString('hex', at, at + 20), headerBytes: at + 20 };
  }
  const type = TYPE_BY_CODE[code];
  if (type === undefined) throw new MalformedData(`a pack entry has the unknown type ${code}`);
  return { kind: 'whole', type, size, headerBytes: at };
}

/** Upper bound of what zlib makes of `size` bytes (deflateBound of the least favourable settings). */
export const compressedBound = (size: number): number => size + Math.ceil(size / 8) + Math.ceil(size / 64) + 64;

/** Inflates exactly `size` bytes from the start of `bytes`, which may go on after them. */
export function inflateEntry(bytes: Buffer, size: number): { readonly data: Buffer; readonly usedBytes: number } {
  try {
    // The one extra byte makes a stream that holds more than it says fail instead of being cut.
    const answer = inflateSync(bytes, {
      info: true,
      chunkSize: Math.max(64, size + 1),
      maxOutputLength: size + 1,
    }) as unknown as InflateInfo;
    if (answer.buffer.length !== size)
      throw new MalformedData(`a pack entry gave ${answer.buffer.length} bytes of ${size}`);
    return { data: answer.buffer, usedBytes: answer.engine.bytesWritten };
  } catch (error) {
    if (error instanceof MalformedData) throw error;
    throw new MalformedData(
      `a pack entry cannot be inflated: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/**
 * The id of an undeltified object that stands at `offset`, and the bytes of its compressed data, without ever holding it whole.
 *
 * @throws MalformedData when it does not inflate to exactly `size` bytes
 */
export async function hashEntry(
  bytes: PackBytes,
  offset: number,
  type: ObjectType,
  size: number,
): Promise<{ readonly oid: Oid; readonly usedBytes: number }> {
  const hash = createHash('sha1').update(`${type} ${size}\0`);
  const compressed = Readable.from(windows(bytes, offset, bytes.length - offset));
  const inflate = createInflate({ chunkSize: 256 * 1024 });
  compressed.pipe(inflate);
  let length = 0;
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > size) break;
      hash.update(chunk);
    }
  } catch (error) {
    throw new MalformedData(
      `a pack entry cannot be inflated: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    compressed.destroy();
  }
  if (length !== size) throw new MalformedData(`a pack entry gave ${length} bytes of ${size}`);
  return { oid: hash.digest('hex'), usedBytes: inflate.bytesWritten };
}

/** `info: true`, which the type declarations of Node do not know. */
interface InflateInfo {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
