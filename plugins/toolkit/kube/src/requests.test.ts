import { isConflict, isExpired, isNotFound } from './errors.js';
import { toUrlPath } from './paths.js';
import { KubeClient } from './requests.js';
import { connectTo, json, never, statusBody, stubServer, type Answerer } from './testing/stub-server.js';

const configMaps = { group: '', version: 'v1', resource: 'configmaps', namespace: 'shop' };
const deployment = { group: 'apps', version: 'v1', resource: 'deployments', namespace: 'shop', name: 'web' };

async function withClient<T>(
  answer: Answerer,
  use: (client: KubeClient, server: { readonly seen: readonly unknown[] }) => Promise<T>,
): Promise<T> {
  await using server = await stubServer(answer);
  await using connection = connectTo(server.url);
  return await use(new KubeClient(connection), server);
}

describe('paths', () => {
  it.each([
    [{ group: '', version: 'v1', resource: 'nodes' }, '/api/v1/nodes'],
    [{ ...configMaps, name: 'a' }, '/api/v1/namespaces/shop/configmaps/a'],
    [{ ...deployment, subresource: 'status' }, '/apis/apps/v1/namespaces/shop/deployments/web/status'],
    [
      { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles', name: 'system:MyRole' },
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:MyRole',
    ],
    [{ ...configMaps, name: 'a b?c#d' }, '/api/v1/namespaces/shop/configmaps/a%20b%3Fc%23d'],
  ])('%j', (path, url) => {
    expect(toUrlPath(path)).toBe(url);
  });

  it.each(['', '.', '..', 'a/b', '%2e%2e'])('a name that would change the path is refused: %j', (name) => {
    expect(() => toUrlPath({ ...configMaps, name })).toThrow(/cannot be part of a request path/);
  });
});

describe('objects', () => {
  it('come back as the server sent them', async () => {
    const text =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z","unknown":{}},"n":9007199254740993}';

    const object = await withClient(
      (_, response) => void response.end(text),
      (client) => client.get({ ...configMaps, name: 'a' }, never),
    );

    expect(object).toMatchObject({
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z', unknown: {} },
      n: 9007199254740993n,
    });
  });

  it.each([
    [
      'create',
      'POST',
      'application/json',
      '/api/v1/namespaces/shop/configmaps?fieldManager=me&dryRun=All',
      '{"kind":"ConfigMap","n":1152921504606846976}',
      (client: KubeClient) =>
        client.create(configMaps, { kind: 'ConfigMap', n: 2n ** 60n }, { fieldManager: 'me', dryRun: true }, never),
    ],
    [
      'replace',
      'PUT',
      'application/json',
      '/apis/apps/v1/namespaces/shop/deployments/web',
      '{"kind":"Deployment"}',
      (client: KubeClient) => client.replace(deployment, { kind: 'Deployment' }, {}, never),
    ],
    [
      'merge patch',
      'PATCH',
      'application/merge-patch+json',
      '/apis/apps/v1/namespaces/shop/deployments/web',
      '{"spec":{"replicas":null}}',
      (client: KubeClient) =>
        client.patch(deployment, { type: 'merge', body: { spec: { replicas: null } } }, {}, never),
    ],
    [
      'strategic patch',
      'PATCH',
      'application/strategic-merge-patch+json',
      '/apis/apps/v1/namespaces/shop/deployments/web',
      '{}',
      (client: KubeClient) => client.patch(deployment, { type: 'strategic', body: {} }, {}, never),
    ],
    [
      'JSON patch',
      'PATCH',
      'application/json-patch+json',
      '/apis/apps/v1/namespaces/shop/deployments/web',
      '[{"op":"remove","path":"/a"}]',
      (client: KubeClient) =>
        client.patch(deployment, { type: 'json', body: [{ op: 'remove', path: '/a' }] }, {}, never),
    ],
    [
      'apply',
      'PATCH',
      'application/apply-patch+yaml',
      '/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=me&force=true',
      '{}',
      (client: KubeClient) =>
        client.patch(deployment, { type: 'apply', body: {}, force: true }, { fieldManager: 'me' }, never),
    ],
    [
      'delete',
      'DELETE',
      'application/json',
      '/apis/apps/v1/namespaces/shop/deployments/web',
      '{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground","preconditions":{"uid":"u"}}',
      (client: KubeClient) =>
        client.delete(deployment, { propagationPolicy: 'Foreground', preconditions: { uid: 'u' } }, never),
    ],
  ])('%s is a %s of %s', async (_, method, contentType, url, body, act) => {
    const seen = await withClient(
      (__, response) => json(response, 200, {}),
      async (client, server) => {
        await act(client);
        return server.seen[0];
      },
    );

    expect(seen).toMatchObject({ method, url, body, headers: { 'content-type': contentType } });
  });
});

it('a list fills in what the server leaves out of items', async () => {
  const body = {
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '9', continue: 'more' },
    items: [{ metadata: { name: 'a' } }],
  };

  const list = await withClient(
    (request, response) => json(response, request.headers['accept-encoding'] === 'gzip' ? 200 : 500, body),
    (client) => client.list(configMaps, { limit: 1 }, never),
  );

  expect(list).toEqual({
    items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }],
    resourceVersion: '9',
    continue: 'more',
  });
});

it('an empty list may be null', async () => {
  const list = await withClient(
    (_, response) => json(response, 200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: null }),
    (client) => client.list(configMaps, {}, never),
  );

  expect(list.items).toEqual([]);
});

describe('refusals', () => {
  it.each([
    { code: 401, reason: 'Unauthorized' },
    { code: 403, reason: 'Forbidden' },
    { code: 404, reason: 'NotFound' },
    { code: 409, reason: 'Conflict' },
    { code: 410, reason: 'Expired' },
    { code: 422, reason: 'Invalid' },
    { code: 429, reason: 'TooManyRequests' },
    { code: 500, reason: 'InternalError' },
    { code: 503, reason: 'ServiceUnavailable' },
  ])('$code keeps its reason and names the request', async ({ code, reason }) => {
    const asked = withClient(
      (_, response) => json(response, code, statusBody(code, reason, 'said so'), { 'retry-after': '3' }),
      (client) => client.get(deployment, never),
    );

    await expect(asked).rejects.toMatchObject({
      code,
      reason,
      retryAfterSeconds: 3,
      message: expect.stringMatching(/^GET \/apis\/apps\/v1\/namespaces\/shop\/deployments\/web on http:.*: said so$/),
    });
  });

  it('are told apart', async () => {
    const errors = await Promise.all(
      [404, 409, 410].map((code) =>
        withClient(
          (_, response) => json(response, code, undefined),
          (client) => client.get(deployment, never),
        ).catch((error: unknown) => error),
      ),
    );

    expect(errors.map((error) => [isNotFound(error), isConflict(error), isExpired(error)])).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
  });

  it.each([
    { name: 'HTML under 200, as a captive portal sends it', body: '<html>', of: 'get' },
    { name: 'a list where an object belongs', body: '[]', of: 'get' },
    { name: 'an object where a list belongs', body: '{"kind":"ConfigMap"}', of: 'list' },
  ])('$name is no answer', async ({ body, of }) => {
    const asked = withClient(
      (_, response) => void response.end(body),
      async (client) => (of === 'get' ? await client.get(deployment, never) : await client.list(configMaps, {}, never)),
    );

    await expect(asked).rejects.toMatchObject({ reason: 'MalformedResponse', code: 0 });
  });
});
