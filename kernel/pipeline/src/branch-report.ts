import type { BranchState, BranchStatus } from '@gitops-reverser/kernel-api';
import type { Publication } from './publication.js';

export interface BranchFacts {
  readonly publication: Pick<Publication, 'base' | 'verdicts' | 'remote' | 'retained' | 'bytes'>;
  readonly activity: 'Publishing' | 'Draining' | undefined;
  readonly isLookOwed: boolean;
  readonly isBacklogFull: boolean;
  readonly hasOpenWindow: boolean;
}

/** A branch as others may read it at any time. */
export function branchStatus(facts: BranchFacts): BranchStatus {
  const { verdicts, remote, retained, bytes } = facts.publication;
  const oldest = retained[0];
  return {
    state: stateOf(facts),
    ...(remote === undefined ? {} : { remote }),
    parentResolved: verdicts.parentResolved,
    writable: verdicts.writable,
    publishing: facts.isBacklogFull
      ? {
          status: 'False',
          reason: 'BacklogFull',
          message: `live changes are refused: ${retained.length} writes of about ${bytes} bytes wait for the remote; they are read again once it takes them`,
        }
      : verdicts.publishing,
    reachable: verdicts.reachable,
    ...(oldest === undefined
      ? {}
      : { retained: { writeCount: retained.length, sizeBytes: bytes, oldestAt: oldest.authoredAt } }),
  };
}

function stateOf({ publication, activity, isLookOwed, hasOpenWindow }: BranchFacts): BranchState {
  const hasRetained = publication.retained.length > 0;
  if (activity === 'Draining') return 'Draining';
  if (publication.base === undefined && (hasRetained || isLookOwed)) return 'Recovering';
  if (activity !== undefined) return activity;
  if (hasRetained) return 'Retaining';
  return hasOpenWindow ? 'Collecting' : 'Idle';
}
