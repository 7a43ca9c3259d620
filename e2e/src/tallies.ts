import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Sums what the tally reporter left in a folder, one file a run. */
export async function sumTallies(dir: string): Promise<Tally> {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const name of await readdir(dir).catch(() => [])) {
    const { passed, failed, skipped } = JSON.parse(await readFile(join(dir, name), 'utf8')) as Tally;
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
  }
  return sum;
}

export const closingLine = ({ passed, failed, skipped }: Tally): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;
