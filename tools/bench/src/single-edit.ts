import { setTimeout as sleep } from 'node:timers/promises';

import { parseDocuments } from '@gitops-reverser/toolkit-yaml';

import { keyOf } from './config-maps.js';
import type { BenchConfigMap } from './config-maps.js';
import { cpuSeconds } from './cpu-time.js';
import { folder } from './declarations.js';
import { openGitCli } from './git-cli.js';
import { histogramTotals } from './metrics.js';
import { nextStamp, stampMs } from './ref-stamps.js';
import { repositoryName } from './stage.js';
import type { BenchStage } from './stage.js';
import { percentile } from './statistics.js';

/** The operator pauses 5 s after each publication; an edit within would measure the pause. */
const spacingMs = 5_600;
const editedKey = 'setting.2';

export interface SingleEditResult {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly gitCliP50Ms: number;
  readonly samplesMs: readonly number[];
  readonly gitCliSamplesMs: readonly number[];
  readonly breakdown: readonly string[];
}

/** W2: one edit until its ref is visible, and the git CLI making the same edit, in turn. */
export async function measureSingleEdits(
  stage: BenchStage,
  count: number,
  report: (line: string) => void,
): Promise<SingleEditResult> {
  const { api, host, repository, operator, objects } = stage;
  const cli = await openGitCli(host, repository, `${stage.dir}/rival`, await locate(stage));
  const keys = [...objects.keys()];
  const samplesMs: number[] = [];
  const gitCliSamplesMs: number[] = [];
  const steps = { answered: [] as number[], advertised: [] as number[], pushed: [] as number[] };
  let seen = (await repository.refStamps()).length;
  const before = await repository.head('main');
  const cpuBefore = await cpuSeconds(operator.process.pid);
  const metricsBefore = await operator.metrics();
  // After the snapshot the operator pauses as after any publication.
  await sleep(spacingMs);

  for (let i = 0; i < count; i++) {
    // A stride that meets every namespace, and no object twice in a row.
    const key = keys[(i * 257) % keys.length] ?? '';
    const object = objects.get(key) as BenchConfigMap;
    const old = object.data[editedKey] ?? '';
    const value = `edit ${i} of ${key}`;
    const { name, namespace } = object.metadata;

    const beganMs = Date.now();
    await api.request(`/api/v1/namespaces/${namespace}/configmaps/${name}`, {
      method: 'PATCH',
      body: { data: { [editedKey]: value } },
      contentType: 'application/merge-patch+json',
    });
    const answeredMs = Date.now();
    objects.set(key, { ...object, data: { ...object.data, [editedKey]: value } });
    const stamp = await nextStamp(repository, seen, `the commit of edit ${i}`);
    seen += 1;
    samplesMs.push(stampMs(stamp) - beganMs);
    steps.answered.push(answeredMs - beganMs);
    for (const { at, step } of host.requests({ repository: repositoryName })) {
      if (at < beganMs) continue;
      if (step === 'push-advertisement') steps.advertised.push(at - beganMs);
      if (step === 'push') steps.pushed.push(at - beganMs);
    }
    host.clearRequests();

    // In the middle of the pause, where the operator has nothing to do.
    await sleep(spacingMs / 2);
    gitCliSamplesMs.push(await cli.edit(key, old, value));
    if ((i + 1) % 10 === 0 || i + 1 === count)
      report(`W2: ${i + 1} of ${count} edits, p50 ${percentile(samplesMs, 50).toFixed(0)} ms`);
    await sleep(Math.max(0, stampMs(stamp) + spacingMs - Date.now()));
  }

  await checkCommits(stage, before, count);
  const cpuUsed = (await cpuSeconds(operator.process.pid)) - cpuBefore;
  const metricsAfter = await operator.metrics();
  const histogram = (name: string): string => {
    const [a, b] = [histogramTotals(metricsBefore, name), histogramTotals(metricsAfter, name)];
    return `${name}: ${(((b.sum - a.sum) / (b.count - a.count)) * 1_000).toFixed(1)} ms on average of ${b.count - a.count}`;
  };
  const step = (what: string, values: readonly number[]): string =>
    `${what}: p50 ${values.length === 0 ? 'none' : `${percentile(values, 50).toFixed(0)} ms`}`;
  return {
    p50Ms: percentile(samplesMs, 50),
    p99Ms: percentile(samplesMs, 99),
    gitCliP50Ms: percentile(gitCliSamplesMs, 50),
    samplesMs,
    gitCliSamplesMs,
    breakdown: [
      step('edit answered by the API server', steps.answered),
      step('push advertisement asked for', steps.advertised),
      step('push begun', steps.pushed),
      step('ref visible', samplesMs),
      `slowest: edit ${samplesMs.indexOf(Math.max(...samplesMs)) + 1} of ${count}`,
      `CPU time of the operator: ${((cpuUsed / count) * 1_000).toFixed(0)} ms an edit, idling between edits included`,
      histogram('watch_event_handling_seconds'),
      histogram('git_push_duration_seconds'),
      histogram('git_event_to_remote_seconds'),
    ],
  };
}

/** Which file holds which object. */
async function locate({ repository }: BenchStage): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  for (const [path, text] of await repository.readTree('main')) {
    if (!path.startsWith(`${folder}/`) || !path.endsWith('.yaml')) continue;
    const read = parseDocuments(text);
    for (const document of read.ok ? read.value : [])
      if (document.state === 'read') paths.set(keyOf(document.value as unknown as BenchConfigMap), path);
  }
  return paths;
}

/** Each edit must have become one commit of one file: a faster way would be a wrong one. */
async function checkCommits({ repository }: BenchStage, before: string | undefined, count: number): Promise<void> {
  const commits = await repository.log('main', before === undefined ? {} : { since: before });
  const odd = commits.filter(({ files }) => files.length !== 1);
  if (commits.length !== count || odd.length > 0)
    throw new Error(
      `${count} edits became ${commits.length} commits, ${odd.length} of them not of exactly one file: ${odd
        .slice(0, 3)
        .map(({ sha, subject, files }) => `${sha.slice(0, 8)} ${subject} (${files.length} files)`)
        .join('; ')}`,
    );
}
