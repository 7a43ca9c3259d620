import { type Json, isEqual, isObject } from '../object.js';
import type { StatusCause } from '../status.js';
import { compileRule, toCel } from './cel.js';
import { type JsonSchema, type ValidationRule, itemKey, propertySchema } from './json-schema.js';
import { shown } from './schema-validation.js';

/**
 * Evaluates the `x-kubernetes-validations` of a value and everything below it. A rule that mentions `oldSelf` runs only
 * where there is a comparable old value; one that does not is forgiven where nothing changed.
 */
export function validateRules(
  value: Json | undefined,
  schema: JsonSchema,
  path: string,
  before: Json | undefined,
  isResource = false,
): StatusCause[] {
  if (value === undefined || value === null) return [];
  const found: StatusCause[] = [];
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length > 0) {
    const self = toCel(value, schema, isResource);
    const oldSelf = before === undefined || before === null ? undefined : toCel(before, schema, isResource);
    for (const rule of rules) {
      const problem = evaluate(rule, self, oldSelf, value, schema, path);
      if (
        problem !== undefined &&
        (compileRule(rule.rule).usesOldSelf || before === undefined || !isEqual(value, before))
      )
        found.push(problem);
    }
  }
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return found;
    const beforeByKey = new Map(
      (Array.isArray(before) ? (before as readonly Json[]) : []).map((item) => [itemKey(schema, item) ?? '', item]),
    );
    for (const [index, item] of (value as readonly Json[]).entries()) {
      const key = itemKey(schema, item);
      found.push(
        ...validateRules(item, items, `${path}[${index}]`, key === undefined ? undefined : beforeByKey.get(key)),
      );
    }
  } else if (isObject(value)) {
    for (const [name, child] of Object.entries(value)) {
      const inner = propertySchema(schema, name);
      if (inner === undefined) continue;
      const isDeclared = schema.properties?.[name] !== undefined;
      const at = isDeclared ? (path === '' ? name : `${path}.${name}`) : `${path}[${name}]`;
      found.push(...validateRules(child, inner, at, isObject(before) ? before[name] : undefined));
    }
  }
  return found;
}

function evaluate(
  rule: ValidationRule,
  self: unknown,
  oldSelf: unknown,
  value: Json,
  schema: JsonSchema,
  path: string,
): StatusCause | undefined {
  const field = rule.fieldPath === undefined ? path : `${path}${rule.fieldPath}`;
  const compiled = compileRule(rule.rule);
  if (compiled.usesOldSelf && oldSelf === undefined && rule.optionalOldSelf !== true) return undefined;
  let result: unknown;
  try {
    result = compiled.evaluate(self, oldSelf);
  } catch (fault) {
    return {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(schema.type ?? 'object')}: ${faultText(fault)} evaluating rule: ${rule.message?.trim() ?? rule.rule.trim()}`,
      field: path,
    };
  }
  if (result === true) return undefined;
  const detail = messageOf(rule, self, oldSelf);
  const bad = schema.type === 'object' || schema.type === 'array' ? '' : `${shown(value)}: `;
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return { reason: rule.reason, message: `Forbidden: ${detail}`, field };
    case 'FieldValueRequired':
      return { reason: rule.reason, message: `Required value: ${detail}`, field };
    case 'FieldValueDuplicate':
      return { reason: rule.reason, message: `Duplicate value: ${shown(value)}`, field };
    default:
      return { reason: 'FieldValueInvalid', message: `Invalid value: ${bad}${detail}`, field };
  }
}

function messageOf(rule: ValidationRule, self: unknown, oldSelf: unknown): string {
  if (rule.messageExpression !== undefined) {
    try {
      const text = compileRule(rule.messageExpression).evaluate(self, oldSelf);
      if (typeof text === 'string' && text.trim() !== '' && !text.includes('\n')) return text;
    } catch {
      // Falls back to the fixed message, as the API server does.
    }
  }
  return rule.message?.trim() || `failed rule: ${rule.rule.trim()}`;
}

/** In the words of cel-go where they differ. */
function faultText(fault: unknown): string {
  const text = fault instanceof Error ? (fault.message.split('\n')[0] ?? '') : String(fault);
  if (text.startsWith('Invalid duration string'))
    return "type conversion error from 'string' to 'google.protobuf.Duration'";
  return text.replace(/^No such key/, 'no such key');
}
