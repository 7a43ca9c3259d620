import { fakeClock } from './fake-clock.js';

const never = new AbortController().signal;

describe('fakeClock', () => {
  it('stands still until it is advanced', async () => {
    const clock = fakeClock('2026-03-01T12:00:00Z');

    await clock.settle();

    expect(clock.now()).toEqual(new Date('2026-03-01T12:00:00Z'));
  });

  it('wakes sleepers in order of their due time, at their due time', async () => {
    const clock = fakeClock();
    const woken: [string, number][] = [];
    const start = clock.now().getTime();
    const sleeper = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms, never);
      woken.push([name, clock.now().getTime() - start]);
    };

    const all = [sleeper('late', 300), sleeper('early', 100), sleeper('early too', 100)];
    await clock.advance(1_000);
    await Promise.all(all);

    expect(woken).toEqual([
      ['early', 100],
      ['early too', 100],
      ['late', 300],
    ]);
    expect(clock.now().getTime() - start).toBe(1_000);
  });

  it('wakes a loop that sleeps again as often as the time allows', async () => {
    const clock = fakeClock();
    const stop = new AbortController();
    let turns = 0;
    const loop = (async () => {
      while (!stop.signal.aborted) {
        await clock.sleep(100, stop.signal);
        turns += 1;
      }
    })();

    await clock.advance(350);

    expect(turns).toBe(3);
    expect(clock.due().map((at) => at.getTime() - clock.now().getTime())).toEqual([50]);
    stop.abort();
    await loop;
    expect(clock.sleeping).toBe(0);
  });

  it('ends a sleep at once and quietly when its signal aborts', async () => {
    const clock = fakeClock();
    const stop = new AbortController();
    const sleep = clock.sleep(60_000, stop.signal);

    stop.abort();

    await expect(sleep).resolves.toBeUndefined();
    expect(clock.sleeping).toBe(0);
  });

  it('advances to the next sleeper, and says when there is none', async () => {
    const clock = fakeClock();
    const sleep = clock.sleep(5_000, never);

    await expect(clock.advanceToNext()).resolves.toBe(true);
    await sleep;

    await expect(clock.advanceToNext()).resolves.toBe(false);
  });
});
