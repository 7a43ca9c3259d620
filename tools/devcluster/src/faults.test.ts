import { type Devcluster, startDevcluster } from './index.js';
import { callApi, configMap, openWatchOn } from './testing/api-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
const replay = `${maps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

let cluster: Devcluster;
beforeEach(async () => {
  cluster = await startDevcluster({ tls: false, rootCaConfigMap: false, users: [{ name: 'alice', groups: ['team'] }] });
  cluster.load([configMap('a'), configMap('b'), configMap('c')]);
});
afterEach(() => cluster.stop());

describe('faults', () => {
  it('drops watches by cutting the connection or by ending the stream', async () => {
    const reset = await openWatchOn(cluster, replay);
    const ended = await openWatchOn(cluster, '/api/v1/secrets?watch=true');
    await reset.take(4);

    expect(cluster.faults.dropWatches({ resource: 'configmaps' })).toBe(1);
    expect(cluster.faults.dropWatches({}, 'end')).toBe(1);

    expect([await reset.ended(), await ended.ended()]).toEqual(['reset', 'end']);
    expect(cluster.openWatches).toBe(0);
  });

  it('stalls a watch without a FIN', async () => {
    const reader = await openWatchOn(cluster, replay);
    await reader.take(4);

    cluster.faults.stallWatches();
    cluster.load([configMap('unheard')]);
    await callApi(cluster, maps);

    expect(reader.pending()).toEqual([]);
    expect(reader.state).toBe('open');
    reader.close();
  });

  it('expires the next watch by an event or by HTTP, once', async () => {
    cluster.faults.expireNext({ resource: 'configmaps' });
    cluster.faults.expireNext({ resource: 'secrets' }, 'http');

    const byEvent = await openWatchOn(cluster, replay);
    const byHttp = await callApi(cluster, '/api/v1/secrets?watch=true');
    const after = await openWatchOn(cluster, replay);

    expect(await byEvent.next()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(byHttp.json).toMatchObject({ code: 410, reason: 'Expired' });
    expect(await after.next()).toMatchObject({ type: 'ADDED' });
    after.close();
  });

  it('fails running watches with an ERROR event', async () => {
    const reader = await openWatchOn(cluster, replay);
    await reader.take(4);

    cluster.faults.failWatches({}, { code: 500, reason: 'InternalError', message: 'boom' });

    expect(await reader.next()).toMatchObject({ type: 'ERROR', object: { code: 500, message: 'boom' } });
    expect(await reader.ended()).toBe('end');
  });

  it('answers 429 with Retry-After as often as told', async () => {
    cluster.faults.inject(
      { verb: 'list', resource: 'configmaps' },
      { kind: 'status', code: 429, retryAfterSeconds: 7 },
      1,
    );

    const first = await callApi(cluster, maps);
    const second = await callApi(cluster, maps);

    expect([first.code, first.headers['retry-after'], second.code]).toEqual([429, '7', 200]);
    expect(first.json).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 7 } });
  });

  it('answers 503 until it is told to stop', async () => {
    const heal = cluster.faults.inject({}, { kind: 'status', code: 503, retryAfterSeconds: 1 });

    expect((await callApi(cluster, maps)).json).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
    heal();
    expect((await callApi(cluster, maps)).code).toBe(200);
  });

  it('resets a request', async () => {
    cluster.faults.inject({ verb: 'get' }, { kind: 'reset' }, 1);

    await expect(callApi(cluster, `${maps}/a`)).rejects.toThrow();
  });

  it('denies a user in the words of the API server, and says so when asked', async () => {
    cluster.faults.deny({ user: 'alice', verb: 'patch', resource: 'configmaps' });
    cluster.faults.deny({ userGroup: 'team', resource: 'secrets' }, 401);

    const patched = await callApi(cluster, `${maps}/a`, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: {},
      user: 'alice',
    });
    const listed = await callApi(cluster, '/api/v1/secrets', { user: 'alice' });
    const review = await callApi(cluster, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      method: 'POST',
      user: 'alice',
      body: { spec: { resourceAttributes: { verb: 'patch', resource: 'configmaps' } } },
    });

    expect(patched.json).toMatchObject({
      code: 403,
      message:
        'configmaps "a" is forbidden: User "alice" cannot patch resource "configmaps" in API group "" in the namespace "default"',
    });
    expect(listed.code).toBe(401);
    expect(review.json).toMatchObject({ status: { allowed: false, denied: true } });
    expect((await callApi(cluster, `${maps}/a`)).code).toBe(200);
  });

  it('refuses connections and takes them again on the same port', async () => {
    await cluster.faults.refuseConnections();
    await expect(callApi(cluster, maps)).rejects.toThrow(/ECONNREFUSED/);

    await cluster.faults.acceptConnections();

    expect((await callApi(cluster, maps)).code).toBe(200);
  });

  it('breaks the discovery of one group', async () => {
    const heal = cluster.faults.breakGroup('apps');

    expect((await callApi(cluster, '/apis/apps/v1')).code).toBe(503);
    expect((await callApi(cluster, '/apis/batch/v1')).code).toBe(200);
    heal();
    expect((await callApi(cluster, '/apis/apps/v1')).code).toBe(200);
  });

  it('WP-20: never sends the end bookmark', async () => {
    cluster.faults.endBookmarks = false;
    const reader = await openWatchOn(cluster, replay);

    await reader.take(3);
    cluster.load([configMap('live')]);

    expect((await reader.next())?.type).toBe('ADDED');
    reader.close();
  });

  it.each([400, 422] as const)('refuses sendInitialEvents with %i', async (code) => {
    cluster.faults.sendInitialEventsRefusal = code;

    const answer = await callApi(cluster, replay);

    expect(answer.json).toMatchObject({ code, message: expect.stringContaining('sendInitialEvents') });
    expect((await callApi(cluster, `${maps}?limit=1`)).code).toBe(200);
  });

  it('refuses sendInitialEvents with an ERROR event 500', async () => {
    cluster.faults.sendInitialEventsRefusal = 'error-event';

    const reader = await openWatchOn(cluster, replay);

    expect(await reader.next()).toMatchObject({ type: 'ERROR', object: { code: 500 } });
  });

  it('expires a page token, whose Status holds an inconsistent one', async () => {
    const first = await callApi(cluster, `${maps}?limit=2`);
    const token = String((first.json['metadata'] as { continue?: string }).continue);
    cluster.faults.expirePages();

    const expired = await callApi(cluster, `${maps}?limit=2&continue=${token}`);
    const retried = await callApi(cluster, `${maps}?limit=2&continue=${token}`);

    expect(expired.json).toMatchObject({ code: 410, reason: 'Expired', metadata: { continue: expect.any(String) } });
    expect(retried.code).toBe(200);
  });

  it('counts requests by kind and remembers when they came', async () => {
    cluster.requests.clear();
    await callApi(cluster, maps);
    await callApi(cluster, `${maps}/a`);
    await callApi(cluster, `${maps}/a`, { user: 'alice' });

    expect(cluster.requests.countsByKind()).toEqual({ 'list configmaps': 1, 'get configmaps': 2 });
    expect(cluster.requests.list({ user: 'alice' })).toEqual([
      expect.objectContaining({
        verb: 'get',
        resource: 'configmaps',
        namespace: 'default',
        name: 'a',
        status: 200,
        userAgent: 'e2e/1.0',
        atMs: expect.any(Number),
      }),
    ]);
  });
});
