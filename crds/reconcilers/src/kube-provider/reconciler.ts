import {
  hasReason,
  messageOf,
  type Clock,
  type ClusterHandle,
  type ClusterStatus,
  type Runtime,
} from '@gitops-reverser/kernel-api';
import { applyDefaults, type Gate } from '@gitops-reverser/crd-types';
import type { Findings } from '../controller.js';
import type { Declared } from '../objects.js';
import { storedProblem } from '../validated.js';
import {
  openCluster,
  rateLimitOf,
  resolveConnection,
  type CredentialOptions,
  type CredentialVerdict,
  type OpenCluster,
} from './connections.js';

/** Content of a connection's Secret is looked at again this often (chapter 30, SC-11). */
const CREDENTIAL_CHECK_MS = 30_000;
/** The same while something is wrong with it: somebody is waiting. */
const CREDENTIAL_RETRY_MS = 10_000;

export interface KubeProviderOptions extends CredentialOptions {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly limits: { readonly qps: number; readonly burst: number };
  /** Values of `spec.connection.dialect` that some loaded source serves. */
  readonly dialects: readonly string[];
  /** Admitted targets of a provider: while there are none it is not dialed. */
  targetCount(name: string): number;
  /** Targets of this cluster must let go before it closes. */
  release(name: string): Promise<void>;
  /** The cluster has something new to say. */
  onChange(name: string): void;
}

/** Which API server: checks the connection, keeps the cluster open while targets use it, and says whether it can be reached. */
export class KubeProviderReconciler {
  readonly #options: KubeProviderOptions;
  readonly #open = new Map<string, OpenCluster & { readonly subscription: Disposable }>();
  readonly #versions = new Map<string, { readonly version: string; readonly loadedAt: Date }>();

  constructor(options: KubeProviderOptions) {
    this.#options = options;
  }

  /** The open cluster; another one after it was closed and opened again. */
  handle(name: string): ClusterHandle | undefined {
    return this.#open.get(name)?.handle;
  }

  async forget(name: string): Promise<void> {
    await this.#close(name);
    this.#versions.delete(name);
  }

  /** Closes the connections alone: whoever stops the process has closed the scopes. */
  async disconnect(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ connection }) => connection.close()));
  }

  async reconcile(object: Declared<'KubeProvider'>, signal: AbortSignal): Promise<Findings<'KubeProvider'>> {
    const { name } = object.metadata;
    const invalid = storedProblem('KubeProvider', object) ?? this.#unserved(object);
    if (invalid !== undefined) {
      await this.#close(name);
      return { gates: [invalid] };
    }
    const verdict = await resolveConnection(object, this.#options, signal);
    const auditRoute = object.spec.attribution?.auditRoute ?? name;
    const counts = { gitTargetCount: this.#options.targetCount(name), applierClaimCount: 0, auditRoute };
    if (verdict.kind === 'refused') {
      await this.#close(name);
      return {
        gates: [{ type: 'Validated', status: 'False', reason: verdict.reason, message: verdict.message }],
        status: counts,
        requeueAfterMs: CREDENTIAL_RETRY_MS,
      };
    }
    if (verdict.kind === 'unreadable') return this.#unread(object, verdict.message, counts);
    const refused = await this.#keepOpen(object, verdict);
    if (refused !== undefined) return { gates: [refused], status: counts };
    const gates: Gate<'KubeProvider'>[] = [validated(object, verdict)];
    const surface = this.handle(name)?.status().surface;
    if (this.#open.has(name)) gates.push(reachable(surface?.reach));
    const server = verdict.isLocal ? '' : displayed(verdict.credentials.server);
    const serverVersion = surface?.serverVersion;
    return {
      gates,
      status: {
        ...counts,
        server,
        ...(serverVersion === undefined ? {} : { serverVersion: serverVersion.slice(0, 64) }),
        ...this.#credential(name, verdict),
      },
      ...(verdict.isLocal ? {} : { requeueAfterMs: CREDENTIAL_CHECK_MS }),
    };
  }

  #unserved({ spec }: Declared<'KubeProvider'>): Gate<'KubeProvider'> | undefined {
    const { dialects } = this.#options;
    const { dialect } = applyDefaults('KubeProvider', spec).connection;
    if (dialects.includes(dialect)) return undefined;
    return unavailable(
      `no source serves ${dialect}; loaded: ${dialects.join(', ') || 'none'}; the usual package is @gitops-reverser/plugin-${dialect}`,
    );
  }

  /** A connection that is open stays open; one that was never read is waited for. */
  #unread(
    { metadata: { name }, status }: Declared<'KubeProvider'>,
    problem: string,
    counts: NonNullable<Findings<'KubeProvider'>['status']>,
  ): Findings<'KubeProvider'> {
    const handle = this.handle(name);
    const { server, serverVersion, credential } = status ?? {};
    return {
      gates:
        handle === undefined
          ? [{ type: 'Validated', status: 'Unknown', reason: 'Progressing', message: `${problem}; it is tried again` }]
          : [
              {
                type: 'Validated',
                status: 'True',
                reason: 'Succeeded',
                message: `what was read before stays in use; ${problem}`,
              },
              reachable(handle.status().surface?.reach),
            ],
      status: { ...counts, server, serverVersion, credential },
      requeueAfterMs: CREDENTIAL_RETRY_MS,
    };
  }

  /** Opens, rotates or closes to match. @returns the gate of a dialect nobody serves */
  async #keepOpen(
    object: Declared<'KubeProvider'>,
    verdict: Extract<CredentialVerdict, { readonly kind: 'ready' }>,
  ): Promise<Gate<'KubeProvider'> | undefined> {
    const { name, uid } = object.metadata;
    const open = this.#open.get(name);
    if (this.#options.targetCount(name) === 0) {
      await this.#close(name);
      return undefined;
    }
    const rateLimit = rateLimitOf(object, this.#options.limits);
    const isSameRate =
      verdict.isLocal || (open?.rateLimit.qps === rateLimit.qps && open.rateLimit.burst === rateLimit.burst);
    if (open !== undefined && open.uid === uid && isSameRate && open.credentials.rotate(verdict.credentials))
      return undefined;
    await this.#close(name);
    try {
      const cluster = await openCluster(
        object,
        verdict,
        this.#options.runtime,
        this.#options.clock,
        this.#options.limits,
      );
      const subscription = cluster.handle.onChange(() => this.#options.onChange(name));
      this.#open.set(name, { ...cluster, subscription });
      this.#options.onChange(name);
      return undefined;
    } catch (thrown) {
      if (!hasReason(thrown, 'PluginUnavailable')) throw thrown;
      return unavailable(messageOf(thrown));
    }
  }

  async #close(name: string): Promise<void> {
    const open = this.#open.get(name);
    if (open === undefined) return;
    // First, so that no target opens on it again.
    this.#open.delete(name);
    open.subscription[Symbol.dispose]();
    await this.#options.release(name);
    await open.handle.close();
    await open.connection.close();
  }

  #credential(name: string, { version, isLocal }: Extract<CredentialVerdict, { readonly kind: 'ready' }>) {
    if (isLocal) return {};
    const known = this.#versions.get(name);
    const current = known?.version === version ? known : { version, loadedAt: this.#options.clock.now() };
    this.#versions.set(name, current);
    return { credential: { resourceVersion: version, loadedAt: `${current.loadedAt.toISOString().slice(0, 19)}Z` } };
  }
}

const unavailable = (problem: string): Gate<'KubeProvider'> => ({
  type: 'Validated',
  status: 'False',
  reason: 'PluginUnavailable',
  message: `spec.connection.dialect: ${problem}`,
});

function validated(
  object: Declared<'KubeProvider'>,
  { credentials, isLocal }: Extract<CredentialVerdict, { readonly kind: 'ready' }>,
): Gate<'KubeProvider'> {
  const warnings: string[] = [];
  if (
    !isLocal &&
    object.spec.connection.dialect !== 'kcp' &&
    new URL(credentials.server).pathname.includes('/clusters/')
  ) {
    warnings.push(
      'the server path holds /clusters/ while the dialect is kubernetes: the annotation kcp.io/cluster stays and no hash help is given; use dialect kcp',
    );
  }
  const isOpen = (object.spec.allowedGitTargets ?? []).some(
    ({ sourceNamespaces, namespaces }) => sourceNamespaces?.includes('*') === true && namespaces.selector !== undefined,
  );
  if (isLocal && isOpen) {
    warnings.push(
      "spec.allowedGitTargets: sourceNamespaces '*' on the operator's own cluster lets a namespace owner copy other namespaces' objects, Secrets included; name the namespaces",
    );
  }
  const message =
    warnings.length === 0
      ? isLocal
        ? "the operator's own account"
        : 'the connection can be used'
      : warnings.join('; ');
  return { type: 'Validated', status: 'True', reason: isLocal ? 'InCluster' : 'Succeeded', message };
}

type Reach = NonNullable<ClusterStatus['surface']>['reach'];
const REACH_FALSE = [
  'SourceClusterUnreachable',
  'SourceClusterAuthenticationFailed',
  'SourceClusterAccessDenied',
] as const;

/** The gate `SourceClusterReachable`, as on the provider and mirrored on each of its targets. */
export function reachable(reach: Reach | undefined) {
  const type = 'SourceClusterReachable';
  if (reach === undefined || reach.state === 'unknown') {
    return {
      type,
      status: 'Unknown',
      reason: 'AwaitingDiscovery',
      message: reach?.message ?? 'waiting for the first look at the cluster',
    } as const;
  }
  if (reach.state === 'reachable') {
    return {
      type,
      status: 'True',
      reason: reach.reason === 'RemoteCluster' ? 'RemoteCluster' : 'LocalCluster',
      message: reach.message,
    } as const;
  }
  return {
    type,
    status: 'False',
    reason: REACH_FALSE.find((reason) => reason === reach.reason) ?? 'SourceClusterUnreachable',
    message: reach.message,
  } as const;
}

/** Scheme, host, port and workspace path only. */
function displayed(server: string): string {
  const { protocol, host, pathname } = new URL(server);
  return `${protocol}//${host}${pathname.includes('/clusters/') ? pathname : ''}`;
}
