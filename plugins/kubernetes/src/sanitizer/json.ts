import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';

export const isMap = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);

/** A map with some keys left out. Entries are defined, never assigned: `__proto__` is a legal key. */
export function without(map: JsonObject, gone: (key: string, value: JsonValue) => boolean): JsonObject {
  const entries = Object.entries(map);
  const kept = entries.filter(([key, value]) => !gone(key, value));
  return kept.length === entries.length ? map : Object.fromEntries(kept);
}

export const isEmpty = (map: JsonObject): boolean => Object.keys(map).length === 0;

/** Rewrites the value at `path`; `undefined` removes the key. A path that is not there changes nothing. */
export function rewrite(
  map: JsonObject,
  path: readonly string[],
  change: (value: JsonValue) => JsonValue | undefined,
): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined || !Object.hasOwn(map, key)) return map;
  const value = map[key] as JsonValue;
  const next = rest.length === 0 ? change(value) : isMap(value) ? rewrite(value, rest, change) : value;
  if (next === value) return map;
  const entries = Object.entries(map);
  return Object.fromEntries(
    next === undefined
      ? entries.filter(([name]) => name !== key)
      : entries.map(([name, old]) => [name, name === key ? next : old]),
  );
}

export const drop = (map: JsonObject, ...path: string[]): JsonObject => rewrite(map, path, () => undefined);

/** The value at `path`, if every step is a map. */
export function at(map: JsonObject, ...path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = map;
  for (const key of path) value = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}
