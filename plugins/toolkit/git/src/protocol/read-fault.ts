import type { ReverserError } from '@gitops-reverser/kernel-api';
import { gitError, type GitReason } from '../errors.js';
import { excerpt } from '../transport/excerpt.js';
import type { GitService } from '../transport/transport.js';

export interface RefusedRead {
  readonly service: GitService;
  readonly status: number;
  /** Its beginning, redacted. */
  readonly body: string;
  readonly retryAfterMs?: number;
}

interface Row {
  readonly matches: (read: RefusedRead) => boolean;
  readonly reason: GitReason;
  readonly advice: string;
}

/** Chapter 40, 4.6, for requests that are no push; first match wins. */
const ROWS: readonly Row[] = [
  {
    matches: ({ status }) => status === 401,
    reason: 'AuthenticationFailed',
    advice: 'the credential was not accepted; check the Secret of spec.secretRef',
  },
  {
    matches: ({ status }) => status === 203,
    reason: 'AuthenticationFailed',
    advice: 'a sign-in page was answered; check the Secret of spec.secretRef',
  },
  {
    matches: ({ status, body }) => status === 403 && /push to create is not enabled/i.test(body),
    reason: 'RepositoryNotFound',
    advice: 'the repository does not exist; create it or correct spec.url',
  },
  {
    matches: ({ status, body }) => status === 403 && /rate limit/i.test(body),
    reason: 'RemoteUnavailable',
    advice: 'the host limits our rate; it is tried again later',
  },
  {
    matches: ({ status, service }) => status === 403 && service === 'git-receive-pack',
    reason: 'PushForbidden',
    advice: 'the credential may not write to this repository; give it write access',
  },
  {
    matches: ({ status }) => status === 403,
    reason: 'AccessDenied',
    advice: 'the credential may not read this repository; give it access',
  },
  {
    matches: ({ status }) => status === 404 || status === 410,
    reason: 'RepositoryNotFound',
    advice: 'no such repository, or the credential may not see it; check spec.url and the Secret',
  },
  {
    matches: ({ status }) => status === 408 || status === 429 || status >= 500,
    reason: 'RemoteUnavailable',
    advice: 'the host cannot serve us now; it is tried again',
  },
  {
    matches: () => true,
    reason: 'RemoteUnavailable',
    advice: 'the host did not understand a plain Git request; check that spec.url is the clone address',
  },
];

export function readFault(read: RefusedRead, displayUrl: string): ReverserError {
  const row = ROWS.find(({ matches }) => matches(read));
  const said = excerpt(read.body);
  const details = {
    status: read.status,
    ...(read.retryAfterMs === undefined ? {} : { retryAfterMs: read.retryAfterMs }),
  };
  return gitError(
    row?.reason ?? 'RemoteUnavailable',
    `${displayUrl}: HTTP ${read.status}${said === '' ? '' : ` (${said})`}: ${row?.advice ?? ''}`,
    details,
  );
}
