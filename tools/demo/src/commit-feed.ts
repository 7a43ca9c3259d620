import { setTimeout as sleep } from 'node:timers/promises';

import type { GitRepository, LoggedCommit } from '@gitops-reverser/e2e-harness';

export interface FeedOptions {
  /** Milliseconds between two looks at the branch. */
  readonly intervalMs?: number;
  /** Commits up to this one are known. */
  readonly since?: string;
}

/** Commits of a branch as they land, oldest first, whoever pushed them. Ends when `signal` aborts. */
export async function* followCommits(
  repository: Pick<GitRepository, 'head' | 'log'>,
  branch: string,
  options: FeedOptions,
  signal: AbortSignal,
): AsyncGenerator<LoggedCommit> {
  let { since } = options;
  while (!signal.aborted) {
    const head = await repository.head(branch);
    if (head !== undefined && head !== since) {
      for (const commit of await newCommits(repository, branch, since)) {
        since = commit.sha;
        yield commit;
      }
      since = head;
    }
    await sleep(options.intervalMs ?? 200, undefined, { signal }).catch(() => undefined);
  }
}

async function newCommits(
  repository: Pick<GitRepository, 'log'>,
  branch: string,
  since: string | undefined,
): Promise<readonly LoggedCommit[]> {
  const commits = await repository.log(branch, since === undefined ? {} : { since });
  return commits.toReversed();
}
