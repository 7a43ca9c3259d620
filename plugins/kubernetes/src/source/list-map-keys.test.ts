import type { JsonObject } from '@gitops-reverser/kernel-api';
import { listMapKeysByKind } from './list-map-keys.js';

const version = { group: 'mesh.example.test', version: 'v1' };
const schema = (kind: string, spec: JsonObject, type = version): JsonObject => ({
  type: 'object',
  properties: { spec },
  'x-kubernetes-group-version-kind': [{ ...type, kind }],
});
const keyed = (keys: readonly string[], items: JsonObject = { type: 'object' }): JsonObject => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
  items,
});
const read = (schemas: JsonObject): Record<string, unknown> =>
  Object.fromEntries(listMapKeysByKind({ components: { schemas } }, version));

it('20, 6.4: finds keyed lists, those within items of lists too', () => {
  const routes = keyed(['host', 'path'], { type: 'object', properties: { filters: keyed(['type']) } });
  const plain = { type: 'array', items: { type: 'object', properties: { ports: keyed(['port']) } } };

  expect(read({ a: schema('Gate', { properties: { routes, plain } }) })).toEqual({
    Gate: { 'spec/routes': ['host', 'path'], 'spec/routes/filters': ['type'], 'spec/plain/ports': ['port'] },
  });
});

it.each([
  { why: 'an atomic list', list: { ...keyed(['a']), 'x-kubernetes-list-type': 'atomic' } },
  { why: 'a list without keys', list: keyed([]) },
  { why: 'no list at all', list: { type: 'object' } },
])('says nothing of $why', ({ list }) => {
  expect(read({ a: schema('Gate', { properties: { list } }) })).toEqual({});
});

it('leaves kinds of another version, and what is no schema, alone', () => {
  const other = schema('Gate', { properties: { routes: keyed(['a']) } }, { ...version, version: 'v2' });

  expect(read({ a: other, b: null, c: 'text', d: { 'x-kubernetes-group-version-kind': 'none' } })).toEqual({});
  expect(listMapKeysByKind({}, version).size).toBe(0);
});

it('a schema of any depth ends', () => {
  let spec: JsonObject = keyed(['a']);
  for (let depth = 0; depth < 5_000; depth += 1) spec = { type: 'object', properties: { in: spec } };

  expect(read({ a: schema('Gate', spec) })).toEqual({});
});
