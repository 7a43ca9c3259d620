import { targetId, type Collection } from '@gitops-reverser/kernel-api';
import { fakeClock } from '@gitops-reverser/kernel-testing';
import { added, apiStub, endMark, errorEvent, inOrder, modified, type Answer } from './api-stub.fixture.js';
import { eventually, follow, shopMaps } from './following.fixture.js';

const TROUBLE = /^trouble/;
const START = Date.parse('2026-01-01T00:00:00Z');
const refused = (code: number, reason: string, headers: Readonly<Record<string, string>> = {}): Answer => {
  return (reply) => reply.refuse(code, reason, reason, headers);
};
const clusterRoles: Collection = {
  target: targetId('demo', 'target'),
  type: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    resource: 'clusterroles',
    kind: 'ClusterRole',
    namespaced: false,
  },
};
const { namespace: _, ...everyNamespace } = shopMaps;

describe('refusals are told with what helps, and tried again', () => {
  it.each([
    [shopMaps, 'configmaps in namespace shop'],
    [everyNamespace, 'configmaps in every namespace'],
    [clusterRoles, 'clusterroles.rbac.authorization.k8s.io of the cluster'],
  ])('403 says which right is missing: %#', async (collection, what) => {
    await using stub = await apiStub(inOrder(refused(403, 'Forbidden'), (reply) => void reply.say(endMark('9'))));
    await using following = follow(stub.url, { collection });

    expect(await following.until('streaming')).toEqual([
      'snapshot-begin',
      `trouble WatchNotPermitted: the credential may not list and watch ${what}; grant it get, list and watch`,
      'snapshot-begin',
      'snapshot-end@9',
      'streaming',
    ]);
  });

  it('403 on a running stream keeps the cursor', async () => {
    await using stub = await apiStub(
      inOrder(
        (reply) => reply.say(endMark('9')).end(),
        refused(403, 'Forbidden'),
        (reply) => reply.list([], '9'),
        (reply) => void reply.say(modified('a', '10')),
      ),
    );
    await using following = follow(stub.url);

    const events = await following.until('upsert a@10 live');

    expect(events.filter((event) => event === 'snapshot-begin')).toHaveLength(1);
    expect(events.filter((event) => event.startsWith('trouble')).map((event) => event.slice(0, 27))).toEqual([
      'trouble WatchError: the wat',
      'trouble WatchNotPermitted: ',
    ]);
  });

  it.each([
    [401, 'Unauthorized'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
  ])('%i waits its rung and replays', async (code, reason) => {
    await using stub = await apiStub(inOrder(refused(code, reason), (reply) => void reply.say(endMark('9'))));
    await using following = follow(stub.url);

    const events = await following.until('streaming');

    expect(events[1]).toMatch(/^trouble WatchError: .*watch \/api\/v1\/namespaces\/shop\/configmaps on http/);
    expect(following.clock.now().getTime() - START).toBeGreaterThanOrEqual(2_000);
  });

  it('404 asks for a scan', async () => {
    let scans = 0;
    await using stub = await apiStub(inOrder(refused(404, 'NotFound'), (reply) => void reply.say(endMark('9'))));
    await using following = follow(stub.url, { onNotFound: () => (scans += 1) });

    await following.until('streaming');

    expect(scans).toBe(1);
  });

  it('429 waits as long as Retry-After says', async () => {
    await using stub = await apiStub(
      inOrder(refused(429, 'TooManyRequests', { 'retry-after': '45' }), (reply) => void reply.say(endMark('9'))),
    );
    await using following = follow(stub.url);

    await following.until('streaming');

    expect(following.clock.now().getTime() - START).toBeGreaterThanOrEqual(45_000);
  });

  it('30, 2.4.1: a version too large waits at least what the event asks for, and completes nothing', async () => {
    const tooLarge = errorEvent(504, 'Timeout', 'Timeout: Too large resource version: 99999999, current: 32137', {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 7,
    });
    await using stub = await apiStub(
      inOrder(
        (reply) => reply.say(added('a', '3'), tooLarge).end(),
        (reply) => void reply.say(endMark('9')),
      ),
    );
    await using following = follow(stub.url);

    const events = await following.until('streaming');

    expect(events.filter((event) => event.startsWith('snapshot-end'))).toEqual(['snapshot-end@9']);
    expect(following.clock.now().getTime() - START).toBeGreaterThanOrEqual(7_000);
  });

  it('a server that is not there is told with its address', async () => {
    const stub = await apiStub(() => undefined);
    await stub[Symbol.asyncDispose]();
    await using following = follow(stub.url);

    expect((await following.until(TROUBLE)).at(-1)).toMatch(/^trouble WatchError: .*127\.0\.0\.1.*refused/);
  });

  it('a line that is no watch event ends the session and is told', async () => {
    await using stub = await apiStub(inOrder((reply) => void reply.say(endMark('9'), '{"type":"ADDED"}\n')));
    await using following = follow(stub.url);

    expect((await following.until(TROUBLE)).at(-1)).toMatch(/^trouble WatchError: .*no watch event/);
  });

  it('an object without a name is passed over, and the cursor goes on', async () => {
    const nameless = `${JSON.stringify({ type: 'MODIFIED', object: { kind: 'ConfigMap', metadata: { resourceVersion: '11' } } })}\n`;
    await using stub = await apiStub(inOrder((reply) => void reply.say(endMark('9'), nameless, modified('a', '12'))));
    await using following = follow(stub.url);

    expect((await following.until('upsert a@12 live')).slice(-2)).toEqual(['progress@11', 'upsert a@12 live']);
  });
});

describe('the end of a watch', () => {
  it("at the server's own time-out goes on at once from the cursor, without a word", async () => {
    const clock = fakeClock();
    const times: number[] = [];
    await using stub = await apiStub((reply, { query }) => {
      times.push(clock.now().getTime() - START);
      if (query['sendInitialEvents'] !== 'true') return void reply.say(modified('a', '11'));
      reply.say(endMark('9'));
      // The stream asked for 300 s.
      void eventually(() => clock.sleeping > 0)
        .then(() => clock.advance(300_000))
        .then(() => reply.end());
    });
    await using following = follow(stub.url, { clock, sharesClock: true });

    expect(await following.until('upsert a@11 live')).toEqual([
      'snapshot-begin',
      'snapshot-end@9',
      'streaming',
      'streaming',
      'upsert a@11 live',
    ]);
    expect(stub.asked.map(({ query }) => query['resourceVersion'] ?? 'all')).toEqual(['all', '9']);
    expect(times[1]).toBe(300_000);
  });

  it('before it, after a healthy while: goes on without a word, but asks where the store is', async () => {
    const clock = fakeClock();
    let first = true;
    await using stub = await apiStub((reply, { query }) => {
      if (query['limit'] === '1') return reply.list([], '9');
      if (!first) return void reply.say(modified('a', '11'));
      first = false;
      reply.say(endMark('9'));
      void eventually(() => clock.sleeping > 0)
        .then(() => clock.advance(70_000))
        .then(() => reply.end());
    });
    await using following = follow(stub.url, { clock, sharesClock: true });

    expect((await following.until('upsert a@11 live')).filter((event) => TROUBLE.test(event))).toEqual([]);
    expect(stub.asked.map(({ query }) => query['resourceVersion'] ?? query['limit'] ?? 'all')).toEqual([
      'all',
      '1',
      '9',
    ]);
  });

  it('too early waits a rung and is told: a server that ends every watch at once is not asked in a loop', async () => {
    const times: number[] = [];
    const clock = fakeClock();
    await using stub = await apiStub((reply, { query }) => {
      if (query['limit'] === '1') return reply.list([], '9');
      times.push(clock.now().getTime());
      reply.say(endMark('9')).end();
    });
    await using following = follow(stub.url, { clock });

    for (let turn = 0; turn < 4; turn += 1) await following.until(TROUBLE);

    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses.map((ms, rung) => ms >= 2_000 * 2 ** rung)).toEqual([true, true, true]);
  });
});
