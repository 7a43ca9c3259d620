import { type Devcluster, startDevcluster } from './index.js';
import type { JsonObject } from './object.js';
import { callApi, configMap, openWatchOn } from './testing/api-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

let cluster: Devcluster;
beforeEach(async () => {
  cluster = await startDevcluster({ tls: false, rootCaConfigMap: false });
});
afterEach(() => cluster.stop());

const create = (path: string, body: unknown, query = '') => callApi(cluster, path + query, { method: 'POST', body });
const patch = (path: string, body: unknown, type = merge, query = '') => callApi(cluster, path + query, { method: 'PATCH', type, body });
const managed = (object: JsonObject) => (object['metadata'] as JsonObject)['managedFields'];

describe('creating', () => {
  it('gives the object what the server owns, in the order of the real one', async () => {
    const answer = await create(maps, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c1', labels: { a: 'b' } }, data: { k: 'v1' } });

    expect(answer.code).toBe(201);
    expect(answer.text).toMatch(/^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"c1","namespace":"default","uid":"[-0-9a-f]{36}","resourceVersion":"\d+","creationTimestamp":"[^"]+","labels":\{"a":"b"\},"managedFields":/);
    expect(managed(answer.json)).toEqual([
      { manager: 'e2e', operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { '.': {}, 'f:k': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } } },
    ]);
  });

  it('sets the defaults of a Deployment and owns them as the recorded server does', async () => {
    const answer = await create('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'd1' },
      spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
    });

    expect(answer.json['spec']).toEqual({
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [{ name: 'c', image: 'i', resources: {}, terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' }],
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          securityContext: {},
          schedulerName: 'default-scheduler',
        },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    expect(answer.json['status']).toEqual({});
    expect(answer.json['metadata']).toMatchObject({ generation: 1 });
    expect((managed(answer.json) as JsonObject[])[0]?.['fieldsV1']).toEqual({
      'f:spec': {
        'f:progressDeadlineSeconds': {},
        'f:replicas': {},
        'f:revisionHistoryLimit': {},
        'f:selector': {},
        'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} }, 'f:type': {} },
        'f:template': {
          'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
          'f:spec': {
            'f:containers': {
              'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:imagePullPolicy': {}, 'f:name': {}, 'f:resources': {}, 'f:terminationMessagePath': {}, 'f:terminationMessagePolicy': {} },
            },
            'f:dnsPolicy': {},
            'f:restartPolicy': {},
            'f:schedulerName': {},
            'f:securityContext': {},
            'f:terminationGracePeriodSeconds': {},
          },
        },
      },
    });
  });

  it('makes a name from generateName', async () => {
    const answer = await create(maps, { metadata: { generateName: 'g-' } });

    expect(answer.json['metadata']).toMatchObject({ name: expect.stringMatching(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/), generateName: 'g-' });
  });

  it.each([
    { why: 'the name is taken', body: { metadata: { name: 'taken' } }, code: 409, message: 'configmaps "taken" already exists' },
    { why: 'the name is no subdomain', body: { metadata: { name: 'BAD_NAME' } }, code: 422, message: 'ConfigMap "BAD_NAME" is invalid: metadata.name: Invalid value: "BAD_NAME": a lowercase RFC 1123 subdomain must' },
    { why: 'there is no name', body: { metadata: {} }, code: 422, message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required' },
    { why: 'the body is for another namespace', body: { metadata: { name: 'x', namespace: 'y' } }, code: 400, message: 'the namespace of the provided object does not match the namespace sent on the request' },
    { why: 'a value has the wrong type', body: { metadata: { name: 'x' }, data: { a: 1 } }, code: 400, message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string' },
    { why: 'the body is no JSON', body: '{', code: 400, message: "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error" },
    { why: 'the body is another kind', body: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'x' } }, code: 400, message: 'Secret in version "v1" cannot be handled as a ConfigMap' },
    { why: 'a data key is not allowed', body: { metadata: { name: 'x' }, data: { 'a b': '1' } }, code: 422, message: 'data[a b]: Invalid value: "a b": a valid config key must consist of' },
    { why: 'a finalizer is not qualified', body: { metadata: { name: 'x', finalizers: ['mine'] } }, code: 422, message: 'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified' },
  ])('refuses when $why', async ({ body, code, message }) => {
    cluster.load([configMap('taken')]);

    const answer = await create(maps, body);

    expect(answer.code).toBe(code);
    expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', code, message: expect.stringContaining(message) });
  });

  it('refuses a namespace that does not exist with 404', async () => {
    const answer = await create('/api/v1/namespaces/nope/configmaps', { metadata: { name: 'x' } });

    expect(answer.json).toMatchObject({ code: 404, message: 'namespaces "nope" not found' });
  });

  it('drops an unknown field with a warning, and refuses it when asked to be strict', async () => {
    const lenient = await create(maps, { metadata: { name: 'l' }, datta: {} });
    const strict = await create(maps, { metadata: { name: 's' }, datta: {} }, '?fieldValidation=Strict');

    expect(lenient.code).toBe(201);
    expect(lenient.headers['warning']).toBe('299 - "unknown field \\"datta\\""');
    expect(lenient.json['datta']).toBeUndefined();
    expect(strict.json).toMatchObject({ code: 400, message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datta"' });
  });

  it('a dry run answers like the real thing and stores nothing', async () => {
    const before = cluster.resourceVersion;

    const answer = await create(maps, { metadata: { name: 'dry' } }, '?dryRun=All');

    expect(answer.code).toBe(201);
    expect(cluster.get('v1', 'ConfigMap', 'dry')).toBeUndefined();
    expect(cluster.resourceVersion).toBe(before);
  });

  it('keeps integers beyond 2^53', async () => {
    cluster.apply({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'as.x.y' }, spec: { group: 'x.y', scope: 'Cluster', names: { plural: 'as', kind: 'A' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { n: { type: 'integer' } } } } }] } } as never);

    await create('/apis/x.y/v1/as', '{"apiVersion":"x.y/v1","kind":"A","metadata":{"name":"a"},"n":9007199254740993}');

    expect((await callApi(cluster, '/apis/x.y/v1/as/a')).text).toContain('"n":9007199254740993');
  });

  it('never answers with the value of a secret it cannot read', async () => {
    const answer = await create('/api/v1/namespaces/default/secrets', { metadata: { name: 's' }, data: { password: 'hunter2!' } });

    expect(answer.json).toMatchObject({ code: 400, message: 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 7' });
    expect(answer.text).not.toContain('hunter2');
  });
});

describe('changing', () => {
  beforeEach(() => {
    cluster.load([configMap('c')]);
  });

  it('a PUT with a stale version conflicts, one without overwrites', async () => {
    const stale = await callApi(cluster, `${maps}/c`, { method: 'PUT', body: { metadata: { name: 'c', resourceVersion: '1' } } });
    const blind = await callApi(cluster, `${maps}/c`, { method: 'PUT', body: { metadata: { name: 'c' }, data: { n: '1' } } });

    expect(stale.json).toMatchObject({ code: 409, reason: 'Conflict', message: 'Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again' });
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
    { type: 'application/json-patch+json', body: [{ op: 'test', path: '/data/k', value: 'no' }], code: 422, message: 'the server rejected our request due to an error in our request' },
    { type: 'application/json-patch+json', body: { a: 1 }, code: 400, message: 'error decoding patch' },
    { type: 'application/json', body: {}, code: 415, message: 'application/merge-patch+json' },
    { type: merge, body: { metadata: { resourceVersion: '1' } }, code: 409, message: 'the object has been modified' },
    { type: merge, body: { metadata: { name: 'd' } }, code: 400, message: 'the name of the object (d) does not match the name on the URL (c)' },
  ])('refuses $type with $code', async ({ type, body, code, message }) => {
    const answer = await patch(`${maps}/c`, body, type);

    expect(answer.json).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('counts generations of the spec only', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments/d';
    await create('/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } });

    await patch(path, { metadata: { labels: { x: 'y' } } });
    await patch(`${path}/status`, { status: { replicas: 4 }, spec: { replicas: 9 } });
    const answer = await patch(path, { spec: { replicas: 2 }, status: { replicas: 99 } });

    expect(answer.json).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 2 }, status: { replicas: 4 } });
  });

  it('scales through the subresource, whose entry has no time', async () => {
    const base = '/apis/apps/v1/namespaces/default/deployments';
    await create(base, { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } });

    const answer = await patch(`${base}/d/scale`, { spec: { replicas: 3 } }, merge, '?fieldManager=scaler');

    expect(answer.json).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 }, status: { replicas: 0, selector: 'a=b' } });
    const entries = managed(cluster.get('apps/v1', 'Deployment', 'd') as JsonObject) as JsonObject[];
    expect(entries.find((entry) => entry['manager'] === 'scaler')).toEqual({ manager: 'scaler', operation: 'Update', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { 'f:replicas': {} } }, subresource: 'scale' });
  });
});

describe('server-side apply', () => {
  const apply = (manager: string, data: Readonly<Record<string, string>> | undefined, query = '') =>
    patch(`${maps}/ap`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' }, ...(data === undefined ? {} : { data }) }, 'application/apply-patch+yaml', `?fieldManager=${manager}${query}`);

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

    expect(conflict.json['message']).toBe('Apply failed with 2 conflicts: conflicts with "applier":\n- .data.k\n- .data.l');
  });

  it('takes ownership by force and removes what it no longer mentions', async () => {
    await apply('applier', { k: 'one', l: 'two' });

    const forced = await apply('other', { k: 'x' }, '&force=true');
    const dropped = await apply('applier', {});

    expect(forced.json['data']).toEqual({ k: 'x', l: 'two' });
    expect(dropped.json['data']).toEqual({ k: 'x' });
    expect(managed(dropped.json)).toEqual([
      expect.objectContaining({ manager: 'applier', operation: 'Apply', fieldsV1: { 'f:data': {} } }),
      expect.objectContaining({ manager: 'other', operation: 'Apply', fieldsV1: { 'f:data': { 'f:k': {} } } }),
    ]);
  });

  it('applying the same again changes nothing', async () => {
    await apply('applier', { k: 'one' });
    const before = cluster.resourceVersion;

    await apply('applier', { k: 'one' });

    expect(cluster.resourceVersion).toBe(before);
  });

  it('needs a manager, and a schema for every field', async () => {
    const nobody = await patch(`${maps}/ap`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' } }, 'application/apply-patch+yaml');
    const unknown = await patch(`${maps}/ap`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' }, foo: 1 }, 'application/apply-patch+yaml', '?fieldManager=a');

    expect(nobody.json).toMatchObject({ code: 422, message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch' });
    expect(unknown.json).toMatchObject({ code: 500, message: 'failed to create typed patch object (/ap; /v1, Kind=ConfigMap): .foo: field not declared in schema' });
  });

  it('reads YAML as well as JSON', async () => {
    await using yaml = await startDevcluster({ tls: false, parseYaml: () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' }, data: { from: 'yaml' } }) });

    const answer = await callApi(yaml, `${maps}/ap?fieldManager=a`, { method: 'PATCH', type: 'application/apply-patch+yaml', body: 'kind: ConfigMap\n' });

    expect(answer.json['data']).toEqual({ from: 'yaml' });
  });
});

describe('deleting', () => {
  it('answers a Status with the uid; the watch gets a new version', async () => {
    cluster.load([configMap('c')]);
    const before = cluster.resourceVersion;

    const answer = await callApi(cluster, `${maps}/c`, { method: 'DELETE' });

    expect(answer.json).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name: 'c', kind: 'configmaps', uid: expect.any(String) } });
    expect(Number(cluster.resourceVersion)).toBe(Number(before) + 1);
  });

  it('waits for finalizers; the patch that removes the last answers the previous version, DELETED shows it still', async () => {
    await create(maps, { metadata: { name: 'fin', finalizers: ['example.test/f'] } });
    const reader = await openWatchOn(cluster, `${maps}?watch=true&resourceVersion=${cluster.resourceVersion}`);

    const held = await callApi(cluster, `${maps}/fin`, { method: 'DELETE' });
    const added = await patch(`${maps}/fin`, { metadata: { finalizers: ['example.test/f', 'example.test/g'] } });
    const removed = await patch(`${maps}/fin`, { metadata: { finalizers: null } });

    expect(held.json['metadata']).toMatchObject({ deletionTimestamp: time, deletionGracePeriodSeconds: 0, finalizers: ['example.test/f'] });
    expect(added.json).toMatchObject({ code: 422, message: expect.stringContaining('no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.test/g"}') });
    expect((removed.json['metadata'] as JsonObject)['resourceVersion']).toBe((held.json['metadata'] as JsonObject)['resourceVersion']);
    const [modified, deleted] = await reader.take(2);
    expect(modified?.type).toBe('MODIFIED');
    expect(deleted).toMatchObject({ type: 'DELETED', object: { metadata: { finalizers: ['example.test/f'], resourceVersion: cluster.resourceVersion } } });
    reader.close();
  });

  it('keeps preconditions', async () => {
    cluster.load([configMap('c')]);

    const answer = await callApi(cluster, `${maps}/c`, { method: 'DELETE', body: { preconditions: { uid: 'x' } } });

    expect(answer.json).toMatchObject({ code: 409, message: expect.stringContaining('the UID in the precondition (x) does not match the UID in record') });
  });

  it('deletes a collection and answers with what it held', async () => {
    cluster.load([configMap('a', 'default', {}, { x: 'y' }), configMap('b', 'default', {}, { x: 'y' }), configMap('c')]);

    const answer = await callApi(cluster, `${maps}?labelSelector=x%3Dy`, { method: 'DELETE' });

    expect((answer.json['items'] as JsonObject[]).map((item) => (item['metadata'] as JsonObject)['name'])).toEqual(['a', 'b']);
    expect(cluster.list('v1', 'ConfigMap', 'default').map(({ metadata }) => metadata.name)).toEqual(['c']);
  });
});
