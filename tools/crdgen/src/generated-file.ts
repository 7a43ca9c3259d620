import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface GeneratedFile {
  /** From the root of the workspace, with `/`. */
  readonly path: string;
  readonly text: string;
}
export interface Drift {
  readonly path: string;
  readonly found: 'missing' | 'stale' | 'orphaned';
}

/** Every generated file says so in its first line; a file that does not is somebody's own and is left alone. */
const mark = /Generated from \S.* by `npm run generate`/;

/** What on disk differs from what would be generated. Orphans are generated files nothing generates any more. */
export async function findDrift(root: string, files: readonly GeneratedFile[]): Promise<readonly Drift[]> {
  const drifts: Drift[] = [];
  for (const { path, text } of files) {
    const found = await readText(join(root, path));
    if (found === undefined) drifts.push({ path, found: 'missing' });
    else if (found !== text) drifts.push({ path, found: 'stale' });
  }
  const known = new Set(files.map(({ path }) => path));
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) {
    for (const name of await namesIn(join(root, folder))) {
      const path = `${folder}/${name}`;
      const isOurs = !known.has(path) && mark.test((await readText(join(root, path)))?.split('\n', 1)[0] ?? '');
      if (isOurs) drifts.push({ path, found: 'orphaned' });
    }
  }
  return drifts;
}

/** Writes what is missing or stale and removes orphans. */
export async function mend(root: string, files: readonly GeneratedFile[], drifts: readonly Drift[]): Promise<void> {
  const textByPath = new Map(files.map(({ path, text }) => [path, text]));
  for (const { path } of drifts) {
    const text = textByPath.get(path);
    if (text === undefined) await rm(join(root, path));
    else {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  }
}

const isMissing = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  (error.code === 'ENOENT' || error.code === 'EISDIR');
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
