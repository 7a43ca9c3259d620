import { type Devcluster, startDevcluster } from './index.js';
import { callApi, configMap, openWatchOn } from './testing/api-client.js';

describe('namespaces', () => {
  it('begins with the namespaces of a real cluster, each with its ConfigMap and ServiceAccount', async () => {
    await using cluster = await startDevcluster();

    expect(cluster.list('v1', 'Namespace').map(({ metadata }) => metadata.name)).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
    expect(cluster.get('v1', 'ConfigMap', 'kube-root-ca.crt', 'kube-system')).toMatchObject({
      data: { 'ca.crt': cluster.ca },
    });
    expect(cluster.get('v1', 'ServiceAccount', 'default', 'default')).toBeDefined();
  });

  it('puts back a deleted kube-root-ca.crt', async () => {
    await using cluster = await startDevcluster();

    cluster.delete('v1', 'ConfigMap', 'kube-root-ca.crt', 'default');
    await cluster.idle();

    expect(cluster.get('v1', 'ConfigMap', 'kube-root-ca.crt', 'default')).toBeDefined();
  });

  it('a deleted namespace is Terminating, takes nothing new, is emptied and goes', async () => {
    await using cluster = await startDevcluster({ tls: false });
    cluster.load([configMap('c', 'team')]);
    const held = {
      ...configMap('held', 'team'),
      metadata: { name: 'held', namespace: 'team', finalizers: ['example.test/f'] },
    };
    cluster.load([held]);
    const reader = await openWatchOn(
      cluster,
      `/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dteam&resourceVersion=${cluster.resourceVersion}`,
    );

    const deleted = await callApi(cluster, '/api/v1/namespaces/team', { method: 'DELETE' });
    const late = await callApi(cluster, '/api/v1/namespaces/team/configmaps', {
      method: 'POST',
      body: { metadata: { name: 'late' } },
    });
    const patched = await callApi(cluster, '/api/v1/namespaces/team/configmaps/held', {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { data: { x: 'y' } },
    });
    await cluster.idle();

    expect(deleted.json).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Terminating' },
    });
    expect(late.json).toMatchObject({
      code: 403,
      message:
        'configmaps "late" is forbidden: unable to create new content in namespace team because it is being terminated',
      details: {
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace team is being terminated',
            field: 'metadata.namespace',
          },
        ],
      },
    });
    expect(patched.code).toBe(200);
    expect(cluster.list('v1', 'ConfigMap', 'team').map(({ metadata }) => metadata.name)).toEqual(['held']);

    await callApi(cluster, '/api/v1/namespaces/team/configmaps/held', {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    });
    await cluster.idle();

    expect(cluster.get('v1', 'Namespace', 'team')).toBeUndefined();
    expect((await reader.take(3)).map(({ type }) => type)).toEqual(['MODIFIED', 'MODIFIED', 'DELETED']);
    reader.close();
  });

  it('without the controller it stays until its finalizer is cleared', async () => {
    await using cluster = await startDevcluster({
      tls: false,
      namespaceController: false,
      namespaces: ['default', 'team'],
    });
    cluster.delete('v1', 'Namespace', 'team');
    await cluster.idle();
    expect(cluster.get('v1', 'Namespace', 'team')).toMatchObject({ status: { phase: 'Terminating' } });

    await callApi(cluster, '/api/v1/namespaces/team/finalize', {
      method: 'PUT',
      body: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'team' }, spec: { finalizers: [] } },
    });

    expect(cluster.get('v1', 'Namespace', 'team')).toBeUndefined();
  });
});

describe('owners', () => {
  let cluster: Devcluster;
  beforeEach(async () => {
    cluster = await startDevcluster({ tls: false });
    cluster.load([configMap('owner')]);
    const uid = cluster.get('v1', 'ConfigMap', 'owner')?.metadata.uid ?? '';
    const child = configMap('child');
    cluster.load([
      {
        ...child,
        metadata: { ...child.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] },
      } as typeof child,
    ]);
  });
  afterEach(() => cluster.stop());

  it.each(['Background', 'Foreground'])('%s deletion takes the dependents along', async (propagationPolicy) => {
    await callApi(cluster, '/api/v1/namespaces/default/configmaps/owner', {
      method: 'DELETE',
      body: { propagationPolicy },
    });
    await cluster.idle();

    expect(cluster.get('v1', 'ConfigMap', 'child')).toBeUndefined();
    expect(cluster.get('v1', 'ConfigMap', 'owner')).toBeUndefined();
  });

  it('Orphan deletion leaves them, without their owner', async () => {
    await callApi(cluster, '/api/v1/namespaces/default/configmaps/owner', {
      method: 'DELETE',
      body: { propagationPolicy: 'Orphan' },
    });
    await cluster.idle();

    expect(cluster.get('v1', 'ConfigMap', 'child')?.metadata['ownerReferences']).toBeUndefined();
    expect(cluster.get('v1', 'ConfigMap', 'owner')).toBeUndefined();
  });

  it('a claim protected by a finalizer of the server is not held for ever', async () => {
    cluster.load([{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'p', namespace: 'default' } }]);

    cluster.delete('v1', 'PersistentVolumeClaim', 'p', 'default');
    await cluster.idle();

    expect(cluster.get('v1', 'PersistentVolumeClaim', 'p', 'default')).toBeUndefined();
  });
});
