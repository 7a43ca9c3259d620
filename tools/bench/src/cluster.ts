import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startDevcluster } from '@gitops-reverser/devcluster';
import { ApiClient, resolveServerBinaries, startControlPlane } from '@gitops-reverser/e2e-harness';

import type { BenchConfigMap } from './config-maps.js';

/** The API server a bench runs against. */
export interface BenchCluster extends AsyncDisposable {
  /** What it is, in words. */
  readonly what: string;
  readonly kubeconfigFile: string;
  readonly api: ApiClient;
  /** Stores many objects; their namespaces are there already. */
  load(objects: readonly BenchConfigMap[]): Promise<void>;
}

/** The embedded one, in this process. */
export async function openDevcluster(dir: string): Promise<BenchCluster> {
  const cluster = await startDevcluster();
  const kubeconfigFile = join(dir, 'kubeconfig');
  await writeFile(kubeconfigFile, cluster.kubeconfig(), { mode: 0o600 });
  const api = new ApiClient({
    url: cluster.url,
    token: cluster.token(),
    ...(cluster.ca === undefined ? {} : { ca: cluster.ca }),
  });
  return {
    what: 'devcluster',
    kubeconfigFile,
    api,
    load: (objects) => Promise.resolve(void cluster.load(objects)),
    [Symbol.asyncDispose]: async () => {
      api[Symbol.dispose]();
      await cluster.stop();
    },
  };
}

/** @throws Error when there are no binaries and they cannot be built */
export async function openRealCluster(dir: string, report: (line: string) => void): Promise<BenchCluster> {
  const binaries = await resolveServerBinaries({ onProgress: report });
  if (binaries.status === 'unavailable') throw new Error(`--real needs etcd and kube-apiserver: ${binaries.reason}`);
  const plane = await startControlPlane({ dir: join(dir, 'cluster'), binaries: binaries.paths });
  const api = new ApiClient({
    url: plane.url,
    token: plane.token(),
    ca: await readFile(plane.caFile, 'utf8'),
    connections: 16,
  });
  return {
    what: `etcd and kube-apiserver (${binaries.from})`,
    kubeconfigFile: plane.kubeconfigFile(),
    api,
    load: (objects) => post(api, objects),
    [Symbol.asyncDispose]: async () => {
      api[Symbol.dispose]();
      await plane.stop();
    },
  };
}

async function post(api: ApiClient, objects: readonly BenchConfigMap[]): Promise<void> {
  const waiting = objects.values();
  const work = async (): Promise<void> => {
    for (const object of waiting)
      await api.request(`/api/v1/namespaces/${object.metadata.namespace}/configmaps`, { body: object });
  };
  await Promise.all(Array.from({ length: 16 }, work));
}
