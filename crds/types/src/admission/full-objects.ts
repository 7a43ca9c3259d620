import { apiVersion } from '../kind.js';
import type { KindName, ObjectOf, SpecOf } from '../kinds/kinds.js';

/** The namespace every namespaced admission case lives in. */
export const admissionNamespace = 'admission';

const selector = {
  matchLabels: { tier: 'tenant' },
  matchExpressions: [{ key: 'example.com/scratch', operator: 'NotIn', values: ['yes'] }],
} as const;
const namespaces = { names: ['team-a'], selector } as const;
const agePublicKey = 'age1wdparewgc469c4cez89n5s504qkdl3eqzaf8z8dg8fuwxpnq337qw2nq47';

/** For each kind one legal spec in which every field is set; a second where two fields exclude each other. */
const fullSpecs: { readonly [K in KindName]: readonly SpecOf<K>[] } = {
  GitProvider: [
    {
      url: 'https://git.example.com/orchard/cluster-state.git',
      secretRef: { name: 'git-creds' },
      knownHostsRef: { kind: 'ConfigMap', name: 'host-keys' },
      tls: { caRef: { kind: 'Secret', name: 'corp-ca' } },
      proxy: { url: 'http://proxy.example.com:3128', secretRef: { name: 'proxy-creds' } },
      commit: {
        committer: { name: 'Plum Bot', email: 'bot@plum.example.com' },
        signing: { secretRef: { name: 'signing' }, generateWhenMissing: true },
      },
      allowedGitBranches: [{ namespaces, branches: ['main', 'try/*'] }],
    },
  ],
  GitBranch: [
    {
      gitProviderRef: { name: 'home', namespace: 'team-a' },
      branch: 'editor/live',
      parentBranch: 'main',
      allowedGitTargets: [{ namespaces, paths: ['teams/{namespace}'] }],
    },
  ],
  GitTarget: [
    {
      gitBranchRef: { name: 'main', namespace: 'team-a' },
      path: 'environments/prod',
      kubeProviderRef: { name: 'default' },
      commit: {
        window: { idleTimeout: '3s', maxDuration: '30s' },
        message: {
          liveTemplate: '{{ .Count }} changes',
          requestTemplate: '{{ .RequestMessage }}',
          reconcileTemplate: 'resync',
        },
      },
      placement: {
        byType: { 'v1/secrets': '{namespace}/secrets/{name}{sensitiveSuffix}' },
        default: '{namespace}/{groupPath}/{resource}/{name}{sensitiveSuffix}',
        useKustomize: true,
      },
      serializeNamespace: true,
      prune: { mode: 'Always' },
      onRefusal: 'PushEmptyCommit',
      suspend: true,
      includeGenerated: ['kube-root-ca'],
      excludeGenerated: ['controller-owned'],
      encryption: {
        provider: 'sops',
        secretRef: { name: 'age' },
        age: {
          enabled: true,
          recipients: { publicKeys: [agePublicKey], extractFromSecret: true, generateWhenMissing: true },
        },
        recipientsFrom: 'Repository',
        encryptedRegex: '^(data|stringData|spec)$',
      },
    },
  ],
  KubeProvider: [
    {
      connection: { dialect: 'kcp', secretRef: { name: 'kubeconfig', key: 'value' } },
      client: { qps: 10, burst: 20 },
      attribution: { auditRoute: 'route-a', clientCertificate: { subjectAltName: 'kcp-shard-0.audit.example.com' } },
      allowedGitTargets: [{ namespaces, sourceNamespaces: ['{namespace}', 'shared'] }],
      allowedApplierClaims: [
        { namespaces, kinds: ['FluxClaim', 'ArgoCDClaim'], applierNamespaces: ['{namespace}', 'flux-*'] },
      ],
    },
    {
      connection: { inCluster: {} },
      attribution: { clientCertificate: { sha256Fingerprint: '0123456789abcdef'.repeat(4) } },
      allowedGitTargets: [{ namespaces: { selector: {} }, sourceNamespaces: ['*'] }],
    },
  ],
  WatchRule: [
    {
      gitTargetRef: { name: 'live' },
      rules: [
        {
          resources: ['configmaps', 'secrets'],
          apiGroups: [''],
          apiVersions: ['v1'],
          objectSelector: selector,
          sourceNamespace: '*',
        },
      ],
    },
  ],
  ClusterWatchRule: [
    {
      gitTargetRef: { name: 'live', namespace: 'team-a' },
      rules: [
        {
          resources: ['clusterroles'],
          apiGroups: ['rbac.authorization.k8s.io'],
          apiVersions: ['v1'],
          objectSelector: selector,
        },
      ],
    },
  ],
  CommitRequest: [
    {
      gitTargetRef: { name: 'live' },
      message: 'scale the press for harvest week\n\ntwo more',
      window: { attach: 'Next', attachTimeout: '5s', idleTimeout: '1s', maxDuration: '10s' },
      whenNothingToCommit: 'CommitEmpty',
      ttlAfterFinished: '24h',
    },
  ],
  GitReceiver: [{ type: 'GitHub', secretRef: { name: 'webhook' }, namespaces, suspend: true }],
  FluxClaim: [
    {
      kubeProviderRef: { name: 'in-cluster' },
      gitBranchRef: { name: 'editor' },
      kustomizationRef: { name: 'plum-prod', namespace: 'flux-system' },
      convergeInterval: '10m',
      timeout: '10m',
      suspend: true,
      releasePolicy: 'Resume',
      whenRefused: 'Apply',
      sourceHold: 'DuringApply',
      applierFieldManagers: ['kustomize-controller'],
    },
  ],
  ArgoCDClaim: [
    {
      kubeProviderRef: { name: 'in-cluster' },
      gitBranchRef: { name: 'editor' },
      applicationRef: { name: 'fig-prod', namespace: 'argocd' },
      convergeInterval: 0,
      timeout: '10m',
      suspend: true,
      releasePolicy: 'KeepHeld',
      whenRefused: 'Apply',
      prune: 'Never',
      applierFieldManagers: ['argocd-controller'],
    },
  ],
};

const isClusterScoped = (kind: KindName): boolean => kind === 'KubeProvider' || kind === 'ClusterWatchRule';

/** An object of a kind in the namespace of the cases. */
export const anObject = <K extends KindName>(kind: K, name: string, spec: unknown): ObjectOf<K> => ({
  apiVersion,
  kind,
  metadata: isClusterScoped(kind) ? { name } : { name, namespace: admissionNamespace },
  spec: spec as SpecOf<K>,
});
export const fullSpecsOf = (kind: KindName): readonly Readonly<Record<string, unknown>>[] =>
  fullSpecs[kind] as readonly Readonly<Record<string, unknown>>[];
