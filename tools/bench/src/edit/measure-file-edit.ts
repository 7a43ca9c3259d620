import { percentile } from '../statistics.js';
import type { BundledPrograms } from './bundled-programs.js';
import type { EditFileAnswer } from './programs/edit-file.js';
import type { EditFileRivalAnswer } from './programs/edit-file-rival.js';

export interface FileEditResult {
  readonly documents: number;
  readonly fileBytes: number;
  readonly samplesMs: readonly number[];
  readonly p50Ms: number;
  readonly p50CpuMs: number;
  readonly p99Ms: number;
  readonly modelP50Ms: number;
  /** The `yaml` library making the same edit in the same file. */
  readonly rivalP50Ms: number;
  /** Lines the library changed besides. */
  readonly rivalOtherLines: number;
}

/** One field of one document in a long file. The program holds every result against the file it must be, byte for byte. */
export async function measureFileEdit(
  programs: BundledPrograms,
  documents: number,
  samples: number,
): Promise<FileEditResult> {
  const { answer } = await programs.run<EditFileAnswer>('edit-file', { documents, warmUps: 50, samples });
  const { answer: rival } = await programs.run<EditFileRivalAnswer>('edit-file-rival', {
    documents,
    samples: Math.max(3, Math.min(20, Math.floor(samples / 10))),
  });
  return {
    documents,
    fileBytes: answer.fileBytes,
    samplesMs: answer.editMs,
    p50Ms: percentile(answer.editMs, 50),
    p50CpuMs: percentile(answer.editCpuMs, 50),
    p99Ms: percentile(answer.editMs, 99),
    modelP50Ms: percentile(answer.modelMs, 50),
    rivalP50Ms: percentile(rival.editMs, 50),
    rivalOtherLines: rival.otherLines,
  };
}
