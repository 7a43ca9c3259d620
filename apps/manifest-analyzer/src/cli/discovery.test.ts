import { join } from 'node:path';
import { startDevcluster } from '@gitops-reverser/devcluster';
import { temporaryFolder } from '../temporary-folder.fixture.js';
import { discover, discoveryText } from './discovery.js';

const never = new AbortController().signal;

describe('the types of a cluster', () => {
  it('are told with the one reason that stands against each', async () => {
    await using cluster = await startDevcluster();
    using folder = temporaryFolder({ kubeconfig: cluster.kubeconfig() });

    const surface = await discover({ kubeconfig: join(folder.root, 'kubeconfig') }, never);

    const lines = [...discoveryText(surface)];
    expect(lines).toContain('v1  configmaps  ConfigMap  namespaced  followable');
    expect(lines).toContain('apps/v1  deployments  Deployment  namespaced  followable');
    expect(lines.find((line) => line.includes('  events  '))).toMatch(/ not followable — /);
  });

  it('are asked of the context that is named', async () => {
    await using cluster = await startDevcluster();
    using folder = temporaryFolder({ kubeconfig: cluster.kubeconfig() });
    const request = { kubeconfig: join(folder.root, 'kubeconfig'), context: 'elsewhere' };

    await expect(discover(request, never)).rejects.toThrow(/the context asked for names no entry of contexts/);
  });

  it('cannot be told when nobody answers', async () => {
    const cluster = await startDevcluster();
    using folder = temporaryFolder({ kubeconfig: cluster.kubeconfig() });
    await cluster[Symbol.asyncDispose]();

    await expect(discover({ kubeconfig: join(folder.root, 'kubeconfig') }, never)).rejects.toThrow(
      /^SourceClusterUnreachable: /,
    );
  });
});
