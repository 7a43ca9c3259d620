import { startDevcluster, type Devcluster, type DevclusterOptions } from '@gitops-reverser/devcluster';
import { aConfigMap, fakeClock } from '@gitops-reverser/kernel-testing';
import { runSource, verdicts } from './discovery-stub.fixture.js';
import { eventually, follow, type FollowOptions, type Following } from './following.fixture.js';

const TROUBLE = /^trouble/;
const put = (cluster: Devcluster, name: string, value = 'a'): void =>
  void cluster.apply(aConfigMap({ name, namespace: 'shop', data: { value } }));
const plain = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replace(/@\S+/, '').replace(/:.*/, '')).filter((line) => line !== 'progress');

async function open(options: DevclusterOptions = {}): Promise<Devcluster> {
  const quiet = { tls: false, rootCaConfigMap: false, defaultServiceAccount: false } as const;
  const cluster = await startDevcluster({ ...quiet, ...options });
  cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  return cluster;
}
const followIn = (cluster: Devcluster, options: FollowOptions = {}): Following =>
  follow(cluster.url, { token: cluster.token(), ...options });
const watchesIn = (cluster: Devcluster): number => cluster.requests.count({ verb: 'watch', resource: 'configmaps' });

describe('over the embedded API server on its bad days', () => {
  it('FC-WCH-1: a watch that falls silent is given up and resumed; the change of that time comes once', async () => {
    await using cluster = await open();
    const clock = fakeClock();
    await using following = followIn(cluster, { clock, sharesClock: true });
    await following.until('streaming');
    put(cluster, 'before');
    await following.until(/^upsert before/);
    cluster.faults.stallWatches();
    put(cluster, 'quiet');
    const rest = following.until(/^upsert quiet/);
    for (let turn = 0; turn < 60; turn += 1) {
      await clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (watchesIn(cluster) === 2) break;
    }

    expect(plain(await rest)).toEqual(['trouble WatchError', 'streaming', 'upsert quiet live']);
    await following.quiet();
    expect(watchesIn(cluster)).toBe(2);
  });

  it('FC-WCH-4: initial events without an end', async () => {
    await using cluster = await open();
    put(cluster, 'a');
    cluster.faults.endBookmarks = false;
    await using following = followIn(cluster);

    expect(plain(await following.until('streaming'))).toEqual([
      'snapshot-begin',
      'upsert a snapshot',
      'snapshot-begin',
      'upsert a snapshot',
      'snapshot-end',
      'streaming',
    ]);
    put(cluster, 'b');
    await following.until(/^upsert b/);
    await eventually(() => cluster.openWatches === 1);
  });

  it.each([400, 422, 'error-event'] as const)('FC-WCH-4: a WatchList answered %s', async (refusal) => {
    await using cluster = await open();
    put(cluster, 'a');
    cluster.faults.sendInitialEventsRefusal = refusal;
    await using following = followIn(cluster);

    expect(plain(await following.until('streaming')).slice(-4)).toEqual([
      'snapshot-begin',
      'upsert a snapshot',
      'snapshot-end',
      'streaming',
    ]);
    put(cluster, 'b');
    await following.until(/^upsert b/);
  });

  it('FC-WCH-5: 1,100 objects in pages; a page answered 410 restarts the list and completes nothing before', async () => {
    await using cluster = await open();
    cluster.load(Array.from({ length: 1_100 }, (_, at) => aConfigMap({ name: `m${at}`, namespace: 'shop' })));
    cluster.faults.sendInitialEventsRefusal = 422;
    cluster.faults.expirePages(1);
    await using following = followIn(cluster);

    const lines = plain(await following.until('streaming'));

    const last = lines.slice(lines.lastIndexOf('snapshot-begin'));
    expect(new Set(last.filter((line) => line.startsWith('upsert'))).size).toBe(1_100);
    expect(lines.filter((line) => line === 'snapshot-begin')).toHaveLength(3);
    expect(lines.filter((line) => line === 'snapshot-end')).toHaveLength(1);
  }, 15_000);

  it('FC-WCH-3: an expired version in a running stream', async () => {
    await using cluster = await open();
    put(cluster, 'a');
    await using following = followIn(cluster);
    await following.until('streaming');
    cluster.faults.failWatches({}, { code: 410, reason: 'Expired', message: 'too old resource version: 1 (2)' });

    expect(plain(await following.until('streaming'))).toEqual([
      'trouble ExpiredResourceVersion',
      'snapshot-begin',
      'upsert a snapshot',
      'snapshot-end',
      'streaming',
    ]);
  });

  it('FC-WCH-2: refused connections, then 503, then back: nothing is lost, no replay is needed', async () => {
    await using cluster = await open();
    await using following = followIn(cluster);
    await following.until('streaming');
    await cluster.faults.refuseConnections();
    put(cluster, 'meanwhile');
    for (let turn = 0; turn < 3; turn += 1) await following.until(TROUBLE);
    const heal = cluster.faults.inject(
      { resource: 'configmaps' },
      { kind: 'status', code: 503, reason: 'ServiceUnavailable', message: 'not ready' },
    );
    await cluster.faults.acceptConnections();
    await following.until(/^trouble .*not ready/);
    heal();

    const lines = plain(await following.until(/^upsert meanwhile/));

    expect(lines.slice(-2)).toEqual(['streaming', 'upsert meanwhile live']);
    expect(lines).not.toContain('snapshot-begin');
  });

  it('a token that is revoked, and one that comes back, keep the cursor', async () => {
    await using cluster = await open({ users: [{ name: 'mirror', token: 'mirror-token' }] });
    await using following = followIn(cluster, { token: 'mirror-token' });
    await following.until('streaming');
    cluster.revokeUser('mirror');
    cluster.faults.dropWatches();
    put(cluster, 'meanwhile');
    await following.until(TROUBLE);
    await following.until(TROUBLE);
    cluster.addUser({ name: 'mirror', token: 'mirror-token' });

    expect(plain(await following.until(/^upsert meanwhile/)).slice(-2)).toEqual(['streaming', 'upsert meanwhile live']);
  });

  it('FC-WCH-6: a broken group keeps its types, in both forms of discovery', async () => {
    await using cluster = await open();
    for (const isAggregated of [true, false]) {
      cluster.faults.aggregatedDiscovery = isAggregated;
      await using running = await runSource(cluster.url, { locality: 'remote', token: cluster.token() });
      await running.surface(({ reach }) => reach.state === 'reachable');
      const heal = cluster.faults.breakGroup('apps');
      const broken = await running.surface(({ types }) => types.some(({ verdict }) => verdict === 'retained'));
      heal();
      await running.surface(({ types }) => !types.some(({ verdict }) => verdict === 'retained'));

      expect(verdicts(broken)).toContain('apps/deployments retained');
      expect(verdicts(broken)).toContain('configmaps followable');
    }
  });
});
