import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startOperator } from './operator-process.js';
import { tempDir } from './processes.js';
import type { TempDir } from './processes.js';

let dir: TempDir;
beforeEach(async () => (dir = await tempDir('operator')));
afterEach(() => dir[Symbol.asyncDispose]());

/** A stand-in that takes the operator's flags: ready at the second question. */
const standIn = `
import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
const flag = (name) => process.argv.find((arg) => arg.startsWith(name + '='))?.slice(name.length + 1);
writeFileSync(process.env.OUT, JSON.stringify({ args: process.argv.slice(2), namespace: process.env.POD_NAMESPACE }));
let asked = 0;
createServer((_, res) => res.writeHead(++asked > 1 ? 200 : 503).end()).listen(flag('--health-probe-bind-address').split(':')[1], '127.0.0.1');
createServer((_, res) => res.end('up 1\\n')).listen(flag('--metrics-bind-address').split(':')[1], '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
`;

async function bundle(text: string): Promise<string> {
  const file = join(dir.path, 'operator.mjs');
  await writeFile(file, text);
  return file;
}

it('starts the bundle with its flags, waits until it is ready, and stops it politely', async () => {
  const out = join(dir.path, 'out.json');

  const operator = await startOperator({
    bundle: await bundle(standIn),
    dir: dir.path,
    kubeconfigFile: '/kubeconfig',
    config: 'version: 1\nlogLevel: debug\n',
    env: { OUT: out },
    flags: ['--log-format=json'],
  });
  const [metrics, rss] = [await operator.metrics(), await operator.peakRssMiB()];
  const exit = await operator.stop();

  const { args, namespace } = JSON.parse(await readFile(out, 'utf8')) as { args: string[]; namespace: string };
  expect(args.slice(0, 5)).toEqual(['run', '--kubeconfig', '/kubeconfig', '--config', join(dir.path, 'config.yaml')]);
  expect(args.at(-1)).toBe('--log-format=json');
  expect(namespace).toBe('gitops-reverser');
  expect(await readFile(join(dir.path, 'config.yaml'), 'utf8')).toBe('version: 1\nlogLevel: debug\n');
  expect(metrics).toBe('up 1\n');
  expect(rss).toBeGreaterThan(10);
  expect(exit).toEqual({ code: 0, signal: null });
});

it('gives the last words of an operator that ends at once', async () => {
  const start = startOperator({
    bundle: await bundle("console.error('git.cacheDir: expected an absolute path'); process.exit(2);"),
    dir: dir.path,
    kubeconfigFile: '/kubeconfig',
  });

  await expect(start).rejects.toThrow(
    /operator: waiting for \/readyz to answer 200: it ended before that \(exit code 2\)[^]*git\.cacheDir: expected an absolute path/,
  );
});
