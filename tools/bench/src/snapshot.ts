import { poll } from '@gitops-reverser/e2e-harness';
import type { RefStamp } from '@gitops-reverser/e2e-harness';

import { cpuSeconds } from './cpu-time.js';
import { createWatchRule, describeConditions, folder } from './declarations.js';
import { histogramTotals } from './metrics.js';
import { stampMs } from './ref-stamps.js';
import { repositoryName } from './stage.js';
import type { BenchStage } from './stage.js';

export interface SnapshotResult {
  /** From creating the WatchRule until the ref with every file is visible. */
  readonly seconds: number;
  readonly peakRssMiB: number;
  readonly commits: number;
  /** Where the time went, in words. */
  readonly breakdown: readonly string[];
}

/** W1: everything there is, into an empty repository. */
export async function measureSnapshot(stage: BenchStage): Promise<SnapshotResult> {
  const { api, host, repository, operator, objects } = stage;
  const cpuBefore = await cpuSeconds(operator.process.pid);
  const beganMs = Date.now();
  await createWatchRule(api);
  const answeredMs = Date.now();

  let looked = 0;
  const last = await poll(
    async (): Promise<RefStamp | undefined> => {
      if (!operator.process.isRunning) throw new Error('the operator ended');
      const stamps = await repository.refStamps();
      for (const stamp of stamps.slice(looked)) {
        looked += 1;
        if ((await countFiles(stage, stamp.newOid)) >= objects.size) return stamp;
      }
      return undefined;
    },
    { deadlineMs: 600_000, intervalMs: 100, what: `a ref with ${objects.size} files` },
  ).catch(async (error: unknown) => {
    throw new Error(
      `${(error as Error).message}\n${await describeConditions(api)}\n--- last lines of the operator\n${operator.process.tail()}`,
      { cause: error },
    );
  });
  const peakRssMiB = await operator.peakRssMiB();
  if (peakRssMiB === undefined) throw new Error('the operator ended before its memory was read');

  const cpuUsed = (await cpuSeconds(operator.process.pid)) - cpuBefore;

  const visibleMs = stampMs(last);
  const pushes = host.requests({ repository: repositoryName, step: 'push' });
  const since = (ms: number): string => `${((ms - beganMs) / 1_000).toFixed(3)} s`;
  const exposition = await operator.metrics();
  const histogram = (name: string): string => {
    const { sum, count } = histogramTotals(exposition, name);
    return `${name}: ${sum.toFixed(3)} s in ${count}`;
  };
  return {
    seconds: (visibleMs - beganMs) / 1_000,
    peakRssMiB,
    commits: Number(await repository.git('rev-list', '--count', last.newOid)),
    breakdown: [
      `WatchRule accepted after ${since(answeredMs)}`,
      ...host
        .requests({ repository: repositoryName })
        .filter(({ at, step }) => at >= beganMs && step !== 'push')
        .map(({ at, endedAt, step }) => `${step} at ${since(at)}, answered at ${since(endedAt ?? at)}`),
      ...pushes.map(
        ({ at, endedAt, requestBytes }) =>
          `push of ${(requestBytes / 1024).toFixed(0)} KiB begun at ${since(at)}, answered at ${since(endedAt ?? at)}`,
      ),
      `ref visible at ${since(visibleMs)}`,
      `CPU time of the operator: ${cpuUsed.toFixed(2)} s`,
      histogram('watch_replay_duration_seconds'),
      histogram('git_push_duration_seconds'),
    ],
  };
}

async function countFiles({ repository }: BenchStage, commit: string): Promise<number> {
  const names = await repository.git('ls-tree', '-r', '--name-only', '-z', commit, '--', `${folder}/`);
  return names.split('\0').filter((name) => name.includes('/bench-')).length;
}
