import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReverserError, type Clock, type Logger, type Redactor, type Runtime } from '@gitops-reverser/kernel-api';
import { openKernel, type Kernel } from '@gitops-reverser/kernel-core';
import { createRuntime, type RuntimeLimits } from '@gitops-reverser/kernel-pipeline';
import { startReconcilers, type RunningReconcilers } from '@gitops-reverser/crd-reconcilers';
import {
  inClusterCredentials,
  loadTrustedKubeconfig,
  openKubeConnection,
  type KubeConnection,
  type KubeCredentials,
} from '@gitops-reverser/toolkit-kube';
import { createMetrics, type MetricsRegistry } from '@gitops-reverser/toolkit-telemetry';
import { OFFERS } from './check-plugins.js';
import type { Configuration } from './config/configuration.js';
import { startHealthServer } from './http/health-server.js';
import { startMetricsServer } from './http/metrics-server.js';
import { fingerprint, selfSigned, type Certificate } from './http/self-signed.js';
import { installedCrds } from './installed-crds.js';
import { metricsAccess } from './metrics-access.js';
import { BUILT_IN, pluginEntries } from './plugins.js';
import { createRepositories } from './repositories.js';
import { sensitivity, targetChecks } from './target-checks.js';
import { COMMIT, VERSION } from './version.js';

export interface RunOptions {
  readonly configuration: Configuration;
  /** Folder third-party plugins are looked up from. */
  readonly configFolder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Other bounds and paces of the river than those that suit production. */
  readonly limits?: Partial<RuntimeLimits>;
}

/** Share of the grace that publishing may take; the rest is for letting go. */
const PUBLISH_SHARE = 0.8;

/**
 * Builds the ports, starts the kernel and the reconcilers, serves the endpoints, and stops down the river when asked.
 *
 * @throws ReverserError or PluginsBroken when it cannot start; a cluster or remote that is away is no reason
 */
export async function run(options: RunOptions): Promise<void> {
  const { configuration, clock, logger, signal } = options;
  const { settings } = configuration;
  const credentials = await localCredentials(settings.kubeconfig, clock);
  const metrics = createMetrics({ logger });
  await using connection = openKubeConnection({ credentials, clock });
  await using cache = await cacheFolder(settings.gitCacheDir);
  const crds = installedCrds(connection, clock, logger);
  let reconcilers: RunningReconcilers | undefined;
  await using health = await startHealthServer(settings.healthBindAddress, [
    { name: 'crds', check: crds.missing },
    { name: 'caches', check: () => (reconcilers === undefined ? 'not started' : reconcilers.missing()) },
  ]);
  await using metricsServer = await serveMetrics(options, metrics, connection);
  const { isSensitive } = sensitivity(settings.additionalSensitiveResources);
  const kernel = await startKernel(options, metrics);
  const limits = { ...limitsOf(configuration), ...options.limits };
  const runtime = createRuntime({ scopes: kernel.scopes, clock, logger, metrics, limits, isSensitive });
  try {
    logger.info(
      {
        version: VERSION,
        commit: COMMIT,
        server: connection.server,
        healthPort: health?.port,
        metricsPort: metricsServer?.port,
      },
      'operator started',
    );
    // Before anything is decided: a field that an old CRD prunes may be one that permits less.
    await crds.ready(signal);
    if (!signal.aborted)
      reconcilers = decide(options, { connection, credentials, kernel, runtime, cacheDir: cache.path });
    await aborted(signal);
    logger.info({ graceMs: settings.shutdownGraceMs }, 'stopping');
    health?.leave();
  } finally {
    // The order of the river: no more decisions, then no more changes, then what is there goes out, then connections.
    kernel.beforeClose('reconcilers', async () => reconcilers?.stop());
    kernel.beforeClose('branches', () => runtime.close(settings.shutdownGraceMs * PUBLISH_SHARE));
    kernel.beforeClose('connections', async () => reconcilers?.disconnect());
    await kernel.close(settings.shutdownGraceMs);
  }
}

const limitsOf = ({ settings }: Configuration): Partial<RuntimeLimits> => ({
  queueItems: settings.branchWorkerQueueSize,
  bufferBytes: settings.branchBufferMaxBytes,
  replays: settings.replayConcurrency,
});

interface Decisions {
  readonly connection: KubeConnection;
  readonly credentials: KubeCredentials;
  readonly kernel: Kernel;
  readonly runtime: Runtime;
  readonly cacheDir: string;
}

/** Starts the reconcilers on everything they need. */
function decide(
  { configuration, clock, logger, redactor }: RunOptions,
  { connection, credentials, kernel, runtime, cacheDir }: Decisions,
): RunningReconcilers {
  const { settings, podNamespace, podName } = configuration;
  const checks = targetChecks(settings.additionalSensitiveResources, kernel.registry.stripRules);
  const repositories = createRepositories({
    clock,
    logger: logger.child({ component: 'git' }),
    redactor,
    version: VERSION,
    cacheDir,
    allowHttp: settings.insecureAllowGitHttp,
  });
  return startReconcilers({
    connection,
    localCredentials: credentials,
    runtime,
    repositories,
    clock,
    logger,
    operatorNamespace: podNamespace,
    instance: podName,
    allowGitHttp: settings.insecureAllowGitHttp,
    kubeconfigPolicy: {
      allowExec: settings.insecureKubeconfigExec,
      allowInsecureTls: settings.insecureKubeconfigTls,
      allowProxy: settings.insecureKubeconfigProxy,
    },
    sourceLimits: { qps: settings.sourceQps, burst: settings.sourceBurst },
    generatedFilters: checks.generatedFilters,
    encryptionProviders: served(kernel, 'writer'),
    dialects: served(kernel, 'source'),
    redact: (text) => redactor.redact(text),
    isSensitive: checks.isSensitive,
    validateTarget: checks.problems,
  });
}

async function localCredentials(kubeconfig: string, clock: Clock): Promise<KubeCredentials> {
  if (kubeconfig !== '') return await loadTrustedKubeconfig(kubeconfig, { clock });
  try {
    return inClusterCredentials({ clock });
  } catch (cause) {
    throw new ReverserError({
      reason: 'NoControlCluster',
      retry: 'when-changed',
      message: 'no control cluster: this is no pod with a service account; name a kubeconfig with --kubeconfig',
      cause,
    });
  }
}

async function startKernel(
  { configuration, configFolder, clock, logger }: RunOptions,
  metrics: MetricsRegistry,
): Promise<Kernel> {
  return await openKernel({
    entries: pluginEntries(configuration),
    builtIn: BUILT_IN,
    from: configFolder,
    offers: OFFERS,
    clock,
    logger,
    metrics,
    usualPackage: (_point, value) => `@gitops-reverser/plugin-${value}`,
  });
}

/** Values that some loaded plugin serves at a point: dialects of a source, encryption providers of a writer. */
function served({ registry }: Kernel, wanted: 'source' | 'writer'): readonly string[] {
  const values = registry.plugins.flatMap(({ contributions }) =>
    contributions.filter(({ point }) => point === wanted).flatMap(({ serves }) => serves),
  );
  return [...new Set(values)].sort();
}

async function serveMetrics(
  { configuration, clock, logger }: RunOptions,
  metrics: MetricsRegistry,
  connection: KubeConnection,
) {
  const { metricsBindAddress, metricsInsecure, metricsCertPath, metricsCertName, metricsCertKey } =
    configuration.settings;
  const shared = {
    bindAddress: metricsBindAddress,
    contentType: metrics.contentType,
    scrape: () => metrics.scrape(),
    buildInfo: { version: VERSION, commit: COMMIT, node: process.version },
  };
  if (metricsInsecure || metricsBindAddress === '0') return await startMetricsServer(shared);
  const names = [`gitops-reverser-metrics.${configuration.podNamespace}.svc`, 'localhost'];
  const tls =
    metricsCertPath === ''
      ? selfSigned(names, clock.now())
      : await certificate(metricsCertPath, metricsCertName, metricsCertKey);
  if (metricsCertPath === '')
    logger.info({ sha256: fingerprint(tls.cert) }, 'metrics are served with a self-signed certificate');
  return await startMetricsServer({ ...shared, tls, authorize: metricsAccess(connection) });
}

async function certificate(folder: string, certName: string, keyName: string): Promise<Certificate> {
  const read = async (name: string): Promise<string> => {
    try {
      return await readFile(join(folder, name), 'utf8');
    } catch (cause) {
      throw new ReverserError({
        reason: 'CertificateUnreadable',
        retry: 'when-changed',
        message: `--metrics-cert-path: ${join(folder, name)} cannot be read; mount the certificate, or leave the setting empty for a self-signed one`,
        cause,
      });
    }
  };
  return { cert: await read(certName), key: await read(keyName) };
}

/** The given folder, or one of our own that goes when we go. */
async function cacheFolder(given: string): Promise<AsyncDisposable & { readonly path: string }> {
  if (given !== '') return { path: given, [Symbol.asyncDispose]: async () => undefined };
  const path = await mkdtemp(join(tmpdir(), 'gitops-reverser-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
