import type { LooseObject } from '@gitops-reverser/devcluster';

/** The namespace the demo mirrors. */
export const demoNamespace = 'demo';
/** The folder of the repository it is mirrored into. */
export const demoFolder = 'live-cluster';
export const demoBranch = 'main';

/** An object with whatever fields its kind has. */
type Loose = LooseObject & { readonly metadata: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>;

const group = 'configbutler.ai/v1alpha3';

export interface Remote {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/** A kind of the demo's own: custom resources are mirrored like any other. */
export const orchardDefinition: Loose = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'orchards.demo.example.com' },
  spec: {
    group: 'demo.example.com',
    names: { kind: 'Orchard', listKind: 'OrchardList', plural: 'orchards', singular: 'orchard' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.trees', statusReplicasPath: '.status.planted' },
        },
        additionalPrinterColumns: [
          { name: 'Variety', type: 'string', jsonPath: '.spec.variety' },
          { name: 'Trees', type: 'integer', jsonPath: '.spec.trees' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['variety'],
                properties: {
                  variety: { type: 'string', minLength: 1 },
                  trees: { type: 'integer', minimum: 0, default: 1 },
                },
              },
              status: { type: 'object', properties: { planted: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

/** What a user writes to have a namespace mirrored. */
export function quickStart(remote: Remote): readonly Loose[] {
  const namespace = demoNamespace;
  return [
    {
      apiVersion: group,
      kind: 'KubeProvider',
      metadata: { name: 'default' },
      spec: { connection: { inCluster: {} }, allowedGitTargets: [{ namespaces: { names: [namespace] } }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'git-creds', namespace },
      stringData: { username: remote.user, password: remote.password },
    },
    {
      apiVersion: group,
      kind: 'GitProvider',
      metadata: { name: 'home', namespace },
      spec: {
        url: remote.url,
        secretRef: { name: 'git-creds' },
        allowedGitBranches: [{ branches: [demoBranch] }],
      },
    },
    {
      apiVersion: group,
      kind: 'GitBranch',
      metadata: { name: 'main', namespace },
      spec: { gitProviderRef: { name: 'home' }, branch: demoBranch, allowedGitTargets: [{}] },
    },
    {
      apiVersion: group,
      kind: 'GitTarget',
      metadata: { name: 'live', namespace },
      spec: {
        gitBranchRef: { name: 'main' },
        path: demoFolder,
        commit: { window: { idleTimeout: '1s', maxDuration: '10s' } },
        // A repository kept from an earlier run follows the fresh cluster.
        prune: { mode: 'Always' },
      },
    },
    {
      apiVersion: group,
      kind: 'WatchRule',
      metadata: { name: 'basics', namespace },
      spec: {
        gitTargetRef: { name: 'live' },
        rules: [
          { apiGroups: [''], resources: ['configmaps', 'services'] },
          { apiGroups: ['apps'], resources: ['deployments'] },
          { apiGroups: ['batch'], resources: ['cronjobs'] },
          { apiGroups: ['demo.example.com'], resources: ['orchards'] },
        ],
      },
    },
  ];
}

/** What lives in the namespace before anybody mirrors it. */
export const residents: readonly Loose[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'press', namespace: demoNamespace, labels: { app: 'press' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'press' } },
      template: {
        metadata: { labels: { app: 'press' } },
        spec: { containers: [{ name: 'press', image: 'example.com/press:1.0', ports: [{ containerPort: 8080 }] }] },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'press', namespace: demoNamespace },
    spec: { selector: { app: 'press' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
  {
    apiVersion: 'demo.example.com/v1',
    kind: 'Orchard',
    metadata: { name: 'north', namespace: demoNamespace },
    spec: { variety: 'Boskoop', trees: 12 },
  },
];
