import { domainToASCII } from 'node:url';
import { ReverserError } from '@gitops-reverser/kernel-api';

/** `https`, `http` and `ssh` URLs with host and path (GP-2). */
export const urlForm = '^(https?|ssh)://[^\\s/?#\\\\]+/[^\\s?#\\\\]*[^\\s?#\\\\/][^\\s?#\\\\]*$';
/** `[user@]host:path` (GP-2). */
export const scpForm = '^([A-Za-z0-9_.-]+@)?[A-Za-z0-9.-]+:/?[^\\s/:?#\\\\][^\\s?#\\\\]*$';
/** A URL whose user part holds a password (GP-3). */
export const passwordInUrl = '^[A-Za-z][A-Za-z0-9+.-]*://[^/@]*:[^/@]*@';

const url = new RegExp(urlForm, 'u');
const scp = new RegExp(scpForm, 'u');
const password = new RegExp(passwordInUrl, 'u');

export const isRepositoryUrl = (text: string): boolean => url.test(text) || scp.test(text);
export const hasPassword = (text: string): boolean => password.test(text);
/** The address without its user part: fit for messages, logs and events. */
export const withoutUser = (text: string): string => text.replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/)[^/]*@/u, '$1');

/** Where a repository is, whatever spelling named it (chapter 40, 9.4). */
export interface RepositoryIdentity {
  readonly transport: 'http' | 'ssh' | 'git';
  readonly host: string;
  /** Absent: the default port of its scheme. */
  readonly port?: number;
  readonly path: string;
}

const defaultPortByScheme: Readonly<Record<string, number>> = { https: 443, http: 80, ssh: 22, git: 9418 };
const hostAliases: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
};
const hostsThatFoldCase = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'dev.azure.com', 'codeberg.org']);

interface Parsed {
  readonly scheme: string;
  readonly host: string;
  readonly port: string;
  readonly path: string;
}
function parse(text: string): Parsed | undefined {
  const byScheme =
    /^([a-z][a-z0-9+.-]*):\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:@]+)(?::([0-9]*))?(\/[^?#]*)?(?:[?#].*)?$/iu.exec(text);
  if (byScheme !== null) {
    const [, scheme = '', host = '', port = '', path = ''] = byScheme;
    return { scheme: scheme.toLowerCase(), host, port, path };
  }
  if (text.includes('://')) return undefined;
  const byColon = /^(?:[^@/]+@)?([A-Za-z0-9.-]+):([^?#]*)/u.exec(text);
  return byColon === null ? undefined : { scheme: 'ssh', host: byColon[1] ?? '', port: '', path: byColon[2] ?? '' };
}

const unreserved = /^[A-Za-z0-9._~-]$/u;
const decodeUnreserved = (path: string): string =>
  path.replace(/%([0-9A-Fa-f]{2})/gu, (whole, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return unreserved.test(character) ? character : whole;
  });

/** Azure DevOps has four spellings of one repository: all become `dev.azure.com/o/p/r`. */
function azure(host: string, path: string): readonly [string, string] | undefined {
  const parts = path.split('/');
  if (host === 'ssh.dev.azure.com' || host === 'vs-ssh.visualstudio.com') {
    const [v3, o, p, r] = parts;
    return v3 === 'v3' && parts.length === 4 ? ['dev.azure.com', `${o}/${p}/${r}`] : undefined;
  }
  const organisation = /^([^.]+)\.visualstudio\.com$/u.exec(host)?.[1];
  const inner =
    organisation === undefined
      ? parts
      : [organisation, ...parts.filter((part, at) => at > 0 || part.toLowerCase() !== 'defaultcollection')];
  if (host !== 'dev.azure.com' && organisation === undefined) return undefined;
  const [o, ...rest] = inner;
  if (rest.length === 3 && rest[1] === '_git') return ['dev.azure.com', `${o}/${rest[0]}/${rest[2]}`];
  if (rest.length === 2 && rest[0] === '_git') return ['dev.azure.com', `${o}/${rest[1]}/${rest[1]}`];
  return undefined;
}

/**
 * Canonical identity of a repository address.
 *
 * @throws ReverserError InvalidRepositoryUrl, retry `when-changed`; the message never quotes the address
 */
export function canonicalRepository(text: string): RepositoryIdentity {
  const refuse = (found: string): never => {
    throw new ReverserError({
      reason: 'InvalidRepositoryUrl',
      retry: 'when-changed',
      message: `repository address: expected an https, http or ssh URL or host:path, found ${found}`,
    });
  };
  const parsed = parse(text) ?? refuse('neither');
  const { scheme } = parsed;
  if (!Object.hasOwn(defaultPortByScheme, scheme)) return refuse(`scheme ${scheme}`);
  const bare = parsed.host.toLowerCase().replace(/\.$/u, '');
  let host = bare.startsWith('[') ? bare : domainToASCII(bare);
  if (host === '') return refuse('a host name that is none');
  const port =
    parsed.port === '' || Number(parsed.port) === defaultPortByScheme[scheme] ? undefined : Number(parsed.port);
  if (port !== undefined && port > 65_535) return refuse('a port above 65535');
  let path = decodeUnreserved(parsed.path)
    .replace(/\/{2,}/gu, '/')
    .replace(/^\/|\/$/gu, '');
  if (path.split('/').some((segment) => segment === '.' || segment === '..'))
    return refuse('a segment "." or ".." in its path');
  path = path.replace(/\.git$/u, '').replace(/\/$/u, '');
  if (path === '') return refuse('no path');
  const transport = scheme === 'ssh' || scheme === 'git' ? scheme : 'http';
  const [azureHost, azurePath] = azure(host, path) ?? [];
  if (azureHost !== undefined && azurePath !== undefined) [host, path] = [azureHost, azurePath];
  const alias = hostAliases[host];
  // an alias exists to reach SSH through port 443; its port says nothing about the repository
  const kept = alias !== undefined || azureHost !== undefined ? undefined : port;
  host = alias ?? host;
  // Bitbucket Data Center serves HTTP below scm/ and SSH without it
  if (transport === 'http' && /^scm\/[^/]+\/[^/]+$/u.test(path)) path = path.slice('scm/'.length);
  if (hostsThatFoldCase.has(host)) path = path.toLowerCase();
  return { transport, host, path, ...(kept === undefined ? {} : { port: kept }) };
}

/** One line for `status.repository` and messages. */
export const repositoryText = ({ transport, host, port, path }: RepositoryIdentity): string =>
  port === undefined ? `${host}/${path}` : `${transport}://${host}:${port}/${path}`;

/** Whether two addresses name one repository: strict, decides worker identity and conflicts. */
export function sameRepository(a: RepositoryIdentity, b: RepositoryIdentity): boolean {
  return a.host === b.host && a.path === b.path && (a.transport !== b.transport || a.port === b.port);
}
/** Whether a delivery about `a` should wake `b`: letter case never counts; a false match costs one look. */
export function wakesRepository(a: RepositoryIdentity, b: RepositoryIdentity): boolean {
  return sameRepository({ ...a, path: a.path.toLowerCase() }, { ...b, path: b.path.toLowerCase() });
}
