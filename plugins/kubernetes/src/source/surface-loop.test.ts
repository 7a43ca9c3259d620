import { fakeClock } from '@gitops-reverser/kernel-testing';
import { apiStub, endMark, type Answer } from './api-stub.fixture.js';
import { classicDiscovery, discovery, runSource, verdicts, widgets } from './discovery-stub.fixture.js';
import { follow } from './following.fixture.js';

const never: Answer = (reply) => reply.refuse(404, 'NotFound');
const base = { v1: ['configmaps', 'secrets'] };

describe('the surface of a cluster', () => {
  it('is unknown at once, and reachable with its types after the first scan', async () => {
    await using stub = await apiStub(discovery(() => ({ ...base, 'apps/v1': ['deployments'] }), never));
    await using running = await runSource(stub.url, { locality: 'remote' });

    const first = await running.source.surface(new AbortController().signal)[Symbol.asyncIterator]().next();
    const surface = await running.surface(({ reach }) => reach.state === 'reachable');

    expect(first.value).toMatchObject({
      generation: 0,
      reach: { state: 'unknown', reason: 'AwaitingDiscovery' },
      types: [],
    });
    expect(surface).toMatchObject({ generation: 1, reach: { reason: 'RemoteCluster' } });
    expect(verdicts(surface)).toEqual(['apps/deployments followable', 'configmaps followable', 'secrets followable']);
    expect(running.logger.said('catalog ready')).toHaveLength(1);
  });

  it('is said again only when something changed', async () => {
    await using stub = await apiStub(discovery(() => base, never));
    await using running = await runSource(stub.url, { locality: 'remote' });

    await running.surface(({ reach }) => reach.state === 'reachable');
    await running.eventually(() => stub.asked.filter(({ path }) => path === '/apis').length >= 5);

    expect((await running.surface(() => true)).generation).toBe(1);
  });

  it('FC-WCH-6: one group answers 503 for ten minutes: its types are retained, the others work, and it comes back', async () => {
    let isBroken = false;
    const served = { ...base, 'metrics.example.test/v1': ['gauges'] };
    await using stub = await apiStub(
      classicDiscovery(
        () => served,
        (group) => isBroken && group.startsWith('metrics'),
      ),
    );
    await using running = await runSource(stub.url, { locality: 'remote' });
    await running.surface(({ reach }) => reach.state === 'reachable');

    isBroken = true;
    const broken = await running.surface(({ types }) => types.some(({ verdict }) => verdict === 'retained'));
    await running.pass(600_000);
    const later = await running.surface(() => true);
    isBroken = false;
    const healed = await running.surface(({ types }) => types.every(({ verdict }) => verdict === 'followable'));

    const during = ['configmaps followable', 'metrics.example.test/gauges retained', 'secrets followable'];
    expect([verdicts(broken), verdicts(later)]).toEqual([during, during]);
    expect(later.reach.state).toBe('reachable');
    expect(verdicts(healed)).toHaveLength(3);
    expect(running.logger.said('catalog degraded')).toHaveLength(1);
    expect(running.logger.said('catalog recovered')).toHaveLength(1);
  }, 20_000);

  it('a type is gone only after complete scans without it for 60 s', async () => {
    let served: Record<string, readonly string[]> = { ...base, 'example.test/v1': ['widgets'] };
    await using stub = await apiStub(discovery(() => served, never));
    await using running = await runSource(stub.url, { locality: 'remote' });
    await running.surface(({ types }) => types.length === 3);

    const absentSince = running.clock.now().getTime();
    served = base;
    await running.surface(({ types }) => types.some(({ verdict }) => verdict === 'retained'));
    await running.surface(({ types }) => types.length === 2);

    expect(running.clock.now().getTime() - absentSince).toBeGreaterThanOrEqual(60_000);
    expect(running.logger.said('types removed')).toHaveLength(1);
  });

  it('a cluster that is away keeps its types, says why, and is found again', async () => {
    let answer = discovery(() => base, never);
    await using stub = await apiStub((reply, asked) => answer(reply, asked));
    await using running = await runSource(stub.url, { locality: 'remote' });
    await running.surface(({ reach }) => reach.state === 'reachable');

    answer = (reply) => reply.refuse(500, 'InternalError', 'etcd is away');
    const away = await running.surface(({ reach }) => reach.state === 'unreachable');
    answer = discovery(() => base, never);
    const back = await running.surface(({ reach }) => reach.state === 'reachable');

    expect(away.reach.reason).toBe('SourceClusterUnreachable');
    expect(away.reach.message).toContain('etcd is away');
    expect(verdicts(away)).toEqual(verdicts(back));
    expect([away.generation, back.generation]).toEqual([2, 3]);
    expect(running.logger.said('source cluster not reachable')).toHaveLength(1);
  });

  it('SC-15: a black hole is given up after 15 s for each document, and the loop goes on', async () => {
    await using stub = await apiStub(() => undefined);
    await using running = await runSource(stub.url, { locality: 'remote', sharesClock: true });

    await running.pass(20_000);
    const surface = await running.surface(({ reach }) => reach.state === 'unreachable');

    expect(surface).toMatchObject({ generation: 0, reach: { reason: 'SourceClusterUnreachable' } });
    expect(surface.reach.message).toContain('not complete in time');
    await running.eventually(() => stub.asked.length >= 2);
  });

  it('a credential that may not read discovery is told as that', async () => {
    await using stub = await apiStub((reply) => reply.refuse(403, 'Forbidden'));
    await using running = await runSource(stub.url, { locality: 'remote' });

    const { reach } = await running.surface(({ reach: { state } }) => state === 'unreachable');

    expect(reach).toMatchObject({ reason: 'SourceClusterAccessDenied' });
    expect(reach.message).toBe(`${stub.url} denies the credential its discovery documents (403); grant it`);
  });

  it('discovery in the aggregated form is asked for again after the server was away', async () => {
    let isOld = true;
    let isAway = false;
    const classic = classicDiscovery(
      () => base,
      () => false,
    );
    const modern = discovery(() => base, never);
    await using stub = await apiStub((reply, asked) =>
      isAway ? reply.refuse(503, 'ServiceUnavailable') : (isOld ? classic : modern)(reply, asked),
    );
    await using running = await runSource(stub.url, { locality: 'remote' });
    await running.surface(({ reach }) => reach.state === 'reachable');
    await running.eventually(() => stub.asked.filter(({ path }) => path === '/apis').length >= 3);
    const askedOld = stub.asked.filter(({ accept }) => accept.includes('apidiscovery')).length;
    isAway = true;
    await running.surface(({ reach }) => reach.state === 'unreachable');
    [isOld, isAway] = [false, false];
    await running.surface(({ reach }) => reach.state === 'reachable');

    expect(askedOld).toBe(1);
    expect(stub.asked.at(-1)?.accept).toContain('apidiscovery');
  });
});

describe('a credential that is not accepted (401)', () => {
  it('by a remote cluster never seen before: unknown for two minutes, on the ladder, then a failure', async () => {
    const times: number[] = [];
    const clock = fakeClock();
    await using stub = await apiStub((reply) => {
      times.push(clock.now().getTime());
      reply.refuse(401, 'Unauthorized');
    });
    await using running = await runSource(stub.url, { locality: 'remote', clock });

    const early = await running.surface(({ reach }) => reach.message.includes('401'), 'slow');
    await running.eventually(() => times.length === 4, 'slow');
    const late = await running.surface(({ reach }) => reach.state === 'unreachable');

    const pauses = times.slice(1, 4).map((time, index) => time - (times[index] ?? 0));
    expect(early.reach).toMatchObject({ state: 'unknown', reason: 'AwaitingDiscovery' });
    expect(pauses.map((ms, rung) => ms >= ([2_000, 5_000, 10_000][rung] ?? 0) && ms < 20_000)).toEqual([
      true,
      true,
      true,
    ]);
    expect(late.reach.reason).toBe('SourceClusterAuthenticationFailed');
    expect(clock.now().getTime() - (times[0] ?? 0)).toBeGreaterThanOrEqual(120_000);
  });

  it('any more by a remote cluster that answered before: the same grace, and no failure when it passes', async () => {
    let answer = discovery(() => base, never);
    await using stub = await apiStub((reply, asked) => answer(reply, asked));
    await using running = await runSource(stub.url, { locality: 'remote' });
    await running.surface(({ reach }) => reach.state === 'reachable');
    await running.pass(150_000);

    answer = (reply) => reply.refuse(401, 'Unauthorized');
    const grace = await running.surface(({ reach }) => reach.state !== 'reachable');
    await running.pass(60_000);
    expect((await running.surface(() => true)).reach.state).toBe('unknown');
    answer = discovery(() => base, never);
    const back = await running.surface(({ reach }) => reach.state === 'reachable');

    expect(grace.reach).toMatchObject({ state: 'unknown', reason: 'AwaitingDiscovery' });
    expect(verdicts(grace)).toEqual(verdicts(back));
  });

  it('by our own cluster: at once', async () => {
    await using stub = await apiStub((reply) => reply.refuse(401, 'Unauthorized'));
    await using running = await runSource(stub.url);

    expect((await running.surface(({ reach }) => reach.message.includes('401'))).reach.reason).toBe(
      'SourceClusterAuthenticationFailed',
    );
  });
});

describe('FC-KCP-1: a workspace behind a front proxy', () => {
  it('every request of discovery, lists and watches stays below its path', async () => {
    const prefix = '/clusters/ab12';
    const inside = discovery(
      () => base,
      (reply, { verb, query }) => {
        if (query['sendInitialEvents'] === 'true') reply.refuse(422, 'Invalid', 'sendInitialEvents');
        else if (verb === 'watch') reply.say();
        else reply.list([], '20');
      },
      prefix,
    );
    await using stub = await apiStub((reply, asked) =>
      asked.path.startsWith(`${prefix}/`) ? inside(reply, asked) : reply.refuse(404, 'NotFound', 'outside'),
    );
    await using running = await runSource(`${stub.url}${prefix}`, { locality: 'remote' });
    await using following = follow(`${stub.url}${prefix}/`);

    await running.surface(({ reach }) => reach.state === 'reachable');
    await following.until('streaming');

    expect(stub.asked.filter(({ path }) => !path.startsWith(`${prefix}/api`))).toEqual([]);
    expect(new Set(stub.asked.map(({ verb }) => verb))).toEqual(new Set(['other', 'watch', 'list']));
  });
});

it('404 of a followed type asks for a scan', async () => {
  await using stub = await apiStub(
    discovery(
      () => base,
      (reply, { path }) => (path.endsWith('/widgets') ? reply.refuse(404, 'NotFound') : void reply.say(endMark('9'))),
    ),
  );
  await using running = await runSource(stub.url, { locality: 'remote' });
  await running.surface(({ reach }) => reach.state === 'reachable');
  const scans = (): number => stub.asked.filter(({ path }) => path === '/apis').length;
  const before = scans();
  const stop = new AbortController();
  const reading = (async () => {
    for await (const event of running.source.follow(widgets, undefined, stop.signal)) void event;
  })();
  const at = running.clock.now().getTime();

  await running.eventually(() => scans() > before, 'slow');

  expect(running.clock.now().getTime() - at).toBeLessThan(10_000);
  stop.abort();
  await reading;
});
