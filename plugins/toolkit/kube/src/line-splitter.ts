const NEWLINE = 0x0a;

/** Splits bytes at 0x0A across chunk borders, before decoding: a character may be cut by a chunk, a line end never is. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #oversized = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** True once a line passed the limit; nothing more comes out then. */
  get isOversized(): boolean {
    return this.#oversized;
  }

  /** True when the bytes after the last line end are not only white space. */
  get hasRemainder(): boolean {
    return this.#parts.some((part) => part.toString('latin1').trim() !== '');
  }

  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let from = 0;
    while (!this.#oversized) {
      const end = chunk.indexOf(NEWLINE, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      if (this.#length + part.length > this.#maxLineBytes) {
        this.#oversized = true;
        this.#parts = [];
        return;
      }
      if (end < 0) {
        if (part.length > 0) this.#parts.push(part);
        this.#length += part.length;
        return;
      }
      const line = this.#parts.length === 0 ? part : Buffer.concat([...this.#parts, part]);
      this.#parts = [];
      this.#length = 0;
      from = end + 1;
      yield line;
    }
  }
}
