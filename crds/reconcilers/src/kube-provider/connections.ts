import {
  clusterId,
  isReverserError,
  messageOf,
  provide,
  type ClusterHandle,
  type Clock,
  type Runtime,
} from '@gitops-reverser/kernel-api';
import { applyDefaults } from '@gitops-reverser/crd-types';
import {
  clusterLocality,
  kubeConnection,
  openKubeConnection,
  openKubeconfig,
  type KubeConnection,
  type KubeCredentials,
  type KubeconfigPolicy,
  type RateLimit,
} from '@gitops-reverser/toolkit-kube';
import type { Declared } from '../objects.js';
import type { SecretReader } from '../secrets.js';

const KUBECONFIG_REASONS = [
  'KubeConfigInvalid',
  'KubeConfigExecNotAllowed',
  'KubeConfigInsecureTLSNotAllowed',
  'KubeConfigProxyNotAllowed',
  'KubeConfigFileReferenceNotAllowed',
] as const;

export type CredentialVerdict =
  | {
      readonly kind: 'ready';
      readonly credentials: KubeCredentials;
      readonly version: string;
      readonly isLocal: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly reason: (typeof KUBECONFIG_REASONS)[number] | 'KubeConfigSecretNotFound' | 'KubeConfigKeyNotFound';
      readonly message: string;
    }
  | { readonly kind: 'unreadable'; readonly message: string };

export interface CredentialOptions {
  readonly reader: SecretReader;
  readonly clock: Clock;
  readonly policy: KubeconfigPolicy;
  /** Where the Secrets of connections live. */
  readonly operatorNamespace: string;
  /** The operator's own way to the control cluster. */
  readonly local: KubeCredentials;
}

/** Reads the connection of a provider without dialing (chapter 10, 11.5). */
export async function resolveConnection(
  object: Declared<'KubeProvider'>,
  options: CredentialOptions,
  signal: AbortSignal,
): Promise<CredentialVerdict> {
  const { connection } = object.spec;
  if (connection.secretRef === undefined)
    return { kind: 'ready', credentials: options.local, version: 'local', isLocal: true };
  const { name, key } = connection.secretRef;
  const title = `Secret ${options.operatorNamespace}/${name}`;
  const content = await options.reader.read('Secret', options.operatorNamespace, name, signal);
  if (content.kind === 'unreadable')
    return { kind: 'unreadable', message: `spec.connection.secretRef: ${content.message}` };
  if (content.kind === 'missing')
    return {
      kind: 'refused',
      reason: 'KubeConfigSecretNotFound',
      message: `spec.connection.secretRef: ${title} does not exist; create it in the operator's namespace`,
    };
  const wanted = key === undefined ? ['value', 'value.yaml'] : [key];
  const found = wanted.find((candidate) => content.values.has(candidate));
  if (found === undefined)
    return {
      kind: 'refused',
      reason: 'KubeConfigKeyNotFound',
      message: `spec.connection.secretRef: ${title} has no content under ${wanted.join(' or ')}; add it`,
    };
  try {
    const where = `KubeProvider ${object.metadata.name}: ${title}, key ${found}`;
    const credentials = openKubeconfig(content.values.get(found) ?? '', where, options.policy, options.clock);
    return { kind: 'ready', credentials, version: content.resourceVersion, isLocal: false };
  } catch (thrown) {
    const reason = isReverserError(thrown) ? KUBECONFIG_REASONS.find((known) => known === thrown.reason) : undefined;
    if (reason === undefined) throw thrown;
    return { kind: 'refused', reason, message: messageOf(thrown) };
  }
}

/** A credential whose content may be replaced while connections use it. */
export class RotatingCredentials implements KubeCredentials {
  readonly server: string;
  declare readonly proxyUrl?: string;
  #current: KubeCredentials;

  constructor(first: KubeCredentials) {
    this.server = first.server;
    if (first.proxyUrl !== undefined) this.proxyUrl = first.proxyUrl;
    this.#current = first;
  }

  /** False when the new content means another server: then the connection must be opened anew. */
  rotate(next: KubeCredentials): boolean {
    if (next.server !== this.server || next.proxyUrl !== this.proxyUrl) return false;
    this.#current = next;
    return true;
  }

  material(): ReturnType<KubeCredentials['material']> {
    return this.#current.material();
  }
}

export interface OpenCluster {
  readonly handle: ClusterHandle;
  readonly connection: KubeConnection;
  readonly credentials: RotatingCredentials;
  readonly uid: string;
  /** Of a remote cluster; a different one needs a connection of its own. */
  readonly rateLimit: RateLimit;
}

/** Requests a second to a remote cluster, as declared or by default. */
export function rateLimitOf(object: Declared<'KubeProvider'>, limits: RateLimit): RateLimit {
  const { client } = applyDefaults('KubeProvider', object.spec);
  return { qps: client?.qps ?? limits.qps, burst: client?.burst ?? limits.burst };
}

/** Opens the scope of a source cluster. Nothing is dialed before the source starts to look. */
export async function openCluster(
  object: Declared<'KubeProvider'>,
  verdict: Extract<CredentialVerdict, { readonly kind: 'ready' }>,
  runtime: Runtime,
  clock: Clock,
  limits: RateLimit,
): Promise<OpenCluster> {
  const spec = applyDefaults('KubeProvider', object.spec);
  const credentials = new RotatingCredentials(verdict.credentials);
  const rateLimit = rateLimitOf(object, limits);
  const connection = openKubeConnection({ credentials, clock, ...(verdict.isLocal ? {} : { rateLimit }) });
  try {
    const handle = await runtime.openCluster({
      id: clusterId(object.metadata.name),
      dialect: spec.connection.dialect,
      given: [provide(kubeConnection, connection), provide(clusterLocality, verdict.isLocal ? 'local' : 'remote')],
    });
    return { handle, connection, credentials, uid: object.metadata.uid ?? '', rateLimit };
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}
