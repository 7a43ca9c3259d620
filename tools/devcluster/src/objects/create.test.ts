import { type Devcluster, startDevcluster } from '../index.js';
import type { JsonObject } from '../object.js';
import { callApi, configMap } from '../testing/api-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

let cluster: Devcluster;
beforeEach(async () => {
  cluster = await startDevcluster({ tls: false, rootCaConfigMap: false });
});
afterEach(() => cluster.stop());

const create = (path: string, body: unknown, query = '') => callApi(cluster, path + query, { method: 'POST', body });
const managed = (object: JsonObject) => (object['metadata'] as JsonObject)['managedFields'];

describe('creating', () => {
  it('gives the object what the server owns, in the order of the real one', async () => {
    const answer = await create(maps, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'c1', labels: { a: 'b' } },
      data: { k: 'v1' },
    });

    expect(answer.code).toBe(201);
    expect(answer.text).toMatch(
      /^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"c1","namespace":"default","uid":"[-0-9a-f]{36}","resourceVersion":"\d+","creationTimestamp":"[^"]+","labels":\{"a":"b"\},"managedFields":/,
    );
    expect(managed(answer.json)).toEqual([
      {
        manager: 'e2e',
        operation: 'Update',
        apiVersion: 'v1',
        time,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:k': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } },
      },
    ]);
  });

  it('sets the defaults of a Deployment and owns them as the recorded server does', async () => {
    const answer = await create('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'd1' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });

    expect(answer.json['spec']).toEqual({
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [
            {
              name: 'c',
              image: 'i',
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
              imagePullPolicy: 'Always',
            },
          ],
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
              'k:{"name":"c"}': {
                '.': {},
                'f:image': {},
                'f:imagePullPolicy': {},
                'f:name': {},
                'f:resources': {},
                'f:terminationMessagePath': {},
                'f:terminationMessagePolicy': {},
              },
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

    expect(answer.json['metadata']).toMatchObject({
      name: expect.stringMatching(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
      generateName: 'g-',
    });
  });

  it.each([
    {
      why: 'the name is taken',
      body: { metadata: { name: 'taken' } },
      code: 409,
      message: 'configmaps "taken" already exists',
    },
    {
      why: 'the name is no subdomain',
      body: { metadata: { name: 'BAD_NAME' } },
      code: 422,
      message:
        'ConfigMap "BAD_NAME" is invalid: metadata.name: Invalid value: "BAD_NAME": a lowercase RFC 1123 subdomain must',
    },
    {
      why: 'there is no name',
      body: { metadata: {} },
      code: 422,
      message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    },
    {
      why: 'the body is for another namespace',
      body: { metadata: { name: 'x', namespace: 'y' } },
      code: 400,
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    },
    {
      why: 'a value has the wrong type',
      body: { metadata: { name: 'x' }, data: { a: 1 } },
      code: 400,
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    },
    {
      why: 'the body is no JSON',
      body: '{',
      code: 400,
      message:
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error",
    },
    {
      why: 'the body is another kind',
      body: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'x' } },
      code: 400,
      message: 'Secret in version "v1" cannot be handled as a ConfigMap',
    },
    {
      why: 'a data key is not allowed',
      body: { metadata: { name: 'x' }, data: { 'a b': '1' } },
      code: 422,
      message: 'data[a b]: Invalid value: "a b": a valid config key must consist of',
    },
    {
      why: 'a finalizer is not qualified',
      body: { metadata: { name: 'x', finalizers: ['mine'] } },
      code: 422,
      message:
        'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    },
  ])('refuses when $why', async ({ body, code, message }) => {
    cluster.load([configMap('taken')]);

    const answer = await create(maps, body);

    expect(answer.code).toBe(code);
    expect(answer.json).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      code,
      message: expect.stringContaining(message),
    });
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
    expect(strict.json).toMatchObject({
      code: 400,
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datta"',
    });
  });

  it('a dry run answers like the real thing and stores nothing', async () => {
    const before = cluster.resourceVersion;

    const answer = await create(maps, { metadata: { name: 'dry' } }, '?dryRun=All');

    expect(answer.code).toBe(201);
    expect(cluster.get('v1', 'ConfigMap', 'dry')).toBeUndefined();
    expect(cluster.resourceVersion).toBe(before);
  });

  it.each(['POST', 'merge', 'strategic', 'apply'])('keeps a key named __proto__ (%s)', async (how) => {
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"data":{"__proto__":"x","a":"b"}}';
    const type = { merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json' }[how];

    if (how !== 'POST' && how !== 'apply') await create(maps, { metadata: { name: 'p' }, data: { a: 'z' } });
    const answer =
      how === 'POST'
        ? await create(maps, body)
        : await callApi(cluster, `${maps}/p?fieldManager=t`, {
            method: 'PATCH',
            body,
            headers: { 'content-type': type ?? 'application/apply-patch+yaml' },
          });

    expect(answer.text).toContain('"data":{"__proto__":"x","a":"b"}');
  });

  it('keeps integers beyond 2^53', async () => {
    cluster.apply({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'as.x.y' },
      spec: {
        group: 'x.y',
        scope: 'Cluster',
        names: { plural: 'as', kind: 'A' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { n: { type: 'integer' } } } },
          },
        ],
      },
    } as never);

    await create('/apis/x.y/v1/as', '{"apiVersion":"x.y/v1","kind":"A","metadata":{"name":"a"},"n":9007199254740993}');

    expect((await callApi(cluster, '/apis/x.y/v1/as/a')).text).toContain('"n":9007199254740993');
  });

  it('never answers with the value of a secret it cannot read', async () => {
    const answer = await create('/api/v1/namespaces/default/secrets', {
      metadata: { name: 's' },
      data: { password: 'hunter2!' },
    });

    expect(answer.json).toMatchObject({
      code: 400,
      message: 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 7',
    });
    expect(answer.text).not.toContain('hunter2');
  });
});
