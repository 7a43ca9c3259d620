import type { KindName } from '../kinds/kinds.js';
import { retiredBelow, type RetiredField } from '../retired.js';
import type { Rule } from './rule.js';
import type { Node } from './schema.js';

/** A JSON value of a structural schema, as the API server reads it. */
export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const defined = (entries: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(entries).filter((entry): entry is [string, Json] => entry[1] !== undefined));

const toValidation = (rule: Rule): JsonObject =>
  defined({
    rule: rule.cel,
    message: rule.message,
    messageExpression: rule.messageExpression,
    fieldPath: rule.fieldPath,
    reason: rule.reason,
  });

const oldTypes: Readonly<Record<RetiredField['type'], JsonObject>> = {
  string: { type: 'string', maxLength: 16384 },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  object: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  strings: { type: 'array', maxItems: 256, items: { type: 'string', maxLength: 1024 } },
};
const refusal = (entry: RetiredField & { readonly field: string }): JsonObject => ({
  rule:
    entry.refusedAt === undefined
      ? `!has(self.${entry.field})`
      : `!has(self.${entry.field}) || self.${entry.field} != ${typeof entry.refusedAt === 'string' ? `'${entry.refusedAt}'` : String(entry.refusedAt)}`,
  message: entry.message,
  fieldPath: `.${entry.field}`,
  reason: 'FieldValueForbidden',
});

/**
 * The OpenAPI v3 schema of a declaration, with the rules and the retired spellings of `kind` in place.
 *
 * @param path where `node` stands, from `spec` or `status`; `[]` after a list
 */
export function toStructural(kind: KindName, node: Node, path: string): JsonObject {
  const retired = node.type === 'object' ? retiredBelow(kind, path) : [];
  const validations = [...node.rules.map(toValidation), ...retired.map(refusal)];
  return {
    ...toShape(kind, node, path, retired),
    ...defined({
      description: node.defaultDoc === undefined ? node.doc : `${node.doc} Absent: ${node.defaultDoc}.`,
      default: node.default as Json | undefined,
      'x-kubernetes-validations': validations.length === 0 ? undefined : validations,
    }),
  };
}

function toShape(
  kind: KindName,
  node: Node,
  path: string,
  retired: readonly (RetiredField & { readonly field: string })[],
): JsonObject {
  switch (node.type) {
    case 'string':
      return defined({
        type: 'string',
        // an enumeration and a date bound themselves
        maxLength: node.values === undefined ? node.max : undefined,
        minLength: node.min,
        pattern: node.pattern,
        format: node.format,
        enum: node.values,
      });
    case 'integer':
      return defined({ type: 'integer', minimum: node.min, maximum: node.max, format: node.format });
    case 'boolean':
      return { type: 'boolean' };
    case 'int-or-string':
      return {
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        'x-kubernetes-int-or-string': true,
        maxLength: node.max,
        pattern: node.pattern,
      };
    case 'list':
      return defined({
        type: 'array',
        maxItems: node.max,
        minItems: node.min,
        items: toStructural(kind, node.item, `${path}[]`),
        'x-kubernetes-list-type': node.list,
        'x-kubernetes-list-map-keys': node.key === undefined ? undefined : [node.key],
      });
    case 'map':
      return {
        type: 'object',
        maxProperties: node.max,
        additionalProperties: toStructural(kind, node.value, `${path}.*`),
      };
    case 'object': {
      const fields = Object.entries(node.fields);
      const required = fields.filter(([, { presence }]) => presence === 'required').map(([name]) => name);
      const kept = retired.map((entry): [string, JsonObject] => [
        entry.field,
        { ...oldTypes[entry.type], description: `Refused since ${entry.since}. ${entry.message}.` },
      ]);
      const properties = [
        ...fields.map(([name, field]): [string, JsonObject] => [
          name,
          toStructural(kind, field.node, `${path}.${name}`),
        ]),
        ...kept,
      ];
      return defined({
        type: 'object',
        properties:
          properties.length === 0 ? undefined : Object.fromEntries(properties.sort(([a], [b]) => (a < b ? -1 : 1))),
        required: required.length === 0 ? undefined : required,
      });
    }
  }
}
