import { writeFile } from 'node:fs/promises';

import { cpuMsSince, loadBundled, runProgram } from './child.js';

export interface ScanAsk {
  readonly mode: 'scan-repo' | 'scan-folder';
  readonly root: string;
  /** Where the report goes, as the analyzer prints it. */
  readonly reportFile: string;
}

export interface ScanAnswer {
  readonly ms: number;
  readonly cpuMs: number;
}

interface Analyzer {
  scanRepo(root: string): Promise<unknown>;
  scanFolder(root: string): Promise<unknown>;
  toJSON(report: unknown): string;
}

await runProgram(async ({ mode, root, reportFile }: ScanAsk): Promise<ScanAnswer> => {
  const analyzer = await loadBundled<Analyzer>('manifest-analyzer');
  const cpuBefore = process.cpuUsage();
  const beganMs = performance.now();
  const report = mode === 'scan-repo' ? await analyzer.scanRepo(root) : await analyzer.scanFolder(root);
  const ms = performance.now() - beganMs;
  const cpuMs = cpuMsSince(cpuBefore);
  await writeFile(reportFile, analyzer.toJSON(report));
  return { ms, cpuMs };
});
