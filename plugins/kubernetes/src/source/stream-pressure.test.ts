import { getEventListeners } from 'node:events';
import { fakeClock, leakGuard, whileTicking, withoutLeaks } from '@gitops-reverser/kernel-testing';
import { KubeClient } from '@gitops-reverser/toolkit-kube';
import { added, aMap, apiStub, endMark, expired, modified, type Answer, type Reply } from './api-stub.fixture.js';
import { connectTo, eventually, follow, realClock, shopMaps } from './following.fixture.js';
import { CollectionStream, type StreamOptions } from './stream.js';

describe('a slow consumer', () => {
  it('makes reading pause: what it did not take stays with the server', async () => {
    const big = { annotations: { big: 'x'.repeat(100 * 1024) } };
    let watch: Reply | undefined;
    let sent = 0;
    await using stub = await apiStub((reply) => {
      watch = reply.say(endMark('9'));
    });
    await using following = follow(stub.url);
    await following.until('streaming');
    for (; sent < 200; sent += 1) watch?.say(modified('a', String(10 + sent), big));

    await following.next();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const held = watch?.backlog ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 100));

    // 20 MiB were said; all but what sockets and parsers hold waits on the other side.
    expect(held).toBeGreaterThan(10 * 1024 * 1024);
    expect(watch?.backlog).toBe(held);
    for (let taken = 1; taken < sent; taken += 1) await following.next();
    await eventually(() => watch?.backlog === 0);
  });
});

describe('an aborted stream', () => {
  const modes: readonly (readonly [string, Answer, { readonly isList?: true }])[] = [
    ['before the first answer', () => undefined, {}],
    ['within a replay', (reply) => void reply.say(added('a', '3')), {}],
    ['while it streams', (reply) => void reply.say(endMark('9')), {}],
    ['on the ladder', (reply) => reply.refuse(503, 'ServiceUnavailable'), {}],
    [
      'within a list beside a watch',
      (reply, { verb, query }) => {
        if (verb === 'watch') reply.say(modified('a', '21'));
        else if (query['limit'] === '1') reply.list([], '20');
        else if (query['continue'] === undefined) reply.list([aMap('a', '1')], '30', 'next');
      },
      { isList: true },
    ],
    [
      'while it streams after a list',
      (reply, { verb }) => (verb === 'watch' ? void reply.say(modified('a', '21')) : reply.list([], '20')),
      { isList: true },
    ],
  ];

  it.each(modes)('%s ends within a second and leaves nothing open', async (_, answer, { isList }) => {
    await withoutLeaks(async () => {
      await using stub = await apiStub(answer);
      const guard = leakGuard();
      const connection = connectTo(stub.url);
      const stop = new AbortController();
      const traits = { withoutWatchList: new Set(isList === true ? ['/v1'] : []) };
      const stream = openStream({ client: new KubeClient(connection), traits });
      const reading = (async () => {
        for await (const event of stream.events(stop.signal)) void event;
      })();
      await eventually(() => stub.asked.length >= (isList === true ? 3 : 1));
      await new Promise((resolve) => setTimeout(resolve, 20));
      const at = Date.now();

      stop.abort();
      await reading;

      expect(Date.now() - at).toBeLessThan(1_000);
      await eventually(() => stub.open === 0);
      await connection.close();
      await guard.check();
      guard[Symbol.dispose]();
    });
  });

  it('leaves no listener on a signal that lives on, however many sessions there were', async () => {
    let asked = 0;
    await using stub = await apiStub((reply, { query }) => {
      if (query['limit'] === '1') return reply.list([], '9');
      asked += 1;
      if (asked % 3 === 0) reply.say(added('a', '3')).cut();
      else if (asked % 3 === 1) reply.refuse(503, 'ServiceUnavailable');
      else reply.say(endMark('9'), expired).end();
    });
    await using connection = connectTo(stub.url);
    const clock = fakeClock();
    const stop = new AbortController();
    const stream = openStream({ client: new KubeClient(connection), clock });
    const events = stream.events(stop.signal);
    const listening: number[] = [];

    while (listening.length < 15) {
      const { value } = await whileTicking(events.next(), () => clock.advance(1_000), 'an event');
      if (value?.kind === 'trouble') listening.push(getEventListeners(stop.signal, 'abort').length);
    }

    expect(Math.max(...listening)).toBe(listening[0]);
    stop.abort();
    await events.next();
  });
});

function openStream(given: Partial<StreamOptions> & Pick<StreamOptions, 'client'>): CollectionStream {
  const traits = { withoutWatchList: new Set<string>() };
  return new CollectionStream(
    { collection: shopMaps, clock: realClock, traits, random: Math.random, onNotFound: () => undefined, ...given },
    undefined,
  );
}
