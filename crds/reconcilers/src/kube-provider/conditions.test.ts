import { conditionTable } from '../testing/condition-table.fixture.js';
import { surfaceOf } from '../testing/fake-runtime.fixture.js';
import { CANARY, type World } from '../testing/world.fixture.js';

const remote = { secretRef: { name: 'ws-kubeconfig' } };

function kubeconfig(change: { readonly cluster?: object; readonly user?: object; readonly context?: string } = {}) {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'ws', cluster: { server: 'https://ws.example.test:6443', ...change.cluster } }],
    users: [{ name: 'me', user: { token: `${CANARY}-token`, ...change.user } }],
    contexts: [{ name: 'ws', context: { cluster: 'ws', user: 'me' } }],
    'current-context': change.context ?? 'ws',
  });
}
const withSecret =
  (values: Readonly<Record<string, string>>, connection: object = remote) =>
  (world: World): void => {
    world.cluster.secret('reverser-system', 'ws-kubeconfig', values);
    world.amend('KubeProvider', { connection });
  };
const refused = (reason: string, why: string, change: Parameters<typeof kubeconfig>[0], ...says: string[]) => ({
  row: `Validated False ${reason}`,
  why,
  level: 'stalled' as const,
  says: ['KubeProvider default', 'Secret reverser-system/ws-kubeconfig', 'key value', ...says],
  given: withSecret({ value: kubeconfig(change) }),
});
const away = (reason: string, level: 'stalled' | 'progress') => ({
  row: `SourceClusterReachable False ${reason}`,
  why: 'the source says so',
  level,
  says: ['no answer from the API server'],
  given: (world: World) => {
    world.runtime.surface = surfaceOf({
      reach: { state: 'unreachable', reason, message: 'no answer from the API server' },
    });
  },
});

conditionTable(
  'KubeProvider',
  [
    { row: 'Validated True InCluster', why: 'the quick start', level: 'ok', says: ["operator's own account"] },
    {
      row: 'Validated True InCluster',
      why: '5.4: every source namespace for whoever a selector admits deserves a word',
      level: 'ok',
      says: ['spec.allowedGitTargets', "sourceNamespaces '*'", 'Secrets included', 'name the namespaces'],
      given: (world) =>
        world.amend('KubeProvider', { allowedGitTargets: [{ namespaces: { selector: {} }, sourceNamespaces: ['*'] }] }),
    },
    {
      row: 'Validated True Succeeded',
      why: 'a kubeconfig under the default key',
      level: 'ok',
      says: ['can be used'],
      given: withSecret({ value: kubeconfig() }),
    },
    {
      row: 'Validated True Succeeded',
      why: 'a kcp path under dialect kubernetes works, with a word',
      level: 'ok',
      says: ['/clusters/', 'dialect kcp'],
      given: withSecret({
        'value.yaml': kubeconfig({ cluster: { server: 'https://kcp.example.test/clusters/root:plum' } }),
      }),
    },
    {
      row: 'Validated False KubeConfigSecretNotFound',
      why: 'no Secret in the namespace of the operator',
      level: 'stalled',
      says: ['spec.connection.secretRef', 'Secret reverser-system/ws-kubeconfig', "operator's namespace"],
      given: (world) => {
        world.cluster.secret('shop', 'ws-kubeconfig', { value: kubeconfig() });
        world.amend('KubeProvider', { connection: remote });
      },
    },
    {
      row: 'Validated False KubeConfigKeyNotFound',
      why: 'no other key is tried',
      level: 'stalled',
      says: ['Secret reverser-system/ws-kubeconfig', 'value or value.yaml'],
      given: withSecret({ kubeconfig: kubeconfig() }),
    },
    {
      row: 'Validated False KubeConfigKeyNotFound',
      why: 'the named key, and only that',
      level: 'stalled',
      says: ['no content under admin'],
      given: withSecret({ value: kubeconfig() }, { secretRef: { name: 'ws-kubeconfig', key: 'admin' } }),
    },
    {
      row: 'Validated False KubeConfigInvalid',
      why: 'no kubeconfig at all',
      level: 'stalled',
      says: ['Secret reverser-system/ws-kubeconfig'],
      given: withSecret({ value: `${CANARY}: [` }),
    },
    refused('KubeConfigInvalid', 'a current context that is not there', { context: 'other' }, 'current-context'),
    refused('KubeConfigExecNotAllowed', 'FC-SEC-3: a program', { user: { exec: { command: '/bin/sh' } } }, 'exec'),
    refused(
      'KubeConfigInsecureTLSNotAllowed',
      'FC-SEC-3: certificates unchecked',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'insecure-skip-tls-verify',
    ),
    refused(
      'KubeConfigProxyNotAllowed',
      'a proxy chooses the host we dial',
      { cluster: { 'proxy-url': 'http://proxy.example.test' } },
      'proxy-url',
    ),
    refused(
      'KubeConfigFileReferenceNotAllowed',
      "FC-SEC-3: a file of the operator's pod",
      { user: { tokenFile: '/var/run/secrets/token' } },
      'tokenFile',
    ),
    {
      row: 'Validated Unknown Progressing',
      why: 'whether the Secret is there cannot be told (ST-8)',
      level: 'progress',
      says: ['Secret reverser-system/ws-kubeconfig cannot be read', 'tried again'],
      given: (world) => {
        withSecret({ value: kubeconfig() })(world);
        world.cluster.secretTrouble = 403;
      },
    },
    {
      row: 'Validated True Succeeded',
      why: 'an open connection outlives a Secret that cannot be read',
      level: 'ok',
      says: ['stays in use', 'cannot be read'],
      given: withSecret({ value: kubeconfig() }),
      when: (world) => {
        world.cluster.secretTrouble = 500;
        world.annotate('KubeProvider', 'again');
      },
    },
    {
      row: 'Validated False PluginUnavailable',
      why: 'PL-4: a dialect nobody serves, used by nobody',
      level: 'stalled',
      says: ['spec.connection.dialect', 'kcp', 'loaded: kubernetes', '@gitops-reverser/plugin-kcp'],
      given: (world) => {
        world.only('KubeProvider');
        world.amend('KubeProvider', { connection: { inCluster: {}, dialect: 'kcp' } });
      },
    },
    {
      row: 'Validated False InvalidSpec',
      why: 'stored before the rule existed',
      level: 'stalled',
      says: ['spec.connection', 'exactly one'],
      given: (world) => world.amend('KubeProvider', { connection: { inCluster: {}, ...remote } }),
    },
    {
      row: 'Validated False InvalidSpec',
      why: '12.2: a malformed stored selector shows on the lender',
      level: 'stalled',
      says: ['spec.allowedGitTargets[0].namespaces'],
      given: (world) => world.amend('KubeProvider', { allowedGitTargets: [{ namespaces: { names: ['*'] } }] }),
    },
    {
      row: 'Validated False RetiredField',
      why: 'the grant of an earlier release',
      level: 'stalled',
      says: ['spec.accessFrom', 'spec.allowedGitTargets'],
      given: (world) => world.amend('KubeProvider', { accessFrom: {} }),
    },
    {
      row: 'SourceClusterReachable Unknown AwaitingDiscovery',
      why: 'nobody looked so far',
      level: 'progress',
      says: ['waiting for the first look'],
      given: (world) => void (world.runtime.surface = undefined),
    },
    { row: 'SourceClusterReachable True LocalCluster', why: 'the quick start', level: 'ok', says: ['answered'] },
    {
      row: 'SourceClusterReachable True RemoteCluster',
      why: 'over a kubeconfig',
      level: 'ok',
      says: ['answered'],
      given: withSecret({ value: kubeconfig() }),
    },
    away('SourceClusterUnreachable', 'progress'),
    away('SourceClusterAuthenticationFailed', 'stalled'),
    away('SourceClusterAccessDenied', 'stalled'),
  ],
  {
    'AuditFactsReceived Received': 'attribution comes with its own plugin',
    'AuditFactsReceived TransportUnavailable': 'attribution comes with its own plugin',
    'AuditFactsReceived NoAuditDelivery': 'attribution comes with its own plugin',
    'AuditFactsReceived RouteUnused': 'attribution comes with its own plugin',
  },
);
