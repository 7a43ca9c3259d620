import { ReverserError, type Retry } from '@gitops-reverser/kernel-api';

/** Every reason this package throws with. */
export type GitReason =
  | 'RemoteUnavailable'
  | 'AuthenticationFailed'
  | 'AccessDenied'
  | 'RepositoryNotFound'
  | 'HostKeyUntrusted'
  | 'TLSVerificationFailed'
  | 'UnsupportedObjectFormat'
  | 'InsecureTransport'
  | 'UserInfoInURL'
  | 'InvalidSpec'
  | 'PluginUnavailable'
  | 'ParentBranchNotFound'
  | 'ParentBranchUnborn'
  | 'DefaultBranchUnresolved'
  | 'PushForbidden'
  | 'ProtectedBranch'
  | 'PushRejected'
  | 'RemoteRejectedPack'
  | 'UnsafePath'
  | 'CommitMalformed'
  | 'ObjectMissing'
  | 'CacheUnavailable';

/** What only time cures; the rest waits for a human or a changed input. */
const BACKOFF: ReadonlySet<GitReason> = new Set([
  'RemoteUnavailable',
  'RemoteRejectedPack',
  'ObjectMissing',
  'CacheUnavailable',
]);
const NEVER: ReadonlySet<GitReason> = new Set(['CommitMalformed']);

export function gitError(
  reason: GitReason,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): ReverserError {
  const retry: Retry = BACKOFF.has(reason) ? 'backoff' : NEVER.has(reason) ? 'never' : 'when-changed';
  return new ReverserError({ reason, retry, message, details, cause });
}

export const malformedCommit = (what: string, found: string): ReverserError =>
  gitError(
    'CommitMalformed',
    `the commit was not made: its ${what} contains ${found}; expected text that fits on its line of a commit object`,
    { field: what },
  );

export const unsafePath = (path: string, found: string, where: string): ReverserError =>
  gitError(
    'UnsafePath',
    `${where}: ${JSON.stringify(path)} is refused because of ${found}; expected plain relative paths, so rename or remove this entry`,
    { path },
  );
