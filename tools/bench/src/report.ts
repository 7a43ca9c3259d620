import { editToJson } from './edit/report.js';
import type { EditResult } from './edit/report.js';
import { against } from './gates.js';
import type { SingleEditResult } from './single-edit.js';
import type { SnapshotResult } from './snapshot.js';
import { percentile, round } from './statistics.js';

export interface BenchResult {
  readonly snapshot?: SnapshotResult;
  readonly singleEdit?: SingleEditResult;
  readonly edit?: EditResult;
}

/** Figures to aim for, on two cores. */
const gates = { snapshotSeconds: 2.5, editP50Ms: 120, editP99Ms: 400 } as const;

/** The figures for machines. */
export function toJson({ snapshot, singleEdit, edit }: BenchResult): unknown {
  return {
    ...(snapshot === undefined
      ? {}
      : { W1: { seconds: round(snapshot.seconds, 3), peakRssMiB: round(snapshot.peakRssMiB, 1) } }),
    ...(singleEdit === undefined
      ? {}
      : {
          W2: {
            p50Ms: round(singleEdit.p50Ms, 1),
            p99Ms: round(singleEdit.p99Ms, 1),
            gitCliP50Ms: round(singleEdit.gitCliP50Ms, 1),
          },
        }),
    ...(edit === undefined ? {} : { edit: editToJson(edit) }),
  };
}

const spread = (samples: readonly number[]): string =>
  [0, 25, 50, 75, 90, 99, 100].map((p) => `p${p} ${percentile(samples, p).toFixed(0)}`).join('  ');

export function renderSnapshot(result: SnapshotResult, objects: number): string {
  return [
    `W1  snapshot of ${objects} ConfigMaps, from creating the WatchRule until the ref is visible`,
    `    ${against(result.seconds, gates.snapshotSeconds, 's', 3)}`,
    `    peak memory of the operator ${result.peakRssMiB.toFixed(0)} MiB, ${result.commits} commit(s)`,
    ...result.breakdown.map((line) => `      ${line}`),
  ].join('\n');
}

export function renderSingleEdit(result: SingleEditResult, objects: number): string {
  return [
    `W2  one edit at ${objects} files, window 0, from sending it until the ref is visible; ${result.samplesMs.length} samples`,
    `    p50 ${against(result.p50Ms, gates.editP50Ms, 'ms', 1)}`,
    `    p99 ${against(result.p99Ms, gates.editP99Ms, 'ms', 1)}`,
    `    git CLI, same edit, same host: p50 ${result.gitCliP50Ms.toFixed(1)} ms`,
    `      operator  ${spread(result.samplesMs)}`,
    `      git CLI   ${spread(result.gitCliSamplesMs)}`,
    ...result.breakdown.map((line) => `      ${line}`),
  ].join('\n');
}
