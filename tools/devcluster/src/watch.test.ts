import { type Devcluster, startDevcluster } from './index.js';
import { callApi, configMap, openWatchOn } from './testing/api-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
const watch = `${maps}?watch=true`;
const replay = `${watch}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

describe('watching', () => {
  let cluster: Devcluster;
  beforeEach(async () => {
    cluster = await startDevcluster({ tls: false, watchCacheSize: 8, tooLargeDelayMs: 20, rootCaConfigMap: false });
    cluster.load([configMap('b', 'default', { k: '1' }, { tier: 'x' }), configMap('a')]);
  });
  afterEach(() => cluster.stop());

  const named = (events: readonly { readonly type: string; readonly object: object }[]) =>
    events.map(({ type, object }) =>
      `${type} ${(object as { metadata?: { name?: string } }).metadata?.name ?? ''}`.trim(),
    );

  it.each(['', '&resourceVersion=0', '&resourceVersion=11'])(
    '2.4.1: WatchList%s sends everything by name, then the end mark with the version of the store',
    async (version) => {
      const reader = await openWatchOn(cluster, replay + version);

      const events = await reader.take(3);
      expect(named(events)).toEqual(['ADDED a', 'ADDED b', 'BOOKMARK']);
      expect(events[2]).toEqual({
        type: 'BOOKMARK',
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { resourceVersion: cluster.resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
        },
      });

      cluster.load([configMap('c')]);
      expect(named(await reader.take(1))).toEqual(['ADDED c']);
      reader.close();
    },
  );

  it.each([
    {
      query: '&sendInitialEvents=true',
      why: 'without resourceVersionMatch',
      message: 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    },
    {
      query: '&sendInitialEvents=true&resourceVersionMatch=Exact',
      why: 'with Exact',
      message: 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    },
    {
      query: '&resourceVersionMatch=NotOlderThan',
      why: 'a match without sendInitialEvents',
      message: 'forbidden for watch unless sendInitialEvents is provided',
    },
  ])('2.4.1: a watch $why is refused with 422', async ({ query, message }) => {
    const answer = await callApi(cluster, watch + query);

    expect(answer.code).toBe(422);
    expect(answer.json).toMatchObject({ reason: 'Invalid', message: expect.stringContaining(message) });
  });

  it('2.4.1: sendInitialEvents on a list is refused with 422', async () => {
    const answer = await callApi(cluster, `${maps}?sendInitialEvents=true`);

    expect(answer.code).toBe(422);
    expect(answer.json['message']).toBe(
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    );
  });

  it('2.4.1: WatchList without allowWatchBookmarks never ends its initial events', async () => {
    const reader = await openWatchOn(cluster, `${watch}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);

    cluster.load([configMap('live')]);
    expect(named(await reader.take(3))).toEqual(['ADDED a', 'ADDED b', 'ADDED live']);
    reader.close();
  });

  it.each(['', '&resourceVersion=0'])('2.4.1: a plain watch%s with bookmarks becomes a WatchList', async (version) => {
    const reader = await openWatchOn(cluster, `${watch}&allowWatchBookmarks=true${version}`);

    const events = await reader.take(3);
    expect(named(events)).toEqual(['ADDED a', 'ADDED b', 'BOOKMARK']);
    expect(events[2]?.object).toMatchObject({ metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } });
    reader.close();
  });

  it('2.4.1: a version older than the cache gets HTTP 200, one ERROR event 410 and the end', async () => {
    const reader = await openWatchOn(cluster, `${watch}&resourceVersion=1`);

    expect(reader.status).toBe(200);
    expect(await reader.next()).toEqual({
      type: 'ERROR',
      object: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
        reason: 'Expired',
        code: 410,
      },
    });
    expect(await reader.ended()).toBe('end');
  });

  it('2.4.1: a restart expires every version handed out before', async () => {
    const before = cluster.resourceVersion;

    await cluster.restart();

    const reader = await openWatchOn(cluster, `${watch}&resourceVersion=${before}`);
    expect(await reader.next()).toMatchObject({ type: 'ERROR', object: { code: 410 } });
    expect(cluster.list('v1', 'ConfigMap', 'default')).toHaveLength(2);
  });

  it('2.4.1: the ring forgets: too many changes expire a version', async () => {
    const before = cluster.resourceVersion;
    for (let i = 0; i < 20; i += 1) cluster.load([configMap(`n${i}`)]);

    const reader = await openWatchOn(cluster, `${watch}&resourceVersion=${before}`);

    expect(await reader.next()).toMatchObject({ type: 'ERROR', object: { reason: 'Expired' } });
  });

  it('2.4.1: a WatchList ahead of the server fails late with ResourceVersionTooLarge', async () => {
    const reader = await openWatchOn(cluster, `${replay}&resourceVersion=99999999`);

    expect(reader.status).toBe(200);
    expect(await reader.next()).toEqual({
      type: 'ERROR',
      object: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `Timeout: Too large resource version: 99999999, current: ${cluster.resourceVersion}`,
        reason: 'Timeout',
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
        code: 504,
      },
    });
    expect(await reader.ended()).toBe('end');
  });

  it('2.4.1: a plain watch ahead of the server is silent up to that version', async () => {
    const ahead = Number(cluster.resourceVersion) + 1;
    const reader = await openWatchOn(cluster, `${watch}&resourceVersion=${ahead}&allowWatchBookmarks=true`);

    cluster.load([configMap('unseen'), configMap('seen')]);

    expect(named(await reader.take(1))).toEqual(['ADDED seen']);
    reader.close();
  });

  it('2.4.1: a version that is no number is a 500 without a reason', async () => {
    const answer = await callApi(cluster, `${watch}&resourceVersion=abc`);

    expect(answer.code).toBe(500);
    expect(answer.json['reason']).toBeUndefined();
    expect(answer.json['message']).toContain('resourceVersion');
  });

  it('resumes exactly after the version it is given', async () => {
    const from = cluster.resourceVersion;
    cluster.load([configMap('c')]);
    cluster.delete('v1', 'ConfigMap', 'a');

    const reader = await openWatchOn(cluster, `${watch}&resourceVersion=${from}`);

    const events = await reader.take(2);
    expect(named(events)).toEqual(['ADDED c', 'DELETED a']);
    expect(events[1]?.object).toMatchObject({
      data: { k: 'v' },
      metadata: { resourceVersion: cluster.resourceVersion },
    });
    reader.close();
  });

  it('turns MODIFIED into ADDED and DELETED where a selector begins or ceases to match', async () => {
    const reader = await openWatchOn(
      cluster,
      `${watch}&labelSelector=tier%3Dx&resourceVersion=${cluster.resourceVersion}`,
    );
    const label = (name: string, value: string | null) =>
      callApi(cluster, `${maps}/${name}`, {
        method: 'PATCH',
        type: 'application/merge-patch+json',
        body: { metadata: { labels: { tier: value } } },
      });

    await label('a', 'x');
    await label('a', null);
    await label('b', 'y');

    const events = await reader.take(3);
    expect(named(events)).toEqual(['ADDED a', 'DELETED a', 'DELETED b']);
    expect(events[2]?.object).toMatchObject({
      metadata: { labels: { tier: 'x' }, resourceVersion: cluster.resourceVersion },
    });
    reader.close();
  });

  it('a write that changes nothing keeps the version and is seen by nobody', async () => {
    const before = cluster.resourceVersion;
    const reader = await openWatchOn(cluster, `${watch}&resourceVersion=${before}`);

    const answer = await callApi(cluster, `${maps}/a`, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { data: { k: 'v' } },
    });

    expect(answer.code).toBe(200);
    expect(cluster.resourceVersion).toBe(before);
    cluster.load([configMap('next')]);
    expect(named(await reader.take(1))).toEqual(['ADDED next']);
    reader.close();
  });

  it('just ends when timeoutSeconds is over', async () => {
    const reader = await openWatchOn(cluster, `${watch}&timeoutSeconds=1&resourceVersion=${cluster.resourceVersion}`);

    expect(await reader.ended()).toBe('end');
    expect(reader.pending()).toEqual([]);
    expect(cluster.openWatches).toBe(0);
  });

  it('sends bookmarks in its interval, with the version of the store and without annotation', async () => {
    await using quick = await startDevcluster({ tls: false, bookmarkIntervalMs: 10, rootCaConfigMap: false });
    const reader = await openWatchOn(
      quick,
      `${watch}&allowWatchBookmarks=true&resourceVersion=${quick.resourceVersion}`,
    );

    expect(await reader.next()).toEqual({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: quick.resourceVersion } },
    });
    reader.close();
  });

  it('watches as tables and as metadata when asked to', async () => {
    const table = await openWatchOn(cluster, watch, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const partial = await openWatchOn(cluster, watch, {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    });

    expect((await table.next())?.object).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
      rows: [{ cells: ['a', 1, expect.any(String)] }],
    });
    expect((await table.next())?.object).toMatchObject({ columnDefinitions: null });
    expect((await partial.next())?.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    table.close();
    partial.close();
  });
});

describe('a large snapshot', () => {
  it('serves 10k ConfigMaps by WatchList, each once, and ends', async () => {
    await using cluster = await startDevcluster({ tls: false, rootCaConfigMap: false });
    cluster.load(
      Array.from({ length: 10_000 }, (_, i) => configMap(`cm-${i}`, `ns-${i % 50}`, { k: 'x'.repeat(400) })),
    );

    const reader = await openWatchOn(
      cluster,
      '/api/v1/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    );
    const events = await reader.take(10_001);
    reader.close();

    expect(events.at(-1)?.type).toBe('BOOKMARK');
    expect(
      new Set(
        events
          .slice(0, -1)
          .map(({ object }) =>
            JSON.stringify([
              (object['metadata'] as { namespace: string }).namespace,
              (object['metadata'] as { name: string }).name,
            ]),
          ),
      ).size,
    ).toBe(10_000);
    // A slow machine may need more than Jest's five seconds to make ten thousand objects.
  }, 60_000);
});
