import { parseJson } from '../json.js';
import { type Json, type JsonObject, type MutableJson, groupVersionOf, isObject } from '../object.js';
import { messageNameOf } from '../resources/builtin-types.js';
import { type Message, type MessageField, messageOf } from '../schema/builtin.js';
import { ApiError, refuse } from '../status.js';
import { type WireField, readFields, signed } from './wire.js';

const magic = Buffer.from('k8s\0', 'latin1');

/** Reads what `kubectl create` sends: the envelope, then the object by the built-in schema table. */
export function decodeProtobuf(bytes: Buffer): JsonObject {
  if (!bytes.subarray(0, 4).equals(magic))
    throw refuse.badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  try {
    const envelope = readFields(bytes.subarray(4));
    const typeMeta = readFields(bufferOf(envelope, 1));
    const apiVersion = bufferOf(typeMeta, 1).toString();
    const kind = bufferOf(typeMeta, 2).toString();
    const message = messageFor(apiVersion, kind);
    if (message === undefined)
      throw refuse.badRequest(
        `no kind "${kind}" is registered for version "${apiVersion}" in protobuf form: send JSON instead`,
      );
    return { kind, apiVersion, ...decodeMessage(bufferOf(envelope, 2), message) };
  } catch (fault) {
    if (fault instanceof ApiError) throw fault;
    throw refuse.badRequest(
      `the protobuf body cannot be read: ${fault instanceof RangeError ? fault.message : 'it does not fit its type'}`,
    );
  }
}

function messageFor(apiVersion: string, kind: string): Message | undefined {
  // Options are sent under the version of the object they are about.
  if (kind === 'DeleteOptions') return messageOf('meta/v1.DeleteOptions');
  const { group, version } = groupVersionOf(apiVersion);
  return messageOf(messageNameOf(group, version, kind));
}

function bufferOf(fields: readonly WireField[], number: number): Buffer {
  const value = fields.findLast((field) => field.number === number)?.value;
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function decodeMessage(bytes: Buffer, message: Message): JsonObject {
  const byNumber = new Map<number, (bigint | Buffer)[]>();
  for (const { number, value } of readFields(bytes)) byNumber.set(number, [...(byNumber.get(number) ?? []), value]);
  const found: MutableJson = {};
  for (const field of message.fields) {
    const values = byNumber.get(field.number);
    if (values === undefined) continue;
    const value = decodeField(field, values);
    if (field.name === '~') Object.assign(found, isObject(value) ? value : {});
    else if (value !== undefined) found[field.name] = value;
  }
  return found as JsonObject;
}

function decodeField(field: MessageField, values: readonly (bigint | Buffer)[]): Json | undefined {
  const { type } = field;
  if (type.startsWith('map:')) {
    const found: MutableJson = {};
    for (const value of values) {
      if (!Buffer.isBuffer(value)) continue;
      const entry = readFields(value);
      const inner = entry.findLast((one) => one.number === 2)?.value ?? Buffer.alloc(0);
      found[bufferOf(entry, 1).toString()] = decodeValue(type.slice(4), inner) ?? null;
    }
    return found as JsonObject;
  }
  if (type.startsWith('[]')) return values.map((value) => decodeValue(type.slice(2), value) ?? null);
  const last = values.at(-1);
  return last === undefined ? undefined : decodeValue(type, last);
}

function decodeValue(type: string, value: bigint | Buffer): Json | undefined {
  if (!Buffer.isBuffer(value)) return type === 'bool' ? value !== 0n : signed(value);
  switch (type) {
    case 'string':
      return value.toString();
    case 'bytes':
      return value.toString('base64');
    case 'double':
      return value.readDoubleLE(0);
    case 'time':
      return timeOf(readFields(value));
    case 'quantity':
      return bufferOf(readFields(value), 1).toString();
    case 'duration': {
      const nanos = readFields(value).find((field) => field.number === 1)?.value;
      return typeof nanos === 'bigint' ? `${Number(BigInt.asIntN(64, nanos)) / 1e9}s` : '0s';
    }
    case 'intorstring': {
      const fields = readFields(value);
      const kind = fields.find((field) => field.number === 1)?.value;
      const number = fields.find((field) => field.number === 2)?.value;
      return kind === 1n ? bufferOf(fields, 3).toString() : typeof number === 'bigint' ? signed(number) : 0;
    }
    case 'raw':
    case 'fields': {
      const raw = bufferOf(readFields(value), 1);
      return raw.length === 0 ? undefined : parseJson(raw.toString());
    }
    case 'wrapped':
      return readFields(value).flatMap((field) => (Buffer.isBuffer(field.value) ? [field.value.toString()] : []));
    default: {
      const message = messageOf(type);
      return message === undefined ? undefined : decodeMessage(value, message);
    }
  }
}

function timeOf(fields: readonly WireField[]): string | undefined {
  const numberAt = (number: number) => {
    const value = fields.find((field) => field.number === number)?.value;
    return typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : 0;
  };
  const seconds = numberAt(1);
  const nanos = numberAt(2);
  // The zero time: Go's year 1, or nothing at all.
  if ((seconds === 0 && nanos === 0) || seconds === -62_135_596_800) return undefined;
  const text = new Date(seconds * 1000).toISOString().replace(/\.000Z$/, '');
  return nanos === 0 ? `${text}Z` : `${text}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}
