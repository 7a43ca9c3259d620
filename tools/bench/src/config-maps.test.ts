import { configMaps, dataBytes, keyOf } from './config-maps.js';

it('is the same on every run, with every name once', () => {
  const first = configMaps(100, 7);

  expect(configMaps(100, 7)).toEqual(first);
  expect(new Set(first.map(keyOf)).size).toBe(100);
});

it('spreads evenly over the namespaces', () => {
  const counts = new Map<string, number>();
  for (const { metadata } of configMaps(100, 50))
    counts.set(metadata.namespace, (counts.get(metadata.namespace) ?? 0) + 1);

  expect([...new Set(counts.values())]).toEqual([2]);
  expect(counts.size).toBe(50);
});

it('each has 400 bytes of data', () => {
  const sizes = configMaps(20, 2).map(({ data }) =>
    Object.entries(data).reduce((sum, [key, value]) => sum + key.length + value.length, 0),
  );

  expect(new Set(sizes)).toEqual(new Set([dataBytes]));
});
