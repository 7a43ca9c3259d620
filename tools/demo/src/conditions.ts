import type { Devcluster } from '@gitops-reverser/devcluster';

import { demoNamespace } from './objects.js';

const declared = [
  { kind: 'KubeProvider', name: 'default' },
  { kind: 'GitProvider', name: 'home', namespace: demoNamespace },
  { kind: 'GitBranch', name: 'main', namespace: demoNamespace },
  { kind: 'GitTarget', name: 'live', namespace: demoNamespace },
  { kind: 'WatchRule', name: 'basics', namespace: demoNamespace },
] as const;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

type Reader = Pick<Devcluster, 'get'>;

/** Whether every object of the quick start reports Ready. */
export function isMirrored(cluster: Reader): boolean {
  return declared.every((object) =>
    conditionsOf(cluster, object).some(({ type, status }) => type === 'Ready' && status === 'True'),
  );
}

/** What the objects of the quick start report, for an error. */
export function describeConditions(cluster: Reader): string {
  return declared
    .map((object) => {
      const conditions = conditionsOf(cluster, object);
      const lines = conditions.map(({ type, status, reason, message }) => `  ${type}=${status} ${reason}: ${message}`);
      return [`${object.kind} ${object.name}${lines.length === 0 ? ' reports nothing yet' : ''}`, ...lines].join('\n');
    })
    .join('\n');
}

function conditionsOf(cluster: Reader, object: (typeof declared)[number]): readonly Condition[] {
  const found = cluster.get(
    'configbutler.ai/v1alpha3',
    object.kind,
    object.name,
    'namespace' in object ? object.namespace : undefined,
  ) as { readonly status?: { readonly conditions?: readonly Condition[] } } | undefined;
  return found?.status?.conditions ?? [];
}
