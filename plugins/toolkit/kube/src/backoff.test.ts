import { backoffLadder, exponentialBackoff, jitter } from './backoff.js';

const noJitter = (): number => 0;

it('WP-13: climbs 2, 5, 10, 30, 60 s, stays there, and starts again after a success', () => {
  const ladder = backoffLadder(undefined, noJitter);

  expect(Array.from({ length: 7 }, () => ladder.next())).toEqual([
    2_000, 5_000, 10_000, 30_000, 60_000, 60_000, 60_000,
  ]);
  ladder.reset();
  expect([ladder.failures, ladder.next()]).toEqual([0, 2_000]);
});

it('doubles from the first delay to the last', () => {
  const backoff = exponentialBackoff(2_000, 60_000, noJitter);

  expect(Array.from({ length: 7 }, () => backoff.next())).toEqual([
    2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
  ]);
});

it('FC-WCH-2: two hundred streams after a 60 s outage ask at most twelve times each, and not in step', () => {
  let seed = 1;
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const third: number[] = [];
  for (let stream = 0; stream < 200; stream++) {
    const backoff = exponentialBackoff(2_000, 60_000, random);
    let at = 0;
    let requests = 1;
    for (; at < 70_000; requests++) {
      at += backoff.next();
      if (requests === 3) third.push(at);
    }
    expect(requests).toBeLessThanOrEqual(12);
  }
  const busiest = Math.max(...third.map((at) => third.filter((other) => Math.abs(other - at) <= 25).length));

  expect(busiest).toBeLessThanOrEqual(20);
});

it('a jittered delay is never shorter than asked for', () => {
  expect([jitter(1_000, noJitter), jitter(1_000, () => 0.999)]).toEqual([1_000, 1_250]);
});
