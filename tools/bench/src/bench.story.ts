import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand, tempDir } from '@gitops-reverser/e2e-harness';

const root = join(import.meta.dirname, '..', '..', '..');

it('measures both workloads at a small size, verifies the content, and writes the figures', async () => {
  await using dir = await tempDir('bench-story');
  const json = join(dir.path, 'figures.json');
  const flags = ['--import', 'tsx', '--conditions=@gitops-reverser/source', join(root, 'tools/bench/src/main.ts')];
  const size = ['--objects=200', '--namespaces=5', '--samples=2'];

  const { exit, stdout, stderr } = await runCommand(process.execPath, [...flags, 'W1', 'W2', ...size, '--json', json]);

  expect({ code: exit.code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  const said = stdout.toString();
  expect(said.match(/content verified: 200 objects in 200 files; git fsck --strict is clean/g)).toHaveLength(2);
  expect(said).toMatch(/^W1 {2}snapshot of 200 ConfigMaps/m);
  expect(said).toMatch(/git CLI, same edit, same host: p50 [\d.]+ ms/);
  expect(JSON.parse(await readFile(json, 'utf8'))).toEqual({
    W1: { seconds: expect.any(Number), peakRssMiB: expect.any(Number) },
    W2: { p50Ms: expect.any(Number), p99Ms: expect.any(Number), gitCliP50Ms: expect.any(Number) },
  });
});

it('measures files at a small size, verifies the content, and writes the figures', async () => {
  await using dir = await tempDir('bench-story');
  const json = join(dir.path, 'figures.json');
  const flags = ['--import', 'tsx', '--conditions=@gitops-reverser/source', join(root, 'tools/bench/src/main.ts')];
  const size = ['--documents=40', '--samples=4', '--files=100', '--entries=500'];

  const { exit, stdout, stderr } = await runCommand(process.execPath, [...flags, 'edit', ...size, '--json', json]);

  expect({ code: exit.code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  expect(stdout.toString().match(/content verified/g)).toHaveLength(3);
  expect(Object.keys((JSON.parse(await readFile(json, 'utf8')) as { edit: object }).edit)).toEqual([
    'file',
    'model',
    'analyzer',
  ]);
});
