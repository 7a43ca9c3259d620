import { join, resolve } from 'node:path';

import { tempDir } from '@gitops-reverser/e2e-harness';

import type { BenchArguments } from '../arguments.js';
import { bundlePrograms } from './bundled-programs.js';
import { measureFileEdit, type FileEditResult } from './measure-file-edit.js';
import { renderFileEdit } from './report.js';

export interface EditResult {
  readonly file: FileEditResult;
}

/** Files as people write them: how long reading, judging and editing them takes. Every part verifies its content. */
export async function measureEdit(
  options: BenchArguments,
  report: (line: string) => void,
  say: (text: string) => void,
): Promise<EditResult> {
  await using temp = await tempDir('bench-edit');
  report('bundling the programs');
  const profile = options.profile === undefined ? undefined : resolve(options.profile);
  const programs = await bundlePrograms(join(temp.path, 'programs'), profile);
  const file = await measureFileEdit(programs, options.documents, options.samples ?? 200);
  say(renderFileEdit(file));
  return { file };
}
