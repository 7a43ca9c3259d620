import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { takeBuildLock } from './build-lock.js';
import { tempDir } from './processes.js';
import type { TempDir } from './processes.js';
import { resolveServerBinaries } from './server-binaries.js';

let dir: TempDir;
beforeEach(async () => (dir = await tempDir('binaries')));
afterEach(() => dir[Symbol.asyncDispose]());

async function script(file: string, body: string): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
}

/** A `go` that answers `go env` and, as `go build`, writes what it was told to do into its output. */
async function fakeGo(build = 'echo "$GOFLAGS $*" > "$out"; chmod +x "$out"'): Promise<string> {
  const count = join(dir.path, 'builds');
  await script(
    join(dir.path, 'go', 'go'),
    `if [ "$1" = env ]; then echo go1.26.8; exit 0; fi\necho build >> ${count}\nfor arg; do [ "$last" = -o ] && out=$arg; last=$arg; done\n${build}`,
  );
  return count;
}

async function modules(): Promise<string> {
  for (const name of ['etcd', 'kube']) {
    await mkdir(join(dir.path, 'modules', name), { recursive: true });
    for (const file of ['go.mod', 'go.sum']) await writeFile(join(dir.path, 'modules', name, file), file);
  }
  return join(dir.path, 'modules');
}

const envWithGo = () => ({ PATH: `${join(dir.path, 'go')}:/usr/bin:/bin`, XDG_CACHE_HOME: join(dir.path, 'cache') });

it('takes binaries from KUBEBUILDER_ASSETS before anything else', async () => {
  for (const name of ['etcd', 'kube-apiserver', 'kubectl']) await script(join(dir.path, 'assets', name), 'true');

  const binaries = await resolveServerBinaries({ env: { KUBEBUILDER_ASSETS: join(dir.path, 'assets') } });

  expect(binaries).toMatchObject({
    status: 'available',
    from: 'KUBEBUILDER_ASSETS',
    paths: { kubectl: join(dir.path, 'assets', 'kubectl') },
  });
});

it('refuses a KUBEBUILDER_ASSETS that lacks a binary, naming folder and binary', async () => {
  await script(join(dir.path, 'etcd'), 'true');

  const resolving = resolveServerBinaries({ env: { KUBEBUILDER_ASSETS: dir.path } });

  await expect(resolving).rejects.toThrow(
    `KUBEBUILDER_ASSETS names ${dir.path}, which has no executable kube-apiserver`,
  );
});

it('says what is missing, and what to do, without Go and without the variable', async () => {
  const binaries = await resolveServerBinaries({ env: { PATH: join(dir.path, 'empty') } });

  expect(binaries).toEqual({
    status: 'unavailable',
    reason: expect.stringMatching(/^Go is not on the PATH and KUBEBUILDER_ASSETS is not set: install Go/) as string,
  });
});

it('builds each server once, read-only, with its version in it, and finds it again', async () => {
  const count = await fakeGo();
  const modulesDir = await modules();
  const lines: string[] = [];
  const resolve = () => resolveServerBinaries({ env: envWithGo(), modulesDir, onProgress: (line) => lines.push(line) });

  const first = await resolve();
  const second = await resolve();

  if (first.status === 'unavailable') throw new Error(first.reason);
  expect([first.from, second.status === 'available' && second.from]).toEqual(['built', 'cache']);
  expect((await readFile(count, 'utf8')).split('\n').filter(Boolean)).toHaveLength(3);
  expect(await readFile(first.paths['kube-apiserver'] ?? '', 'utf8')).toMatch(
    /^-mod=readonly build -trimpath -ldflags -s -w -X .*gitVersion=v1\.36\.3 .* k8s.io\/kubernetes\/cmd\/kube-apiserver\n$/,
  );
  expect(first.paths.etcd).toMatch(
    new RegExp(`^${join(dir.path, 'cache')}/gitops-reverser/servers/etcd-[0-9a-f]{16}/etcd$`),
  );
  expect(lines.filter((line) => line.startsWith('kubectl:'))).toEqual([
    expect.stringContaining('building k8s.io/kubernetes/cmd/kubectl'),
    expect.stringContaining('built in'),
  ]);
});

it('builds anew when go.sum changes', async () => {
  const count = await fakeGo();
  const modulesDir = await modules();
  const resolve = () => resolveServerBinaries({ env: envWithGo(), modulesDir, needs: ['etcd'] });
  await resolve();

  await writeFile(join(modulesDir, 'etcd', 'go.sum'), 'other');
  await resolve();

  expect((await readFile(count, 'utf8')).split('\n').filter(Boolean)).toHaveLength(2);
});

it('builds once when two runs start together', async () => {
  const count = await fakeGo('sleep 0.3; echo x > "$out"; chmod +x "$out"');
  const modulesDir = await modules();
  const resolve = () => resolveServerBinaries({ env: envWithGo(), modulesDir, needs: ['etcd'] });

  const both = await Promise.all([resolve(), resolve()]);

  expect(both.map(({ status }) => status)).toEqual(['available', 'available']);
  expect((await readFile(count, 'utf8')).split('\n').filter(Boolean)).toHaveLength(1);
});

it('leaves nothing half-built behind when a build fails, and gives the words of the compiler', async () => {
  await fakeGo('echo half > "$out"; echo "undefined: x" >&2; exit 1');
  const modulesDir = await modules();

  const resolving = resolveServerBinaries({ env: envWithGo(), modulesDir, needs: ['etcd'] });

  await expect(resolving).rejects.toThrow(/go build of etcd failed \(1\):\nundefined: x/);
  const servers = join(dir.path, 'cache', 'gitops-reverser', 'servers');
  const [folder = ''] = await readdir(servers);
  expect(await readdir(join(servers, folder))).toEqual([]);
});

it('does not build when it is told not to', async () => {
  await fakeGo();

  const binaries = await resolveServerBinaries({ env: envWithGo(), modulesDir: await modules(), build: false });

  expect(binaries).toEqual({
    status: 'unavailable',
    reason: expect.stringContaining('etcd, kube-apiserver, kubectl not built yet') as string,
  });
});

it('takes over the lock of a process that died', async () => {
  const file = join(dir.path, 'lock');
  // Above the kernel's largest pid.
  await writeFile(file, '4194999');

  await using lock = await takeBuildLock(file);

  expect(lock.hasWaited).toBe(true);
  expect(await readFile(file, 'utf8')).toBe(String(process.pid));
});
