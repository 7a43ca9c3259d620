import type { KubeObject } from '../object.js';
import { Store } from './store.js';

const object = (name: string, value = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n' },
  data: { value },
});
const names = (entries: readonly { readonly object: KubeObject }[] | undefined) =>
  entries?.map(({ object: { metadata } }) => metadata.name);

describe('a collection', () => {
  it('numbers all writes of all collections in one sequence', () => {
    const store = new Store(100, 10);

    store.put('a', object('x'));
    store.put('b', object('y'));
    store.remove('a', object('x'));

    expect(store.version).toBe(13);
    expect(store.collection('b').get('n/y')?.object.metadata.resourceVersion).toBe('12');
  });

  it('lists in the order of keys and remembers how it was', () => {
    const store = new Store(100, 10);
    store.put('a', object('b'));
    store.put('a', object('a'));
    const before = store.version;
    store.put('a', object('c'));
    store.remove('a', object('b'));
    store.put('a', object('a', 'changed'));

    expect(names(store.collection('a').entries())).toEqual(['a', 'c']);
    expect(names(store.collection('a').entriesAt(before))).toEqual(['a', 'b']);
    expect(store.collection('a').entriesAt(before)?.[0]?.object['data']).toEqual({ value: '' });
  });

  it('forgets changes beyond its ring, and everything when it is told to', () => {
    const store = new Store(4, 10);
    for (let i = 0; i < 6; i += 1) store.put('a', object(`o${i}`));

    expect(store.collection('a').changesSince(11)).toBeUndefined();
    expect(store.collection('a').changesSince(12)).toHaveLength(4);
    store.expireAll();
    expect(store.collection('a').changesSince(16)).toBeUndefined();
    expect(store.collection('a').changesSince(store.version)).toEqual([]);
  });

  it('makes the bytes of a state once', () => {
    const entry = new Store(4).put('a', object('x'));

    expect(entry.line('ADDED')).toBe(entry.line('ADDED'));
    expect(entry.line('MODIFIED').toString()).toBe(`{"type":"MODIFIED","object":${entry.json().toString()}}\n`);
    expect(JSON.parse(entry.json().toString())).toEqual(entry.object);
  });
});
