import type { JsonValue } from '@gitops-reverser/kernel-api';
import { isFields, type Shape } from './shapes.js';

/** What kustomize decodes a field into; null is always as good as absent. */
type Schema =
  | 'any'
  | 'text'
  | 'flag'
  | 'texts'
  | 'textMap'
  | { readonly fields: Readonly<Record<string, Schema>> }
  | readonly [Schema];

/** Of what a build does not read but kustomize decodes all the same: it refuses a file for one wrong type. */
export const schemas: Readonly<Record<string, Schema>> = {
  metadata: { fields: { name: 'text', namespace: 'text', labels: 'textMap', annotations: 'textMap' } },
  commonLabels: 'textMap',
  commonAnnotations: 'textMap',
  labels: [{ fields: { pairs: 'textMap', includeSelectors: 'flag', includeTemplates: 'flag', fields: 'any' } }],
  buildMetadata: 'texts',
  sortOptions: {
    fields: { order: 'text', legacySortOptions: { fields: { orderFirst: 'texts', orderLast: 'texts' } } },
  },
};

export const selectorSchema: Schema = {
  fields: {
    group: 'text',
    version: 'text',
    kind: 'text',
    name: 'text',
    namespace: 'text',
    labelSelector: 'text',
    annotationSelector: 'text',
  },
};

/** Whether a value has the type; whatever has not is reported. */
export function checkSchema(value: JsonValue | undefined, schema: Schema, where: string, shape: Shape): boolean {
  if (value === undefined || value === null || schema === 'any') return true;
  if (schema === 'text') return typeof value === 'string' || shape.wrongType(where, 'a string');
  if (schema === 'flag') return typeof value === 'boolean' || shape.wrongType(where, 'true or false');
  if (schema === 'texts' || Array.isArray(schema)) {
    if (!Array.isArray(value)) return shape.wrongType(where, 'a list');
    const item: Schema = schema === 'texts' ? 'text' : (schema as readonly [Schema])[0];
    return value.every((each: JsonValue) => checkSchema(each, item, `an item of ${where}`, shape));
  }
  if (!isFields(value)) return shape.wrongType(where, 'a map');
  if (schema === 'textMap')
    return Object.values(value).every((each) => checkSchema(each, 'text', `a value of ${where}`, shape));
  const { fields } = schema as { readonly fields: Readonly<Record<string, Schema>> };
  return Object.entries(value).every(([key, content]) => {
    const known = fields[key];
    return known === undefined
      ? shape.unknownKey(key, where)
      : checkSchema(content, known, `${key} of ${where}`, shape);
  });
}
