import { startDevcluster, type Devcluster } from '@gitops-reverser/devcluster';
import type { KubeObject } from '@gitops-reverser/kernel-api';
import { openKubeConnection, type KubeConnection } from './connection.js';
import { Discovery } from './discovery.js';
import { EventRecorder } from './events.js';
import { openInformer } from './informer.js';
import { openKubeconfig } from './kubeconfig.js';
import { listAll } from './list-pager.js';
import { KubeClient } from './requests.js';
import { StatusPatcher } from './status-patcher.js';
import { eventually, never, realClock } from './testing/stub-server.js';

const configMaps = { group: '', version: 'v1', resource: 'configmaps', namespace: 'shop' };
const configMap = (
  name: string,
): { apiVersion: string; kind: string; metadata: { name: string; namespace: string }; data: { a: string } } => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data: { a: 'b' },
});

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

/** The same client against a server that behaves like a whole API server, not like one answer. */
async function withCluster(
  use: (client: KubeClient, cluster: Devcluster, connection: KubeConnection) => Promise<void>,
): Promise<void> {
  await using cluster = await startDevcluster({ namespaces: ['shop'], rootCaConfigMap: false });
  const credentials = openKubeconfig(cluster.kubeconfig(), 'devcluster', {}, realClock);
  await using connection = openKubeConnection({ credentials, clock: realClock });
  await use(new KubeClient(connection), cluster, connection);
}

it('creates, reads, patches, replaces and deletes', async () => {
  await withCluster(async (client) => {
    const path = { ...configMaps, name: 'a' };
    const created = await client.create(configMaps, configMap('a'), { fieldManager: 'me' }, never);
    const patched = await client.patch(
      path,
      { type: 'merge', body: { data: { c: 'd' } } },
      { fieldManager: 'me' },
      never,
    );
    const stale = client.replace(path, created, {}, never);

    await expect(stale).rejects.toMatchObject({ code: 409, reason: 'Conflict' });
    await expect(client.create(configMaps, configMap('a'), {}, never)).rejects.toMatchObject({
      reason: 'AlreadyExists',
    });
    expect(patched).toMatchObject({ data: { a: 'b', c: 'd' }, metadata: { uid: created.metadata.uid } });
    await client.delete(path, { preconditions: { uid: created.metadata.uid ?? '' } }, never);
    await expect(client.get(path, never)).rejects.toMatchObject({ code: 404, reason: 'NotFound' });
  });
});

it.each([{ aggregated: true }, { aggregated: false }])(
  'discovers the same in either form: aggregated $aggregated',
  async ({ aggregated }) => {
    await withCluster(async (client, cluster) => {
      cluster.faults.aggregatedDiscovery = aggregated;

      const scan = await new Discovery(client).scan(never);

      expect(scan).toMatchObject({ complete: true, failed: [] });
      expect(scan.entries.find(({ resource }) => resource === 'deployments')).toMatchObject({
        group: 'apps',
        version: 'v1',
        kind: 'Deployment',
        namespaced: true,
        preferred: true,
        shortNames: ['deploy'],
        verbs: expect.arrayContaining(['get', 'list', 'watch']),
        subresources: expect.arrayContaining(['scale', 'status']),
      });
    });
  },
);

it('lists a thousand objects in pages at one version', async () => {
  await withCluster(async (client, cluster) => {
    cluster.load(Array.from({ length: 1_000 }, (_, at) => configMap(`c${at}`)));

    const { items, resourceVersion } = await listAll(client, configMaps, { limit: 300 }, never);

    expect([items.length, resourceVersion]).toEqual([1_000, cluster.resourceVersion]);
  });
});

describe('an informer', () => {
  it.each([
    { name: 'WatchList', prepare: (): void => undefined },
    {
      name: 'list and watch, after 422',
      prepare: ({ faults }: Devcluster) => void (faults.sendInitialEventsRefusal = 422),
    },
    {
      name: 'list and watch, after an ERROR event',
      prepare: ({ faults }: Devcluster) => void (faults.sendInitialEventsRefusal = 'error-event'),
    },
  ])('follows by $name', async ({ prepare }) => {
    await withCluster(async (client, cluster) => {
      prepare(cluster);
      cluster.load([configMap('a'), configMap('b')]);
      await using informer = openInformer({ client, path: configMaps });
      const changes: string[] = [];
      informer.onChange(({ kind, object }) => changes.push(`${kind} ${object.metadata.name}`));

      await informer.synced;
      await client.patch({ ...configMaps, name: 'a' }, { type: 'merge', body: { data: { a: 'c' } } }, {}, never);
      await client.delete({ ...configMaps, name: 'b' }, {}, never);
      await eventually(() => changes.length === 4);

      expect(changes).toEqual(['added a', 'added b', 'updated a', 'deleted b']);
    });
  });

  it('survives a restart of the API server, which expires every version', async () => {
    await withCluster(async (client, cluster) => {
      cluster.load([configMap('a')]);
      await using informer = openInformer({ client, path: configMaps, random: () => 0 });
      await informer.synced;

      await cluster.restart();
      await client.create(configMaps, configMap('later'), {}, never);
      await eventually(() => informer.get('later', 'shop') !== undefined, 5_000);

      expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'later']);
    });
  });
});

it('ST-4, ST-6: writes a status once, drops a stale one, and counts equal events', async () => {
  await withCluster(async (client, cluster) => {
    const [object] = cluster.apply(deployment) as unknown as [KubeObject];
    const path = { group: 'apps', version: 'v1', resource: 'deployments', namespace: 'shop', name: 'web' };
    const patcher = new StatusPatcher(client, 'gitops-reverser');
    const recorder = new EventRecorder({ client, component: 'gitops-reverser', instance: 'pod-1' });

    const written = await patcher.patch(path, object, { observedGeneration: 1 }, never);
    const stale = await new StatusPatcher(client, 'another').patch(path, object, { observedGeneration: 2 }, never);
    for (let i = 0; i < 3; i++)
      await recorder.emit({ regarding: object, type: 'Normal', reason: 'Ready', message: 'all well' }, never);

    expect([written.kind, stale.kind]).toEqual(['written', 'conflict']);
    expect(cluster.list('v1', 'Event', 'shop')).toMatchObject([
      { reason: 'Ready', count: 3, involvedObject: { name: 'web' } },
    ]);
  });
});

it('a revoked token and a missing right are told apart', async () => {
  await withCluster(async (client, cluster) => {
    cluster.addUser({ name: 'ann' });
    const text = cluster.kubeconfig('ann');
    cluster.faults.deny({ user: 'ann', resource: 'configmaps' }, 403);
    const credentials = openKubeconfig(text, 'devcluster', {}, realClock);
    await using connection = openKubeConnection({ credentials, clock: realClock });
    const ann = new KubeClient(connection);

    await expect(ann.watch(configMaps, { timeoutSeconds: 300 }, never)).rejects.toMatchObject({
      code: 403,
      reason: 'Forbidden',
    });
    cluster.revokeUser('ann');
    await expect(ann.list(configMaps, {}, never)).rejects.toMatchObject({ code: 401, reason: 'Unauthorized' });
    await expect(client.list(configMaps, {}, never)).resolves.toMatchObject({ items: [] });
  });
});
