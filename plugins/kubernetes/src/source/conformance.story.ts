import { readFile } from 'node:fs/promises';
import { findCluster, tempDir } from '@gitops-reverser/e2e-harness';
import { describeConformance } from './conformance.fixture.js';

const found = await findCluster();

if (found.status === 'unavailable')
  describe.skip(`conformance: a real API server (${found.reason})`, () => {
    it('is skipped', () => undefined);
  });
else
  describeConformance(`a real API server, ${found.from}`, async () => {
    const dir = await tempDir('conformance');
    const cluster = await found.open({ dir: dir.path });
    const { plane } = cluster;
    return {
      collections: 250,
      speaksHttp2: true,
      kubeconfig: await readFile(cluster.kubeconfigFile, 'utf8'),
      ...(plane === undefined
        ? {}
        : { powerless: await plane.kubeconfig('bob'), restart: () => plane.restartApiServer() }),
      async [Symbol.asyncDispose]() {
        await cluster[Symbol.asyncDispose]();
        await dir[Symbol.asyncDispose]();
      },
    };
  });
