import { setting, type Setting } from './setting.js';

const RESOURCE = /^[a-z0-9.-]+(\/[a-z0-9.-]+)?$/i;
/** Stricter: what is misspelled here would be written in clear, so it must stop the start (chapter 20, section 14). */
const SENSITIVE_RESOURCE =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[a-z]([-a-z0-9]*[a-z0-9])?$/i;
const ADDRESS = /^(0|(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]*):\d{1,5})$/;

/** Every setting of the operator. The reference table and `--help` are printed from here. */
export const SETTINGS = {
  kubeconfig: setting.text({
    flag: 'kubeconfig',
    section: '',
    default: '',
    doc: 'Kubeconfig of the control cluster, for running outside it. Empty: the service account of the pod.',
  }),
  shutdownGraceMs: setting.duration({
    flag: 'shutdown-grace',
    section: '',
    default: '25s',
    min: '1s',
    max: '10m',
    doc: 'How long a stop may take; keep it below the grace period of the pod.',
  }),
  logLevel: setting.choice({
    flag: 'log-level',
    section: '',
    default: 'info',
    choices: ['error', 'warn', 'info', 'debug'],
    doc: 'Lines below this level are not written.',
  }),
  logFormat: setting.choice({
    flag: 'log-format',
    section: '',
    default: 'json',
    choices: ['json', 'pretty'],
    doc: 'json: one object a line. pretty: one readable line for a person.',
  }),
  healthBindAddress: setting.text({
    flag: 'health-probe-bind-address',
    section: 'health',
    path: ['health', 'probeBindAddress'],
    default: ':8081',
    pattern: ADDRESS,
    expects: 'host:port, or 0',
    doc: 'Where /healthz and /readyz are served; 0 disables them.',
  }),
  metricsBindAddress: setting.text({
    flag: 'metrics-bind-address',
    section: 'metrics',
    default: ':8443',
    pattern: ADDRESS,
    expects: 'host:port, or 0',
    doc: 'Where /metrics and /build-info are served; 0 disables them.',
  }),
  metricsInsecure: setting.flag({
    flag: 'metrics-insecure',
    section: 'metrics',
    default: false,
    doc: 'true: plain HTTP without authentication. false: TLS, and a token the API server accepts.',
  }),
  metricsCertPath: setting.text({
    flag: 'metrics-cert-path',
    section: 'metrics',
    default: '',
    doc: 'Folder of the serving certificate. Empty: a self-signed one is made in memory.',
  }),
  metricsCertName: setting.text({
    flag: 'metrics-cert-name',
    section: 'metrics',
    default: 'tls.crt',
    doc: 'Certificate file in that folder.',
  }),
  metricsCertKey: setting.text({
    flag: 'metrics-cert-key',
    section: 'metrics',
    default: 'tls.key',
    doc: 'Key file in that folder.',
  }),
  sourceQps: setting.integer({
    flag: 'source-cluster-qps',
    section: 'source',
    path: ['source', 'clusterQps'],
    default: 20,
    min: 1,
    max: 1000,
    doc: 'Requests a second to one remote source cluster; watches are not counted.',
  }),
  sourceBurst: setting.integer({
    flag: 'source-cluster-burst',
    section: 'source',
    path: ['source', 'clusterBurst'],
    default: 30,
    min: 1,
    max: 2000,
    doc: 'Requests to one remote source cluster that may go at once.',
  }),
  replayConcurrency: setting.integer({
    flag: 'replay-concurrency',
    section: 'source',
    default: 4,
    min: 1,
    max: 64,
    doc: 'Snapshots that may be read at the same time.',
  }),
  insecureKubeconfigExec: setting.flag({
    flag: 'insecure-kubeconfig-exec',
    section: 'source',
    default: false,
    doc: 'true: a kubeconfig Secret may start programs. false: such a Secret is refused.',
  }),
  insecureKubeconfigTls: setting.flag({
    flag: 'insecure-kubeconfig-tls',
    section: 'source',
    default: false,
    doc: 'true: a kubeconfig Secret may turn certificate checks off or use http. false: such a Secret is refused.',
  }),
  insecureKubeconfigProxy: setting.flag({
    flag: 'insecure-kubeconfig-proxy',
    section: 'source',
    default: false,
    doc: 'true: a kubeconfig Secret may name a proxy. false: such a Secret is refused.',
  }),
  allowedResources: setting.list({
    flag: 'allowed-resources',
    section: 'source',
    pattern: RESOURCE,
    item: 'resource or group/resource',
    doc: 'Types of the default deny list that rules may name after all; events and leases never.',
  }),
  deniedResources: setting.list({
    flag: 'denied-resources',
    section: 'source',
    pattern: RESOURCE,
    item: 'resource or group/resource',
    doc: 'Types no rule may name.',
  }),
  defaultObjectExclusions: setting.choice({
    flag: 'default-object-exclusions',
    section: 'source',
    default: 'all',
    choices: ['all', 'none'],
    doc: 'all: objects the cluster makes by itself are not mirrored. none: they are.',
  }),
  branchWorkerQueueSize: setting.integer({
    flag: 'branch-worker-queue-size',
    section: 'git',
    default: 1000,
    min: 10,
    max: 100_000,
    doc: 'Changes one branch may have waiting.',
  }),
  branchBufferMaxBytes: setting.size({
    flag: 'branch-buffer-max-size',
    section: 'git',
    default: '8Mi',
    min: '64Ki',
    max: '1Gi',
    doc: 'Unpublished content of one branch above which its windows close at once; at four times this no more is accepted.',
  }),
  gitCacheDir: setting.text({
    flag: 'git-cache-dir',
    section: 'git',
    path: ['git', 'cacheDir'],
    default: '',
    doc: 'Folder for copies of remote objects; may be lost at any time. Empty: a folder of its own below the temporary one.',
  }),
  insecureAllowGitHttp: setting.flag({
    flag: 'insecure-allow-git-http',
    section: 'git',
    default: false,
    doc: 'true: plain http repository URLs are allowed. false: such a GitProvider is refused.',
  }),
  additionalSensitiveResources: setting.list({
    flag: 'additional-sensitive-resources',
    section: 'writer',
    pattern: SENSITIVE_RESOURCE,
    item: 'resource or group/resource',
    doc: 'Types treated like Secrets; can only widen.',
  }),
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = { readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never };
