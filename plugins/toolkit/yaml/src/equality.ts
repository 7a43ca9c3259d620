import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';

/** Same meaning: key order does not count, `1.0` is `1`, and a `bigint` equals the number of the same value. */
export function deepEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a === 'object' && typeof b === 'object') return a !== null && b !== null && equalCollections(a, b);
  if (typeof a === 'bigint' || typeof b === 'bigint') return isNumeric(a) && isNumeric(b) && a == b; // == is exact between the two
  return typeof a === 'number' && typeof b === 'number' && Number.isNaN(a) && Number.isNaN(b);
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function equalCollections(a: readonly JsonValue[] | JsonObject, b: readonly JsonValue[] | JsonObject): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let at = 0; at < a.length; at += 1) if (!deepEqual(a[at], b[at])) return false;
    return true;
  }
  const left = a as JsonObject;
  const right = b as JsonObject;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) if (!Object.hasOwn(right, key) || !deepEqual(left[key], right[key])) return false;
  return true;
}
