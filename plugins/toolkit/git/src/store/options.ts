import type { Clock, Logger } from '@gitops-reverser/kernel-api';
import { gitError } from '../errors.js';
import { parseRepositoryUrl } from '../repository-url.js';
import type { GitCredentials } from '../transport/credentials.js';
import { HttpTransport } from '../transport/http-transport.js';
import type { Transport } from '../transport/transport.js';

export interface RemoteAccess {
  readonly url: string;
  /** A function is asked once a session: a rotated Secret needs no restart. */
  readonly credentials?: GitCredentials | ((signal: AbortSignal) => Promise<GitCredentials | undefined>);
  /** PEM, added to the system's roots. A function is asked again after `distrust`. */
  readonly ca?: string | (() => string | undefined);
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
  readonly proxy?: { readonly url: string; readonly username?: string; readonly password?: string };
  /** Version of the product, for the user agent `git/gitops-reverser-<version>`. */
  readonly version: string;
  /** Allows credentials over plain http. */
  readonly allowHttp?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** In place of the built-in HTTP: what an SSH transport plugs into. */
  readonly transport?: Transport;
}

export interface BranchStoreOptions extends RemoteAccess {
  readonly branch: string;
  /** Where a missing branch starts; absent: the remote's default branch. A function is asked at every look. */
  readonly parentBranch?: string | (() => string | undefined);
  /** Folder for caches, shared by all stores of one operator; absent: memory only. */
  readonly cacheDir?: string;
  /** Inflated objects kept for reading. */
  readonly objectCacheBytes?: number;
  /** Larger fetches are refused. */
  readonly maxPackBytes?: number;
}

export const DEFAULT_OBJECT_CACHE_BYTES = 32 * 1024 * 1024;
export const DEFAULT_MAX_PACK_BYTES = 2 * 1024 * 1024 * 1024;

export const agentOf = (version: string): string => `git/gitops-reverser-${version}`;

/** @throws ReverserError InvalidSpec, UserInfoInURL, InsecureTransport, PluginUnavailable (ssh) */
export function openTransport(access: RemoteAccess): Transport {
  const { scheme } = parseRepositoryUrl(access.url);
  if (access.transport !== undefined) return access.transport;
  if (scheme === 'ssh') {
    throw gitError(
      'PluginUnavailable',
      `the repository address asks for SSH, which this build does not speak; use the https address of the repository, with a token in spec.secretRef`,
      { scheme },
    );
  }
  const { credentials, ca } = access;
  if (scheme === 'http' && typeof credentials === 'object' && access.allowHttp !== true) {
    throw gitError(
      'InsecureTransport',
      `the repository address is plain http and has a credential, which anybody on the way could read; use https, or allow it for the whole install with --insecure-allow-git-http`,
    );
  }
  return new HttpTransport({
    url: access.url,
    userAgent: agentOf(access.version),
    clock: access.clock,
    ...(credentials === undefined
      ? {}
      : { credentials: typeof credentials === 'function' ? credentials : () => Promise.resolve(credentials) }),
    ...(ca === undefined ? {} : { ca: typeof ca === 'function' ? ca : () => ca }),
    ...(access.clientCertificate === undefined ? {} : { clientCertificate: access.clientCertificate }),
    ...(access.proxy === undefined ? {} : { proxy: access.proxy }),
    ...(access.allowHttp === undefined ? {} : { allowHttp: access.allowHttp }),
  });
}

/** @throws ReverserError InvalidSpec for a name git would not take for a branch */
export function checkBranchName(branch: string): void {
  const isBad =
    branch === '' ||
    branch === 'HEAD' ||
    branch === '@' ||
    branch.startsWith('-') ||
    branch.startsWith('refs/') ||
    branch.endsWith('.') ||
    branch.endsWith('/') ||
    /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\//.test(branch) ||
    branch.split('/').some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'));
  if (isBad)
    throw gitError(
      'InvalidSpec',
      `${JSON.stringify(branch)} is no name for a branch; expected what git check-ref-format accepts, without refs/heads/`,
      { branch },
    );
}
