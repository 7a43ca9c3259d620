/** One field as it stands on the wire. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

/** Splits a message into its fields. Throws RangeError when the bytes end too early. */
export function readFields(bytes: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new RangeError('protobuf: the message ends inside a number');
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new RangeError('protobuf: a number is too long');
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('protobuf: the message ends inside a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: take(8) });
        break;
      case 2:
        fields.push({ number, value: take(Number(varint())) });
        break;
      case 5:
        fields.push({ number, value: take(4) });
        break;
      default:
        throw new RangeError(`protobuf: wire type ${tag & 7} of field ${number} is not used by Kubernetes`);
    }
  }
  return fields;
}

export function signed(value: bigint): number | bigint {
  const found = BigInt.asIntN(64, value);
  return found >= BigInt(Number.MIN_SAFE_INTEGER) && found <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(found) : found;
}
