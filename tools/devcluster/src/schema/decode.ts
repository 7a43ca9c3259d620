import { type Json, type JsonObject, type MutableJson, isObject } from '../object.js';
import { refuse } from '../status.js';
import type { Field, Shape } from './shape.js';

/** What a strict reader objects to; a lenient one drops it. */
export interface Unknowns {
  readonly paths: string[];
}

/**
 * Reads a built-in object as the server's own types would: declared order, unknown fields dropped (and named), zero
 * values omitted where Go omits them, wrong types refused.
 */
export function decodeObject(body: JsonObject, shape: Shape, what: { readonly kind: string; readonly version: string }, unknowns: Unknowns): JsonObject {
  const mismatch = (path: string, expected: string, found: Json): never => {
    throw refuse.badRequest(
      `${what.kind} in version "${what.version}" cannot be handled as a ${what.kind}: json: cannot unmarshal ${goName(found)} into Go struct field ${what.kind}.${path} of type ${expected}`,
    );
  };
  return decodeFields(body, shape, '', unknowns, mismatch);
}

type Mismatch = (path: string, expected: string, found: Json) => never;

function decodeFields(value: JsonObject, shape: Shape, path: string, unknowns: Unknowns, mismatch: Mismatch): JsonObject {
  const found: MutableJson = {};
  for (const [name, field] of shape.fields ?? []) {
    const at = path === '' ? name : `${path}.${name}`;
    const decoded = decodeField(value[name], field, at, unknowns, mismatch);
    if (decoded !== undefined) found[name] = decoded;
  }
  for (const name of Object.keys(value)) {
    if (!shape.fields?.has(name) && value[name] !== undefined) unknowns.paths.push(path === '' ? name : `${path}.${name}`);
  }
  return found;
}

function decodeField(value: Json | undefined, field: Field, path: string, unknowns: Unknowns, mismatch: Mismatch): Json | undefined {
  const shape = field.shape();
  if (value === undefined || value === null) return field.always && shape.kind === 'object' ? decodeFields({}, shape, path, unknowns, mismatch) : undefined;
  const decoded = decodeValue(value, shape, path, unknowns, mismatch);
  return field.dropsZero && isZero(decoded, shape) ? undefined : decoded;
}

function decodeValue(value: Json, shape: Shape, path: string, unknowns: Unknowns, mismatch: Mismatch): Json {
  switch (shape.kind) {
    case 'any':
      return value;
    case 'scalar':
      return decodeScalar(value, shape, path, mismatch);
    case 'object':
      return isObject(value) ? decodeFields(value, shape, path, unknowns, mismatch) : mismatch(path, 'object', value);
    case 'list': {
      if (!Array.isArray(value)) return mismatch(path, 'slice', value);
      const item = shape.item?.();
      return item === undefined ? value : (value as readonly Json[]).map((one, index) => decodeValue(one, item, `${path}[${index}]`, unknowns, mismatch));
    }
    case 'map': {
      if (!isObject(value)) return mismatch(path, 'map', value);
      const item = shape.item?.();
      const found: MutableJson = {};
      // Go marshals maps with sorted keys.
      for (const key of Object.keys(value).sort()) {
        const one = value[key];
        if (one !== undefined) found[key] = item === undefined ? one : one === null && item.scalar === 'string' ? '' : decodeValue(one, item, `${path}.${key}`, unknowns, mismatch);
      }
      return found as JsonObject;
    }
  }
}

function decodeScalar(value: Json, shape: Shape, path: string, mismatch: Mismatch): Json {
  switch (shape.scalar) {
    case 'bool':
      return typeof value === 'boolean' ? value : mismatch(path, 'bool', value);
    case 'int':
      return (typeof value === 'number' && Number.isInteger(value)) || typeof value === 'bigint' ? value : mismatch(path, 'int', value);
    case 'double':
      return typeof value === 'number' ? value : mismatch(path, 'float64', value);
    case 'quantity':
      return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : mismatch(path, 'Quantity', value);
    case 'intorstring':
      return typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value)) ? value : mismatch(path, 'IntOrString', value);
    case 'bytes':
      if (typeof value !== 'string' || Buffer.from(value, 'base64').toString('base64').replace(/=+$/, '') !== value.replace(/[\r\n]/g, '').replace(/=+$/, ''))
        return typeof value === 'string' ? illegalBase64(path) : mismatch(path, '[]uint8', value);
      return value;
    default:
      return typeof value === 'string' ? value : mismatch(path, 'string', value);
  }
}

function illegalBase64(path: string): never {
  // The value may be a secret: only the place is named.
  throw refuse.badRequest(`illegal base64 data in field ${path}`);
}

function isZero(value: Json, shape: Shape): boolean {
  if (value === '' || value === 0 || value === false) return shape.scalar !== 'quantity' && shape.scalar !== 'intorstring';
  if (Array.isArray(value)) return value.length === 0;
  return shape.kind === 'map' && isObject(value) && Object.keys(value).length === 0;
}

function goName(value: Json): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}
