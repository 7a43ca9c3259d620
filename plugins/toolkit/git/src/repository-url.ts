import { domainToASCII } from 'node:url';
import { createRedactor } from '@gitops-reverser/kernel-api';
import { gitError } from './errors.js';

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
  return {
    scheme,
    isScp: false,
    ...(userInfo === undefined || userInfo === '' ? {} : { user: userInfo }),
    host: hostOf(rawHost),
    ...(port === undefined ? {} : { port }),
    path,
  };
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
  for (const part of normalizePercent(path).split('/'))
    if (part === '.' || part === '..') throw invalid('its path contains . or ..');
}

/** Percent-decodes unreserved characters, once. */
function normalizePercent(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(char) ? char : whole.toUpperCase();
  });
}

const { redact } = createRedactor();
const invalid = (found: string): Error =>
  gitError(
    'InvalidSpec',
    redact(
      `the repository address is refused: ${found}; expected https://host/path, ssh://[user@]host[:port]/path or [user@]host:path`,
    ),
  );
const userInfoInUrl = (): Error =>
  gitError(
    'UserInfoInURL',
    'the repository address contains credentials; remove them, put them in a Secret and name it in spec.secretRef',
  );
