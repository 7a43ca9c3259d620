import { X509Certificate } from 'node:crypto';
import { type Devcluster, startDevcluster } from './index.js';
import type { JsonObject } from './object.js';
import { callApi, configMap } from './testing/api-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
let cluster: Devcluster;
beforeAll(async () => {
  cluster = await startDevcluster({ rootCaConfigMap: false, users: [{ name: 'alice', groups: ['team'] }] });
  cluster.load(Array.from({ length: 7 }, (_, i) => configMap(`c${i}`, 'default', {}, { odd: String(i % 2) })));
});
afterAll(() => cluster.stop());

const names = (answer: { readonly json: JsonObject }) =>
  (answer.json['items'] as JsonObject[]).map((item) => (item['metadata'] as JsonObject)['name']);
const meta = (answer: { readonly json: JsonObject }) =>
  answer.json['metadata'] as {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };

describe('listing', () => {
  it('answers with the version of the store; items of built-in lists carry no kind', async () => {
    const answer = await callApi(cluster, maps);

    expect(answer.json).toMatchObject({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: cluster.resourceVersion },
    });
    expect(Object.keys((answer.json['items'] as JsonObject[])[0] ?? {})[0]).toBe('metadata');
  });

  it('pages through one consistent state, whatever happens meanwhile', async () => {
    const first = await callApi(cluster, `${maps}?limit=3`);
    expect(meta(first)).toMatchObject({ remainingItemCount: 4 });
    cluster.delete('v1', 'ConfigMap', 'c4');
    cluster.load([configMap('c9')]);

    const second = await callApi(cluster, `${maps}?limit=3&continue=${meta(first).continue}`);
    const third = await callApi(cluster, `${maps}?limit=3&continue=${meta(second).continue}`);

    expect([names(first), names(second), names(third)]).toEqual([['c0', 'c1', 'c2'], ['c3', 'c4', 'c5'], ['c6']]);
    expect([meta(second).resourceVersion, meta(third).continue]).toEqual([meta(first).resourceVersion, undefined]);
    cluster.delete('v1', 'ConfigMap', 'c9');
    cluster.load([configMap('c4', 'default', {}, { odd: '0' })]);
  });

  it('does not count what is left when a selector filters', async () => {
    const answer = await callApi(cluster, `${maps}?limit=2&labelSelector=odd%3D0`);

    expect(names(answer)).toEqual(['c0', 'c2']);
    expect(meta(answer).remainingItemCount).toBeUndefined();
    expect(meta(answer).continue).toBeDefined();
  });

  it('selects by field', async () => {
    expect(names(await callApi(cluster, `/api/v1/configmaps?fieldSelector=metadata.name%3Dc1`))).toEqual(['c1']);
  });

  it.each([
    { query: 'continue=nonsense', code: 400, message: 'continue key is not valid' },
    {
      query: 'resourceVersionMatch=Exact',
      code: 422,
      message: 'resourceVersionMatch is forbidden unless resourceVersion is provided',
    },
    {
      query: 'resourceVersion=1&resourceVersionMatch=Exact',
      code: 410,
      message: 'The resourceVersion for the provided list is too old.',
    },
    { query: 'resourceVersion=99999999', code: 504, message: 'Too large resource version: 99999999' },
    { query: 'resourceVersion=abc', code: 400, message: 'invalid resource version' },
    { query: 'limit=x', code: 400, message: 'strconv.ParseInt' },
  ])('answers $query with $code', async ({ query, code, message }) => {
    expect((await callApi(cluster, `${maps}?${query}`)).json).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it('compresses large lists when asked to, and only those', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    await using large = await startDevcluster({ tls: false });
    large.load(Array.from({ length: 200 }, (_, i) => configMap(`c${i}`, 'default', { k: 'x'.repeat(800) })));

    expect((await callApi(large, maps, { headers })).headers['content-encoding']).toBe('gzip');
    expect((await callApi(large, maps)).headers['content-encoding']).toBeUndefined();
    expect((await callApi(cluster, maps, { headers })).headers['content-encoding']).toBeUndefined();
  });

  it('answers tables, metadata, and refuses forms it does not speak', async () => {
    const as = (accept: string) => callApi(cluster, maps, { headers: { accept } });

    expect((await as('application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io')).json).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: expect.arrayContaining([expect.objectContaining({ kind: 'PartialObjectMetadata' })]),
    });
    expect((await as('application/vnd.kubernetes.protobuf,application/json')).json['kind']).toBe('ConfigMapList');
    expect((await as('application/cbor')).json).toMatchObject({ code: 406, reason: 'NotAcceptable' });
  });
});

describe('discovery', () => {
  it('is aggregated when asked for, and echoes the form', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
    const answer = await callApi(cluster, '/apis', { headers: { accept } });

    expect(answer.headers['content-type']).toBe('application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
    const apps = (
      answer.json['items'] as {
        metadata: { name: string };
        versions: { freshness: string; resources: { resource: string; subresources?: { subresource: string }[] }[] }[];
      }[]
    ).find(({ metadata }) => metadata.name === 'apps');
    expect(apps?.versions[0]).toMatchObject({ freshness: 'Current' });
    expect(
      apps?.versions[0]?.resources
        .find(({ resource }) => resource === 'deployments')
        ?.subresources?.map(({ subresource }) => subresource),
    ).toEqual(['scale', 'status']);
  });

  it('answers 406 to the aggregated form alone when it is switched off, and classic otherwise', async () => {
    cluster.faults.aggregatedDiscovery = false;

    const alone = await callApi(cluster, '/apis', {
      headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
    });
    const either = await callApi(cluster, '/apis', {
      headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json' },
    });

    expect(alone.code).toBe(406);
    expect(either.json['kind']).toBe('APIGroupList');
    cluster.faults.clear();
  });

  it('serves the classic lists, OpenAPI, the version and probes', async () => {
    expect((await callApi(cluster, '/api')).json).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    expect((await callApi(cluster, '/apis/apps')).json).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: 'apps/v1' },
    });
    expect((await callApi(cluster, '/openapi/v3')).json).toMatchObject({
      paths: { 'apis/apps/v1': { serverRelativeURL: expect.stringContaining('/openapi/v3/apis/apps/v1') } },
    });
    expect((await callApi(cluster, '/openapi/v3/apis/apps/v1')).text).toContain('"name":"fieldValidation"');
    expect((await callApi(cluster, '/version')).json).toMatchObject({ major: '1', minor: '36' });
    expect((await callApi(cluster, '/readyz', { headers: { authorization: '' } })).text).toBe('ok');
  });

  it.each([
    ['/foo', 404],
    ['/apis/foo.bar/v1/foos', 404],
    ['/api/v1/namespaces/default/foos', 404],
    ['/api/v1/namespaces/default/configmaps/c0/foo', 404],
  ])('%s is %i', async (path, code) => {
    expect((await callApi(cluster, path)).code).toBe(code);
  });
});

describe('who may come in', () => {
  it('needs a known token', async () => {
    expect((await callApi(cluster, maps, { headers: { authorization: 'Bearer nope' } })).json).toMatchObject({
      code: 401,
      reason: 'Unauthorized',
    });
    expect((await callApi(cluster, maps, { headers: { authorization: '' } })).code).toBe(401);
  });

  it('knows user and groups, and impersonates for admins only', async () => {
    const whoami = (user: string, headers = {}) =>
      callApi(cluster, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        method: 'POST',
        body: {},
        user,
        headers,
      });

    expect((await whoami('alice')).json).toMatchObject({
      status: { userInfo: { username: 'alice', groups: ['team', 'system:authenticated'] } },
    });
    expect((await whoami('admin', { 'impersonate-user': 'bob', 'impersonate-group': 'g' })).json).toMatchObject({
      status: { userInfo: { username: 'bob', groups: ['g', 'system:authenticated'] } },
    });
    expect((await whoami('alice', { 'impersonate-user': 'bob' })).json).toMatchObject({
      code: 403,
      message:
        'users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
    });
    expect((await whoami('admin', { 'impersonate-group': 'g' })).code).toBe(400);
  });

  it('a revoked token is refused', async () => {
    const { name } = cluster.addUser({ name: 'temp' });
    expect((await callApi(cluster, maps, { user: name })).code).toBe(200);

    cluster.revokeUser('temp');

    expect((await callApi(cluster, maps, { user: 'temp' })).code).toBe(401);
  });

  it('hands out a kubeconfig that needs no other file', () => {
    const text = cluster.kubeconfig('alice', { namespace: 'demo' });

    expect(text).toContain(`server: "${cluster.url}"`);
    expect(text).toContain(`token: "${cluster.token('alice')}"`);
    expect(text).toContain('namespace: "demo"');
    expect(text).toContain(`certificate-authority-data: ${Buffer.from(cluster.ca ?? '').toString('base64')}`);
    expect(() => cluster.kubeconfig('nobody')).toThrow('no user "nobody": expected one of admin, alice');
  });

  it('its authority is one, and valid now', () => {
    const ca = new X509Certificate(cluster.ca ?? '');

    expect([ca.ca, ca.verify(ca.publicKey), Date.parse(ca.validTo) > Date.now()]).toEqual([true, true, true]);
  });
});

describe('events', () => {
  it('are one collection under both of their APIs', async () => {
    const created = await callApi(cluster, '/apis/events.k8s.io/v1/namespaces/default/events', {
      method: 'POST',
      body: {
        metadata: { name: 'e' },
        regarding: { kind: 'Pod', name: 'p' },
        reason: 'R',
        note: 'text',
        type: 'Normal',
        action: 'A',
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'x/y',
        reportingInstance: 'i',
      },
    });

    expect(created.json).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { name: 'p' },
      note: 'text',
      reportingController: 'x/y',
    });
    expect(cluster.get('v1', 'Event', 'e')).toMatchObject({
      apiVersion: 'v1',
      involvedObject: { name: 'p' },
      message: 'text',
      reportingComponent: 'x/y',
    });
    expect((await callApi(cluster, '/apis/events.k8s.io/v1/namespaces/default/events')).json).toMatchObject({
      items: [{ note: 'text' }],
    });
  });
});
