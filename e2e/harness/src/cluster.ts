import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

import { startControlPlane } from './control-plane.js';
import type { ControlPlane, ControlPlaneOptions } from './control-plane.js';
import { Kubectl } from './kubectl.js';
import { resolveServerBinaries } from './server-binaries.js';
import type { ServerBinariesOptions } from './server-binaries.js';

/** A Kubernetes API to tell stories against. */
export interface Cluster extends AsyncDisposable {
  /** Of a cluster administrator. */
  readonly kubeconfigFile: string;
  readonly kubectl: Kubectl;
  /** Only of a control plane started here: other users, restarts. */
  readonly plane?: ControlPlane;
}

export type ClusterSource =
  | {
      readonly status: 'available';
      /** Where the cluster comes from, in words. */
      readonly from: string;
      open(options: Omit<ControlPlaneOptions, 'binaries'>): Promise<Cluster>;
    }
  | { readonly status: 'unavailable'; readonly reason: string };

/**
 * The cluster of `E2E_KUBECONFIG`, or one to be started from the binaries that `resolveServerBinaries` finds.
 *
 * @throws Error when `E2E_KUBECONFIG` names no readable file
 */
export async function findCluster(options: ServerBinariesOptions = {}): Promise<ClusterSource> {
  const { env = process.env } = options;
  const given = env['E2E_KUBECONFIG'];
  if (given !== undefined && given !== '') return await existing(resolve(given), options);
  const binaries = await resolveServerBinaries(options);
  if (binaries.status === 'unavailable') return binaries;
  return {
    status: 'available',
    from: `etcd and kube-apiserver (${binaries.from})`,
    open: async (plane) => {
      const started = await startControlPlane({ ...plane, binaries: binaries.paths });
      return {
        plane: started,
        kubeconfigFile: started.kubeconfigFile(),
        kubectl: started.kubectl(),
        [Symbol.asyncDispose]: () => started.stop(),
      };
    },
  };
}

async function existing(kubeconfigFile: string, options: ServerBinariesOptions): Promise<ClusterSource> {
  if (!(await isAllowed(kubeconfigFile, constants.R_OK)))
    throw new Error(`E2E_KUBECONFIG names ${kubeconfigFile}, which cannot be read`);
  const env = options.env ?? process.env;
  const binary = (await onPath('kubectl', env['PATH'])) ?? (await builtKubectl(options));
  if (typeof binary !== 'string') return binary;
  return {
    status: 'available',
    from: `E2E_KUBECONFIG ${kubeconfigFile}`,
    open: async ({ dir }) => {
      const cacheDir = join(dir, 'kubectl-cache');
      await mkdir(cacheDir, { recursive: true });
      return {
        kubeconfigFile,
        kubectl: new Kubectl({ binary, kubeconfigFile, cacheDir }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
  };
}

async function builtKubectl(
  options: ServerBinariesOptions,
): Promise<string | { readonly status: 'unavailable'; readonly reason: string }> {
  const binaries = await resolveServerBinaries({ ...options, needs: ['kubectl'] });
  return binaries.status === 'unavailable' ? binaries : (binaries.paths.kubectl ?? 'kubectl');
}

async function onPath(name: string, path = ''): Promise<string | undefined> {
  for (const dir of path.split(delimiter)) {
    const file = join(dir, name);
    if (isAbsolute(dir) && (await isAllowed(file, constants.X_OK))) return file;
  }
  return undefined;
}

const isAllowed = (file: string, mode: number): Promise<boolean> =>
  access(file, mode).then(
    () => true,
    () => false,
  );
