/** Thrown for bytes that cannot be what they claim to be. Callers translate it once, naming pack and repository. */
export class MalformedData extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedData';
  }
}

/** Git itself makes no delta of an object above this, so nothing larger ever has to be in memory whole. */
export const MAX_INFLATED_BYTES = 512 * 1024 * 1024;

/** Thrown before an object is inflated that takes more memory than it is worth. */
export class TooLarge extends MalformedData {
  readonly size: number;

  constructor(size: number) {
    super(`an object has ${size} bytes, which is more than is ever read whole`);
    this.name = 'TooLarge';
    this.size = size;
  }
}

/** @throws MalformedData when the delta does not fit `base` or is damaged */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const from = readSize(delta, 0);
  const to = readSize(delta, from.next);
  if (from.value !== base.length)
    throw new MalformedData(`a delta is for ${from.value} bytes, its base has ${base.length}`);
  if (to.value > MAX_INFLATED_BYTES) throw new TooLarge(to.value);
  const result = Buffer.allocUnsafe(to.value);
  let at = to.next;
  let filled = 0;
  while (at < delta.length) {
    const op = byteAt(delta, at);
    at += 1;
    if ((op & 0x80) !== 0) {
      let offset = 0;
      let size = 0;
      for (let bit = 0; bit < 4; bit += 1) if ((op & (1 << bit)) !== 0) offset += byteAt(delta, at++) * 2 ** (8 * bit);
      for (let bit = 0; bit < 3; bit += 1) if ((op & (0x10 << bit)) !== 0) size |= byteAt(delta, at++) << (8 * bit);
      if (size === 0) size = 0x1_0000;
      if (offset + size > base.length || filled + size > result.length)
        throw new MalformedData('a delta copies from outside its base');
      base.copy(result, filled, offset, offset + size);
      filled += size;
    } else if (op !== 0) {
      if (at + op > delta.length || filled + op > result.length)
        throw new MalformedData('a delta inserts more than it holds');
      delta.copy(result, filled, at, at + op);
      at += op;
      filled += op;
    } else throw new MalformedData('a delta has the reserved instruction 0');
  }
  if (filled !== result.length) throw new MalformedData(`a delta gave ${filled} bytes of ${result.length}`);
  return result;
}

function readSize(bytes: Buffer, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  let factor = 1;
  let at = start;
  for (;;) {
    const byte = byteAt(bytes, at);
    at += 1;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, next: at };
    factor *= 0x80;
    if (factor > 2 ** 49) throw new MalformedData('a delta states an impossible size');
  }
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new MalformedData('a delta ends early');
  return byte;
}
