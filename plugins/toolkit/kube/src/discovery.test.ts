import { Discovery } from './discovery.js';
import { KubeClient } from './requests.js';
import { connectTo, json, never, statusBody, stubServer, type Answerer, type Seen } from './testing/stub-server.js';

const group = (name: string, versions: object[]): object => ({ metadata: { name, creationTimestamp: null }, versions });
const served = (resource: string, kind: string, more: object = {}): object => ({
  resource,
  responseKind: { group: '', version: '', kind },
  scope: 'Namespaced',
  singularResource: kind.toLowerCase(),
  verbs: ['get', 'list', 'watch'],
  ...more,
});
const aggregated = (...items: object[]): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items,
});
const acceptsAggregated = ({ headers }: Seen): boolean => headers.accept?.includes('APIGroupDiscoveryList') === true;

const documents: Readonly<Record<string, object>> = {
  '/api': aggregated(
    group('', [
      {
        version: 'v1',
        freshness: 'Current',
        resources: [
          served('configmaps', 'ConfigMap', { shortNames: ['cm'] }),
          served('namespaces', 'Namespace', {
            scope: 'Cluster',
            subresources: [{ subresource: 'status' }, { subresource: 'finalize' }],
          }),
        ],
      },
    ]),
  ),
  '/apis': aggregated(
    group('autoscaling', [
      {
        version: 'v2',
        freshness: 'Current',
        resources: [served('horizontalpodautoscalers', 'HorizontalPodAutoscaler')],
      },
      {
        version: 'v1',
        freshness: 'Current',
        resources: [served('horizontalpodautoscalers', 'HorizontalPodAutoscaler'), served('legacies', 'Legacy')],
      },
    ]),
    group('metrics.example.test', [{ version: 'v1', freshness: 'Stale' }]),
    group('parents.example.test', [
      {
        version: 'v1',
        freshness: 'Current',
        resources: [
          {
            resource: 'parents',
            responseKind: null,
            scope: 'Namespaced',
            verbs: [],
            subresources: [{ subresource: 'scale' }],
          },
        ],
      },
    ]),
  ),
};
const classic: Readonly<Record<string, object>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      { name: 'autoscaling', versions: [{ version: 'v2' }, { version: 'v1' }], preferredVersion: { version: 'v2' } },
      { name: 'metrics.example.test', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
    ],
  },
  '/api/v1': {
    kind: 'APIResourceList',
    resources: [
      {
        name: 'configmaps',
        singularName: 'configmap',
        namespaced: true,
        kind: 'ConfigMap',
        verbs: ['get', 'list', 'watch'],
        shortNames: ['cm'],
      },
      { name: 'namespaces', singularName: '', namespaced: false, kind: 'Namespace', verbs: ['get', 'list', 'watch'] },
      { name: 'namespaces/status', singularName: '', namespaced: false, kind: 'Namespace', verbs: ['get'] },
      { name: 'namespaces/finalize', singularName: '', namespaced: false, kind: 'Namespace', verbs: ['update'] },
    ],
  },
  '/apis/autoscaling/v2': {
    kind: 'APIResourceList',
    resources: [
      {
        name: 'horizontalpodautoscalers',
        singularName: 'horizontalpodautoscaler',
        namespaced: true,
        kind: 'HorizontalPodAutoscaler',
        verbs: ['get', 'list', 'watch'],
      },
    ],
  },
  '/apis/autoscaling/v1': {
    kind: 'APIResourceList',
    resources: [
      {
        name: 'horizontalpodautoscalers',
        singularName: 'horizontalpodautoscaler',
        namespaced: true,
        kind: 'HorizontalPodAutoscaler',
        verbs: ['get', 'list', 'watch'],
      },
      { name: 'legacies', singularName: 'legacy', namespaced: true, kind: 'Legacy', verbs: ['get', 'list', 'watch'] },
    ],
  },
};

const entry = (group: string, version: string, resource: string, kind: string, more: object = {}): object => ({
  group,
  version,
  resource,
  kind,
  singular: kind.toLowerCase(),
  shortNames: [],
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  preferred: true,
  subresources: [],
  ...more,
});
const expected = [
  entry('', 'v1', 'configmaps', 'ConfigMap', { shortNames: ['cm'] }),
  entry('', 'v1', 'namespaces', 'Namespace', { namespaced: false, subresources: ['status', 'finalize'] }),
  entry('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'),
  entry('autoscaling', 'v1', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', { preferred: false }),
  entry('autoscaling', 'v1', 'legacies', 'Legacy'),
];

async function withDiscovery<T>(
  answer: Answerer,
  use: (discovery: Discovery, asked: () => string[]) => Promise<T>,
): Promise<T> {
  await using server = await stubServer(answer);
  await using connection = connectTo(server.url);
  return await use(new Discovery(new KubeClient(connection)), () => server.seen.map(({ path }) => path));
}

it('DC-1, DC-2: two requests in the aggregated form; a stale group version is a failed one', async () => {
  const [scan, asked] = await withDiscovery(
    (request, response) => json(response, acceptsAggregated(request) ? 200 : 406, documents[request.path]),
    async (discovery, seen) => [await discovery.scan(never), seen()],
  );

  expect(asked).toEqual(['/api', '/apis']);
  expect(scan).toEqual({
    entries: expected,
    scanned: ['autoscaling/v1', 'autoscaling/v2', 'parents.example.test/v1', 'v1'],
    failed: [{ groupVersion: 'metrics.example.test/v1', reason: 'StaleGroupVersion' }],
    complete: false,
  });
});

const onlyClassic: Answerer = (request, response) => {
  if (acceptsAggregated(request)) return json(response, 406, statusBody(406, 'NotAcceptable', 'no'));
  if (request.path === '/apis/metrics.example.test/v1')
    return json(response, 503, statusBody(503, 'ServiceUnavailable', 'down'));
  return json(response, 200, classic[request.path]);
};

it('DC-1: a 406 is remembered, and asked again after a reset', async () => {
  const asked = await withDiscovery(onlyClassic, async (discovery, seen) => {
    await discovery.scan(never);
    const first = seen().length;
    await discovery.scan(never);
    const second = seen().length - first;
    discovery.reset();
    await discovery.scan(never);
    return [first, second, seen().length - first - second];
  });

  expect(asked).toEqual([7, 6, 7]);
});

it('FC-WCH-6, DC-3: a failing group makes the scan partial, not failed', async () => {
  const scan = await withDiscovery(onlyClassic, (discovery) => discovery.scan(never));

  expect(scan).toEqual({
    entries: expected,
    scanned: ['autoscaling/v1', 'autoscaling/v2', 'v1'],
    failed: [{ groupVersion: 'metrics.example.test/v1', reason: 'ServiceUnavailable' }],
    complete: false,
  });
});

it('a server that ignores the aggregated form and answers the classic one is understood', async () => {
  const scan = await withDiscovery(
    (request, response) => json(response, classic[request.path] === undefined ? 404 : 200, classic[request.path]),
    (discovery) => discovery.scan(never),
  );

  expect(scan.entries).toEqual(expected);
});

it.each([401, 403, 500])(
  'a root document answered with %i fails the scan: nothing is known, nothing is removed',
  async (code) => {
    const scanning = withDiscovery(
      (_, response) => json(response, code, undefined),
      (discovery) => discovery.scan(never),
    );

    await expect(scanning).rejects.toMatchObject({ code });
  },
);

it.each([
  ['aggregated', aggregated(group('odd.test', [{ version: 'v1', resources: [served('odds', 'Odd', { scope: '' })] }]))],
  ['classic', { kind: 'APIGroupList', groups: [{ name: 'odd.test', versions: [{ version: 'v1' }] }] }],
])('20, 12: a scope that the %s form does not state is not guessed', async (_, groups) => {
  const odd: Readonly<Record<string, object>> = {
    '/api': { kind: 'APIVersions', versions: [] },
    '/apis': groups,
    '/apis/odd.test/v1': { kind: 'APIResourceList', resources: [{ name: 'odds', kind: 'Odd', verbs: ['get'] }] },
  };
  const { entries } = await withDiscovery(
    ({ path }, response) => json(response, 200, odd[path] ?? {}),
    (discovery) => discovery.scan(never),
  );

  expect(entries.map(({ resource, namespaced }) => [resource, namespaced])).toEqual([['odds', undefined]]);
});
