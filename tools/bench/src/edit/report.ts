import { against } from '../gates.js';
import { percentile, round } from '../statistics.js';
import type { FileEditResult } from './measure-file-edit.js';
import type { FolderModelResult } from './measure-folder-model.js';
import type { Scanned, ScansResult } from './measure-scans.js';

export interface EditResult {
  readonly file: FileEditResult;
  readonly model: FolderModelResult;
  readonly scans: ScansResult;
}

/** Figures to aim for, on two cores. */
const gates = { fileEditMs: 2, modelSeconds: 1, modelMiB: 150 } as const;

/** The figures for machines. */
export function editToJson({ file, model, scans }: EditResult): unknown {
  const whole = scans.repo.at(-1);
  return {
    file: {
      p50Ms: round(file.p50Ms, 2),
      p50CpuMs: round(file.p50CpuMs, 2),
      p99Ms: round(file.p99Ms, 2),
      modelP50Ms: round(file.modelP50Ms, 2),
      yamlP50Ms: round(file.rivalP50Ms, 1),
    },
    model: {
      seconds: round(median(model.coldMs) / 1000, 3),
      cpuSeconds: round(median(model.coldCpuMs) / 1000, 3),
      againSeconds: round(median(model.againMs) / 1000, 3),
      changedP50Ms: round(median(model.warmMs), 2),
      peakMiB: round(model.peakMiB, 1),
      diskSeconds: round(median(model.diskMs) / 1000, 3),
      yamlSeconds: round(model.rivalMs / 1000, 3),
    },
    analyzer: {
      scanRepoSeconds: round((whole?.ms ?? 0) / 1000, 3),
      scanRepoPeakMiB: scans.repo.map(({ entries, peakMiB }) => ({ entries, peakMiB: round(peakMiB, 1) })),
      scanFolderSeconds: round(scans.folder.ms / 1000, 3),
      scanFolderPeakMiB: round(scans.folder.peakMiB, 1),
      yamlSeconds: round(scans.rivalMs / 1000, 3),
      yamlPeakMiB: round(scans.rivalPeakMiB, 1),
    },
  };
}

const median = (samples: readonly number[]): number => percentile(samples, 50);
const spread = (samples: readonly number[]): string =>
  [0, 25, 50, 75, 90, 99, 100].map((p) => `p${p} ${percentile(samples, p).toFixed(2)}`).join('  ');
const ratio = (theirs: number, ours: number): string => `${(theirs / ours).toFixed(1)} times ours`;

export function renderFileEdit(result: FileEditResult): string {
  const { documents, fileBytes, samplesMs, p50Ms, p50CpuMs, modelP50Ms, rivalP50Ms, rivalOtherLines } = result;
  return [
    `edit  one field of one document among ${documents} in a file of ${(fileBytes / 1000).toFixed(0)} kB, planned and rendered; ${samplesMs.length} samples`,
    `    p50 ${against(p50Ms, gates.fileEditMs, 'ms', 2)}; processor time p50 ${p50CpuMs.toFixed(2)} ms`,
    `    then the model of the folder with the file as it is now: p50 ${modelP50Ms.toFixed(2)} ms`,
    `    yaml, parse all, set one field, write all: p50 ${rivalP50Ms.toFixed(0)} ms, ${ratio(rivalP50Ms, p50Ms)}; other lines it changed: ${rivalOtherLines}`,
    `      ours  ${spread(samplesMs)}`,
    `    content verified: each edit gave the file with its one line changed, byte for byte`,
  ].join('\n');
}

const each = (samplesMs: readonly number[]): string => samplesMs.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', ');

export function renderFolderModel(result: FolderModelResult): string {
  const { files, documents, coldMs, coldCpuMs, againMs, warmMs, peakMiB, diskMs, diskPeakMiB } = result;
  const seconds = median(coldMs) / 1000;
  return [
    `edit  model of a folder of ${files} files (${documents} documents) of a commit, the first of its process; ${coldMs.length} processes`,
    `    p50 ${against(seconds, gates.modelSeconds, 's', 2)}`,
    `    peak memory over the idle program, fetch included ${against(peakMiB, gates.modelMiB, 'MiB', 0)}`,
    `    processor time ${each(coldCpuMs)}; again in the same process, nothing remembered: ${each(againMs)}`,
    `    after one changed file: p50 ${median(warmMs).toFixed(2)} ms`,
    `    the same files on disk, scan-folder: ${each(diskMs)}; peak over idle ${diskPeakMiB.toFixed(0)} MiB`,
    `    yaml, parseAllDocuments of the same files: ${each([result.rivalMs])}, ${ratio(result.rivalMs, median(coldMs))}; peak over idle ${result.rivalPeakMiB.toFixed(0)} MiB`,
    `    content verified: each of the ${documents} identities was found where it is, and scan-folder accepts the folder`,
  ].join('\n');
}

export function renderScans({ repo, folder, rivalMs, rivalPeakMiB }: ScansResult): string {
  const [first, last] = [repo[0], repo.at(-1)];
  const line = (what: string, { entries, ms, cpuMs, peakMiB }: Scanned): string =>
    `    ${what} of ${entries} files: ${each([ms])} (processor ${each([cpuMs])}), peak over idle ${peakMiB.toFixed(0)} MiB`;
  const slope =
    first === undefined || last === undefined || first === last
      ? 0
      : ((last.peakMiB - first.peakMiB) * 1024) / (last.entries - first.entries);
  return [
    `edit  manifest-analyzer over a repository of plain folders, overlays, bundles and what is no manifest`,
    ...repo.map((scanned) => line('scan-repo', scanned)),
    `    memory per further file ${slope.toFixed(1)} KiB`,
    line('scan-folder', folder),
    `    yaml, parseAllDocuments of the same files: ${each([rivalMs])}, ${ratio(rivalMs, last?.ms ?? rivalMs)}; peak over idle ${rivalPeakMiB.toFixed(0)} MiB`,
    `    content verified: candidates by layout and by verdict, and issues by kind, are as many as were written`,
  ].join('\n');
}
