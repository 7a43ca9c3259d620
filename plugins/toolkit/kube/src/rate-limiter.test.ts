import { fakeClock } from '@gitops-reverser/kernel-testing';
import { RateLimiter } from './rate-limiter.js';
import { never } from './testing/stub-server.js';

it('SC-14: lets a burst through, then the rate', async () => {
  const clock = fakeClock();
  const limiter = new RateLimiter({ qps: 2, burst: 3 }, clock);
  const at: number[] = [];
  const start = clock.now().getTime();

  const taken = Array.from({ length: 6 }, () => limiter.take(never).then(() => at.push(clock.now().getTime() - start)));
  await clock.advance(1_500);
  await Promise.all(taken);

  expect(at).toEqual([0, 0, 0, 500, 1_000, 1_500]);
});

it('a caller that gives up gives its turn back', async () => {
  const clock = fakeClock();
  const limiter = new RateLimiter({ qps: 1, burst: 1 }, clock);
  const abort = new AbortController();
  await limiter.take(never);

  const given = limiter.take(abort.signal);
  abort.abort(new Error('stop'));
  await expect(given).rejects.toThrow('stop');
  await clock.advance(1_000);
  await limiter.take(never);

  expect(clock.sleeping).toBe(0);
});
