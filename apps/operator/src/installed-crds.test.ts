import { startDevcluster, type Devcluster, type LooseObject } from '@gitops-reverser/devcluster';
import type { JsonObject } from '@gitops-reverser/kernel-api';
import { kindNames, toCrd, type KindName } from '@gitops-reverser/crd-types';
import { fakeLogger } from '@gitops-reverser/kernel-testing';
import { openKubeconfig, openKubeConnection } from '@gitops-reverser/toolkit-kube';
import { installedCrds, lackingFields } from './installed-crds.js';
import { systemClock } from './system-clock.js';

/** Whatever a test wants to change in a definition. */
interface Loose {
  [key: string]: Loose;
}
function changed(kind: KindName, change: (schema: Loose, definition: Loose) => void): JsonObject {
  const copy = JSON.parse(JSON.stringify(toCrd(kind))) as Loose;
  const version = copy['spec']?.['versions']?.['0'] as Loose;
  change(version['schema']?.['openAPIV3Schema']?.['properties'] as Loose, copy);
  return copy as unknown as JsonObject;
}

describe('VR-4: fields of an installed CRD', () => {
  it.each(kindNames)('%s has every field of itself', (kind) => {
    expect(lackingFields(kind, toCrd(kind) as unknown as JsonObject)).toEqual([]);
  });

  it.each([
    {
      name: 'a field of the spec',
      kind: 'GitProvider' as const,
      change: (schema: Loose) => delete schema['spec']?.['properties']?.['tls'],
      lacks: ['spec.tls'],
    },
    {
      name: 'a field inside a list',
      kind: 'KubeProvider' as const,
      change: (schema: Loose) =>
        delete schema['spec']?.['properties']?.['allowedGitTargets']?.['items']?.['properties']?.['sourceNamespaces'],
      lacks: ['spec.allowedGitTargets[].sourceNamespaces'],
    },
    {
      name: 'a field of the status, which would be written again and again',
      kind: 'GitBranch' as const,
      change: (schema: Loose) => delete schema['status']?.['properties']?.['retained'],
      lacks: ['status.retained'],
    },
  ])('misses $name', ({ kind, change, lacks }) => {
    const installed = changed(kind, (schema) => void change(schema));

    expect(lackingFields(kind, installed)).toEqual(lacks);
  });

  it('tolerates a newer CRD, and one that keeps what it does not know', () => {
    const newer = changed('GitTarget', (schema) => {
      Object.assign(schema['spec']?.['properties'] ?? {}, { later: { type: 'string' } });
    });
    const open = changed('GitTarget', (schema) => {
      Object.assign(schema, { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } });
    });

    expect(lackingFields('GitTarget', newer)).toEqual([]);
    expect(lackingFields('GitTarget', open)).toEqual([]);
  });

  it('misses the whole version when it is not served', () => {
    const other = changed('GitTarget', (_, definition) => {
      Object.assign(definition['spec']?.['versions']?.['0'] ?? {}, { name: 'v1alpha2' });
    });

    expect(lackingFields('GitTarget', other)).toEqual(['version v1alpha3']);
  });
});

describe('VR-4: at start', () => {
  const install = (cluster: Devcluster, kinds: readonly KindName[]): void =>
    void cluster.apply(kinds.map((kind) => toCrd(kind) as unknown as LooseObject));

  async function looking(use: (look: ReturnType<typeof installedCrds>, cluster: Devcluster) => Promise<void>) {
    await using cluster = await startDevcluster();
    const credentials = openKubeconfig(cluster.kubeconfig(), 'a test', {}, systemClock);
    await using connection = openKubeConnection({ credentials, clock: systemClock });
    const hurried = { ...systemClock, sleep: (_: number, signal: AbortSignal) => systemClock.sleep(20, signal) };
    await use(installedCrds(connection, hurried, fakeLogger()), cluster);
  }
  const never = new AbortController().signal;

  it('waits for CRDs that are not there, says which, and goes on without a restart', async () => {
    await looking(async (crds, cluster) => {
      install(
        cluster,
        kindNames.filter((kind) => kind !== 'GitTarget' && kind !== 'FluxClaim'),
      );
      const ready = crds.ready(never);
      while (crds.missing()?.includes('gittargets') !== true) await systemClock.sleep(10, never);
      const said = crds.missing();

      install(cluster, ['GitTarget']);
      await ready;

      expect(said).toMatch(/^not installed: gittargets\.configbutler\.ai; install .*print-crds/);
      expect(crds.missing()).toBeUndefined();
    });
  });

  it('refuses to start with an outdated CRD, naming kind, field and remedy', async () => {
    await looking(async (crds, cluster) => {
      install(cluster, kindNames);
      cluster.apply(
        changed('GitProvider', (schema) => {
          delete schema['spec']?.['properties']?.['tls'];
        }) as unknown as LooseObject,
      );

      await expect(crds.ready(never)).rejects.toMatchObject({
        reason: 'CrdOutdated',
        message: expect.stringMatching(
          /GitProvider \(CRD gitproviders\.configbutler\.ai\) lacks spec\.tls; install the CRDs of this version/,
        ) as string,
      });
    });
  });

  it('waits for an API server that is away', async () => {
    await looking(async (crds, cluster) => {
      install(cluster, kindNames);
      await cluster.faults.refuseConnections();
      const ready = crds.ready(never);
      while (crds.missing()?.includes('cannot be read') !== true) await systemClock.sleep(10, never);

      await cluster.faults.acceptConnections();

      await expect(ready).resolves.toBeUndefined();
    });
  });

  it('goes on where CRDs may not be read: that is a matter of comfort', async () => {
    await looking(async (crds, cluster) => {
      cluster.faults.deny({ resource: 'customresourcedefinitions' });

      await expect(crds.ready(never)).resolves.toBeUndefined();
    });
  });

  it('stops waiting when it is asked to stop', async () => {
    await looking(async (crds) => {
      const stop = new AbortController();
      const ready = crds.ready(stop.signal);
      stop.abort();

      await expect(ready).resolves.toBeUndefined();
    });
  });
});
