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
    const rowOf = (resource: string) => lines.find((line) => line.split(/ +/)[1] === resource);
    expect(rowOf('configmaps')).toMatch(/^v1 +configmaps +ConfigMap +namespaced  followable$/);
    expect(rowOf('deployments')).toMatch(/^apps\/v1 +deployments +Deployment +namespaced  followable$/);
    expect(rowOf('namespaces')).toMatch(/ Namespace +cluster +followable$/);
    expect(rowOf('events')).toMatch(/ not followable — /);
    expect(new Set(lines.slice(0, -1).map((line) => /  (?:followable|not followable)/.exec(line)?.index)).size).toBe(1);
    expect(lines.at(-1)).toMatch(/^\d+ of \d+ types can be mirrored$/);
  }, 60_000);

  it('are asked of the context that is named', async () => {
    await using cluster = await startDevcluster();
    using folder = temporaryFolder({ kubeconfig: cluster.kubeconfig() });
    const request = { kubeconfig: join(folder.root, 'kubeconfig'), context: 'elsewhere' };

    await expect(discover(request, never)).rejects.toThrow(/the context asked for names no entry of contexts/);
  }, 60_000);

  it('cannot be told when nobody answers', async () => {
    const cluster = await startDevcluster();
    using folder = temporaryFolder({ kubeconfig: cluster.kubeconfig() });
    await cluster[Symbol.asyncDispose]();

    await expect(discover({ kubeconfig: join(folder.root, 'kubeconfig') }, never)).rejects.toThrow(
      /^SourceClusterUnreachable: /,
    );
  }, 60_000);
});
