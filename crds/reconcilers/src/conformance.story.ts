import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { findCluster, tempDir } from '@gitops-reverser/e2e-harness';

import { describeConformance } from './testing/conformance.fixture.js';

// The same expectations as on devcluster, so that the embedded server stays honest. Told by `npm run e2e`.
const source = await findCluster({ build: false });
if (source.status === 'available') {
  describeConformance(source.from, async () => {
    const dir = await tempDir('reconcilers');
    const cluster = await source.open({ dir: join(dir.path, 'cluster') });
    const { plane } = cluster;
    return {
      kubeconfig: await readFile(cluster.kubeconfigFile, 'utf8'),
      isOurs: plane !== undefined,
      ...(plane === undefined ? {} : { restart: () => plane.restartApiServer() }),
      async [Symbol.asyncDispose]() {
        await cluster[Symbol.asyncDispose]();
        await dir[Symbol.asyncDispose]();
      },
    };
  });
} else {
  const isDue = process.env['CI'] === 'true';
  (isDue ? it : it.skip)(`has a real API server: ${source.reason}`, () => {
    throw new Error(source.reason);
  });
}
