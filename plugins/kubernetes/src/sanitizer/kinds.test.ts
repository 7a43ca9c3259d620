import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { kept, shown } from './sanitizing.fixture.js';

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
    why: 'access modes and requests are intent as well',
    annotations: {},
    spec: {
      volumeMode: 'Block',
      storageClassName: '',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
    },
    expected: {
      volumeMode: 'Block',
      storageClassName: '',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
    },
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

describe('20, 3.5: by group and kind', () => {
  /** The payload of an object after sanitizing. */
  const payload = (object: JsonObject, metadata: JsonObject = {}): JsonObject => {
    const {
      apiVersion,
      kind,
      metadata: _metadata,
      ...rest
    } = shown({
      ...object,
      metadata: { name: 'a', ...metadata },
    });
    return rest;
  };
  const service = (spec: JsonObject): JsonValue | undefined =>
    payload({ apiVersion: 'v1', kind: 'Service', spec })['spec'];

  it.each<{ why: string; spec: JsonObject; expected: JsonObject }>([
    {
      why: 'headless by its list alone',
      spec: { clusterIPs: ['None'], ports: [] },
      expected: { clusterIPs: ['None'], ports: [] },
    },
    { why: 'an allocated list alone', spec: { clusterIPs: ['10.0.0.1'] }, expected: {} },
    { why: 'an empty address', spec: { clusterIP: '', clusterIPs: ['None'] }, expected: {} },
    {
      why: 'an ExternalName',
      spec: { type: 'ExternalName', externalName: 'db.example.test', sessionAffinity: 'None' },
      expected: { type: 'ExternalName', externalName: 'db.example.test', sessionAffinity: 'None' },
    },
    {
      why: 'a balancer keeps ports, address and policy its author may have chosen',
      spec: {
        type: 'LoadBalancer',
        loadBalancerIP: '192.0.2.7',
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 31000,
        ports: [{ port: 80, nodePort: 30080 }],
      },
      expected: {
        type: 'LoadBalancer',
        loadBalancerIP: '192.0.2.7',
        externalTrafficPolicy: 'Local',
        ports: [{ port: 80, nodePort: 30080 }],
      },
    },
    {
      why: 'both families without a policy',
      spec: { ipFamilies: ['IPv4', 'IPv6'] },
      expected: { ipFamilies: ['IPv4', 'IPv6'] },
    },
    {
      why: 'IPv4 with a wish for more',
      spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
      expected: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
    },
    {
      why: 'dual stack that is required',
      spec: { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack', clusterIP: 'fd00::1' },
      expected: { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
    },
    { why: 'IPv4 without a policy', spec: { ipFamilies: ['IPv4'] }, expected: {} },
  ])('FC-SAN-4: a Service: $why', ({ spec, expected }) => {
    expect(service(spec)).toEqual(expected);
  });

  it('fields of a Service that are no Service of the core stay', () => {
    const spec = { clusterIP: '10.0.0.1', healthCheckNodePort: 1, internalTrafficPolicy: 'Cluster' };

    expect(payload({ apiVersion: 'mesh.example.test/v1', kind: 'Service', spec })).toEqual({ spec });
  });

  it.each<{ why: string; annotations: JsonObject; expected: JsonObject }>([
    {
      why: 'bound by a controller',
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' },
      expected: {},
    },
    {
      why: 'bound to what its author pinned',
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
      expected: { volumeName: 'pv-7' },
    },
    { why: 'not bound', annotations: {}, expected: { volumeName: 'pv-7' } },
  ])('FC-SAN-5: a claim $why', ({ annotations, expected }) => {
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      spec: { volumeName: 'pv-7', volumeMode: 'Filesystem' },
    };

    expect(payload(claim, { annotations })['spec']).toEqual(expected);
  });

  it('a volume names its claim, not which one of that name', () => {
    const claimRef = { namespace: 'shop', name: 'raw', uid: 'u', resourceVersion: '7', apiVersion: 'v1' };

    expect(payload({ apiVersion: 'v1', kind: 'PersistentVolume', spec: { claimRef } })['spec']).toEqual({
      claimRef: { namespace: 'shop', name: 'raw', apiVersion: 'v1' },
    });
  });

  it('a service account keeps what was not minted for it', () => {
    const secrets = [{ name: 'a-token-x7z' }, { name: 'b-token-x7z' }, { name: 'a-token' }, { other: 'a-token-1' }];
    const imagePullSecrets = [{ name: 'a-dockercfg-k2' }];

    expect(payload({ apiVersion: 'v1', kind: 'ServiceAccount', secrets, imagePullSecrets })).toEqual({
      secrets: [{ name: 'b-token-x7z' }, { name: 'a-token' }, { other: 'a-token-1' }],
    });
    expect(
      payload({ apiVersion: 'v1', kind: 'ServiceAccount', imagePullSecrets: [{ name: 'b-dockercfg-k2' }] }),
    ).toEqual({
      imagePullSecrets: [{ name: 'b-dockercfg-k2' }],
    });
    expect(payload({ apiVersion: 'v1', kind: 'ServiceAccount', secrets: null, imagePullSecrets: 'odd' })).toEqual({
      secrets: null,
      imagePullSecrets: 'odd',
    });
  });

  it('a Namespace loses every finalizer of its spec, and what else is there stays', () => {
    const finalizers = ['kubernetes', 'extra.example.test/f'];

    expect(payload({ apiVersion: 'v1', kind: 'Namespace', spec: { finalizers } })).toEqual({});
    expect(payload({ apiVersion: 'v1', kind: 'Namespace', spec: { finalizers, other: 1 } })).toEqual({
      spec: { other: 1 },
    });
  });

  it.each([
    { key: 'job-name', value: 'a', kept: false },
    { key: 'job-name', value: 'another', kept: true },
    { key: 'batch.kubernetes.io/job-name', value: 'a', kept: false },
    { key: 'controller-uid', value: '3f0c', kept: false },
    { key: 'batch.kubernetes.io/controller-uid', value: '3f0c', kept: false },
    { key: 'batch.kubernetes.io/controller-uid', value: 'ffff', kept: true },
    { key: 'team', value: 'a', kept: true },
  ])('FC-SAN-13: a label $key: $value of the Job itself, kept: $kept', ({ key, value, kept: isKept }) => {
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a', uid: '3f0c', labels: { [key]: value } } };

    expect(kept(job).metadata.labels).toEqual(isKept ? { [key]: value } : undefined);
  });

  it('FC-SAN-13: in the template of a Job these labels go whatever they say, and empty maps with them', () => {
    const labels = { 'job-name': 'another', 'controller-uid': 'x' };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: {} } };

    expect(payload({ apiVersion: 'batch/v1', kind: 'Job', spec })).toEqual({ spec: { template: { spec: {} } } });
    expect(payload({ apiVersion: 'example.test/v1', kind: 'Job', spec })).toEqual({ spec });
    expect(payload({ apiVersion: 'batch/v1', kind: 'CronJob', spec })).toEqual({ spec });
  });

  it('a ClusterRole that only names an aggregation of nothing keeps its rules', () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [{ verbs: ['get'] }] };

    expect(payload(role)).toEqual({ rules: [{ verbs: ['get'] }] });
    expect(payload({ ...role, aggregationRule: null })).toEqual({ rules: [{ verbs: ['get'] }], aggregationRule: null });
    expect(payload({ ...role, kind: 'Role', aggregationRule: {} })).toEqual({
      rules: [{ verbs: ['get'] }],
      aggregationRule: {},
    });
  });

  it.each<{ why: string; annotations: JsonObject; isInjected: boolean }>([
    {
      why: 'by cert-manager, from a Secret',
      annotations: { 'cert-manager.io/inject-ca-from-secret': 'a/b' },
      isInjected: true,
    },
    {
      why: 'by cert-manager, from the API server',
      annotations: { 'cert-manager.io/inject-apiserver-ca': 'true' },
      isInjected: true,
    },
    { why: 'by OpenShift', annotations: { 'service.beta.openshift.io/inject-cabundle': 'true' }, isInjected: true },
    {
      why: 'not by OpenShift',
      annotations: { 'service.beta.openshift.io/inject-cabundle': 'false' },
      isInjected: false,
    },
    {
      why: 'not by what only looks so',
      annotations: { 'my.cert-manager.io/inject-ca-from': 'a/b' },
      isInjected: false,
    },
    { why: 'by nobody', annotations: {}, isInjected: false },
  ])('bundles of certificates are injected: $why', ({ annotations, isInjected }) => {
    const bundle = (at: JsonObject): JsonObject => (isInjected ? at : { ...at, caBundle: 'QUFB' });
    const full: JsonObject = { url: 'https://a.example.test', caBundle: 'QUFB' };
    const empty = bundle({ url: 'https://a.example.test' });

    for (const kind of ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']) {
      const webhooks = [
        { name: 'a', clientConfig: full },
        { name: 'b', deeper: [{ clientConfig: full }] },
      ];
      expect(payload({ apiVersion: 'admissionregistration.k8s.io/v1', kind, webhooks }, { annotations })).toEqual({
        webhooks: [
          { name: 'a', clientConfig: empty },
          { name: 'b', deeper: [{ clientConfig: empty }] },
        ],
      });
    }
    const service = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', spec: full };
    expect(payload(service, { annotations })).toEqual({ spec: empty });
    const other = { apiVersion: 'example.test/v1', kind: 'APIService', spec: full };
    expect(payload(other, { annotations })).toEqual({ spec: full });
  });

  it('an annotation called caBundle, and a default of that name in a schema, are no bundles', () => {
    const annotations = { caBundle: 'mine', 'cert-manager.io/inject-ca-from': 'a/b' };
    const schema = { openAPIV3Schema: { properties: { hook: { default: { caBundle: 'AAAA' } } } } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'd', annotations },
      spec: { conversion: { webhook: { clientConfig: { caBundle: 'AAAA' } } }, versions: [{ name: 'v1', schema }] },
    };

    expect(shown(definition)).toMatchObject({
      metadata: { annotations },
      spec: { conversion: { webhook: { clientConfig: {} } }, versions: [{ name: 'v1', schema }] },
    });
  });

  it('a Pod keeps a volume of its own, and mounts that name it', () => {
    const spec = {
      volumes: [{ name: 'kube-api-access' }, { name: 'kube-api-access-x1', projected: {} }],
      initContainers: [{ name: 'i', volumeMounts: [{ name: 'kube-api-access-x1' }, { name: 'kube-api-access' }] }],
      containers: [{ name: 'c' }],
      ephemeralContainers: [{ name: 'e', volumeMounts: [{ name: 'kube-api-access-x1' }] }],
    };

    expect(payload({ apiVersion: 'v1', kind: 'Pod', spec })['spec']).toEqual({
      volumes: [{ name: 'kube-api-access' }],
      initContainers: [{ name: 'i', volumeMounts: [{ name: 'kube-api-access' }] }],
      containers: [{ name: 'c' }],
      ephemeralContainers: [{ name: 'e' }],
    });
  });

  it.each(['Service', 'Pod', 'PersistentVolumeClaim', 'PersistentVolume', 'ServiceAccount', 'Namespace'])(
    'a %s whose spec is no map breaks nothing',
    (kind) => {
      for (const spec of [null, 'text', [], 7]) expect(payload({ apiVersion: 'v1', kind, spec })).toEqual({ spec });
    },
  );
});
