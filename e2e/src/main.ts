import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findCluster } from '@gitops-reverser/e2e-harness';

import { closingLine, sumTallies } from './tallies.js';
import type { Tally } from './tallies.js';

const root = join(import.meta.dirname, '..', '..');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs a command with our own input and output; gives its exit code. */
function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
    child.once('error', reject).once('exit', (code) => resolve(code ?? 1));
  });
}

async function close(tally: Tally, code: number): Promise<number> {
  const dir = process.env['TEST_TALLY_DIR'];
  if (dir !== undefined && dir !== '') {
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, `e2e-${process.pid}.json`), JSON.stringify(tally));
  }
  say(closingLine(tally));
  return code;
}

/** Finds the servers, bundles the operator and runs the stories; arguments go to Jest. */
async function main(args: readonly string[]): Promise<number> {
  const isCi = process.env['CI'] === 'true';
  const source = await findCluster({ onProgress: say });
  if (source.status === 'unavailable') {
    say(`e2e ${isCi ? 'failed' : 'skipped'}: ${source.reason}`);
    return await close({ passed: 0, failed: isCi ? 1 : 0, skipped: isCi ? 0 : 1 }, isCi ? 1 : 0);
  }
  say(`e2e against ${source.from}`);

  const bundled = await run('npx', ['nx', 'run', 'operator:bundle'], { NX_DAEMON: 'false' });
  if (bundled !== 0) {
    say('e2e failed: the operator could not be bundled');
    return await close({ passed: 0, failed: 1, skipped: 0 }, 1);
  }

  const tallies = await mkdtemp(join(tmpdir(), 'gitops-reverser-tallies-'));
  try {
    const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
    const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest];
    const code = await run(
      process.execPath,
      [...flags, '--config', join(root, 'e2e', 'jest.stories.config.mjs'), ...args],
      {
        TEST_TALLY_DIR: tallies,
      },
    );
    const tally = await sumTallies(tallies);
    const isEmpty = tally.passed + tally.failed === 0;
    if (isEmpty) say('e2e failed: no story was told');
    return await close(tally, code !== 0 || isEmpty ? 1 : 0);
  } finally {
    await rm(tallies, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
