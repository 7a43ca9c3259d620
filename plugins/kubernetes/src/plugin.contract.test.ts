import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileStripRules } from '@gitops-reverser/kernel-api';
import { startDevcluster } from '@gitops-reverser/devcluster';
import {
  aConfigMap,
  anObject,
  configMaps,
  describeSanitizer,
  describeSource,
  fakeClock,
  namespaces,
  observed,
  secrets,
  services,
} from '@gitops-reverser/kernel-testing';
import { plugin } from './plugin.js';
import { bookkeeping } from './sanitizer/index.js';
import { connectTo, shopMaps } from './source/following.fixture.js';

const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');

/** Real connections to an embedded API server; the pauses of streams and scans are fake. */
async function openWorld(): Promise<
  Parameters<typeof describeSource>[1]['world'] extends () => Promise<infer W> ? W : never
> {
  const cluster = await startDevcluster({ tls: false, rootCaConfigMap: false, defaultServiceAccount: false });
  cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const connection = connectTo(cluster.url, { token: cluster.token() });
  const clock = fakeClock();
  const put = (name: string, value: string): Promise<void> => {
    cluster.apply(aConfigMap({ name, namespace: 'shop', data: { value } }));
    return Promise.resolve();
  };
  return {
    given: { 'kube-connection': connection, 'cluster-locality': 'local', clock },
    collection: shopMaps,
    put,
    remove: (name) => Promise.resolve(cluster.delete('v1', 'ConfigMap', name, 'shop')),
    valueOf: (object) => (object['data'] as { readonly value?: string }).value,
    cut: () => Promise.resolve(void cluster.faults.dropWatches()),
    expire: () => cluster.restart(),
    tick: () => clock.advance(1_000),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await cluster.stop();
    },
  };
}

describeSource(plugin, { world: openWorld, readme });

describeSanitizer(plugin, {
  given: { 'strip-rules': compileStripRules([bookkeeping]) },
  readme,
  samples: [
    {
      object: observed(aConfigMap('kube-root-ca.crt')),
      type: configMaps,
      why: 'what every namespace is given',
      expect: 'drop',
    },
    {
      object: observed(aConfigMap('kube-root-ca.crt')),
      type: configMaps,
      why: 'what every namespace is given, when it is asked for',
      expect: 'keep',
      selection: { include: ['kube-root-ca'], exclude: [] },
    },
    {
      object: observed(anObject(secrets, 'token', { type: 'kubernetes.io/service-account-token', data: {} })),
      type: secrets,
      why: 'a minted token',
      expect: 'drop',
    },
    {
      object: observed(anObject(services, 'headless', { spec: { clusterIP: 'None', clusterIPs: ['None'] } })),
      type: services,
      why: 'a headless Service',
      expect: 'keep',
    },
    {
      object: observed(
        anObject(namespaces, 'shop', { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
      ),
      type: namespaces,
      why: 'a Namespace with its finalizer',
      expect: 'keep',
      mayChange: ['spec'],
    },
  ],
});
