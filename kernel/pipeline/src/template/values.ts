/**
 * What templates compute with, as Go sees it: `string`, `bigint` (int), `number` (float64), `boolean`, `null` (nil), lists, maps
 * of strings and records (a struct with methods).
 */
export type Value = string | bigint | number | boolean | null | readonly Value[] | TemplateMap | TemplateRecord;

/** A Go map with string keys. */
export class TemplateMap {
  readonly entries: ReadonlyMap<string, Value>;
  /** What `index` gives for an absent key. */
  readonly zero: Value;

  constructor(entries: ReadonlyMap<string, Value>, zero: Value) {
    this.entries = entries;
    this.zero = zero;
  }
  /** In key order, as Go prints and ranges. */
  sorted(): readonly (readonly [string, Value])[] {
    return [...this.entries].sort(([a], [b]) => compareText(a, b));
  }
}

/** A method of one string argument, the only kind our data has. */
export type Method = (argument: string) => Value;

/** A Go struct with methods. `text` is its String method. */
export class TemplateRecord {
  readonly fields: Readonly<Record<string, Value>>;
  readonly methods: Readonly<Record<string, Method>>;
  readonly text: string | undefined;

  constructor(fields: Readonly<Record<string, Value>>, methods: Readonly<Record<string, Method>>, text?: string) {
    this.fields = fields;
    this.methods = methods;
    this.text = text;
  }
}

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** Go compares strings byte by byte. */
export const compareText = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Name of the Go type, as `%!d(string=x)` shows it. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'object':
      if (value === null) return 'nil';
      if (value instanceof TemplateMap) return `map[string]${typeName(value.zero)}`;
      if (value instanceof TemplateRecord) return value.text === undefined ? 'message' : 'resource';
      return value[0] === undefined ? '[]string' : `[]${typeName(value[0])}`;
  }
}

/** Go's truth: zero values and empty containers are false, records always true. */
export function isTrue(value: Value): boolean {
  switch (typeof value) {
    case 'string':
      return value !== '';
    case 'bigint':
      return value !== 0n;
    case 'number':
      return value !== 0;
    case 'boolean':
      return value;
    case 'object':
      if (value === null) return false;
      if (value instanceof TemplateMap) return value.entries.size > 0;
      return value instanceof TemplateRecord || value.length > 0;
  }
}
