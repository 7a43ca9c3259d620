import {
  added,
  aMap,
  apiStub,
  bookmark,
  deleted,
  expired,
  going,
  inOrder,
  modified,
  statusBody,
  type Answer,
  type Reply,
} from './api-stub.fixture.js';
import { BUFFER_CAPACITY } from './buffered-watch.js';
import { eventually, follow } from './following.fixture.js';

const withoutWatchList = (): { readonly traits: { readonly withoutWatchList: Set<string> } } => ({
  traits: { withoutWatchList: new Set(['/v1']) },
});
const start = (resourceVersion: string): Answer => {
  return (reply) => reply.list([aMap('x', '1')], resourceVersion, 'more');
};

/** Keeps a reply for later. */
function kept(): { readonly answer: Answer; readonly reply: Promise<Reply> } {
  let resolve: (reply: Reply) => void = () => undefined;
  const reply = new Promise<Reply>((done) => (resolve = done));
  return { answer: (given) => resolve(given), reply };
}

describe('a replay by LIST beside a buffered WATCH', () => {
  it('30, 2.4 step 3: watches from a version it asked for, drops what the list already holds, and goes live', async () => {
    await using stub = await apiStub(
      inOrder(
        start('20'),
        (reply) =>
          void reply.say(
            modified('a', '21'),
            deleted('b', '22'),
            bookmark('23'),
            added('c', '24'),
            modified('c', '25'),
            bookmark('26'),
          ),
        (reply) => reply.list([aMap('a', '21'), aMap('leaving', '3', going)], '23', 'page 2'),
        (reply) => reply.list([aMap('d', '7')], '23'),
      ),
    );
    await using following = follow(stub.url, withoutWatchList());

    expect(await following.until('progress@26')).toEqual([
      'snapshot-begin',
      'upsert a@21 snapshot',
      'upsert d@7 snapshot',
      'snapshot-end@23',
      'streaming',
      'upsert c@24 live',
      'upsert c@25 live',
      'progress@26',
    ]);
    expect(stub.asked.map(({ verb, query }) => [verb, query])).toEqual([
      ['list', { limit: '1' }],
      ['watch', { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: '300', resourceVersion: '20' }],
      ['list', { limit: '500' }],
      ['list', { limit: '500', continue: 'page 2' }],
    ]);
  });

  it('FC-WCH-5: a 410 on page 3 restarts the list; its fresh token is not used, and the lost pages complete nothing', async () => {
    const page = (from: number, more: string): Answer => {
      const items = Array.from({ length: 2 }, (_, at) => aMap(`m${from + at}`, String(from + at)));
      return (reply) => reply.list(items, '30', more);
    };
    await using stub = await apiStub(
      inOrder(
        start('20'),
        (reply) => void reply.say(),
        page(1, 'page 2'),
        page(3, 'page 3'),
        (reply) =>
          reply.json(410, {
            ...statusBody(410, 'Expired', 'The provided continue parameter is too old'),
            metadata: { continue: 'inconsistent' },
          }),
        page(1, 'page 2'),
        page(3, 'page 3'),
        page(5, ''),
      ),
    );
    await using following = follow(stub.url, withoutWatchList());

    const events = await following.until('streaming');

    expect(events.map((event) => event.replace(/@.*/, ''))).toEqual([
      'snapshot-begin',
      ...['m1', 'm2', 'm3', 'm4'].map((name) => `upsert ${name}`),
      'snapshot-begin',
      ...['m1', 'm2', 'm3', 'm4', 'm5', 'm6'].map((name) => `upsert ${name}`),
      'snapshot-end',
      'streaming',
    ]);
    expect(stub.asked.map(({ query }) => query['continue'] ?? '')).not.toContain('inconsistent');
  });

  it('FC-WCH-5: after three restarts the list is read without pages', async () => {
    let pages = 0;
    await using stub = await apiStub((reply, { verb, query }) => {
      if (verb === 'watch') return void reply.say();
      if (query['limit'] === '1') return reply.list([], '20');
      if (query['continue'] !== undefined) return reply.refuse(410, 'Expired');
      if (query['limit'] === undefined) return reply.list([aMap('a', '1'), aMap('b', '2')], '40');
      pages += 1;
      return reply.list([aMap('a', '1')], '30', 'next');
    });
    await using following = follow(stub.url, withoutWatchList());

    const events = await following.until('streaming');

    expect(pages).toBe(4);
    expect(events.slice(-5)).toEqual([
      'snapshot-begin',
      'upsert a@1 snapshot',
      'upsert b@2 snapshot',
      'snapshot-end@40',
      'streaming',
    ]);
    expect(events.filter((event) => event.startsWith('snapshot-end'))).toHaveLength(1);
  });

  it('WP-20: a list that fails on a later page completes nothing', async () => {
    await using stub = await apiStub(
      inOrder(
        start('20'),
        (reply) => void reply.say(),
        (reply) => reply.list([aMap('a', '1')], '30', 'next'),
        (reply) => reply.refuse(500, 'InternalError', 'etcdserver: request timed out'),
      ),
    );
    await using following = follow(stub.url, withoutWatchList());

    expect(await following.until(/^trouble/)).toEqual([
      'snapshot-begin',
      'upsert a@1 snapshot',
      expect.stringMatching(/^trouble WatchError: .*request timed out/),
    ]);
    await eventually(() => stub.open === 0);
  });

  it('a buffer that overflows during the list is given up; the watch is opened after the list', async () => {
    const list = kept();
    const changes = Array.from({ length: BUFFER_CAPACITY + 10 }, (_, at) => modified('busy', String(21 + at)));
    let busy: Reply | undefined;
    await using stub = await apiStub(
      inOrder(
        start('20'),
        (reply) => void (busy = reply.say(...changes)),
        list.answer,
        (reply) => void reply.say(modified('busy', '2001')),
      ),
    );
    await using following = follow(stub.url, withoutWatchList());
    expect(await following.next()).toBe('snapshot-begin');
    const rest = following.until('upsert busy@2001 live');
    const reply = await list.reply;
    await eventually(() => busy?.isClosed === true);
    reply.list([aMap('busy', '2000')], '2000');

    expect(await rest).toEqual([
      'upsert busy@2000 snapshot',
      'snapshot-end@2000',
      'streaming',
      'upsert busy@2001 live',
    ]);
    expect(stub.asked.at(-1)?.query['resourceVersion']).toBe('2000');
  });

  it('changes while the snapshot is taken in wait in the connection: none is lost however many there are', async () => {
    const many = BUFFER_CAPACITY * 3;
    let live: Reply | undefined;
    await using stub = await apiStub(
      inOrder(
        start('20'),
        (reply) => void (live = reply.say()),
        (reply) => reply.list([aMap('a', '1')], '30'),
      ),
    );
    await using following = follow(stub.url, withoutWatchList());
    await following.until('snapshot-end@30');

    live?.say(...Array.from({ length: many }, (_, at) => modified('busy', String(31 + at))));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const events = await following.until(`upsert busy@${30 + many} live`);

    expect(events).toHaveLength(many + 1);
    expect(live?.isClosed).toBe(false);
  });

  it('a buffered watch that ends or fails while the list is read is noticed after the snapshot, which stands', async () => {
    await using stub = await apiStub(
      inOrder(
        start('20'),
        (reply) => reply.say(modified('a', '31'), expired).end(),
        (reply) => reply.list([aMap('a', '1')], '30'),
      ),
    );
    await using following = follow(stub.url, withoutWatchList());

    expect(await following.until(/^trouble/)).toEqual([
      'snapshot-begin',
      'upsert a@1 snapshot',
      'snapshot-end@30',
      'streaming',
      'upsert a@31 live',
      expect.stringMatching(/^trouble ExpiredResourceVersion/),
    ]);
  });

  it('never watches from no version: a list without one is told as what it is', async () => {
    await using stub = await apiStub((reply) => reply.list([], ''));
    await using following = follow(stub.url, withoutWatchList());

    expect((await following.until(/^trouble/)).at(-1)).toBe(
      'trouble WatchError: configmaps in shop: expected a list with a resourceVersion to watch from, found none; this API cannot be followed until its server gives one',
    );
    expect(stub.asked.map(({ verb }) => verb)).toEqual(['list']);
  });
});
