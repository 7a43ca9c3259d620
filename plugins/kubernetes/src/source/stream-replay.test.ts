import { fakeClock } from '@gitops-reverser/kernel-testing';
import {
  added,
  aMap,
  apiStub,
  bookmark,
  deleted,
  endMark,
  errorEvent,
  expired,
  going,
  inOrder,
  modified,
  type Answer,
} from './api-stub.fixture.js';
import { follow, shopMaps } from './following.fixture.js';

const TROUBLE = /^trouble/;
const asQuery = { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: '300' };

describe('a replay by WatchList', () => {
  it('says snapshot-begin before its first request, so that whoever limits replays can hold it back', async () => {
    await using stub = await apiStub((reply) => void reply.say(endMark('9')));
    await using following = follow(stub.url);

    expect(await following.next()).toBe('snapshot-begin');
    for (let turn = 0; turn < 10; turn += 1) await following.clock.advance(60_000);
    expect(stub.asked).toEqual([]);

    await following.until('streaming');
    expect(stub.asked).toHaveLength(1);
  });

  it('30, 2.4 step 2: asks in the one form a server accepts, brackets the set and goes live on the same connection', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) =>
          void reply.say(
            added('a', '3'),
            added('b', '5'),
            endMark('9'),
            modified('a', '10'),
            bookmark('12'),
            deleted('b', '13'),
          ),
      ),
    );
    await using following = follow(stub.url, { collection: { ...shopMaps, labelSelector: 'tier=web' } });

    expect(await following.until(/^filtered/)).toEqual([
      'snapshot-begin',
      'upsert a@3 snapshot',
      'upsert b@5 snapshot',
      'snapshot-end@9',
      'streaming',
      'upsert a@10 live',
      'progress@12',
      'filtered b@13',
    ]);
    expect(stub.asked.map(({ path, query }) => [path, query])).toEqual([
      [
        '/api/v1/namespaces/shop/configmaps',
        { ...asQuery, sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', labelSelector: 'tier=web' },
      ],
    ]);
  });

  it('WP-20: a session cut before the end mark completes nothing, and the next one begins anew', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) => {
          reply.say(added('a', '3'), added('b', '5').slice(0, 30));
          setTimeout(() => reply.cut(), 20);
        },
        (reply) => void reply.say(added('a', '3'), endMark('9')),
      ),
    );
    await using following = follow(stub.url);

    const events = await following.until('streaming');

    expect(events.map((event) => event.replace(TROUBLE, 'trouble').slice(0, 25))).toEqual([
      'snapshot-begin',
      'upsert a@3 snapshot',
      expect.stringMatching(/^trouble WatchError/),
      'snapshot-begin',
      'upsert a@3 snapshot',
      'snapshot-end@9',
      'streaming',
    ]);
  });

  it('leaves out what is terminating, and says the removal that is seen live', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) =>
          void reply.say(added('a', '3'), added('leaving', '4', going), endMark('9'), deleted('leaving', '11', going)),
      ),
    );
    await using following = follow(stub.url);

    expect(await following.until(/^deletion/)).toEqual([
      'snapshot-begin',
      'upsert a@3 snapshot',
      'snapshot-end@9',
      'streaming',
      'deletion leaving@11',
    ]);
  });

  it('keeps a removal that comes among the set, and says it once the set is complete', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) =>
          void reply.say(
            added('gone', '3'),
            added('going', '4'),
            added('back', '5'),
            deleted('gone', '6'),
            modified('going', '7', going),
            deleted('back', '8'),
            added('back', '9', { uid: 'another' }),
            endMark('9'),
            modified('going', '10', going),
            deleted('going', '11', going),
            modified('back', '12', { uid: 'another' }),
          ),
      ),
    );
    await using following = follow(stub.url);

    expect(await following.until('upsert back@12 live')).toEqual([
      'snapshot-begin',
      'upsert gone@3 snapshot',
      'upsert going@4 snapshot',
      'upsert back@5 snapshot',
      'upsert back@9 snapshot',
      'snapshot-end@9',
      'deletion gone@9',
      'deletion going@9',
      'streaming',
      'progress@10',
      'progress@11',
      'upsert back@12 live',
    ]);
  });

  it('FC-WCH-3: a 410 during the replay is not answered by the same request at once, again and again', async () => {
    const times: number[] = [];
    const clock = fakeClock();
    await using stub = await apiStub((reply) => {
      times.push(clock.now().getTime());
      if (times.length < 5) {
        reply.say(expired);
        reply.end();
      } else reply.say(endMark('9'));
    });
    await using following = follow(stub.url, { clock });

    await following.until('streaming');

    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses[0]).toBeLessThan(1_000);
    expect(pauses.slice(1).map((ms, rung) => ms >= 2_000 * 2 ** rung)).toEqual([true, true, true]);
    expect(stub.asked.every(({ query }) => query['resourceVersion'] === undefined)).toBe(true);
  });
});

describe('a server that does not do WatchList', () => {
  const listed: readonly Answer[] = [
    (reply) => reply.list([], '20'),
    (reply) => void reply.say(),
    (reply) => reply.list([aMap('a', '3')], '21'),
  ];
  const afterFallback = ['snapshot-begin', 'upsert a@3 snapshot', 'snapshot-end@21', 'streaming'];

  it.each([
    ['FC-WCH-4: 422 that names the parameter', 422, 'Invalid', 'sendInitialEvents: Forbidden: not here'],
    ['FC-WCH-4: 400 that names it', 400, 'BadRequest', 'unknown parameter sendInitialEvents'],
    [
      'FC-WCH-4: 403 that names it',
      403,
      'Forbidden',
      'sendInitialEvents is forbidden for watch unless the feature is on',
    ],
    [
      '422 of a server that does not know resourceVersionMatch on a watch',
      422,
      'Invalid',
      'resourceVersionMatch is forbidden for watch',
    ],
  ])('falls back at once: %s', async (_, code, reason, message) => {
    await using stub = await apiStub(inOrder((reply) => reply.refuse(code, reason, message), ...listed));
    await using following = follow(stub.url);

    expect(await following.until('streaming')).toEqual(['snapshot-begin', ...afterFallback]);
    expect(stub.asked.map(({ verb, query }) => [verb, query['resourceVersion'], query['limit']])).toEqual([
      ['watch', undefined, undefined],
      ['list', undefined, '1'],
      ['watch', '20', undefined],
      ['list', undefined, '500'],
    ]);
  });

  it('a 403 that does not name it is a missing right', async () => {
    await using stub = await apiStub((reply) => reply.refuse(403, 'Forbidden', 'configmaps is forbidden'));
    await using following = follow(stub.url);

    expect((await following.until(TROUBLE)).at(-1)).toBe(
      'trouble WatchNotPermitted: the credential may not list and watch configmaps in namespace shop; grant it get, list and watch',
    );
  });

  it('falls back when the first event is an internal error, as when the store cannot tell progress', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) => reply.say(errorEvent(500, 'InternalError', 'etcd does not support progress requests')).end(),
        ...listed,
      ),
    );
    await using following = follow(stub.url);

    expect(await following.until('streaming')).toEqual(['snapshot-begin', ...afterFallback]);
  });

  it('FC-WCH-4: falls back when the end mark never comes, and nothing was complete before', async () => {
    await using stub = await apiStub(inOrder((reply) => void reply.say(added('a', '3'), added('b', '4')), ...listed));
    await using following = follow(stub.url);

    expect(await following.until('streaming')).toEqual([
      'snapshot-begin',
      'upsert a@3 snapshot',
      'upsert b@4 snapshot',
      ...afterFallback,
    ]);
    expect(stub.open).toBe(1);
  });

  it('FC-WCH-4: falls back when ordinary bookmarks come instead of the end mark', async () => {
    await using stub = await apiStub(inOrder((reply) => void reply.say(added('a', '3'), bookmark('7')), ...listed));
    await using following = follow(stub.url);

    expect(await following.until('streaming')).toEqual(['snapshot-begin', 'upsert a@3 snapshot', ...afterFallback]);
  });

  it('FC-WCH-4: falls back when changes go on and on without an end mark', async () => {
    let timer: NodeJS.Timeout | undefined;
    await using stub = await apiStub(
      inOrder(
        (reply) => {
          let version = 3;
          timer = setInterval(
            () => (reply.isClosed ? clearInterval(timer) : reply.say(modified('a', String(version++)))),
            1,
          );
        },
        ...listed,
      ),
    );
    await using following = follow(stub.url);

    const events: string[] = [];
    while (events.at(-1) !== 'streaming') {
      events.push(await following.next());
      await following.clock.advance(5_000);
    }
    clearInterval(timer);

    expect(events.slice(-4)).toEqual(afterFallback);
    expect(events.filter((event) => event.startsWith('snapshot-end'))).toHaveLength(1);
  });

  it('is remembered for its group version, and for no other', async () => {
    const traits = { withoutWatchList: new Set<string>() };
    await using stub = await apiStub(
      inOrder(
        (reply) => reply.refuse(422, 'Invalid', 'sendInitialEvents'),
        ...listed,
        ...listed,
        (reply) => void reply.say(endMark('9')),
      ),
    );
    const deployments = { ...shopMaps, type: { ...shopMaps.type, group: 'apps', resource: 'deployments' } };

    for (const collection of [shopMaps, shopMaps, deployments]) {
      await using following = follow(stub.url, { traits, collection });
      await following.until('streaming');
    }

    expect(stub.asked.filter(({ query }) => query['sendInitialEvents'] === 'true').map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/shop/configmaps',
      '/apis/apps/v1/namespaces/shop/deployments',
    ]);
  });

  it('an error of its list form is told and climbs the ladder', async () => {
    await using stub = await apiStub((reply) => reply.refuse(400, 'BadRequest', 'unable to parse the selector'));
    await using following = follow(stub.url);

    expect((await following.until(TROUBLE)).at(-1)).toMatch(/^trouble WatchError: .*unable to parse the selector$/);
    await following.until(TROUBLE);
    expect(following.clock.now().getTime() - new Date('2026-01-01T00:00:00Z').getTime()).toBeGreaterThanOrEqual(2_000);
  });
});
