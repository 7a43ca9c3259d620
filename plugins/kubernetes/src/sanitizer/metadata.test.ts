import type { JsonObject } from '@gitops-reverser/kernel-api';
import { kept, shown } from './sanitizing.fixture.js';

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

it('FC-SAN-7: bookkeeping of kubectl, kustomize and controllers goes, intent keys stay', () => {
  const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-05-05T10:00:00Z' } } };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      labels: {
        'app.kubernetes.io/instance': 'web',
        'app.kubernetes.io/managed-by': 'kustomize-v5',
      },
      annotations: {
        'argocd.argoproj.io/sync-wave': '3',
        'kubectl.kubernetes.io/default-container': 'main',
        'kubectl.kubernetes.io/other': 'x',
        'deployment.kubernetes.io/revision': '12',
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

const labelled = (labels: JsonObject, apiVersion = 'v1', kind = 'ConfigMap'): JsonObject | undefined =>
  kept({ apiVersion, kind, metadata: { name: 'shop', labels } }).metadata.labels;
const annotated = (annotations: JsonObject): JsonObject | undefined =>
  kept({ apiVersion: 'example.test/v1', kind: 'Gizmo', metadata: { name: 'shop', annotations } }).metadata.annotations;

describe('20, 3.3: labels', () => {
  it.each([
    'applyset.kubernetes.io/id',
    'applyset.kubernetes.io/part-of',
    'kro.run/instance-id',
    'kro.run/anything.at-all',
  ])('strips %s', (key) => {
    expect(labelled({ [key]: 'x', team: 'blue' })).toEqual({ team: 'blue' });
  });

  it.each([
    'kro.run',
    'applyset.kubernetes.io',
    'my.kro.run/instance-id',
    'kro.runner/instance-id',
    'Kro.run/instance-id',
    'app.kubernetes.io/instance',
    'app.kubernetes.io/name',
    'helm.sh/chart',
    'pod-template-hash',
    'controller-revision-hash',
    'kubectl.kubernetes.io/other',
  ])('keeps %s', (key) => {
    expect(labelled({ [key]: 'x' })).toEqual({ [key]: 'x' });
  });

  it.each([
    { value: 'kustomize-v5.4.1', kept: false },
    { value: 'kustomize-', kept: false },
    { value: 'kustomize', kept: true },
    { value: 'Kustomize-v5', kept: true },
    { value: 'my-kustomize-v5', kept: true },
    { value: 'Helm', kept: true },
  ])('app.kubernetes.io/managed-by: $value, kept: $kept', ({ value, kept: isKept }) => {
    const label = { 'app.kubernetes.io/managed-by': value };

    expect(labelled(label)).toEqual(isKept ? label : undefined);
  });

  it.each([
    { apiVersion: 'v1', kind: 'Namespace', value: 'shop', kept: false },
    { apiVersion: 'v1', kind: 'Namespace', value: 'another', kept: true },
    { apiVersion: 'v1', kind: 'ConfigMap', value: 'shop', kept: true },
    { apiVersion: 'tenancy.example.test/v1', kind: 'Namespace', value: 'shop', kept: true },
  ])('kubernetes.io/metadata.name: $value on a $kind of $apiVersion called shop, kept: $kept', (facts) => {
    const label = { 'kubernetes.io/metadata.name': facts.value };

    expect(labelled(label, facts.apiVersion, facts.kind)).toEqual(facts.kept ? label : undefined);
  });
});

describe('20, 3.4: annotations', () => {
  it.each([
    'kubectl.kubernetes.io/last-applied-configuration',
    'kubectl.kubernetes.io/restartedAt',
    'kubectl.kubernetes.io/Default-container',
    'applyset.kubernetes.io/tooling',
    'meta.helm.sh/release-name',
    'meta.helm.sh/release-namespace',
    'deployment.kubernetes.io/revision',
    'deployment.kubernetes.io/desired-replicas',
    'deprecated.daemonset.template.generation',
    'control-plane.alpha.kubernetes.io/leader',
    'autoscaling.alpha.kubernetes.io/conditions',
    'autoscaling.alpha.kubernetes.io/current-metrics',
    'pv.kubernetes.io/bind-completed',
    'pv.kubernetes.io/bound-by-controller',
    'volume.kubernetes.io/selected-node',
    'volume.kubernetes.io/storage-provisioner',
    'volume.beta.kubernetes.io/storage-provisioner',
    'batch.kubernetes.io/job-tracking',
    'endpoints.kubernetes.io/last-change-trigger-time',
    'config.kubernetes.io/origin',
    'alpha.config.kubernetes.io/transformations',
    'objectset.rio.cattle.io/applied',
    'objectset.rio.cattle.io/id',
  ])('strips %s', (key) => {
    expect(annotated({ [key]: 'x', team: 'blue' })).toEqual({ team: 'blue' });
    expect(annotated({ [key]: 'x' })).toBeUndefined();
  });

  it.each([
    'kubectl.kubernetes.io/default-container',
    'kubectl.kubernetes.io/default-logs-container',
    'autoscaling.alpha.kubernetes.io/metrics',
    'autoscaling.alpha.kubernetes.io/behavior',
    'kubectl.kubernetes.io',
    'my.kubectl.kubernetes.io/last-applied-configuration',
    'kubectl.kubernetes.io.example.test/x',
    'meta.helm.sh/release-names',
    'meta.helm.sh/other',
    'deployment.kubernetes.iox/revision',
    'pv.kubernetes.io/provisioned-by',
    'volume.beta.kubernetes.io/storage-class',
    'volume.kubernetes.io/selected-nodes',
    'config.kubernetes.io/origins',
    'config.kubernetes.io/local-config',
    'rio.cattle.io/id',
    'batch.kubernetes.io/other',
    'cert-manager.io/inject-ca-from',
    'kro.run/x',
  ])('keeps %s', (key) => {
    expect(annotated({ [key]: '' })).toEqual({ [key]: '' });
  });

  it('only of the root object: templates are intent', () => {
    const metadata = {
      labels: { 'kro.run/x': 'y', 'pod-template-hash': 'z' },
      annotations: { 'kubectl.kubernetes.io/restartedAt': 'now', 'meta.helm.sh/release-name': 'x' },
    };
    const spec = { template: { metadata }, list: [{ metadata }] };

    expect(shown({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec })['spec']).toEqual(spec);
  });
});

describe('20, 3.2: metadata', () => {
  it('only name, namespace, labels and annotations are written', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        generateName: 'a-',
        namespace: 'shop',
        selfLink: '/api',
        uid: 'u',
        resourceVersion: '1',
        generation: 3,
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionTimestamp: '2026-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 30,
        labels: { a: 'b' },
        annotations: { c: 'd' },
        ownerReferences: [{ controller: false }],
        finalizers: ['x.test/f'],
        managedFields: [{}],
        clusterName: 'old',
        somethingNew: { of: 'the future' },
      },
    };

    expect(shown(object)['metadata']).toEqual({
      name: 'a',
      namespace: 'shop',
      labels: { a: 'b' },
      annotations: { c: 'd' },
    });
  });

  it.each([{ value: null }, { value: {} }, { value: 'text' }, { value: [] }, { value: ['kro.run/x'] }, { value: 7 }])(
    'labels and annotations that are $value are left out, and nothing breaks',
    ({ value }) => {
      const object = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a', labels: value, annotations: value },
        spec: { volumeName: 'pinned' },
      };

      expect(shown(object)).toEqual({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a' },
        spec: { volumeName: 'pinned' },
      });
    },
  );

  it('creationTimestamp: null goes at any depth, within lists too, and leaves everything else', () => {
    const embedded = { metadata: { creationTimestamp: null, name: 'data' }, spec: { a: null } };
    const object = {
      apiVersion: 'example.test/v1',
      kind: 'Stack',
      metadata: { name: 'a' },
      items: [embedded, [{ metadata: { creationTimestamp: null } }]],
      spec: { volumeClaimTemplates: [embedded], metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } },
      template: { metadata: { creationTimestamp: null } },
      creationTimestamp: null,
    };
    const cleaned = { metadata: { name: 'data' }, spec: { a: null } };

    expect(shown(object)).toEqual({
      apiVersion: 'example.test/v1',
      kind: 'Stack',
      metadata: { name: 'a' },
      items: [cleaned, [{ metadata: {} }]],
      spec: { volumeClaimTemplates: [cleaned], metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } },
      template: { metadata: {} },
      creationTimestamp: null,
    });
  });
});
