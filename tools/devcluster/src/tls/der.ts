/** The few DER forms an X.509 certificate is made of. */
export const der = {
  sequence: (...parts: readonly Buffer[]) => tagged(0x30, Buffer.concat(parts)),
  set: (...parts: readonly Buffer[]) => tagged(0x31, Buffer.concat(parts)),
  integer: (value: Buffer | number) => tagged(0x02, unsigned(typeof value === 'number' ? Buffer.from([value]) : value)),
  boolean: (value: boolean) => tagged(0x01, Buffer.from([value ? 0xff : 0])),
  objectId: (dotted: string) => tagged(0x06, objectIdBytes(dotted)),
  utf8: (text: string) => tagged(0x0c, Buffer.from(text)),
  /** Dates between 1950 and 2049. */
  utcTime: (date: Date) => tagged(0x17, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`)),
  octets: (bytes: Buffer) => tagged(0x04, bytes),
  bits: (bytes: Buffer, unusedBits = 0) => tagged(0x03, Buffer.concat([Buffer.from([unusedBits]), bytes])),
  /** `[number]`, around something that keeps its own tag. */
  explicit: (number: number, inner: Buffer) => tagged(0xa0 | number, inner),
  /** `[number]`, instead of the tag. */
  implicit: (number: number, bytes: Buffer, isConstructed = false) =>
    tagged((isConstructed ? 0xa0 : 0x80) | number, bytes),
};

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) size.unshift(rest % 256);
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length, ...size]), content]);
}

function unsigned(value: Buffer): Buffer {
  let start = 0;
  while (start < value.length - 1 && value[start] === 0) start += 1;
  const trimmed = value.subarray(start);
  return (trimmed[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed;
}

function objectIdBytes(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const septets = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80);
    bytes.push(...septets);
  }
  return Buffer.from(bytes);
}
