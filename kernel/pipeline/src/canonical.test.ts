import { canonical, fingerprint } from './canonical.js';

it('canonical text does not depend on key order, and keeps integers beyond 2^53 whole', () => {
  expect(canonical({ b: [1, 'x', null, true], a: { d: 9007199254740993n, c: 'ä' } })).toBe(
    '{"a":{"c":"ä","d":9007199254740993},"b":[1,"x",null,true]}',
  );
  expect(canonical({ b: 1, a: 2 })).toBe(canonical({ a: 2, b: 1 }));
});

it('a fingerprint tells contents apart and knows large integers', () => {
  expect(fingerprint({ a: 9007199254740993n }).hash).not.toBe(fingerprint({ a: 9007199254740992n }).hash);
  expect(fingerprint({ a: 1 })).toEqual(fingerprint({ a: 1 }));
  expect(fingerprint({ a: 1 }).hash).not.toBe(fingerprint({ a: 2 }).hash);
});
