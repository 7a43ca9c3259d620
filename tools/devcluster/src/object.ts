/** Anything JSON can hold. `bigint` stands for integers beyond 2^53, which the server must not round. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}
/** An object under construction; once stored it is never changed again. */
export interface MutableJson {
  [key: string]: Json | undefined;
}

/**
 * A map to be filled with keys of anybody's choosing: without a prototype, so that `__proto__` is a key like any other. Starts
 * as a copy of `of`.
 */
export function fillable(of: JsonObject = {}): MutableJson {
  return Object.assign(Object.create(null) as MutableJson, of);
}

export interface ObjectMeta extends JsonObject {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}
export interface KubeObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Deep equality of JSON values; key order does not matter, an absent key equals an undefined one. */
export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  for (const key of Object.keys(a)) if (!isEqual(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
}

/** Reads a nested value; `undefined` as soon as a step is missing. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const step of path) at = isObject(at) ? at[step] : undefined;
  return at;
}

/** A copy of `object` with `value` at `path`; `undefined` removes the key. Parents are created as needed. */
export function withValueAt(object: JsonObject, path: readonly string[], value: Json | undefined): JsonObject {
  const [step, ...rest] = path;
  if (step === undefined) return object;
  const copy: MutableJson = { ...object };
  const child = copy[step];
  const next = rest.length === 0 ? value : withValueAt(isObject(child) ? child : {}, rest, value);
  if (next === undefined) delete copy[step];
  else copy[step] = next;
  return copy;
}

/** `spec.replicas` and `.spec.replicas` alike. */
export function pathOf(text: string): readonly string[] {
  return text.split('.').filter((step) => step !== '');
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Shape check at the edge: what the store accepts as an object. */
export function asKubeObject(value: unknown): KubeObject | undefined {
  if (!isObject(value) || typeof value['apiVersion'] !== 'string' || typeof value['kind'] !== 'string')
    return undefined;
  return isObject(value['metadata']) ? (value as KubeObject) : ({ ...value, metadata: {} } as unknown as KubeObject);
}

export function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
