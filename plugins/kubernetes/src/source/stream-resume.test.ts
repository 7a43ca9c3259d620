import { fakeClock } from '@gitops-reverser/kernel-testing';
import {
  added,
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
  type Reply,
} from './api-stub.fixture.js';
import { eventually, follow } from './following.fixture.js';

const replayed: Answer = (reply) => void reply.say(added('a', '3'), endMark('90'));
const at = (resourceVersion: string): Answer => {
  return (reply) => reply.list([], resourceVersion);
};
const versionsAsked = (stub: { readonly asked: readonly { readonly query: Readonly<Record<string, string>> }[] }) =>
  stub.asked.map(({ query }) => (query['limit'] === '1' ? 'where?' : (query['resourceVersion'] ?? 'all')));

describe('a resumed stream', () => {
  it('asks where the store is, then goes on from the cursor it was given without a replay', async () => {
    await using stub = await apiStub(inOrder(at('41'), (reply) => void reply.say(modified('a', '43'))));
    await using following = follow(stub.url, { from: '41' });

    expect(await following.until(/^upsert/)).toEqual(['streaming', 'upsert a@43 live']);
    expect(versionsAsked(stub)).toEqual(['where?', '41']);
  });

  it('WP-40, WP-42: after a cut it goes on from the last event that was accepted, byte for byte', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) => {
          reply.say(endMark('0x9A'), modified('a', '00012'), modified('b', 'v13'));
          setTimeout(() => reply.cut(), 30);
        },
        at('v14'),
        (reply) => void reply.say(modified('c', 'v15')),
      ),
    );
    await using following = follow(stub.url);

    await following.until('upsert c@v15 live');

    expect(versionsAsked(stub)).toEqual(['all', 'where?', 'v13']);
  });

  it('a line cut in the middle is no event, and comes again', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) => {
          reply.say(endMark('9'), modified('a', '12'), modified('b', '13').slice(0, -20));
          setTimeout(() => reply.cut(), 30);
        },
        at('13'),
        (reply) => void reply.say(modified('b', '13')),
      ),
    );
    await using following = follow(stub.url);

    const events = await following.until('upsert b@13 live');

    expect(events.filter((event) => event.includes('b@13'))).toHaveLength(1);
    expect(versionsAsked(stub)).toEqual(['all', 'where?', '12']);
  });

  it('a bookmark moves the cursor', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) => reply.say(endMark('9'), bookmark('77')).end(),
        at('77'),
        (reply) => void reply.say(),
      ),
    );
    await using following = follow(stub.url);

    await following.until('progress@77');
    await following.until('streaming');

    expect(versionsAsked(stub)).toEqual(['all', 'where?', '77']);
  });

  it('EV-1: a removal that began before the cut is not said again after it', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) => reply.say(endMark('9'), modified('a', '12', going)).end(),
        at('13'),
        (reply) =>
          void reply.say(
            modified('a', '13', { ...going, finalizers: [] }),
            deleted('a', '14', going),
            added('a', '15', { uid: 'new' }),
          ),
      ),
    );
    await using following = follow(stub.url);

    const events = await following.until('upsert a@15 live');

    expect(events.filter((event) => event.startsWith('deletion'))).toEqual(['deletion a@12']);
    expect(events.slice(-3)).toEqual(['progress@13', 'progress@14', 'upsert a@15 live']);
  });
});

describe('FC-WCH-3: a version too old', () => {
  it.each<[string, Answer]>([
    ['in the stream, as kube-apiserver says it', (reply) => reply.say(expired).end()],
    ['in the stream, by its reason alone', (reply) => reply.say(errorEvent(0, 'Expired', 'too old')).end()],
    ['as HTTP 410', (reply) => reply.refuse(410, 'Gone')],
  ])(
    '%s: the cursor is dropped, the set replayed at once, and that version never asked for again',
    async (_, tooOld) => {
      await using stub = await apiStub(inOrder(at('50'), tooOld, replayed));
      await using following = follow(stub.url, { from: '10' });

      const events = await following.until('snapshot-end@90');

      expect(events.filter((event) => event !== 'streaming')).toEqual([
        'trouble ExpiredResourceVersion: the resume point of configmaps in shop is no longer known; the whole set is read again',
        'snapshot-begin',
        'upsert a@3 snapshot',
        'snapshot-end@90',
      ]);
      expect(versionsAsked(stub)).toEqual(['where?', '10', 'all']);
      expect(following.clock.now().getTime() - Date.parse('2026-01-01T00:00:00Z')).toBeLessThan(2_000);
    },
  );

  it('replays that expire again and again climb the ladder, though each was complete', async () => {
    const times: number[] = [];
    const clock = fakeClock();
    await using stub = await apiStub((reply) => {
      times.push(clock.now().getTime());
      reply.say(endMark('9'));
      if (times.length < 5) reply.say(expired).end();
    });
    await using following = follow(stub.url, { clock });

    for (let turn = 0; turn < 5; turn += 1) await following.until('snapshot-end@9');

    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses.slice(1).map((ms, rung) => ms >= 2_000 * 2 ** rung)).toEqual([true, true, true]);
  });
});

it('FC-WCH-3: an expiry after a healthy while is a first one again: the set is replayed at once', async () => {
  const clock = fakeClock();
  const replies: Reply[] = [];
  await using stub = await apiStub((reply) => void replies.push(reply.say(endMark('9'))));
  await using following = follow(stub.url, { clock, sharesClock: true });
  const waitedMs: number[] = [];
  for (const livedMs of [0, 70_000, 0]) {
    await following.until('streaming');
    await clock.advance(livedMs);
    const at = clock.now().getTime();
    replies.at(-1)?.say(expired).end();
    let isThere = false;
    const again = following.until('snapshot-begin').then(() => (isThere = true));
    for (let turn = 0; !isThere && turn < 500; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      // Time stands still for whoever goes at once.
      if (turn > 50) await clock.advance(500);
    }
    await again;
    waitedMs.push(clock.now().getTime() - at);
  }

  expect(waitedMs.slice(0, 2)).toEqual([0, 0]);
  expect(waitedMs[2]).toBeGreaterThanOrEqual(2_000);
});

describe('a cursor the server does not take is dropped, so that it cannot hold a stream for ever', () => {
  it.each<[string, Answer]>([
    [
      'a 500 that names resourceVersion',
      (reply) => reply.refuse(500, 'InternalError', 'resourceVersion: Invalid value: "x": strconv.ParseUint'),
    ],
    ['400', (reply) => reply.refuse(400, 'BadRequest', 'no')],
    ['422', (reply) => reply.refuse(422, 'Invalid', 'no')],
  ])('%s', async (_, answer) => {
    await using stub = await apiStub(inOrder(at('50'), answer, replayed));
    await using following = follow(stub.url, { from: 'x' });

    await following.until('snapshot-end@90');

    expect(versionsAsked(stub)).toEqual(['where?', 'x', 'all']);
  });

  it('a 500 that does not name it is no reason to drop it', async () => {
    await using stub = await apiStub(
      inOrder(
        at('50'),
        (reply) => reply.refuse(500, 'InternalError', 'etcdserver: leader changed'),
        at('50'),
        (reply) => void reply.say(),
      ),
    );
    await using following = follow(stub.url, { from: '50' });

    await following.until('streaming');

    expect(versionsAsked(stub)).toEqual(['where?', '50', 'where?', '50']);
  });
});

describe('a store that went back', () => {
  it('is silent up to the cursor: it is asked where it is three times within 10 s, then the set is replayed', async () => {
    const times: number[] = [];
    const clock = fakeClock();
    await using stub = await apiStub((reply, { query }) => {
      times.push(clock.now().getTime());
      if (query['limit'] === '1') reply.list([], '30');
      else reply.say(endMark('31'));
    });
    await using following = follow(stub.url, { from: '4000', clock });

    expect((await following.until('streaming')).map((event) => event.slice(0, 24))).toEqual([
      'trouble ExpiredResourceV',
      'snapshot-begin',
      'snapshot-end@31',
      'streaming',
    ]);
    expect(versionsAsked(stub)).toEqual(['where?', 'where?', 'where?', 'all']);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(8_000);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeLessThanOrEqual(10_000);
  });

  it('a replica that lags and catches up has not gone back', async () => {
    await using stub = await apiStub(inOrder(at('30'), at('4001'), (reply) => void reply.say()));
    await using following = follow(stub.url, { from: '4000' });

    await following.until('streaming');

    expect(versionsAsked(stub)).toEqual(['where?', 'where?', '4000']);
  });

  it('EV-8: versions that are no numbers have no order, so nothing follows from them', async () => {
    await using stub = await apiStub(inOrder(at('abc'), (reply) => void reply.say()));
    await using following = follow(stub.url, { from: '4000' });

    await following.until('streaming');
    await eventually(() => stub.asked.length === 2);
  });

  it('is found after a session without one byte, however long it lasted', async () => {
    const clock = fakeClock();
    let quiet = 0;
    await using stub = await apiStub((reply, { query }) => {
      if (query['limit'] === '1') reply.list([], quiet === 0 ? '40' : '7');
      else if (query['sendInitialEvents'] === 'true') reply.say(endMark('8'));
      else {
        quiet += 1;
        reply.say();
        void clock.advance(300_000).then(() => reply.end());
      }
    });
    await using following = follow(stub.url, { from: '40', clock, sharesClock: true });
    await following.until('streaming');
    const rest = following.until('snapshot-end@8');
    for (let turn = 0; turn < 40; turn += 1) {
      await clock.advance(quiet === 0 ? 0 : 1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }

    expect((await rest)[0]).toMatch(/^trouble ExpiredResourceVersion/);
    expect(versionsAsked(stub)).toEqual(['where?', '40', 'where?', 'where?', 'where?', 'all']);
  });
});
