import fc from 'fast-check';
import { parseJson, stringifyJson } from './json.js';

describe('json', () => {
  it('keeps integers beyond 2^53 and writes them as they came', () => {
    const text = '{"a":9007199254740993,"b":[-12345678901234567890,1.5],"c":"9007199254740993","d":{"e":null}}';

    expect(parseJson(text)).toEqual({
      a: 9007199254740993n,
      b: [-12345678901234567890n, 1.5],
      c: '9007199254740993',
      d: { e: null },
    });
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  /** What `JSON.parse` gives, but for the integers it may have rounded. */
  const exact = (value: unknown): unknown => {
    if (typeof value === 'number')
      return !Number.isSafeInteger(value) && /^-?[0-9]+$/.test(String(value)) ? BigInt(String(value)) : value;
    if (Array.isArray(value)) return value.map(exact);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, exact(inner)]));
  };

  it('reads everything else as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = `[12345678901234567890,${JSON.stringify(value)}]`;

        expect(parseJson(text)).toEqual([12345678901234567890n, exact(JSON.parse(JSON.stringify(value)))]);
      }),
    );
  });

  it('refuses what JSON.parse refuses', () => {
    expect(() => parseJson('{"a":12345678901234567890')).toThrow(SyntaxError);
  });

  it('does not fall for a key named like the prototype', () => {
    const found = parseJson('{"__proto__":{"x":1},"n":12345678901234567890}') as object;

    expect(Object.keys(found)).toEqual(['__proto__', 'n']);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
  });
});
