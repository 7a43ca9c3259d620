import { fakeClock, type FakeClock } from '@gitops-reverser/kernel-testing';
import { added, apiStub, bookmark, endMark, modified, type Reply } from './api-stub.fixture.js';
import { eventually, follow } from './following.fixture.js';

/** Moves time in steps that real sockets can keep up with. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    await clock.advance(Math.min(left, 10_000));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe('FC-WCH-1: the watch that goes quiet', () => {
  it('is closed by us after its time-out and 30 s, resumed from the last version seen; the change of the quiet phase comes once', async () => {
    const clock = fakeClock();
    const watches: Reply[] = [];
    await using stub = await apiStub((reply, { query }) => {
      if (query['limit'] === '1') return reply.list([], '13');
      watches.push(reply);
      if (watches.length === 1) reply.say(endMark('9'), added('a', '10'), added('b', '11'), modified('a', '12'));
      // What changed while the first watch said nothing.
      else reply.say(modified('b', '13'));
    });
    await using following = follow(stub.url, { clock, sharesClock: true });
    await following.until('upsert a@12 live');
    const rest = following.until('upsert b@13 live');

    await pass(clock, 329_000);
    await eventually(() => watches[0]?.isClosed === false);
    expect(watches).toHaveLength(1);

    await clock.advance(1_000);
    await eventually(() => watches[0]?.isClosed === true);
    await pass(clock, 4_000);

    expect((await rest).map((event) => event.replace(/:.*/, ''))).toEqual([
      'trouble WatchError',
      'streaming',
      'upsert b@13 live',
    ]);
    expect(stub.asked.map(({ query }) => query['resourceVersion'] ?? query['limit'] ?? 'all')).toEqual([
      'all',
      '1',
      '12',
    ]);
  });

  it('a bookmark now and then is no silence', async () => {
    const clock = fakeClock();
    let watch: Reply | undefined;
    await using stub = await apiStub((reply) => void (watch = reply.say(endMark('9'))));
    await using following = follow(stub.url, { clock, sharesClock: true });
    await following.until('streaming');

    for (let minute = 10; minute < 20; minute += 1) {
      const next = following.next();
      await pass(clock, 60_000);
      watch?.say(bookmark(String(minute)));
      expect(await next).toBe(`progress@${minute}`);
    }
    expect(stub.asked).toHaveLength(1);
  });

  it('a consumer that takes its time does not make a server silent', async () => {
    const clock = fakeClock();
    let watch: Reply | undefined;
    await using stub = await apiStub(
      (reply) => void (watch = reply.say(endMark('9'), modified('a', '10'), modified('b', '11'))),
    );
    await using following = follow(stub.url, { clock, sharesClock: true });
    await following.until('upsert a@10 live');

    await pass(clock, 3_600_000);

    expect(await following.next()).toBe('upsert b@11 live');
    expect(watch?.isClosed).toBe(false);
  });

  it('SC-18: a watch without response headers after 30 s is given up, never left waiting', async () => {
    const clock = fakeClock();
    let asked = 0;
    await using stub = await apiStub((reply) => {
      asked += 1;
      if (asked > 1) reply.say(endMark('9'));
    });
    await using following = follow(stub.url, { clock, sharesClock: true });
    expect(await following.next()).toBe('snapshot-begin');
    const trouble = following.next();
    await eventually(() => asked === 1);
    await pass(clock, 30_000);

    expect(await trouble).toMatch(/^trouble WatchError: .*did not answer in time/);
    const rest = following.until('streaming');
    await pass(clock, 3_000);
    await rest;
  });
});
