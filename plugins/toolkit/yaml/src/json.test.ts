import fc from 'fast-check';
import { hasReason, type JsonValue } from '@gitops-reverser/kernel-api';
import { deepEqual, parseJson, stringifyJson } from './index.js';

describe('lossless JSON', () => {
  it.each<[string, string, JsonValue]>([
    ['an int64', '{"a":9007199254740993}', { a: 9007199254740993n }],
    ['a negative one', '[-9223372036854775808]', [-9223372036854775808n]],
    ['more than 64 bits', '12345678901234567890123', 12345678901234567890123n],
    ['after white space', '{"a":\n 9007199254740993}', { a: 9007199254740993n }],
    ['the largest safe one', '{"a":9007199254740991}', { a: 9007199254740991 }],
    ['a fraction of many digits', '{"a":9007199254740993.5}', { a: 9007199254740994 }],
    ['an exponent', '{"a":1234567890123456e10}', { a: 1234567890123456e10 }],
    ['digits inside a string', '{"a":"x: 9007199254740993"}', { a: 'x: 9007199254740993' }],
    [
      'escapes beside a big number',
      '{"a\\n\\"":"\\u00e9\\\\","b":9007199254740993}',
      { 'a\n"': 'é\\', b: 9007199254740993n },
    ],
  ])('FC-SAN-9: keeps %s', (_, text, value) => {
    expect(deepEqual(parseJson(text), value)).toBe(true);
    expect(deepEqual(parseJson(stringifyJson(value)), value)).toBe(true);
  });

  it('reads whatever the engine reads, also where it takes the careful way', () => {
    fc.assert(
      fc.property(
        fc.json().filter((text) => !/[0-9]{16}/.test(text)),
        fc.constantFrom('', ' ', '\n'),
        (text, space) => {
          const careful = parseJson(`${space}[${text},9007199254740993]${space}`) as readonly JsonValue[];
          return deepEqual(careful[0], JSON.parse(text) as JsonValue) && careful[1] === 9007199254740993n;
        },
      ),
    );
  });

  it('keeps a __proto__ key, plain or escaped, in an object without prototype', () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"\\u005f_proto__":{"a":1}}']) {
      const value = parseJson(text) as object;

      expect(Object.keys(value)).toEqual(['__proto__']);
      expect(Object.getPrototypeOf(value)).toBeNull();
    }
  });

  it.each([
    '',
    '{',
    '{"a"',
    '{"a":}',
    '[1,]',
    '{"a":1,}',
    '01',
    '1.',
    '"a',
    '"\\x"',
    'tru',
    '[1] 2',
    '{"a":secret}',
    '{"a":9007199254740993 "b"}',
    '"\u0001"',
  ])('refuses %j with the position and without the text', (text) => {
    let thrown: unknown;
    try {
      parseJson(text);
    } catch (error) {
      thrown = error;
    }

    expect(hasReason(thrown, 'InvalidJson')).toBe(true);
    expect((thrown as Error).message).toMatch(
      /^not valid JSON: expected .+ at offset \d+, found (?:something else|the end of the text)$/,
    );
  });

  it('survives deep nesting', () => {
    expect(() => parseJson(`${'['.repeat(200_000)}9007199254740993`)).toThrow('not valid JSON');
  });
});

describe('equality of meaning', () => {
  it.each<[JsonValue, JsonValue, boolean]>([
    [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1.0 }, true],
    [1n, 1, true],
    [9007199254740993n, 9007199254740992, false],
    [1n, '1', false],
    [1n, true, false],
    [NaN, NaN, true],
    [0, -0, true],
    ['é', 'e\u0301', false],
    [null, {}, false],
    [[], {}, false],
    [{ a: null }, {}, false],
    [[1, 2], [2, 1], false],
    [{ toString: 1 }, { a: 1 }, false],
  ])('%p and %p: %p', (a, b, equal) => {
    expect(deepEqual(a, b)).toBe(equal);
    expect(deepEqual(b, a)).toBe(equal);
  });

  it('nothing equals only nothing', () => {
    expect(deepEqual(undefined, undefined)).toBe(true);
    expect(deepEqual(undefined, null)).toBe(false);
  });
});
