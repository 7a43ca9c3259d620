import { against } from '../gates.js';
import { percentile, round } from '../statistics.js';
import type { FileEditResult } from './measure-file-edit.js';
import type { EditResult } from './workload.js';

/** Figures to aim for, on two cores. */
const gates = { fileEditMs: 2 } as const;

/** The figures for machines. */
export function editToJson({ file }: EditResult): unknown {
  return {
    file: {
      p50Ms: round(file.p50Ms, 2),
      p99Ms: round(file.p99Ms, 2),
      modelP50Ms: round(file.modelP50Ms, 2),
      yamlP50Ms: round(file.rivalP50Ms, 1),
    },
  };
}

const spread = (samples: readonly number[]): string =>
  [0, 25, 50, 75, 90, 99, 100].map((p) => `p${p} ${percentile(samples, p).toFixed(2)}`).join('  ');
const ratio = (theirs: number, ours: number): string => `${(theirs / ours).toFixed(0)} times ours`;

export function renderFileEdit(result: FileEditResult): string {
  const { documents, fileBytes, samplesMs, p50Ms, modelP50Ms, rivalP50Ms, rivalOtherLines } = result;
  return [
    `edit  one field of one document among ${documents} in a file of ${(fileBytes / 1000).toFixed(0)} kB, planned and rendered; ${samplesMs.length} samples`,
    `    p50 ${against(p50Ms, gates.fileEditMs, 'ms', 2)}`,
    `    then the model of the folder with the file as it is now: p50 ${modelP50Ms.toFixed(2)} ms`,
    `    yaml, parse all, set one field, write all: p50 ${rivalP50Ms.toFixed(0)} ms, ${ratio(rivalP50Ms, p50Ms)}; other lines it changed: ${rivalOtherLines}`,
    `      ours  ${spread(samplesMs)}`,
    `    content verified: each edit gave the file with its one line changed, byte for byte`,
  ].join('\n');
}
