import { metadataShape, shapeOfType } from '../schema/builtin.js';
import { type Field, type ScalarType, type Shape, anyShape } from '../schema/shape.js';
import { type JsonSchema, keepsUnknown } from './json-schema.js';

const scalarByType: Readonly<Record<string, ScalarType>> = {
  string: 'string',
  integer: 'int',
  number: 'double',
  boolean: 'bool',
};
const shapes = new WeakMap<JsonSchema, Shape>();

/** How values of a schema merge and who can own which part. */
function shapeOfSchema(schema: JsonSchema): Shape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    shape = makeShape(schema);
    shapes.set(schema, shape);
  }
  return shape;
}

function makeShape(schema: JsonSchema): Shape {
  if (schema['x-kubernetes-int-or-string'] === true) return { kind: 'scalar', atomic: true, scalar: 'intorstring' };
  if (schema.type === 'array') {
    const listType = schema['x-kubernetes-list-type'] ?? 'atomic';
    const items = schema.items;
    const keys = schema['x-kubernetes-list-map-keys'] ?? [];
    const keyDefaults = Object.fromEntries(
      keys.flatMap((key) =>
        typeof items?.properties?.[key]?.default === 'string' ? [[key, items.properties[key].default]] : [],
      ),
    );
    return {
      kind: 'list',
      atomic: listType === 'atomic',
      item: () => (items === undefined ? anyShape : shapeOfSchema(items)),
      ...(listType === 'map' ? { keys, keyDefaults } : {}),
      ...(listType === 'set' ? { isSet: true } : {}),
    };
  }
  if (schema.type === 'object') {
    const atomic = schema['x-kubernetes-map-type'] === 'atomic';
    const extra = schema.additionalProperties;
    if (schema.properties === undefined && typeof extra === 'object')
      return { kind: 'map', atomic, item: () => shapeOfSchema(extra) };
    const fields = new Map(
      Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, field(name, () => shapeOfSchema(inner))]),
    );
    return { kind: 'object', atomic, fields, keepsUnknown: keepsUnknown(schema) };
  }
  const scalar = scalarByType[schema.type ?? ''];
  return scalar === undefined ? anyShape : { kind: 'scalar', atomic: true, scalar };
}

function field(name: string, shape: () => Shape, always = false): Field {
  return { name, shape, always, dropsZero: false };
}

/** The shape of a whole custom resource: its schema, with the server's own metadata. */
export function customObjectShape(schema: JsonSchema): Shape {
  const inner = shapeOfSchema(schema);
  return {
    kind: 'object',
    atomic: false,
    keepsUnknown: inner.keepsUnknown === true,
    fields: new Map<string, Field>([
      ...(inner.fields ?? []),
      ['apiVersion', field('apiVersion', () => shapeOfType('string'))],
      ['kind', field('kind', () => shapeOfType('string'))],
      ['metadata', field('metadata', metadataShape, true)],
    ]),
  };
}
