import {
  echoOf,
  type GeneratedSelection,
  type JsonObject,
  type KubeObject,
  type ResourceType,
  type Sanitized,
} from '@gitops-reverser/kernel-api';
import { createSanitizer } from './sanitizer.js';

const none: GeneratedSelection = { include: [], exclude: [] };
const sanitizer = createSanitizer({ defaultObjectExclusions: 'all' });

const PLURALS: Readonly<Record<string, string>> = {
  NetworkPolicy: 'networkpolicies',
  StorageClass: 'storageclasses',
  PriorityClass: 'priorityclasses',
  Endpoints: 'endpoints',
};
function typeOf(object: JsonObject): ResourceType {
  const [group, version] = String(object['apiVersion']).includes('/')
    ? (String(object['apiVersion']).split('/') as [string, string])
    : ['', String(object['apiVersion'])];
  const kind = String(object['kind']);
  return { group, version, kind, resource: PLURALS[kind] ?? `${kind.toLowerCase()}s`, namespaced: true };
}
const sanitize = (object: JsonObject, selection = none): Sanitized =>
  sanitizer.sanitize(object as KubeObject, typeOf(object), selection);
function kept(object: JsonObject, selection = none): JsonObject {
  const result = sanitize(object, selection);
  if (result.kind !== 'keep') throw new Error(`dropped: ${result.reason}`);
  return result.object;
}
/** What JSON shows of it: everything but the echo. */
function shown(object: JsonObject, selection = none): JsonObject {
  return Object.fromEntries(Object.entries(kept(object, selection)));
}
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

describe('field rules', () => {
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
  });

  it('FC-SAN-2: removes null timestamps from embedded metadata and only there', () => {
    const metadata = { creationTimestamp: null, labels: { app: 'nightly' } };
    const cron = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'nightly', namespace: 'shop', creationTimestamp: '2026-03-01T00:00:00Z' },
      spec: {
        creationTimestamp: null,
        jobTemplate: {
          metadata: { creationTimestamp: null },
          spec: { template: { metadata, spec: { note: 'creationTimestamp: null' } } },
        },
      },
    };

    expect(shown(cron)['spec']).toEqual({
      creationTimestamp: null,
      jobTemplate: {
        metadata: {},
        spec: { template: { metadata: { labels: { app: 'nightly' } }, spec: { note: 'creationTimestamp: null' } } },
      },
    });
  });

  it.each([
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'fast' },
      provisioner: 'disk.example.test',
      parameters: { tier: 'nvme' },
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
      apiVersion: 'example.test/v1',
      kind: 'Gizmo',
      metadata: { name: 'g', namespace: 'shop' },
      anything: { status: 'kept below the root' },
    },
  ])('FC-SAN-3: every top-level field of a $kind survives', (object) => {
    expect(shown(object)).toEqual(object);
  });

  it('FC-SAN-3: an aggregated ClusterRole loses the rules a controller fills in', () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'agg' },
      aggregationRule: { clusterRoleSelectors: [] },
      rules: [{ verbs: ['get'] }],
    };

    expect(Object.keys(kept(role))).toEqual(['apiVersion', 'kind', 'metadata', 'aggregationRule']);
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

  it.each([
    {
      why: 'headless is intent',
      spec: {
        clusterIP: 'None',
        clusterIPs: ['None'],
        ports: [{ port: 5432, nodePort: 30001 }],
        ipFamilyPolicy: 'SingleStack',
        ipFamilies: ['IPv4'],
        internalTrafficPolicy: 'Cluster',
      },
      expected: { clusterIP: 'None', clusterIPs: ['None'], ports: [{ port: 5432, nodePort: 30001 }] },
    },
    {
      why: 'allocated addresses go, a dual-stack wish stays',
      spec: {
        clusterIP: '10.7.0.9',
        clusterIPs: ['10.7.0.9', 'fd00::9'],
        ipFamilyPolicy: 'PreferDualStack',
        ipFamilies: ['IPv4', 'IPv6'],
        internalTrafficPolicy: 'Local',
        healthCheckNodePort: 31000,
      },
      expected: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'], internalTrafficPolicy: 'Local' },
    },
    {
      why: 'a single-stack IPv6 choice would come back as IPv4',
      spec: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
      expected: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
    },
  ])('FC-SAN-4: a Service keeps what its author chose: $why', ({ spec, expected }) => {
    expect(
      kept({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'db', namespace: 'shop' }, spec })['spec'],
    ).toEqual(expected);
  });

  it('matches rules on group and kind: a Service of another group keeps its clusterIP', () => {
    const service = {
      apiVersion: 'serving.knative.dev/v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: { clusterIP: '10.0.0.1' },
    };

    expect(shown(service)['spec']).toEqual({ clusterIP: '10.0.0.1' });
  });

  it.each([
    {
      why: 'block mode and the empty class are intent',
      annotations: {},
      spec: { volumeMode: 'Block', storageClassName: '', volumeName: 'pinned' },
      expected: { volumeMode: 'Block', storageClassName: '', volumeName: 'pinned' },
    },
    {
      why: 'a controller bound it',
      annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' },
      spec: { volumeMode: 'Filesystem', volumeName: 'pvc-1' },
      expected: {},
    },
  ])('FC-SAN-5: a volume claim, chosen versus bound: $why', ({ annotations, spec, expected }) => {
    const claim = shown({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'raw', annotations: { ...annotations, 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec,
    });

    expect(claim).toEqual({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'raw' },
      spec: expected,
    });
  });

  it('FC-SAN-6: a Secret is not repeated in an annotation', () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'login',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"stringData":{"pw":"blue-heron-42"}}' },
      },
      data: { pw: 'Ymx1ZS1oZXJvbi00Mg==' },
    };

    expect(JSON.stringify(kept(secret))).not.toContain('blue-heron');
  });

  it('FC-SAN-7: bookkeeping keys go, intent keys stay', () => {
    const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-05-05T10:00:00Z' } } };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        labels: {
          'app.kubernetes.io/instance': 'web',
          'kustomize.toolkit.fluxcd.io/name': 'apps',
          'app.kubernetes.io/managed-by': 'kustomize-v5',
        },
        annotations: {
          'argocd.argoproj.io/tracking-id': 'x',
          'argocd.argoproj.io/sync-wave': '3',
          'kubectl.kubernetes.io/default-container': 'main',
          'kubectl.kubernetes.io/other': 'x',
          'deployment.kubernetes.io/revision': '12',
          'kcp.io/cluster': 'ab12',
          'kcp.io/path': 'root:x',
          'kustomize.toolkit.fluxcd.io/prune': 'disabled',
        },
      },
      spec: { template },
    };

    expect(shown(deployment)).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        labels: { 'app.kubernetes.io/instance': 'web' },
        annotations: {
          'argocd.argoproj.io/sync-wave': '3',
          'kubectl.kubernetes.io/default-container': 'main',
          'kcp.io/path': 'root:x',
          'kustomize.toolkit.fluxcd.io/prune': 'disabled',
        },
      },
      spec: { template },
    });
  });

  it.each([
    {
      manualSelector: false,
      expected: { template: { metadata: { labels: { team: 'blue' } }, spec: {} }, manualSelector: false },
    },
    { manualSelector: true, expected: undefined },
  ])(
    'FC-SAN-13: a Job does not carry its own identity (manualSelector $manualSelector)',
    ({ manualSelector, expected }) => {
      const spec = {
        manualSelector,
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '3f0c' } },
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '3f0c',
              'batch.kubernetes.io/job-name': 'load',
              team: 'blue',
            },
          },
          spec: {},
        },
      };
      const job = shown({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'load', uid: '3f0c', labels: { team: 'blue' } },
        spec,
      });

      expect(job['spec']).toEqual(expected ?? spec);
    },
  );

  it('drops the injected token volume of a Pod with its mounts', () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        nodeName: 'n1',
        serviceAccountName: 'sa',
        volumes: [{ name: 'kube-api-access-x' }, { name: 'data' }],
        containers: [{ name: 'c', volumeMounts: [{ name: 'kube-api-access-x' }] }],
      },
    };

    expect(shown(pod)['spec']).toEqual({
      serviceAccountName: 'sa',
      volumes: [{ name: 'data' }],
      containers: [{ name: 'c' }],
    });
  });

  it('drops injected certificate bundles of a webhook configuration, and only injected ones', () => {
    const webhooks = [{ name: 'a', clientConfig: { caBundle: 'AAAA', url: 'https://a' } }];
    const base = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', webhooks };

    expect(
      kept({ ...base, metadata: { name: 'w', annotations: { 'cert-manager.io/inject-ca-from': 'x/y' } } })['webhooks'],
    ).toEqual([{ name: 'a', clientConfig: { url: 'https://a' } }]);
    expect(shown({ ...base, metadata: { name: 'w' } })['webhooks']).toEqual(webhooks);
  });

  it('a property of a definition that is called caBundle is no bundle', () => {
    const properties = { caBundle: { type: 'string' } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'd', annotations: { 'cert-manager.io/inject-ca-from': 'x/y' } },
      spec: {
        conversion: { strategy: 'Webhook', webhook: { clientConfig: { caBundle: 'AAAA' } } },
        versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', properties } } }],
      },
    };

    expect(shown(definition)['spec']).toEqual({
      conversion: { strategy: 'Webhook', webhook: { clientConfig: {} } },
      versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', properties } } }],
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
});

it('20, 3.6: finalizers are never written, and travel along as an echo', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', finalizers: ['x.test/f'] } };

  const once = kept(object) as KubeObject;

  expect(once.metadata['finalizers']).toBeUndefined();
  expect(echoOf(once)).toEqual({ finalizers: ['x.test/f'] });
  expect(echoOf(kept(once) as KubeObject)).toEqual({ finalizers: ['x.test/f'] });
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

describe('provenance gate', () => {
  it.each([
    { id: 'kube-root-ca', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt' } } },
    { id: 'injected-ca', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'istio-ca-root-cert' } } },
    {
      id: 'service-account-token',
      object: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 't' },
        type: 'kubernetes.io/service-account-token',
      },
    },
    {
      id: 'bootstrap-token',
      object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 't' }, type: 'bootstrap.kubernetes.io/token' },
    },
    {
      id: 'helm-release-store',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'sh.helm.release.v1.a.v1', labels: { owner: 'helm' } },
      },
    },
    {
      id: 'default-service-account',
      object: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', uid: 'u' },
        secrets: [{ name: 'default-token-x' }],
      },
    },
    {
      id: 'leader-lock',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'lock', annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } },
      },
    },
    {
      id: 'endpoints',
      object: {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'e', labels: { 'endpoints.kubernetes.io/managed-by': 'x' } },
      },
    },
    {
      id: 'rbac-default',
      object: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'view', labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
      },
    },
  ])('FC-SAN-8: drops what the cluster makes by itself ($id) unless a target asks for it', ({ id, object }) => {
    expect(sanitize(object)).toEqual({ kind: 'drop', reason: id });
    expect(sanitize(object, { include: [id], exclude: [] }).kind).toBe('keep');
    expect(sanitize(object, { include: ['*'], exclude: [] }).kind).toBe('keep');
    expect(
      createSanitizer({ defaultObjectExclusions: 'none' }).sanitize(object as KubeObject, typeOf(object), none).kind,
    ).toBe('keep');
  });

  it.each([
    {
      id: 'controller-owned',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', ownerReferences: [{ controller: true }] } },
    },
    {
      id: 'release-owned',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'm', labels: { 'helm.toolkit.fluxcd.io/name': 'r' } },
      },
    },
    {
      id: 'helm-cli-owned',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'm',
          labels: { 'app.kubernetes.io/managed-by': 'Helm' },
          annotations: { 'meta.helm.sh/release-name': 'r' },
        },
      },
    },
  ])('mirrors $id objects by default and drops them when a target excludes them', ({ id, object }) => {
    expect(sanitize(object).kind).toBe('keep');
    expect(sanitize(object, { include: [], exclude: [id] })).toEqual({ kind: 'drop', reason: id });
  });

  it.each([
    {
      why: 'only the exact generated name is noise',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'my-root-ca.crt' } },
    },
    {
      why: 'a default service account somebody configured is intent',
      object: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default' },
        imagePullSecrets: [{ name: 'pull' }],
      },
    },
    {
      why: 'a non-controller owner never filters',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'm', ownerReferences: [{ controller: false }] },
      },
    },
  ])('keeps what only looks generated: $why', ({ object }) => {
    expect(sanitize(object).kind).toBe('keep');
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
