import { MalformedData } from '../objects/delta.js';

export type Packet =
  { readonly kind: 'data'; readonly data: Buffer } | { readonly kind: 'flush' | 'delim' | 'response-end' | 'end' };

/** 65_520: LARGE_PACKET_MAX of git, length digits included. */
const MAX_PACKET_BYTES = 65_520;

export const FLUSH = Buffer.from('0000', 'latin1');
export const DELIM = Buffer.from('0001', 'latin1');

/** One packet of text or bytes. */
export function pkt(content: string | Uint8Array): Buffer {
  const data = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  const length = data.byteLength + 4;
  if (length > MAX_PACKET_BYTES)
    throw new MalformedData(`a packet of ${length} bytes; at most ${MAX_PACKET_BYTES} are possible`);
  return Buffer.concat([Buffer.from(length.toString(16).padStart(4, '0'), 'latin1'), data]);
}

/** Text of a packet without its final newline. */
export function textOf(data: Buffer): string {
  const end = data.at(-1) === 0x0a ? data.length - 1 : data.length;
  return data.toString('utf8', 0, end);
}

/** Takes packets off a stream of bytes. */
export class PacketReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #receivedBytes = 0;
  #hasEnded = false;

  /** @param maxBytes more than this in all is refused */
  constructor(source: AsyncIterable<Uint8Array>, maxBytes: number) {
    this.#source = source[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** @throws MalformedData when the bytes are no packets or end inside one */
  async next(): Promise<Packet> {
    if (!(await this.#have(4))) {
      if (this.#buffer.length === 0) return { kind: 'end' };
      throw new MalformedData('the answer ends inside a packet');
    }
    const digits = this.#buffer.toString('latin1', 0, 4);
    const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (length === 0) return this.#take(4, { kind: 'flush' });
    if (length === 1) return this.#take(4, { kind: 'delim' });
    if (length === 2) return this.#take(4, { kind: 'response-end' });
    if (length < 4) throw new MalformedData('the answer is not in packets');
    if (!(await this.#have(length))) throw new MalformedData('the answer ends inside a packet');
    const data = this.#buffer.subarray(4, length);
    return this.#take(length, { kind: 'data', data });
  }

  /** The first bytes of what comes next, fewer at the end; nothing is taken. */
  async peek(length: number): Promise<Buffer> {
    await this.#have(length);
    return this.#buffer.subarray(0, length);
  }

  /** Everything that is left, raw. */
  async *rest(): AsyncGenerator<Buffer> {
    if (this.#buffer.length > 0) yield this.#buffer;
    this.#buffer = Buffer.alloc(0);
    while (await this.#have(1)) {
      yield this.#buffer;
      this.#buffer = Buffer.alloc(0);
    }
  }

  /** Reads what is left, so that the connection can be used again. */
  async drain(): Promise<void> {
    this.#buffer = Buffer.alloc(0);
    while (await this.#have(1)) this.#buffer = Buffer.alloc(0);
  }

  /** Ends the stream early; what is left is not read. */
  async close(): Promise<void> {
    this.#hasEnded = true;
    await this.#source.return?.();
  }

  #take(length: number, packet: Packet): Packet {
    this.#buffer = this.#buffer.subarray(length);
    return packet;
  }

  async #have(length: number): Promise<boolean> {
    if (this.#buffer.length >= length) return true;
    const parts = [this.#buffer];
    let total = this.#buffer.length;
    while (total < length && !this.#hasEnded) {
      const { value, done } = await this.#source.next();
      if (done === true) this.#hasEnded = true;
      else {
        const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
        this.#receivedBytes += chunk.length;
        if (this.#receivedBytes > this.#maxBytes)
          throw new MalformedData(`the answer is longer than ${this.#maxBytes} bytes`);
        parts.push(chunk);
        total += chunk.length;
      }
    }
    this.#buffer = parts.length === 1 ? this.#buffer : Buffer.concat(parts, total);
    return total >= length;
  }
}
