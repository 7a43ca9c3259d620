import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { type Json, type MutableJson, isObject } from '../object.js';
import { type JsonSchema, propertySchema } from './json-schema.js';
import { patternOf } from './schema-validation.js';

/**
 * One environment for all rules: `self` and `oldSelf` are dynamic, the library functions of Kubernetes that our rules use
 * are registered. Optional syntax, two-variable macros, `url` and `quantity` are not there, as the README says.
 */
const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false })
  .registerVariable('self', 'dyn')
  .registerVariable('oldSelf', 'dyn')
  .registerFunction(
    'string.find(string): string',
    (text: string, pattern: string) => patternOf(pattern).exec(text)?.[0] ?? '',
  )
  .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
    [...text.matchAll(new RegExp(patternOf(pattern), 'gu'))].map((match) => match[0]),
  )
  .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, to),
  )
  .registerFunction('string.format(list<dyn>): string', formatText)
  .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text))
  .registerFunction('list.isSorted(): bool', (list: readonly (string | bigint)[]) =>
    list.every((item, index) => index === 0 || (list[index - 1] as string | bigint) <= item),
  )
  .registerFunction('list.sum(): dyn', (list: readonly (bigint | number)[]) =>
    list.reduce((sum, item) => (sum as bigint) + (item as bigint), 0n as bigint | number),
  )
  .registerFunction('list.min(): dyn', (list: readonly (string | bigint)[]) =>
    list.reduce((least, item) => (item < least ? item : least)),
  )
  .registerFunction('list.max(): dyn', (list: readonly (string | bigint)[]) =>
    list.reduce((most, item) => (item > most ? item : most)),
  );

/** `%s %d %f %x %X %o %b %%` of the CEL strings library. */
function formatText(template: string, values: readonly unknown[]): string {
  let next = 0;
  return template.replace(/%(?:\.(\d+))?([sdfxXobe%])/g, (_all, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (next >= values.length) throw new Error(`format: ${template} needs more than ${values.length} values`);
    const value = values[next] as string | number | bigint;
    next += 1;
    switch (verb) {
      case 'd':
        if (typeof value !== 'bigint' && typeof value !== 'number') throw new Error('format: %d takes a number');
        return String(value);
      case 'f':
        return Number(value).toFixed(precision === undefined ? 6 : Number(precision));
      case 'e':
        return Number(value).toExponential(precision === undefined ? 6 : Number(precision));
      case 'x':
      case 'X': {
        const hex = BigInt(value).toString(16);
        return verb === 'X' ? hex.toUpperCase() : hex;
      }
      case 'o':
        return BigInt(value).toString(8);
      case 'b':
        return BigInt(value).toString(2);
      default:
        return Array.isArray(value) ? `[${value.map(String).join(', ')}]` : String(value);
    }
  });
}

export interface CompiledRule {
  readonly usesOldSelf: boolean;
  readonly evaluate: (self: unknown, oldSelf: unknown) => unknown;
}

const compiledBySource = new Map<string, CompiledRule>();

/** @throws an error whose message says where the expression is wrong */
export function compileRule(source: string): CompiledRule {
  let found = compiledBySource.get(source);
  if (found === undefined) {
    const parsed: ParseResult = environment.parse(source);
    const checked = parsed.check();
    if (!checked.valid) throw checked.error ?? new Error('the expression does not type-check');
    found = {
      usesOldSelf: /\boldSelf\b/.test(source),
      evaluate: (self, oldSelf) => parsed(oldSelf === undefined ? { self } : { self, oldSelf }) as unknown,
    };
    compiledBySource.set(source, found);
  }
  return found;
}

/** JSON as CEL sees it through a schema: integers are integers, numbers are doubles, dates are timestamps, names are escaped. */
export function toCel(value: Json | undefined, schema: JsonSchema | undefined, isResource = false): unknown {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => toCel(item, schema?.items));
  if (isObject(value)) {
    const isStruct = schema?.properties !== undefined;
    const found: Record<string, unknown> = {};
    for (const [name, child] of Object.entries(value)) {
      if (child === undefined) continue;
      const inner = schema === undefined ? undefined : propertySchema(schema, name);
      // A rule sees only what the schema declares: of metadata, name and generateName.
      if (isResource && name === 'metadata') found[name] = visibleMetadata(child);
      else if (!isStruct) found[name] = toCel(child, inner);
      else if (inner !== undefined || (isResource && (name === 'apiVersion' || name === 'kind')))
        found[escapeName(name)] = toCel(child, inner);
    }
    return found;
  }
  if (typeof value === 'number') return schema?.type === 'number' || !Number.isInteger(value) ? value : BigInt(value);
  if (typeof value === 'string' && schema?.format === 'date-time') return new Date(value);
  return value;
}

function visibleMetadata(metadata: Json): unknown {
  const found: MutableJson = {};
  if (isObject(metadata))
    for (const name of ['name', 'generateName']) if (metadata[name] !== undefined) found[name] = metadata[name];
  return found;
}

// Words CEL reserves; a property of such a name is reached as `__name__`.
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

export function escapeName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replace(/__/g, '__underscores__')
    .replace(/\./g, '__dot__')
    .replace(/-/g, '__dash__')
    .replace(/\//g, '__slash__');
}
