import { isDeepStrictEqual } from 'node:util';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { BundledPrograms } from './bundled-programs.js';
import { filesOfUnit, unitFiles, unitFindings } from './mixed-repository.js';
import type { ReadAllRivalAnswer } from './programs/read-all-rival.js';
import type { ScanAnswer } from './programs/scan.js';
import { writeFiles } from './write-files.js';

export interface Scanned {
  readonly entries: number;
  readonly ms: number;
  readonly cpuMs: number;
  /** Over the same program doing nothing. */
  readonly peakMiB: number;
}

export interface ScansResult {
  /** Of a fifth, of half and of the whole repository: the slope is what matters. */
  readonly repo: readonly Scanned[];
  readonly folder: Scanned;
  readonly rivalMs: number;
  readonly rivalPeakMiB: number;
}

interface RepoReport {
  readonly status: {
    readonly summary: {
      readonly candidatesByLayout: Readonly<Record<string, number>>;
      readonly accepted: number;
      readonly refused: number;
    };
  };
}
interface FolderReport {
  readonly status: { readonly accepted: boolean; readonly issues: readonly { readonly kind: string }[] };
}

/** The analyzer over a repository of everything; every count of its reports is held against what was written. */
export async function measureScans(programs: BundledPrograms, dir: string, entries: number): Promise<ScansResult> {
  const units = Math.max(5, Math.floor(entries / filesOfUnit));
  const root = join(dir, 'repository');
  const parts = [
    { root: join(root, 'fleet', 'core'), units: Math.floor(units / 5) },
    { root: join(root, 'fleet'), units: Math.floor(units / 2) },
    { root, units },
  ];
  let written = 0;
  for (const part of parts) for (; written < part.units; written++) await writeFiles(part.root, unitFiles(written));

  const idleMiB = await programs.idlePeakRssMiB('scan');
  const reportFile = join(dir, 'report.json');
  const scan = async (mode: 'scan-repo' | 'scan-folder', part: (typeof parts)[number]): Promise<Scanned> => {
    const { answer, peakRssMiB } = await programs.run<ScanAnswer>('scan', { mode, root: part.root, reportFile });
    return { entries: part.units * filesOfUnit, ...answer, peakMiB: peakRssMiB - idleMiB };
  };
  const repo: Scanned[] = [];
  for (const part of parts) {
    repo.push(await scan('scan-repo', part));
    checkRepo(JSON.parse(await readFile(reportFile, 'utf8')) as RepoReport, part.units);
  }
  const whole = parts[2] as (typeof parts)[number];
  const folder = await scan('scan-folder', whole);
  checkFolder(JSON.parse(await readFile(reportFile, 'utf8')) as FolderReport, units);
  const rivalIdleMiB = await programs.idlePeakRssMiB('read-all-rival');
  const rival = await programs.run<ReadAllRivalAnswer>('read-all-rival', { root });
  if (rival.answer.manifests !== units * unitFindings.manifests)
    throw new Error(`the rival read ${rival.answer.manifests} of ${units * unitFindings.manifests} documents`);
  return { repo, folder, rivalMs: rival.answer.ms, rivalPeakMiB: rival.peakRssMiB - rivalIdleMiB };
}

const times = (counts: Readonly<Record<string, number>>, units: number): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count * units]));

function checkRepo({ status: { summary } }: RepoReport, units: number): void {
  const { accepted, refused } = unitFindings;
  const wanted = times({ ...unitFindings.layouts, accepted, refused }, units);
  const found = { ...summary.candidatesByLayout, accepted: summary.accepted, refused: summary.refused };
  if (!isDeepStrictEqual(found, wanted))
    throw new Error(`scan-repo found ${JSON.stringify(found)}, there are ${JSON.stringify(wanted)}`);
}

function checkFolder({ status: { accepted, issues } }: FolderReport, units: number): void {
  const found: Record<string, number> = {};
  for (const { kind } of issues) found[kind] = (found[kind] ?? 0) + 1;
  const wanted = times(unitFindings.issues, units);
  const isRight = !accepted && Object.keys(found).length === Object.keys(wanted).length;
  if (!isRight || !Object.entries(wanted).every(([kind, count]) => found[kind] === count))
    throw new Error(`scan-folder found ${JSON.stringify(found)}, there are ${JSON.stringify(wanted)}`);
}
