import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { findCluster } from './cluster.js';
import { tempDir } from './processes.js';
import type { TempDir } from './processes.js';

let dir: TempDir;
beforeEach(async () => (dir = await tempDir('cluster')));
afterEach(() => dir[Symbol.asyncDispose]());

it('uses the cluster of E2E_KUBECONFIG with the kubectl on the PATH, and leaves it alone afterwards', async () => {
  const bin = join(dir.path, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'kubectl'), '#!/bin/sh\necho "$@"\n');
  await chmod(join(bin, 'kubectl'), 0o755);
  await writeFile(join(dir.path, 'kubeconfig'), '');

  const source = await findCluster({ env: { E2E_KUBECONFIG: join(dir.path, 'kubeconfig'), PATH: bin } });
  if (source.status === 'unavailable') throw new Error(source.reason);
  await using cluster = await source.open({ dir: dir.path });

  const said = await cluster.kubectl.run(['get', 'nodes']);
  expect(said).toBe(`--kubeconfig ${dir.path}/kubeconfig --cache-dir ${dir.path}/kubectl-cache get nodes\n`);
  expect(cluster.plane).toBeUndefined();
});

it('refuses an E2E_KUBECONFIG that cannot be read', async () => {
  const finding = findCluster({ env: { E2E_KUBECONFIG: '/nonexistent/kubeconfig' } });

  await expect(finding).rejects.toThrow('E2E_KUBECONFIG names /nonexistent/kubeconfig, which cannot be read');
});

it('passes on why no servers are there', async () => {
  const source = await findCluster({ env: { PATH: '' } });

  expect(source).toMatchObject({
    status: 'unavailable',
    reason: expect.stringContaining('Go is not on the PATH') as string,
  });
});
