import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand } from './processes.js';

export interface OperatorBundleOptions {
  /** Folder of the workspace. */
  readonly root?: string;
  /** Told once, before the bundler runs. */
  readonly onBundle?: () => void;
}

const workspace = join(import.meta.dirname, '..', '..', '..');

/** Folders of packages the operator may be made of; tests, tools and stories are not among them. */
const parts = ['apps/operator', 'kernel', 'plugins', 'crds/types', 'crds/reconcilers'];

/**
 * The bundled operator, made anew when it is missing or older than its sources.
 *
 * @returns path of the bundle
 * @throws Error with the bundler's own words
 */
export async function operatorBundle(options: OperatorBundleOptions = {}): Promise<string> {
  const { root = workspace } = options;
  const home = join(root, 'apps', 'operator');
  const bundle = join(home, 'dist', 'operator.mjs');
  const madeAt = await stat(bundle).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
  if (madeAt !== undefined && madeAt >= (await newestSource(root))) return bundle;
  options.onBundle?.();
  const { exit, stdout, stderr } = await runCommand(process.execPath, ['bundle.mjs'], { cwd: home });
  if (exit.code !== 0)
    throw new Error(
      `the operator could not be bundled (node bundle.mjs in ${home}: ${exit.code ?? exit.signal}):\n${stdout.toString()}${stderr}`,
    );
  return bundle;
}

/** When a source was last written, in milliseconds of the epoch. */
async function newestSource(root: string): Promise<number> {
  let newest = (await stat(join(root, 'package-lock.json'))).mtimeMs;
  const visit = async (dir: string): Promise<void> => {
    for (const entry of await readdir(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) {
        if (!['node_modules', 'dist', 'out-tsc', 'fixtures', 'recordings'].includes(entry.name)) await visit(path);
      } else if (/\.(?:ts|mjs)$|^package\.json$/.test(entry.name) && !/\.(?:test|story|fixture)\.ts$/.test(entry.name))
        newest = Math.max(newest, (await stat(path)).mtimeMs);
    }
  };
  await Promise.all(parts.map((part) => visit(join(root, part))));
  return newest;
}
