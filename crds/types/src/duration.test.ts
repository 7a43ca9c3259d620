import * as fc from 'fast-check';
import { formatDuration, isDurationWithin, parseDuration, sameDuration, toNanoseconds } from './duration.js';

describe('durations', () => {
  it.each([
    ['0s', 0],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['24h', 86_400_000],
    ['250µs', 0.25],
    ['250μs', 0.25],
    ['1us', 0.001],
    ['0', 0],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    ['5', 'a unit is mandatory'],
    ['-5s', 'there is no negative time'],
    ['1d', 'days are no unit'],
    ['', 'nothing is no duration'],
    ['5 s', 'blanks are not skipped'],
    ['9999999999h', 'it overflows the parser of the API server'],
    ['1'.repeat(33) + 's', 'it is too long'],
  ])('%s is refused: %s', (text) => {
    expect(toNanoseconds(text)).toBeUndefined();
    expect(() => parseDuration(text)).toThrow('expected digits with a unit');
  });

  it('compares as durations, never as text', () => {
    expect(sameDuration('60s', '1m')).toBe(true);
    expect(sameDuration('1m', '1m0s')).toBe(true);
    expect(sameDuration('1m', '61s')).toBe(false);
    expect(sameDuration(undefined, '1m')).toBe(false);
    expect(sameDuration(undefined, undefined)).toBe(true);
  });

  it('holds both ends of a bound', () => {
    expect(isDurationWithin('10s', '10s', '24h')).toBe(true);
    expect(isDurationWithin('24h', '10s', '24h')).toBe(true);
    expect(isDurationWithin('9999ms', '10s', '24h')).toBe(false);
    expect(isDurationWithin('1441m', '10s', '24h')).toBe(false);
    expect(isDurationWithin('never', '10s', '24h')).toBe(false);
  });

  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000 }), (seconds) => {
        expect(parseDuration(formatDuration(seconds * 1000))).toBe(seconds * 1000);
      }),
    );
  });
});
