import type { Devcluster, LooseObject } from '@gitops-reverser/devcluster';
import { ApiClient } from '@gitops-reverser/e2e-harness';

import { demoFolder, demoNamespace } from './objects.js';

/** One edit a user might make with kubectl. */
export interface Edit {
  /** What kubectl would be told. */
  readonly command: string;
  readonly object: LooseObject;
  /** The file it must become. */
  readonly path: string;
}

export function firstEdit(kubeconfigFile: string): Edit {
  const name = 'hello';
  return {
    command: `kubectl --kubeconfig ${kubeconfigFile} -n ${demoNamespace} create configmap ${name} --from-literal=a=b`,
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: demoNamespace },
      data: { a: 'b' },
    } as LooseObject,
    path: `${demoFolder}/${demoNamespace}/configmaps/${name}.yaml`,
  };
}

/** Sends the edit over HTTPS as `alice`, as kubectl would. */
export async function makeEdit(cluster: Devcluster, edit: Edit): Promise<void> {
  using api = new ApiClient({
    url: cluster.url,
    token: cluster.token('alice'),
    ...(cluster.ca === undefined ? {} : { ca: cluster.ca }),
  });
  await api.request(`/api/v1/namespaces/${demoNamespace}/configmaps?fieldManager=kubectl-create`, {
    body: edit.object,
  });
}
