import { type Devcluster, startDevcluster } from '../index.js';
import type { JsonObject } from '../object.js';
import { callApi, configMap } from '../testing/api-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';

let cluster: Devcluster;
beforeEach(async () => {
  cluster = await startDevcluster({ tls: false, rootCaConfigMap: false });
});
afterEach(() => cluster.stop());

const create = (path: string, body: unknown, query = '') => callApi(cluster, path + query, { method: 'POST', body });
const patch = (path: string, body: unknown, type = merge, query = '') =>
  callApi(cluster, path + query, { method: 'PATCH', type, body });
const managed = (object: JsonObject) => (object['metadata'] as JsonObject)['managedFields'];

describe('changing', () => {
  beforeEach(() => {
    cluster.load([configMap('c')]);
  });

  it('a PUT with a stale version conflicts, one without overwrites', async () => {
    const stale = await callApi(cluster, `${maps}/c`, {
      method: 'PUT',
      body: { metadata: { name: 'c', resourceVersion: '1' } },
    });
    const blind = await callApi(cluster, `${maps}/c`, {
      method: 'PUT',
      body: { metadata: { name: 'c' }, data: { n: '1' } },
    });

    expect(stale.json).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again',
    });
    expect(blind.json).toMatchObject({ data: { n: '1' } });
  });

  it.each([
    { type: merge, body: { data: { k: null, z: '1' } }, data: { z: '1' } },
    { type: 'application/strategic-merge-patch+json', body: { data: { z: '1' } }, data: { k: 'v', z: '1' } },
    { type: 'application/json-patch+json', body: [{ op: 'replace', path: '/data/k', value: '2' }], data: { k: '2' } },
  ])('applies $type', async ({ type, body, data }) => {
    const answer = await patch(`${maps}/c`, body, type);

    expect(answer.code).toBe(200);
    expect(answer.json['data']).toEqual(data);
  });

  it.each([
    {
      type: 'application/json-patch+json',
      body: [{ op: 'test', path: '/data/k', value: 'no' }],
      code: 422,
      message: 'the server rejected our request due to an error in our request',
    },
    { type: 'application/json-patch+json', body: { a: 1 }, code: 400, message: 'error decoding patch' },
    { type: 'application/json', body: {}, code: 415, message: 'application/merge-patch+json' },
    { type: merge, body: { metadata: { resourceVersion: '1' } }, code: 409, message: 'the object has been modified' },
    {
      type: merge,
      body: { metadata: { name: 'd' } },
      code: 400,
      message: 'the name of the object (d) does not match the name on the URL (c)',
    },
  ])('refuses $type with $code', async ({ type, body, code, message }) => {
    const answer = await patch(`${maps}/c`, body, type);

    expect(answer.json).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('counts generations of the spec only', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments/d';
    await create('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });

    await patch(path, { metadata: { labels: { x: 'y' } } });
    await patch(`${path}/status`, { status: { replicas: 4 }, spec: { replicas: 9 } });
    const answer = await patch(path, { spec: { replicas: 2 }, status: { replicas: 99 } });

    expect(answer.json).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 2 }, status: { replicas: 4 } });
  });

  it('scales through the subresource, whose entry has no time', async () => {
    const base = '/apis/apps/v1/namespaces/default/deployments';
    await create(base, {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });

    const answer = await patch(`${base}/d/scale`, { spec: { replicas: 3 } }, merge, '?fieldManager=scaler');

    expect(answer.json).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 3 },
      status: { replicas: 0, selector: 'a=b' },
    });
    const entries = managed(cluster.get('apps/v1', 'Deployment', 'd') as JsonObject) as JsonObject[];
    expect(entries.find((entry) => entry['manager'] === 'scaler')).toEqual({
      manager: 'scaler',
      operation: 'Update',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      subresource: 'scale',
    });
  });
});
