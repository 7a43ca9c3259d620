import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { operatorBundle } from './operator-bundle.js';
import { tempDir } from './processes.js';
import type { TempDir } from './processes.js';

let dir: TempDir;
const write = async (path: string, text: string, ageSeconds: number): Promise<void> => {
  const file = join(dir.path, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, text);
  const at = Date.now() / 1000 - ageSeconds;
  await utimes(file, at, at);
};
const bundler = `import { mkdirSync, writeFileSync } from 'node:fs'; mkdirSync('dist', { recursive: true }); writeFileSync('dist/operator.mjs', 'new');`;

beforeEach(async () => {
  dir = await tempDir('bundle');
  await write('package-lock.json', '{}', 100);
  await write('apps/operator/bundle.mjs', bundler, 100);
  for (const part of ['kernel/api', 'plugins/plain', 'crds/types', 'crds/reconcilers'])
    await write(`${part}/src/index.ts`, 'export {};', 100);
});
afterEach(() => dir[Symbol.asyncDispose]());

it.each([
  { why: 'it is missing', bundleAge: undefined, isMade: true },
  { why: 'it is younger than every source', bundleAge: 50, isMade: false },
  { why: 'a source is younger', bundleAge: 150, isMade: true },
])('bundles when needed: $why', async ({ bundleAge, isMade }) => {
  if (bundleAge !== undefined) await write('apps/operator/dist/operator.mjs', 'old', bundleAge);
  let told = 0;

  const bundle = await operatorBundle({ root: dir.path, onBundle: () => (told += 1) });

  expect(await readFile(bundle, 'utf8')).toBe(isMade ? 'new' : 'old');
  expect(told).toBe(isMade ? 1 : 0);
});

it('a younger test makes no new bundle', async () => {
  await write('apps/operator/dist/operator.mjs', 'old', 50);
  await write('kernel/api/src/index.test.ts', '', 0);

  const bundle = await operatorBundle({ root: dir.path });

  expect(await readFile(bundle, 'utf8')).toBe('old');
});

it('says what the bundler said', async () => {
  await write('apps/operator/bundle.mjs', 'throw new Error("no such module: pino")', 0);

  await expect(operatorBundle({ root: dir.path })).rejects.toThrow(/no such module: pino/);
});
