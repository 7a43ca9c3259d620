import { type Json, type JsonObject, isEqual, isObject } from '../object.js';
import { stringifyJson } from '../json.js';
import type { StatusCause } from '../status.js';
import { formatChecks } from './formats.js';
import { type JsonSchema, itemKey, propertySchema } from './json-schema.js';

/** Reasons after which the server does not evaluate CEL rules any more. */
export const blockingReasons: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/**
 * Checks a value against its schema, in the words of the API server. What did not change since `before` is tolerated
 * (ratcheting).
 */
export function validateSchema(value: Json, schema: JsonSchema, path: string, before: Json | undefined): StatusCause[] {
  if (before !== undefined && isEqual(value, before)) return [];
  const found: StatusCause[] = [];
  if (value === null) return schema.nullable === true ? [] : [typeProblem(path, schema.type ?? 'object', value)];

  const wrongType = checkType(value, schema, path);
  if (wrongType !== undefined) return [wrongType];
  if (schema.enum !== undefined && !schema.enum.some((allowed) => isEqual(allowed, value)))
    found.push({
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${shown(value)}: supported values: ${schema.enum.map((one) => JSON.stringify(typeof one === 'string' ? one : stringifyJson(one))).join(', ')}`,
      field: path,
    });

  if (typeof value === 'string') found.push(...stringProblems(value, schema, path));
  else if (typeof value === 'number' || typeof value === 'bigint') found.push(...numberProblems(value, schema, path));
  else if (Array.isArray(value)) found.push(...listProblems(value as readonly Json[], schema, path, before));
  else if (isObject(value)) found.push(...objectProblems(value, schema, path, before));
  found.push(...junctionProblems(value, schema, path));
  return found;
}

export function shown(value: Json): string {
  return typeof value === 'string' ? JSON.stringify(value) : stringifyJson(value);
}

function typeName(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'bigint' ? 'integer' : typeof value;
}

function typeProblem(path: string, expected: string, value: Json): StatusCause {
  const found = typeName(value);
  return {
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${JSON.stringify(found)}: ${path === '' ? '<nil>' : path} in body must be of type ${expected}: ${JSON.stringify(found)}`,
    field: path,
  };
}

function checkType(value: Json, schema: JsonSchema, path: string): StatusCause | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) {
    const found = typeName(value);
    return found === 'integer' || found === 'string' ? undefined : typeProblem(path, 'integer,string', value);
  }
  if (schema.type === undefined) return undefined;
  const found = typeName(value);
  const isRight = found === schema.type || (schema.type === 'number' && found === 'integer');
  if (!isRight) return typeProblem(path, schema.type, value);
  const check = typeof value === 'string' && schema.format !== undefined ? formatChecks[schema.format] : undefined;
  if (check !== undefined && !check(value as string))
    return {
      reason: 'FieldValueTypeInvalid',
      message: `Invalid value: ${shown(value)}: ${path} in body must be of type ${schema.format}: ${shown(value)}`,
      field: path,
    };
  return undefined;
}

function invalidIn(path: string, value: Json, why: string): StatusCause {
  return {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${shown(value)}: ${path} in body ${why}`,
    field: path,
  };
}

/** Only the first of them, as upstream. */
function* stringProblems(value: string, schema: JsonSchema, path: string): Iterable<StatusCause> {
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength)
    yield {
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${schema.maxLength} byte${schema.maxLength === 1 ? '' : 's'}`,
      field: path,
    };
  else if (schema.minLength !== undefined && length < schema.minLength)
    yield invalidIn(path, value, `should be at least ${schema.minLength} chars long`);
  else if (schema.pattern !== undefined && !patternOf(schema.pattern).test(value))
    yield invalidIn(path, value, `should match '${schema.pattern}'`);
}

const patterns = new Map<string, RegExp>();
/** Patterns are RE2; the differences that matter here are the inline flags. */
export function patternOf(source: string): RegExp {
  let found = patterns.get(source);
  if (found === undefined) {
    const flags = /^\(\?([ims]+)\)/.exec(source);
    found = new RegExp(flags ? source.slice(flags[0].length) : source, `${flags?.[1] ?? ''}u`);
    patterns.set(source, found);
  }
  return found;
}

function* numberProblems(value: number | bigint, schema: JsonSchema, path: string): Iterable<StatusCause> {
  const { minimum, maximum, multipleOf } = schema;
  if (minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum))
    yield invalidIn(
      path,
      value,
      `should be greater than ${schema.exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`,
    );
  if (maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum))
    yield invalidIn(
      path,
      value,
      `should be less than ${schema.exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`,
    );
  if (multipleOf !== undefined && Number(value) % multipleOf !== 0)
    yield invalidIn(path, value, `should be a multiple of ${multipleOf}`);
}

function tooMany(path: string, found: number, max: number): StatusCause {
  return {
    reason: 'FieldValueTooMany',
    message: `Too many: ${found}: must have at most ${max} item${max === 1 ? '' : 's'}`,
    field: path,
  };
}

function* listProblems(
  value: readonly Json[],
  schema: JsonSchema,
  path: string,
  before: Json | undefined,
): Iterable<StatusCause> {
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    yield tooMany(path, value.length, schema.maxItems);
  if (schema.minItems !== undefined && value.length < schema.minItems)
    yield {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${value.length}: ${path} in body should have at least ${schema.minItems} items`,
      field: path,
    };
  const seen = new Map<string, number>();
  const reported = new Set<string>();
  const listType = schema['x-kubernetes-list-type'];
  const beforeByKey = new Map(
    (Array.isArray(before) ? (before as readonly Json[]) : []).map((item) => [itemKey(schema, item) ?? '', item]),
  );
  for (const [index, item] of value.entries()) {
    const key = listType === 'set' ? stringifyJson(item) : itemKey(schema, item);
    if (key !== undefined && seen.has(key) && !reported.has(key)) {
      reported.add(key);
      const keys = schema['x-kubernetes-list-map-keys'] ?? [];
      const text =
        listType === 'set'
          ? shown(item)
          : `{${keys.map((name) => `${JSON.stringify(name)}:${shown((item as JsonObject)[name] ?? null)}`).join(',')}}`;
      yield { reason: 'FieldValueDuplicate', message: `Duplicate value: ${text}`, field: `${path}[${index}]` };
    }
    if (key !== undefined) seen.set(key, index);
    if (schema.items !== undefined)
      yield* validateSchema(
        item,
        schema.items,
        `${path}[${index}]`,
        listType === 'map' && key !== undefined ? beforeByKey.get(key) : undefined,
      );
  }
}

function* objectProblems(
  value: JsonObject,
  schema: JsonSchema,
  path: string,
  before: Json | undefined,
): Iterable<StatusCause> {
  const names = Object.keys(value);
  if (schema.maxProperties !== undefined && names.length > schema.maxProperties)
    yield tooMany(path, names.length, schema.maxProperties);
  if (schema.minProperties !== undefined && names.length < schema.minProperties)
    yield {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${names.length}: ${path} in body should have at least ${schema.minProperties} properties`,
      field: path,
    };
  for (const name of schema.required ?? [])
    if (value[name] === undefined)
      yield { reason: 'FieldValueRequired', message: 'Required value', field: path === '' ? name : `${path}.${name}` };
  for (const name of names) {
    const child = value[name];
    const inner = propertySchema(schema, name);
    if (
      child === undefined ||
      inner === undefined ||
      (path === '' && (name === 'metadata' || name === 'apiVersion' || name === 'kind'))
    )
      continue;
    yield* validateSchema(
      child,
      inner,
      path === '' ? name : `${path}.${name}`,
      isObject(before) ? before[name] : undefined,
    );
  }
}

function* junctionProblems(value: Json, schema: JsonSchema, path: string): Iterable<StatusCause> {
  const fits = (branch: JsonSchema) => validateSchema(value, branch, path, undefined).length === 0;
  const problem = (words: string): StatusCause => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${shown(value)}: ${JSON.stringify(path)} ${words}`,
    field: path,
  });
  for (const branch of schema.allOf ?? []) yield* validateSchema(value, branch, path, undefined);
  if (schema.anyOf !== undefined && !schema.anyOf.some(fits))
    yield problem('must validate at least one schema (anyOf)');
  if (schema.oneOf !== undefined) {
    const count = schema.oneOf.filter(fits).length;
    if (count !== 1)
      yield problem(
        `must validate one and only one schema (oneOf). ${count === 0 ? 'Found none valid' : `Found ${count} valid alternatives`}`,
      );
  }
  if (schema.not !== undefined && fits(schema.not)) yield problem('must not validate the schema (not)');
}
