import fc from 'fast-check';
import { nearest, option, parseDuration, parseOptions } from './options.js';

describe('parseDuration', () => {
  it.each([
    ['0s', 0],
    ['250ms', 250],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['1h0m0.5s', 3_600_500],
    ['1000us', 1],
    ['1000µs', 1],
    ['1000μs', 1],
    ['1000000ns', 1],
  ])('reads %s as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 9);
  });

  it.each([
    '',
    '5',
    's',
    '-1s',
    '+1s',
    '1 s',
    '1d',
    '1.s',
    '.5s',
    '1s ',
    '1S',
    '1e3s',
    'infinity',
    '9'.repeat(40) + 's',
  ])('refuses %j: the unit is mandatory, signs are not known', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('reads the sum of its parts', () => {
    fc.assert(
      fc.property(fc.nat(999), fc.nat(59), fc.nat(59), fc.nat(999), (hours, minutes, seconds, ms) => {
        expect(parseDuration(`${hours}h${minutes}m${seconds}s${ms}ms`)).toBe(
          ((hours * 60 + minutes) * 60 + seconds) * 1_000 + ms,
        );
      }),
    );
  });
});

const schema = {
  name: option.string({ default: 'x', pattern: /^[a-z]+$/, doc: 'A name.' }),
  isOn: option.boolean({ default: false, doc: 'A switch.' }),
  count: option.integer({ default: 3, min: 1, max: 5, doc: 'A number.' }),
  graceMs: option.duration({ default: '3s', min: '1s', max: '1m', doc: 'A time.' }),
  keys: option.list({ default: [], maxItems: 2, pattern: /^k/, doc: 'Some words.' }),
};

describe('parseOptions', () => {
  it('fills in defaults, durations in milliseconds, and freezes the result', () => {
    const parsed = parseOptions(schema, undefined);

    expect(parsed).toEqual({
      ok: true,
      value: { name: 'x', isOn: false, count: 3, graceMs: 3_000, keys: [] },
    });
    expect(parsed.ok && Object.isFrozen(parsed.value)).toBe(true);
  });

  it('takes what is given', () => {
    const given = { name: 'abc', isOn: true, count: 5, graceMs: '1m', keys: ['k1', 'k2'] };

    expect(parseOptions(schema, given)).toEqual({ ok: true, value: { ...given, graceMs: 60_000 } });
  });

  it.each([
    { option: 'name', value: 7, says: 'expected a string, found a number' },
    { option: 'name', value: 'ABC', says: 'expected text matching ^[a-z]+$' },
    { option: 'isOn', value: 'yes', says: 'expected true or false, found a string' },
    { option: 'count', value: 2.5, says: 'expected an integer, found a number' },
    { option: 'count', value: 6, says: 'expected 1..5, found 6' },
    { option: 'graceMs', value: '90', says: 'expected' },
    { option: 'graceMs', value: 3_000, says: 'expected' },
    { option: 'graceMs', value: '2m', says: 'expected 1s..1m' },
    { option: 'graceMs', value: '1ms', says: 'expected 1s..1m' },
    { option: 'keys', value: 'k', says: 'expected a list of strings, found a string' },
    { option: 'keys', value: ['k', 7], says: 'expected a list of strings, found a list' },
    { option: 'keys', value: ['k', 'k', 'k'], says: 'expected at most 2 items, found 3' },
    { option: 'keys', value: ['k', 'x'], says: 'item 1 does not match ^k' },
    { option: 'isOn', value: null, says: 'found null' },
  ])('refuses $option: $value', ({ option: path, value, says }) => {
    expect(parseOptions(schema, { [path]: value })).toEqual({
      ok: false,
      error: [{ path, problem: expect.stringContaining(says) as string }],
    });
  });

  it('reports all problems together; an unknown key names the nearest known one', () => {
    const parsed = parseOptions(schema, { cuont: 1, name: 7, isOn: 1 });

    expect(parsed.ok ? [] : parsed.error.map(({ path, problem }) => `${path}: ${problem}`)).toEqual([
      'name: expected a string, found a number',
      'isOn: expected true or false, found a number',
      'cuont: unknown option; did you mean count?',
    ]);
  });

  it('says so when there are no options at all', () => {
    expect(parseOptions({}, { anything: 1 })).toEqual({
      ok: false,
      error: [{ path: 'anything', problem: 'unknown option; there are none' }],
    });
  });

  it.each([
    [['a list'], 'a list'],
    ['text', 'a string'],
    [null, 'null'],
    [7, 'a number'],
  ])('refuses %j instead of a map', (raw, found) => {
    expect(parseOptions(schema, raw)).toEqual({
      ok: false,
      error: [{ path: '', problem: `expected a map of options, found ${found}` }],
    });
  });

  it('is not fooled by names that every object has', () => {
    const parsed = parseOptions(schema, JSON.parse('{"__proto__": 1, "constructor": 2}') as unknown);

    expect(parsed.ok ? [] : parsed.error.map(({ path }) => path)).toEqual(['__proto__', 'constructor']);
  });
});

describe('nearest', () => {
  it('finds the closest word, whatever the case', () => {
    expect([nearest('CacheEntrys', ['cacheEntries', 'grace']), nearest('x', [])]).toEqual(['cacheEntries', undefined]);
  });
});
