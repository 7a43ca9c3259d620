import { type Devcluster, startDevcluster } from '../index.js';
import type { JsonObject } from '../object.js';
import { callApi, configMap, openWatchOn } from '../testing/api-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

let cluster: Devcluster;
beforeEach(async () => {
  cluster = await startDevcluster({ tls: false, rootCaConfigMap: false });
});
afterEach(() => cluster.stop());

const create = (path: string, body: unknown, query = '') => callApi(cluster, path + query, { method: 'POST', body });
const patch = (path: string, body: unknown, type = merge, query = '') =>
  callApi(cluster, path + query, { method: 'PATCH', type, body });

describe('deleting', () => {
  it('answers a Status with the uid; the watch gets a new version', async () => {
    cluster.load([configMap('c')]);
    const before = cluster.resourceVersion;

    const answer = await callApi(cluster, `${maps}/c`, { method: 'DELETE' });

    expect(answer.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'c', kind: 'configmaps', uid: expect.any(String) },
    });
    expect(Number(cluster.resourceVersion)).toBe(Number(before) + 1);
  });

  it('waits for finalizers; the patch that removes the last answers the previous version, DELETED shows it still', async () => {
    await create(maps, { metadata: { name: 'fin', finalizers: ['example.test/f'] } });
    const reader = await openWatchOn(cluster, `${maps}?watch=true&resourceVersion=${cluster.resourceVersion}`);

    const held = await callApi(cluster, `${maps}/fin`, { method: 'DELETE' });
    const added = await patch(`${maps}/fin`, { metadata: { finalizers: ['example.test/f', 'example.test/g'] } });
    const removed = await patch(`${maps}/fin`, { metadata: { finalizers: null } });

    expect(held.json['metadata']).toMatchObject({
      deletionTimestamp: time,
      deletionGracePeriodSeconds: 0,
      finalizers: ['example.test/f'],
    });
    expect(added.json).toMatchObject({
      code: 422,
      message: expect.stringContaining(
        'no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.test/g"}',
      ),
    });
    expect((removed.json['metadata'] as JsonObject)['resourceVersion']).toBe(
      (held.json['metadata'] as JsonObject)['resourceVersion'],
    );
    const [modified, deleted] = await reader.take(2);
    expect(modified?.type).toBe('MODIFIED');
    expect(deleted).toMatchObject({
      type: 'DELETED',
      object: { metadata: { finalizers: ['example.test/f'], resourceVersion: cluster.resourceVersion } },
    });
    reader.close();
  });

  it('keeps preconditions', async () => {
    cluster.load([configMap('c')]);

    const answer = await callApi(cluster, `${maps}/c`, { method: 'DELETE', body: { preconditions: { uid: 'x' } } });

    expect(answer.json).toMatchObject({
      code: 409,
      message: expect.stringContaining('the UID in the precondition (x) does not match the UID in record'),
    });
  });

  it('deletes a collection and answers with what it held', async () => {
    cluster.load([
      configMap('a', 'default', {}, { x: 'y' }),
      configMap('b', 'default', {}, { x: 'y' }),
      configMap('c'),
    ]);

    const answer = await callApi(cluster, `${maps}?labelSelector=x%3Dy`, { method: 'DELETE' });

    expect((answer.json['items'] as JsonObject[]).map((item) => (item['metadata'] as JsonObject)['name'])).toEqual([
      'a',
      'b',
    ]);
    expect(cluster.list('v1', 'ConfigMap', 'default').map(({ metadata }) => metadata.name)).toEqual(['c']);
  });
});
