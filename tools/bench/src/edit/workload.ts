import { join, resolve } from 'node:path';

import { tempDir } from '@gitops-reverser/e2e-harness';

import type { BenchArguments } from '../arguments.js';
import { bundlePrograms } from './bundled-programs.js';
import { measureFileEdit } from './measure-file-edit.js';
import { measureFolderModel } from './measure-folder-model.js';
import { measureScans } from './measure-scans.js';
import { renderFileEdit, renderFolderModel, renderScans, type EditResult } from './report.js';

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
  report(`writing and committing ${options.files} files`);
  const model = await measureFolderModel(programs, temp.path, options.files);
  say(renderFolderModel(model));
  report(`writing ${options.entries} files`);
  const scans = await measureScans(programs, temp.path, options.entries);
  say(renderScans(scans));
  return { file, model, scans };
}
