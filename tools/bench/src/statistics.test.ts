import { percentile } from './statistics.js';

it.each([
  { why: 'an odd count', samples: [3, 1, 2], p: 50, expected: 2 },
  { why: 'an even count takes the lower one', samples: [4, 3, 2, 1], p: 50, expected: 2 },
  { why: 'of few samples p99 is the worst', samples: [1, 9, 2], p: 99, expected: 9 },
  {
    why: 'of two hundred it is the third worst',
    samples: Array.from({ length: 200 }, (_, i) => i + 1),
    p: 99,
    expected: 198,
  },
  { why: 'a single sample', samples: [7], p: 1, expected: 7 },
])('percentiles by nearest rank: $why', ({ samples, p, expected }) => {
  expect(percentile(samples, p)).toBe(expected);
});

it('nothing measured is no number', () => {
  expect(() => percentile([], 50)).toThrow(/no percentile of nothing/);
});
