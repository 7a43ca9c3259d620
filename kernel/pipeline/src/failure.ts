import { isReverserError, messageOf, reasonOf, type Verdict } from '@gitops-reverser/kernel-api';

export interface BranchVerdicts {
  reachable: Verdict;
  writable: Verdict;
  publishing: Verdict;
  parentResolved: Verdict;
}

export const initialVerdicts = (): BranchVerdicts => ({
  reachable: { status: 'Unknown', reason: 'Progressing', message: 'the repository was not looked at yet' },
  writable: { status: 'Unknown', reason: 'NotAttempted', message: 'nothing was pushed yet' },
  publishing: { status: 'True', reason: 'Succeeded', message: 'nothing waits to be published' },
  parentResolved: { status: 'Unknown', reason: 'Progressing', message: 'the repository was not looked at yet' },
});

export const succeeded = (message: string): Verdict => ({ status: 'True', reason: 'Succeeded', message });
const failed = (error: unknown): Verdict => ({ status: 'False', reason: reasonOf(error), message: messageOf(error) });

const REACH = new Set([
  'RemoteUnavailable',
  'AuthenticationFailed',
  'AccessDenied',
  'RepositoryNotFound',
  'HostKeyUntrusted',
  'TLSVerificationFailed',
  'UnsupportedObjectFormat',
]);
const PARENT = new Set(['ParentBranchNotFound', 'ParentBranchUnborn', 'DefaultBranchUnresolved']);
const WRITABLE = new Set([
  'PushForbidden',
  'ProtectedBranch',
  'PushRejected',
  'RemoteRejectedPack',
  'AuthenticationFailed',
]);

/** Each failure shows where somebody looks for it. A failed look never clears a proven refusal of a push. */
export function recordFailure(
  verdicts: BranchVerdicts,
  error: unknown,
  during: 'observe' | 'publish',
  hasRetained: boolean,
): void {
  const reason = reasonOf(error);
  const verdict = failed(error);
  if (REACH.has(reason)) verdicts.reachable = verdict;
  else if (PARENT.has(reason)) {
    verdicts.parentResolved = verdict;
    verdicts.reachable = succeeded('the repository answers');
  } else if (!WRITABLE.has(reason) && reason !== 'BranchMoving')
    verdicts.reachable = { ...verdict, reason: 'RemoteUnavailable' };
  if (during === 'publish' && WRITABLE.has(reason)) verdicts.writable = verdict;
  if (reason === 'BranchMoving') verdicts.publishing = verdict;
  else if (reason === 'RemoteUnavailable' && hasRetained) verdicts.publishing = verdict;
}

/** Least pause an error asks for. */
export function pauseOf(error: unknown): number {
  if (!isReverserError(error)) return 0;
  // 300_000: a host key that is not trusted is a matter for people; asking faster looks like an attack.
  if (error.reason === 'HostKeyUntrusted') return 300_000;
  const asked = error.details['retryAfterMs'];
  // 900_000: what a host may ask of us with Retry-After.
  return typeof asked === 'number' && asked > 0 ? Math.min(asked, 900_000) : 0;
}
