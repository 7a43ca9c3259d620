import type { JsonObject } from '../object.js';
import { objectShape } from '../schema/builtin.js';
import { applyStrategicPatch } from './strategic-patch.js';

const deployment = objectShape('apps/v1.Deployment');
const containers = (...list: JsonObject[]): JsonObject => ({ spec: { template: { spec: { containers: list } } } });

describe('strategic merge', () => {
  it.each([
    {
      why: 'items merge by their key',
      object: containers({ name: 'a', image: '1' }, { name: 'b' }),
      patch: containers({ name: 'a', image: '2' }),
      result: containers({ name: 'a', image: '2' }, { name: 'b' }),
    },
    {
      why: 'new items come where the patch puts them',
      object: containers({ name: 'a' }),
      patch: containers({ name: 'b' }),
      result: containers({ name: 'b' }, { name: 'a' }),
    },
    {
      why: '$patch: delete removes an item',
      object: containers({ name: 'a' }, { name: 'b' }),
      patch: containers({ name: 'a', $patch: 'delete' }),
      result: containers({ name: 'b' }),
    },
    {
      why: '$patch: replace replaces the list',
      object: containers({ name: 'a' }, { name: 'b' }),
      patch: containers({ $patch: 'replace' }, { name: 'c' }),
      result: containers({ name: 'c' }),
    },
    {
      why: 'lists without a key are replaced',
      object: containers({ name: 'a', args: ['1', '2'] }),
      patch: containers({ name: 'a', args: ['3'] }),
      result: containers({ name: 'a', args: ['3'] }),
    },
    {
      why: 'null removes',
      object: { spec: { replicas: 1, paused: true } },
      patch: { spec: { paused: null } },
      result: { spec: { replicas: 1 } },
    },
    {
      why: 'finalizers merge by value',
      object: { metadata: { finalizers: ['a'] } },
      patch: { metadata: { finalizers: ['b', 'a'] } },
      result: { metadata: { finalizers: ['b', 'a'] } },
    },
    {
      why: '$deleteFromPrimitiveList removes a value',
      object: { metadata: { finalizers: ['a', 'b'] } },
      patch: { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
      result: { metadata: { finalizers: ['b'] } },
    },
    {
      why: '$retainKeys drops the other keys',
      object: { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: {} } } },
      patch: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      result: { spec: { strategy: { type: 'Recreate' } } },
    },
    {
      why: '$setElementOrder orders what is there',
      object: containers({ name: 'a' }, { name: 'b' }),
      patch: {
        spec: {
          template: {
            spec: {
              '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
              containers: [{ name: 'a', image: '2' }],
            },
          },
        },
      },
      result: containers({ name: 'b' }, { name: 'a', image: '2' }),
    },
    {
      why: '$patch: replace on an object',
      object: { metadata: { labels: { a: 'b' } } },
      patch: { metadata: { labels: { $patch: 'replace', c: 'd' } } },
      result: { metadata: { labels: { c: 'd' } } },
    },
  ])('$why', ({ object, patch, result }) => {
    expect(applyStrategicPatch(object as JsonObject, patch as JsonObject, deployment)).toEqual(result);
  });

  it('refuses an item without its key, and a directive it does not know', () => {
    expect(() => applyStrategicPatch({}, containers({ image: 'x' }), deployment)).toThrow(
      'does not contain declared merge key: name',
    );
    expect(() => applyStrategicPatch({}, { spec: { $patch: 'odd' } }, deployment)).toThrow('unknown patch type "odd"');
  });
});
