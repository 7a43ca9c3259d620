import { KubeConfig, type Cluster, type User } from '@kubernetes/client-node';
import type { Clock } from '@gitops-reverser/kernel-api';
import { transportError } from './transport-error.js';
import type { CheckedKubeconfig } from './kubeconfig.js';

export interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface AuthMaterial {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TlsMaterial;
}

/** Where one API server is and how to be somebody there. */
export interface KubeCredentials {
  /** Absolute http(s) URL with its path prefix, without a trailing slash (FC-KCP-1). */
  readonly server: string;
  readonly proxyUrl?: string;
  /** The namespace of the context, or of the service account. */
  readonly namespace?: string;
  /** Asked before each request; a token file is read again after a minute, an exec credential when it expires. */
  material(): Promise<AuthMaterial>;
}

// Certificates from files are read again this often; tokens follow client-node's own minute.
const REREAD_MS = 10_000;

/** The credential of a kubeconfig that passed its checks. */
export function kubeconfigCredentials(checked: CheckedKubeconfig, clock: Clock): KubeCredentials {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [toCluster(checked)],
    users: [toUser(checked)],
    contexts: [{ name: 'current', cluster: 'current', user: 'current' }],
    currentContext: 'current',
  });
  const constant =
    checked.user.exec === undefined &&
    checked.user.authProvider === undefined &&
    checked.user.tokenFile === undefined &&
    !checked.readsFiles;
  return {
    server: checked.server,
    ...(checked.proxyUrl === undefined ? {} : { proxyUrl: checked.proxyUrl }),
    ...(checked.namespace === undefined ? {} : { namespace: checked.namespace }),
    material: kept(
      () => readMaterial(config, checked.server, checked.user.asGroups),
      constant ? Infinity : REREAD_MS,
      clock,
    ),
  };
}

export interface InClusterOptions {
  readonly clock: Clock;
  /** Prefix of `/var/run/secrets/...`, for tests. */
  readonly root?: string;
}

/** The operator's own service account. @throws KubeError when this process does not run in a pod */
export function inClusterCredentials(options: InClusterOptions): KubeCredentials {
  const config = new KubeConfig();
  config.loadFromCluster(options.root ?? '');
  const server = config.getCurrentCluster()?.server ?? '';
  if (!URL.canParse(server) || server.includes('undefined')) {
    throw transportError('in-cluster credentials', 'CredentialUnavailable', {
      found: 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: run inside a pod, or name a kubeconfig',
    });
  }
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim();
  return {
    server,
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    material: kept(() => readMaterial(config, server, []), REREAD_MS, options.clock),
  };
}

/** One reading serves every request of the next `maxAgeMs`; requests that come meanwhile wait for the same one. */
function kept(read: () => Promise<AuthMaterial>, maxAgeMs: number, clock: Clock): () => Promise<AuthMaterial> {
  let last: { readonly at: number; readonly material: Promise<AuthMaterial> } | undefined;
  return () => {
    const now = clock.now().getTime();
    if (last !== undefined && now - last.at < maxAgeMs) return last.material;
    const material = read();
    const mine = { at: now, material };
    last = mine;
    material.catch(() => {
      if (last === mine) last = undefined;
    });
    return material;
  };
}

async function readMaterial(config: KubeConfig, server: string, groups: readonly string[]): Promise<AuthMaterial> {
  const options: Parameters<KubeConfig['applyToHTTPSOptions']>[0] = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (thrown) {
    // The text of an exec plugin's standard error, or of a token file, is not ours to repeat.
    const code = (thrown as NodeJS.ErrnoException).code;
    throw transportError(
      `credential for ${server}`,
      'CredentialUnavailable',
      typeof code === 'string' ? { found: code } : {},
    );
  }
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  if (typeof options.auth === 'string')
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  if (groups.length > 0) headers['impersonate-group'] = groups;
  return { headers, tls: toTls(options) };
}

function toTls(options: Parameters<KubeConfig['applyToHTTPSOptions']>[0]): TlsMaterial {
  const { ca, cert, key, servername, rejectUnauthorized } = options as TlsMaterial;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
}

function toCluster(checked: CheckedKubeconfig): Cluster {
  return {
    name: 'current',
    server: checked.server,
    // client-node refuses a plain http server unless TLS verification is off; whether http is allowed was decided before.
    skipTLSVerify: checked.insecureSkipTlsVerify || checked.server.startsWith('http:'),
    ...(checked.caData === undefined ? {} : { caData: checked.caData }),
    ...(checked.caFile === undefined ? {} : { caFile: checked.caFile }),
    ...(checked.tlsServerName === undefined ? {} : { tlsServerName: checked.tlsServerName }),
  };
}

/** Always a user, if an empty one: without it client-node leaves the certificate authority out as well. */
function toUser(checked: CheckedKubeconfig): User {
  const { certData, certFile, keyData, keyFile, token, tokenFile, username, password, as, exec, authProvider } =
    checked.user;
  const provider = tokenFile === undefined ? authProvider : { name: 'tokenFile', config: { tokenFile } };
  return {
    name: 'current',
    ...(certData === undefined ? {} : { certData }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyData === undefined ? {} : { keyData }),
    ...(keyFile === undefined ? {} : { keyFile }),
    ...(token === undefined ? {} : { token }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(as === undefined ? {} : { impersonateUser: as }),
    ...(exec === undefined ? {} : { exec }),
    ...(provider === undefined ? {} : { authProvider: provider }),
  };
}
