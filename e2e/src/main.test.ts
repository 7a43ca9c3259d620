import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { runCommand, tempDir } from '@gitops-reverser/e2e-harness';
import type { TempDir } from '@gitops-reverser/e2e-harness';

import { closingLine, sumTallies } from './tallies.js';

let dir: TempDir;
beforeEach(async () => (dir = await tempDir('e2e')));
afterEach(() => dir[Symbol.asyncDispose]());

/** `npm run e2e` on a machine with Node, without Go. */
async function runE2e(extra: Record<string, string>) {
  const bin = join(dir.path, 'bin');
  await mkdir(bin);
  await symlink(process.execPath, join(bin, 'node'));
  const main = join(import.meta.dirname, 'main.ts');
  const tsx = join(dirname(main), '..', '..', 'node_modules', 'tsx', 'dist', 'loader.mjs');
  const env = { PATH: bin, HOME: dir.path, TEST_TALLY_DIR: join(dir.path, 'tallies'), ...extra };
  const args = ['--import', tsx, '--conditions=@gitops-reverser/source', main];
  const { exit, stdout, stderr } = await runCommand(process.execPath, args, { env });
  return { code: exit.code, lines: stdout.toString().trimEnd().split('\n'), stderr };
}

it('says why and skips without Go and without the variables', async () => {
  const { code, lines } = await runE2e({});

  expect(code).toBe(0);
  expect(lines[0]).toMatch(/^e2e skipped: Go is not on the PATH and KUBEBUILDER_ASSETS is not set: install Go/);
  expect(lines.at(-1)).toBe('0 passed, 0 failed, 1 skipped');
  const [file = ''] = await readdir(join(dir.path, 'tallies'));
  expect(JSON.parse(await readFile(join(dir.path, 'tallies', file), 'utf8'))).toEqual({
    passed: 0,
    failed: 0,
    skipped: 1,
  });
}, 30_000);

it('fails instead with CI=true', async () => {
  const { code, lines } = await runE2e({ CI: 'true' });

  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^e2e failed: Go is not on the PATH/);
  expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
}, 30_000);

it('sums the tallies of all runs', async () => {
  const tallies = join(import.meta.dirname, '..', 'fixtures', 'tallies');

  const sum = await sumTallies(tallies);

  expect(closingLine(sum)).toBe('12 passed, 1 failed, 3 skipped');
});
