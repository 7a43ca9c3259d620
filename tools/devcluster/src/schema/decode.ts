import { type Json, type JsonObject, isObject, fillable } from '../object.js';
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
export function decodeObject(
  body: JsonObject,
  shape: Shape,
  what: { readonly kind: string; readonly version: string },
  unknowns: Unknowns,
): JsonObject {
  const cannot = (why: string): never => {
    throw refuse.badRequest(
      `${what.kind} in version "${what.version.slice(what.version.lastIndexOf('/') + 1)}" cannot be handled as a ${what.kind}: ${why}`,
    );
  };
  const mismatch: Mismatch = {
    type: (path, struct, expected, found) =>
      cannot(`json: cannot unmarshal ${goName(found)} into Go struct field ${struct}.${path} of type ${expected}`),
    // The value may be a secret: it is not quoted.
    base64: (index) => cannot(`illegal base64 data at input byte ${index}`),
  };
  return decodeFields(body, shape, '', unknowns, mismatch);
}

interface Mismatch {
  readonly type: (path: string, struct: string, expected: string, found: Json) => never;
  readonly base64: (index: number) => never;
}

function decodeFields(
  value: JsonObject,
  shape: Shape,
  path: string,
  unknowns: Unknowns,
  mismatch: Mismatch,
): JsonObject {
  const found = fillable();
  for (const [name, field] of shape.fields ?? []) {
    const at = path === '' ? name : `${path}.${name}`;
    const decoded = decodeField(value[name], field, { path: at, struct: shape.structName ?? '' }, unknowns, mismatch);
    if (decoded !== undefined) found[name] = decoded;
  }
  for (const name of Object.keys(value)) {
    if (!shape.fields?.has(name) && value[name] !== undefined)
      unknowns.paths.push(path === '' ? name : `${path}.${name}`);
  }
  return found;
}

/** Where a value stands: its whole path, and the struct its last named field belongs to. */
interface Place {
  readonly path: string;
  readonly struct: string;
}

function decodeField(
  value: Json | undefined,
  field: Field,
  place: Place,
  unknowns: Unknowns,
  mismatch: Mismatch,
): Json | undefined {
  const shape = field.shape();
  if (value === undefined || value === null)
    return field.always && shape.kind === 'object'
      ? decodeFields({}, shape, place.path, unknowns, mismatch)
      : field.zero;
  const decoded = decodeValue(value, shape, place, unknowns, mismatch);
  return field.dropsZero && isZero(decoded, shape) ? undefined : decoded;
}

function decodeValue(value: Json, shape: Shape, place: Place, unknowns: Unknowns, mismatch: Mismatch): Json {
  switch (shape.kind) {
    case 'any':
      return value;
    case 'scalar':
      return decodeScalar(value, shape, place, mismatch);
    case 'object':
      return isObject(value)
        ? decodeFields(value, shape, place.path, unknowns, mismatch)
        : mismatch.type(place.path, place.struct, shape.structName ?? 'object', value);
    case 'list': {
      if (!Array.isArray(value)) return mismatch.type(place.path, place.struct, 'slice', value);
      const item = shape.item?.();
      return item === undefined
        ? value
        : (value as readonly Json[]).map((one, index) =>
            decodeValue(
              one,
              item,
              item.kind === 'object' ? { ...place, path: `${place.path}[${index}]` } : place,
              unknowns,
              mismatch,
            ),
          );
    }
    case 'map': {
      if (!isObject(value)) return mismatch.type(place.path, place.struct, 'map', value);
      const item = shape.item?.();
      const found = fillable();
      // Go marshals maps with sorted keys.
      for (const key of Object.keys(value).sort()) {
        const one = value[key];
        if (one !== undefined)
          found[key] =
            item === undefined
              ? one
              : one === null && item.scalar === 'string'
                ? ''
                : decodeValue(one, item, place, unknowns, mismatch);
      }
      return found as JsonObject;
    }
  }
}

function decodeScalar(value: Json, shape: Shape, place: Place, mismatch: Mismatch): Json {
  const wrong = (expected: string) => mismatch.type(place.path, place.struct, expected, value);
  switch (shape.scalar) {
    case 'bool':
      return typeof value === 'boolean' ? value : wrong('bool');
    case 'int':
      return (typeof value === 'number' && Number.isInteger(value)) || typeof value === 'bigint'
        ? value
        : wrong('int32');
    case 'double':
      return typeof value === 'number' ? value : wrong('float64');
    case 'quantity':
      return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : wrong('Quantity');
    case 'intorstring':
      return typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))
        ? value
        : wrong('IntOrString');
    case 'bytes': {
      if (typeof value !== 'string') return wrong('[]uint8');
      const text = value.replace(/[\r\n]/g, '');
      const illegal = /[^A-Za-z0-9+/=]|=(?=[^=])/.exec(text);
      return illegal !== null || text.length % 4 !== 0 ? mismatch.base64(illegal?.index ?? text.length) : value;
    }
    default:
      return typeof value === 'string' ? value : wrong('string');
  }
}

function isZero(value: Json, shape: Shape): boolean {
  if (value === '' || value === 0 || value === false)
    return shape.scalar !== 'quantity' && shape.scalar !== 'intorstring';
  if (Array.isArray(value)) return value.length === 0;
  return shape.kind === 'map' && isObject(value) && Object.keys(value).length === 0;
}

function goName(value: Json): string {
  return Array.isArray(value)
    ? 'array'
    : value === null
      ? 'null'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value === 'bigint'
          ? 'number'
          : typeof value;
}
