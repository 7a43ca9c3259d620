import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/** The bytes of one pack, wherever they are. Reading is synchronous: folder views are. */
export interface PackBytes {
  readonly length: number;
  /** At most `length` bytes; fewer at the end. Do not modify. */
  slice(offset: number, length: number): Buffer;
  append(bytes: Uint8Array): void;
  overwrite(offset: number, bytes: Uint8Array): void;
  truncate(length: number): void;
  close(): void;
}

export class MemoryBytes implements PackBytes {
  #bytes: Buffer;
  #length: number;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = bytes;
    this.#length = bytes.length;
  }

  get length(): number {
    return this.#length;
  }

  slice(offset: number, length: number): Buffer {
    return this.#bytes.subarray(offset, Math.min(offset + length, this.#length));
  }

  append(bytes: Uint8Array): void {
    const needed = this.#length + bytes.byteLength;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.ceil(this.#bytes.length * 1.5), 64 * 1024));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = needed;
  }

  overwrite(offset: number, bytes: Uint8Array): void {
    this.#bytes.set(bytes, offset);
  }

  truncate(length: number): void {
    this.#length = length;
  }

  close(): void {
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
  }
}

export class FileBytes implements PackBytes {
  readonly path: string;
  readonly #fd: number;
  #length: number;

  private constructor(path: string, fd: number, length: number) {
    this.path = path;
    this.#fd = fd;
    this.#length = length;
  }

  static create(path: string): FileBytes {
    return new FileBytes(path, openSync(path, 'wx+', 0o600), 0);
  }

  static open(path: string, length: number): FileBytes {
    return new FileBytes(path, openSync(path, 'r'), length);
  }

  get length(): number {
    return this.#length;
  }

  slice(offset: number, length: number): Buffer {
    const wanted = Math.max(0, Math.min(length, this.#length - offset));
    const bytes = Buffer.allocUnsafe(wanted);
    let filled = 0;
    while (filled < wanted) {
      const read = readSync(this.#fd, bytes, filled, wanted - filled, offset + filled);
      if (read === 0) return bytes.subarray(0, filled);
      filled += read;
    }
    return bytes;
  }

  append(bytes: Uint8Array): void {
    this.overwrite(this.#length, bytes);
    this.#length += bytes.byteLength;
  }

  overwrite(offset: number, bytes: Uint8Array): void {
    let written = 0;
    while (written < bytes.byteLength)
      written += writeSync(this.#fd, bytes, written, bytes.byteLength - written, offset + written);
  }

  truncate(length: number): void {
    ftruncateSync(this.#fd, length);
    this.#length = length;
  }

  sync(): void {
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

const WINDOW_BYTES = 1024 * 1024;

/** The bytes from `offset` on, piece by piece. */
export function* windows(bytes: PackBytes, offset: number, length: number): Generator<Buffer> {
  const end = offset + length;
  for (let at = offset; at < end; at += WINDOW_BYTES) yield bytes.slice(at, Math.min(WINDOW_BYTES, end - at));
}

/** SHA-1 of the first `length` bytes. */
export function checksum(bytes: PackBytes, length: number): Buffer {
  const hash = createHash('sha1');
  for (const piece of windows(bytes, 0, length)) hash.update(piece);
  return hash.digest();
}
