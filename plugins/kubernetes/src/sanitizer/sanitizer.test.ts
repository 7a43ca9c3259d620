import { echoOf, withEcho, type JsonObject, type KubeObject } from '@gitops-reverser/kernel-api';
import { kept, sanitize, shown } from './sanitizing.fixture.js';

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

it('FC-SAN-1: keeps empty maps and lists that carry meaning', () => {
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: 'lock',
      namespace: 'shop',
      uid: '6d1f',
      resourceVersion: '90',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    },
    spec: { podSelector: {}, ingress: [], policyTypes: ['Ingress'] },
  };

  expect(shown(policy)).toEqual({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'lock', namespace: 'shop' },
    spec: { podSelector: {}, ingress: [], policyTypes: ['Ingress'] },
  });
  const issuer = {
    apiVersion: 'certs.example.test/v1',
    kind: 'Issuer',
    metadata: { name: 'own', namespace: 'shop' },
    spec: { selfSigned: {} },
  };
  expect(shown(issuer)).toEqual(issuer);
});

it.each([
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fast' },
    provisioner: 'disk.example.test',
    parameters: { tier: 'nvme' },
    reclaimPolicy: 'Retain',
    allowVolumeExpansion: true,
  },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1000,
    globalDefault: false,
  },
  {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'bot', namespace: 'shop' },
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: 'pull' }],
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'frozen', namespace: 'shop' },
    immutable: true,
    data: { a: '1' },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'agg' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { agg: 'yes' } }] },
  },
  {
    apiVersion: 'example.test/v1',
    kind: 'Gizmo',
    metadata: { name: 'g', namespace: 'shop' },
    anything: { status: 'kept below the root' },
  },
])('FC-SAN-3: every top-level field of a $kind survives', (object) => {
  expect(shown(object)).toEqual(object);
});

it('removes status at the root and nowhere else', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    status: { x: 1 },
    data: { status: 'kept' },
  };

  expect(shown(object)).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { status: 'kept' },
  });
});

it('FC-SAN-9: carries integers beyond 2^53 as they are', () => {
  const cap = {
    apiVersion: 'quota.example.test/v1',
    kind: 'Cap',
    metadata: { name: 'c' },
    spec: { bytes: 9223372036854775807n },
  };

  expect(shown(cap)).toEqual(cap);
});

it('keeps a key named __proto__', () => {
  const map = JSON.parse(
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u"},"data":{"__proto__":"x"}}',
  ) as JsonObject;

  expect(Object.keys(kept(map)['data'] as JsonObject)).toEqual(['__proto__']);
});

it('20, 3.6: finalizers are never written, and travel along as an echo', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', finalizers: ['x.test/f'] } };

  const once = kept(object) as KubeObject;

  expect(once.metadata['finalizers']).toBeUndefined();
  expect(echoOf(once)).toEqual({ finalizers: ['x.test/f'] });
  expect(echoOf(kept(once) as KubeObject)).toEqual({ finalizers: ['x.test/f'] });
});

it('20, 6.4: what the source says of keyed lists travels on', () => {
  const object = { apiVersion: 'mesh.example.test/v1', kind: 'Gate', metadata: { name: 'a' } } as KubeObject;
  const listKeys = { 'spec/routes': ['host'] };

  expect(echoOf(kept(withEcho(object, { listKeys })) as KubeObject)).toEqual({ listKeys, finalizers: [] });
});

describe('I10: purity', () => {
  const object = deepFreeze({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', uid: 'u', labels: { a: 'b' }, annotations: { 'kcp.io/cluster': 'x' } },
    spec: { clusterIP: '10.0.0.1' },
    status: {},
  });

  it('never mutates its input', () => {
    expect(() => kept(object)).not.toThrow();
  });

  it('gives the same result when run on its own result', () => {
    const once = shown(object);

    expect(shown(once)).toEqual(once);
  });
});

describe('bad input', () => {
  it.each([
    { missing: 'apiVersion', object: { kind: 'ConfigMap', metadata: { name: 'a' } } },
    { missing: 'kind', object: { apiVersion: 'v1', metadata: { name: 'a' } } },
    { missing: 'metadata.name', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} } },
  ])('names the missing field: $missing', ({ missing, object }) => {
    expect(() => sanitize(object as unknown as JsonObject)).toThrow(missing);
  });
});
