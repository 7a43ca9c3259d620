import { domainToASCII } from 'node:url';
import { gitError } from './errors.js';
import { createRedactor } from './transport/redaction.js';

export interface RepositoryUrl {
  readonly scheme: 'https' | 'http' | 'ssh';
  /** Whether it was written as `[user@]host:path`. */
  readonly isScp: boolean;
  readonly user?: string;
  /** Lower case, ASCII; IPv6 without brackets. */
  readonly host: string;
  readonly port?: number;
  /** As written, with its leading slash (scp form: relative, without). */
  readonly path: string;
}

const DEFAULT_PORTS: ReadonlySet<number> = new Set([443, 80, 22, 9418]);

/**
 * Parses the address of a repository: `https://`, `http://`, `ssh://[user@]host[:port]/path`, `[user@]host:path`.
 *
 * @throws ReverserError UserInfoInURL for credentials in it, InvalidSpec for anything else that is wrong; never repeating a secret
 */
export function parseRepositoryUrl(url: string): RepositoryUrl {
  if (/[\0-\x20\x7f]/.test(url)) throw invalid('it contains a blank or a control character');
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return parseScp(url);
  if (scheme !== 'https' && scheme !== 'http' && scheme !== 'ssh') throw invalid(`it begins with ${scheme}://`);
  if (/[?#]/.test(url)) throw invalid('it has a query or a fragment');
  const match = /^[^:]+:\/\/(?:([^/]*)@)?(\[[0-9a-f:.%]+\]|[^/:@[\]]*)(?::([0-9]*))?(\/.*)?$/i.exec(url);
  if (match === null) throw invalid('its host cannot be read');
  const [, userInfo, rawHost = '', rawPort, path = ''] = match;
  if (userInfo !== undefined && (scheme !== 'ssh' || userInfo.includes(':'))) throw userInfoInUrl();
  const port = rawPort === undefined || rawPort === '' ? undefined : Number(rawPort);
  if (port !== undefined && (port < 1 || port > 65_535)) throw invalid(`its port is ${port}`);
  checkPath(path);
  return { scheme, isScp: false, ...(userInfo === undefined || userInfo === '' ? {} : { user: userInfo }), host: hostOf(rawHost), ...(port === undefined ? {} : { port }), path };
}

function parseScp(url: string): RepositoryUrl {
  const match = /^(?:([^@/]+)@)?(\[[0-9a-f:.]+\]|[^/:@[\]]+):(.+)$/i.exec(url);
  if (match === null) throw invalid(/^(\/|\.|~)/.test(url) ? 'it is a local path' : 'it has no scheme and no host');
  const [, user, rawHost = '', path = ''] = match;
  if (path.startsWith(':')) throw invalid(`it asks for the transport helper ${rawHost}`);
  if (user?.includes(':') === true) throw userInfoInUrl();
  if (/[?#]/.test(path)) throw invalid('it has a query or a fragment');
  // One letter and a colon is a drive on some systems; no host is named so.
  if (/^[a-z]$/i.test(rawHost) && /^[\\/]/.test(path)) throw invalid('it is a local path');
  checkPath(path);
  return { scheme: 'ssh', isScp: true, ...(user === undefined ? {} : { user }), host: hostOf(rawHost), path };
}

/** @throws ReverserError InvalidSpec */
function hostOf(raw: string): string {
  const bare = raw.replace(/^\[|\]$/g, '').toLowerCase();
  if (raw.startsWith('[')) return bare;
  let decoded: string;
  try {
    decoded = decodeURIComponent(bare);
  } catch {
    throw invalid('its host is not properly percent-encoded');
  }
  const host = domainToASCII(decoded).replace(/\.$/, '');
  if (host === '' || host.startsWith('-')) throw invalid('it names no host');
  return host;
}

function checkPath(path: string): void {
  if (path.replace(/\/|\.git$/g, '') === '') throw invalid('its path is empty');
  if (path.startsWith('-')) throw invalid('its path begins with a dash');
  for (const part of normalizePercent(path).split('/')) if (part === '.' || part === '..') throw invalid('its path contains . or ..');
}

export interface CanonicalRepository {
  readonly host: string;
  /** Without leading and trailing slash and `.git`; case as rule 7 of chapter 40, 9.4 says. */
  readonly path: string;
  readonly schemeClass: 'http' | 'ssh';
  /** Only when it is not a default one. */
  readonly port?: number;
}

const HOST_ALIASES: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
};
/** Path case is only a spelling there. */
const CASELESS_HOSTS: ReadonlySet<string> = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'dev.azure.com', 'codeberg.org']);

/**
 * What two spellings of one repository have in common.
 *
 * @throws ReverserError as `parseRepositoryUrl`, except that user info, query and fragment are dropped, not refused
 */
export function canonicalRepository(url: string): CanonicalRepository {
  const plain = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url.replace(/[?#].*$/s, '').replace(/^([^:]+:\/\/)[^/]*@/, '$1') : url;
  const parsed = parseRepositoryUrl(plain);
  const parts = normalizePercent(parsed.path).split('/').filter((part) => part !== '');
  const aliased = azure(parsed.host, parts) ?? { host: HOST_ALIASES[parsed.host] ?? parsed.host, parts };
  const { host } = aliased;
  // Bitbucket Data Center puts its HTTP clone paths under /scm/.
  const isBitbucketPath = aliased.parts[0]?.toLowerCase() === 'scm' && aliased.parts.length > 2 && parsed.scheme !== 'ssh';
  const path = (isBitbucketPath ? aliased.parts.slice(1) : aliased.parts).join('/').replace(/\.git$/, '');
  if (path === '') throw invalid('its path is empty');
  return {
    host,
    path: CASELESS_HOSTS.has(host) ? path.toLowerCase() : path,
    schemeClass: parsed.scheme === 'ssh' ? 'ssh' : 'http',
    ...(parsed.port === undefined || DEFAULT_PORTS.has(parsed.port) ? {} : { port: parsed.port }),
  };
}

/** Worker identity: rule 7 is strict. Ports of SSH and HTTP never compare. */
export function isSameRepository(a: CanonicalRepository, b: CanonicalRepository): boolean {
  return a.host === b.host && a.path === b.path && (a.schemeClass !== b.schemeClass || a.port === b.port);
}

/** For waking a worker: path case is always folded, because a false match costs one advertisement. */
export function mayBeSameRepository(a: CanonicalRepository, b: CanonicalRepository): boolean {
  return isSameRepository({ ...a, path: a.path.toLowerCase() }, { ...b, path: b.path.toLowerCase() });
}

/** One text for one repository, whichever way it is written; equal texts exactly when host and path are equal. */
export const repositoryKey = ({ host, path }: CanonicalRepository): string => `${host}/${path}`;

/** All forms of Azure DevOps become `dev.azure.com/o/p/r`. */
function azure(host: string, parts: readonly string[]): { readonly host: string; readonly parts: readonly string[] } | undefined {
  const to = (organisation = '', project = '', repository = project): { host: string; parts: readonly string[] } => ({ host: 'dev.azure.com', parts: [organisation, project, repository] });
  if (host === 'ssh.dev.azure.com' || host === 'vs-ssh.visualstudio.com') {
    return parts[0]?.toLowerCase() === 'v3' && parts.length === 4 ? to(parts[1], parts[2], parts[3]) : undefined;
  }
  const organisation = /^([a-z0-9-]+)\.visualstudio\.com$/.exec(host)?.[1];
  const rest = organisation !== undefined && parts[0]?.toLowerCase() === 'defaultcollection' ? parts.slice(1) : host === 'dev.azure.com' ? parts.slice(1) : parts;
  const owner = organisation ?? (host === 'dev.azure.com' ? parts[0] : undefined);
  if (owner === undefined) return undefined;
  const at = rest.findIndex((part) => part.toLowerCase() === '_git');
  if (at === 0 && rest.length === 2) return to(owner, rest[1]);
  return at === 1 && rest.length === 3 ? to(owner, rest[0], rest[2]) : undefined;
}

/** Percent-decodes unreserved characters, once. */
function normalizePercent(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(char) ? char : whole.toUpperCase();
  });
}

const redact = createRedactor();
const invalid = (found: string): Error =>
  gitError('InvalidSpec', redact(`the repository address is refused: ${found}; expected https://host/path, ssh://[user@]host[:port]/path or [user@]host:path`));
const userInfoInUrl = (): Error =>
  gitError('UserInfoInURL', 'the repository address contains credentials; remove them, put them in a Secret and name it in spec.secretRef');
