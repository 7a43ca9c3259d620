import { type Devcluster, startDevcluster } from '../index.js';
import type { JsonObject } from '../object.js';
import { callApi } from '../testing/api-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';

let cluster: Devcluster;
beforeEach(async () => {
  cluster = await startDevcluster({ tls: false, rootCaConfigMap: false });
});
afterEach(() => cluster.stop());

const patch = (path: string, body: unknown, type = merge, query = '') =>
  callApi(cluster, path + query, { method: 'PATCH', type, body });
const managed = (object: JsonObject) => (object['metadata'] as JsonObject)['managedFields'];

describe('server-side apply', () => {
  const apply = (manager: string, data: Readonly<Record<string, string>> | undefined, query = '') =>
    patch(
      `${maps}/ap`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' }, ...(data === undefined ? {} : { data }) },
      'application/apply-patch+yaml',
      `?fieldManager=${manager}${query}`,
    );

  it('creates, and answers a different value of another manager with a conflict', async () => {
    const created = await apply('applier', { k: 'one', l: 'two' });
    const conflict = await apply('other', { k: 'other' });

    expect(created.code).toBe(201);
    expect(conflict.json).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "applier": .data.k',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "applier"', field: '.data.k' }] },
    });
  });

  it('names every conflict', async () => {
    await apply('applier', { k: 'one', l: 'two' });

    const conflict = await apply('other', { k: 'x', l: 'y' });

    expect(conflict.json['message']).toBe(
      'Apply failed with 2 conflicts: conflicts with "applier":\n- .data.k\n- .data.l',
    );
  });

  it('takes ownership by force and removes what it no longer mentions', async () => {
    await apply('applier', { k: 'one', l: 'two' });

    const forced = await apply('other', { k: 'x' }, '&force=true');
    const dropped = await apply('applier', {});

    expect(forced.json['data']).toEqual({ k: 'x', l: 'two' });
    expect(dropped.json['data']).toEqual({ k: 'x' });
    // In the order of their seconds, which may be one or two.
    expect(managed(dropped.json)).toHaveLength(2);
    expect(managed(dropped.json)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ manager: 'applier', operation: 'Apply', fieldsV1: { 'f:data': {} } }),
        expect.objectContaining({ manager: 'other', operation: 'Apply', fieldsV1: { 'f:data': { 'f:k': {} } } }),
      ]),
    );
  });

  it('applying the same again changes nothing', async () => {
    await apply('applier', { k: 'one' });
    const before = cluster.resourceVersion;

    await apply('applier', { k: 'one' });

    expect(cluster.resourceVersion).toBe(before);
  });

  it('needs a manager, and a schema for every field', async () => {
    const nobody = await patch(
      `${maps}/ap`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' } },
      'application/apply-patch+yaml',
    );
    const unknown = await patch(
      `${maps}/ap`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' }, foo: 1 },
      'application/apply-patch+yaml',
      '?fieldManager=a',
    );

    expect(nobody.json).toMatchObject({
      code: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    });
    expect(unknown.json).toMatchObject({
      code: 500,
      message: 'failed to create typed patch object (/ap; /v1, Kind=ConfigMap): .foo: field not declared in schema',
    });
  });

  it('reads YAML as well as JSON', async () => {
    await using yaml = await startDevcluster({
      tls: false,
      parseYaml: () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' }, data: { from: 'yaml' } }),
    });

    const answer = await callApi(yaml, `${maps}/ap?fieldManager=a`, {
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      body: 'kind: ConfigMap\n',
    });

    expect(answer.json['data']).toEqual({ from: 'yaml' });
  });
});
