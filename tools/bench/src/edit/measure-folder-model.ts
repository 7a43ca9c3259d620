import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startGitHost } from '@gitops-reverser/e2e-harness';

import { percentile } from '../statistics.js';
import type { BundledPrograms } from './bundled-programs.js';
import { digestOf } from './identities.js';
import { appFiles, filesOfApp } from './manifests.js';
import type { FolderModelAnswer } from './programs/folder-model.js';
import type { ReadAllRivalAnswer } from './programs/read-all-rival.js';
import type { ScanAnswer } from './programs/scan.js';
import { writeFiles } from './write-files.js';

export interface FolderModelResult {
  readonly files: number;
  readonly documents: number;
  /** One process each. */
  readonly coldMs: readonly number[];
  readonly coldCpuMs: readonly number[];
  readonly againMs: readonly number[];
  readonly warmMs: readonly number[];
  /** Peak over the same program doing nothing, the fetch of the repository included; the worst of all processes. */
  readonly peakMiB: number;
  readonly diskMs: readonly number[];
  readonly diskPeakMiB: number;
  readonly rivalMs: number;
  readonly rivalPeakMiB: number;
}

const processes = 3;
const folder = 'clusters/production';

/** The model of a folder of files as people write them: of a commit, and of a directory. */
export async function measureFolderModel(
  programs: BundledPrograms,
  dir: string,
  count: number,
): Promise<FolderModelResult> {
  const files = Array.from({ length: Math.ceil(count / filesOfApp) }, (_, app) => appFiles(app)).flat();
  const expected = files.flatMap(({ identities }) => identities);
  await using host = await startGitHost({ dir: join(dir, 'git') });
  await host.createRepository('model', {
    files: Object.fromEntries(files.map(({ path, text }) => [`${folder}/${path}`, text])),
  });
  const changes = files
    .filter(({ path }) => path.endsWith('deployment.yaml'))
    .slice(0, 20)
    .map(({ path, text }) => ({ path, text: text.replace('revisionHistoryLimit: 3', 'revisionHistoryLimit: 5') }));
  const ask = { url: host.urlOf('model'), path: folder, changes };
  const idleMiB = await programs.idlePeakRssMiB('folder-model');
  const runs: (FolderModelAnswer & { readonly peakMiB: number })[] = [];
  for (let nth = 0; nth < processes; nth++) {
    const { answer, peakRssMiB } = await programs.run<FolderModelAnswer>('folder-model', ask);
    if (answer.digest !== digestOf(expected))
      throw new Error(`the model of ${expected.length} documents has ${answer.documents}, or other ones`);
    runs.push({ ...answer, peakMiB: peakRssMiB - idleMiB });
  }

  const root = join(dir, 'model');
  await writeFiles(root, files);
  const idleScanMiB = await programs.idlePeakRssMiB('scan');
  const scans: { readonly ms: number; readonly peakMiB: number }[] = [];
  for (let nth = 0; nth < processes; nth++) {
    const reportFile = join(dir, 'model.json');
    const { answer, peakRssMiB } = await programs.run<ScanAnswer>('scan', { mode: 'scan-folder', root, reportFile });
    const report = JSON.parse(await readFile(reportFile, 'utf8')) as {
      readonly status: { readonly accepted: boolean };
    };
    if (!report.status.accepted) throw new Error('the folder on disk is not accepted');
    scans.push({ ms: answer.ms, peakMiB: peakRssMiB - idleScanMiB });
  }
  const rivalIdleMiB = await programs.idlePeakRssMiB('read-all-rival');
  const rival = await programs.run<ReadAllRivalAnswer>('read-all-rival', { root });
  if (rival.answer.manifests !== expected.length)
    throw new Error(`the rival read ${rival.answer.manifests} of ${expected.length} documents`);
  return {
    files: files.length,
    documents: expected.length,
    coldMs: runs.map(({ coldMs }) => coldMs),
    coldCpuMs: runs.map(({ coldCpuMs }) => coldCpuMs),
    againMs: runs.map(({ againMs }) => againMs),
    warmMs: runs.flatMap(({ warmMs }) => warmMs),
    peakMiB: percentile(
      runs.map(({ peakMiB }) => peakMiB),
      100,
    ),
    diskMs: scans.map(({ ms }) => ms),
    diskPeakMiB: percentile(
      scans.map(({ peakMiB }) => peakMiB),
      100,
    ),
    rivalMs: rival.answer.ms,
    rivalPeakMiB: rival.peakRssMiB - rivalIdleMiB,
  };
}
