import { type Json, type JsonObject, type KubeObject, isObject, textOf, valueAt } from '../object.js';
import { ageText } from './age.js';
import type { Column } from './column.js';

type Cell = (object: KubeObject, nowMs: number) => Json;

const column = (name: string, cell: Cell, extra: Partial<Column> = {}): Column => ({
  name,
  type: 'string',
  priority: 0,
  cell,
  ...extra,
});
const nameColumn = column('Name', (object) => object.metadata.name ?? '', { format: 'name' });
const ageColumn = column('Age', (object, nowMs) => ageText(object.metadata.creationTimestamp, nowMs));
const wide = { priority: 1 } as const;

const at =
  (...path: string[]): Cell =>
  (object) =>
    valueAt(object, ...path) ?? '<none>';
const count =
  (...path: string[]): Cell =>
  (object) => {
    const found = valueAt(object, ...path);
    return Array.isArray(found) ? found.length : isObject(found) ? Object.keys(found).length : 0;
  };
const number =
  (...path: string[]): Cell =>
  (object) => {
    const found = valueAt(object, ...path);
    return typeof found === 'number' ? found : 0;
  };
const ratio =
  (ready: Cell, wanted: Cell): Cell =>
  (object, nowMs) =>
    `${ready(object, nowMs)}/${wanted(object, nowMs)}`;
const list = (object: KubeObject, ...path: string[]): readonly JsonObject[] => {
  const found = valueAt(object, ...path);
  return Array.isArray(found) ? (found as JsonObject[]) : [];
};
const joined = (values: readonly string[]) => (values.length === 0 ? '<none>' : values.join(','));
const containers: Cell = (object) =>
  joined(list(object, 'spec', 'template', 'spec', 'containers').map((one) => textOf(one['name'])));
const images: Cell = (object) =>
  joined(list(object, 'spec', 'template', 'spec', 'containers').map((one) => textOf(one['image'])));
const selector =
  (...path: string[]): Cell =>
  (object) => {
    const found = valueAt(object, ...path);
    return joined(Object.entries(isObject(found) ? found : {}).map(([key, value]) => `${key}=${String(value)}`));
  };
const labels = selector('spec', 'selector', 'matchLabels');
const servicePorts: Cell = (object) =>
  joined(list(object, 'spec', 'ports').map((port) => `${String(port['port'])}/${textOf(port['protocol']) || 'TCP'}`));
const ingressHosts: Cell = (object) => {
  const hosts = list(object, 'spec', 'rules').map((rule) => textOf(rule['host']) || '*');
  return hosts.length === 0 ? '*' : hosts.join(',');
};

const columnsByKind: Readonly<Record<string, readonly Column[]>> = {
  Namespace: [column('Status', at('status', 'phase'))],
  ConfigMap: [column('Data', (object) => Number(count('data')(object, 0)) + Number(count('binaryData')(object, 0)))],
  Secret: [column('Type', at('type')), column('Data', count('data'), { type: 'integer' })],
  ServiceAccount: [column('Secrets', count('secrets'))],
  Service: [
    column('Type', at('spec', 'type')),
    column('Cluster-IP', at('spec', 'clusterIP')),
    column('External-IP', () => '<none>'),
    column('Port(s)', servicePorts),
  ],
  Pod: [
    column(
      'Ready',
      (object) =>
        `${list(object, 'status', 'containerStatuses').filter((one) => one['ready'] === true).length}/${list(object, 'spec', 'containers').length}`,
    ),
    column('Status', at('status', 'phase')),
    column('Restarts', () => 0),
  ],
  PersistentVolumeClaim: [
    column('Status', at('status', 'phase')),
    column('Volume', (object) => valueAt(object, 'spec', 'volumeName') ?? ''),
    column('Capacity', (object) => valueAt(object, 'status', 'capacity', 'storage') ?? ''),
    column('Access Modes', (object) => String(valueAt(object, 'spec', 'accessModes') ?? '')),
    column('StorageClass', (object) => valueAt(object, 'spec', 'storageClassName') ?? ''),
  ],
  Deployment: [
    column('Ready', ratio(number('status', 'readyReplicas'), number('spec', 'replicas'))),
    column('Up-to-date', number('status', 'updatedReplicas')),
    column('Available', number('status', 'availableReplicas')),
  ],
  StatefulSet: [column('Ready', ratio(number('status', 'readyReplicas'), number('spec', 'replicas')))],
  DaemonSet: [
    column('Desired', number('status', 'desiredNumberScheduled'), { type: 'integer' }),
    column('Current', number('status', 'currentNumberScheduled'), { type: 'integer' }),
    column('Ready', number('status', 'numberReady'), { type: 'integer' }),
  ],
  ReplicaSet: [
    column('Desired', number('spec', 'replicas'), { type: 'integer' }),
    column('Current', number('status', 'replicas'), { type: 'integer' }),
    column('Ready', number('status', 'readyReplicas'), { type: 'integer' }),
  ],
  Job: [
    column(
      'Status',
      (object) =>
        textOf(list(object, 'status', 'conditions').find((one) => one['status'] === 'True')?.['type']) || 'Running',
    ),
    column('Completions', ratio(number('status', 'succeeded'), number('spec', 'completions'))),
  ],
  CronJob: [
    column('Schedule', at('spec', 'schedule')),
    column('Suspend', (object) => String(valueAt(object, 'spec', 'suspend') === true ? 'True' : 'False')),
    column('Active', count('status', 'active'), { type: 'integer' }),
  ],
  Ingress: [
    column('Class', at('spec', 'ingressClassName')),
    column('Hosts', ingressHosts),
    column('Address', () => ''),
    column('Ports', () => '80'),
  ],
  NetworkPolicy: [column('Pod-Selector', selector('spec', 'podSelector', 'matchLabels'))],
  RoleBinding: [
    column(
      'Role',
      (object) => `${textOf(valueAt(object, 'roleRef', 'kind'))}/${textOf(valueAt(object, 'roleRef', 'name'))}`,
    ),
  ],
  ClusterRoleBinding: [
    column(
      'Role',
      (object) => `${textOf(valueAt(object, 'roleRef', 'kind'))}/${textOf(valueAt(object, 'roleRef', 'name'))}`,
    ),
  ],
  HorizontalPodAutoscaler: [
    column(
      'Reference',
      (object) =>
        `${textOf(valueAt(object, 'spec', 'scaleTargetRef', 'kind'))}/${textOf(valueAt(object, 'spec', 'scaleTargetRef', 'name'))}`,
    ),
    column('MinPods', number('spec', 'minReplicas')),
    column('MaxPods', number('spec', 'maxReplicas'), { type: 'integer' }),
  ],
  PodDisruptionBudget: [
    column('Min Available', (object) => valueAt(object, 'spec', 'minAvailable') ?? 'N/A'),
    column('Max Unavailable', (object) => valueAt(object, 'spec', 'maxUnavailable') ?? 'N/A'),
  ],
  Lease: [column('Holder', at('spec', 'holderIdentity'))],
  CustomResourceDefinition: [
    column('Created At', (object) => object.metadata.creationTimestamp ?? '', { type: 'date' }),
  ],
};

const afterAgeByKind: Readonly<Record<string, readonly Column[]>> = {
  Deployment: [
    column('Containers', containers, wide),
    column('Images', images, wide),
    column('Selector', labels, wide),
  ],
  StatefulSet: [column('Containers', containers, wide), column('Images', images, wide)],
  Service: [column('Selector', selector('spec', 'selector'), wide)],
};

const eventColumns: readonly Column[] = [
  column('Last Seen', (object, nowMs) =>
    ageText(textOf(object['lastTimestamp']) || textOf(object['eventTime']) || undefined, nowMs),
  ),
  column('Type', at('type')),
  column('Reason', at('reason')),
  column(
    'Object',
    (object) =>
      `${textOf(valueAt(object, 'involvedObject', 'kind')).toLowerCase()}/${textOf(valueAt(object, 'involvedObject', 'name'))}`,
  ),
  column('Message', at('message')),
  column('Name', (object) => object.metadata.name ?? '', { ...wide, format: 'name' }),
];

/** `kubectl get` columns of a built-in kind; name and age when nothing better is known. */
export function columnsOf(kind: string): readonly Column[] {
  if (kind === 'Event') return eventColumns;
  if (kind === 'CustomResourceDefinition') return [nameColumn, ...(columnsByKind[kind] ?? [])];
  if (kind === 'Role' || kind === 'ClusterRole')
    return [nameColumn, column('Created At', (object) => object.metadata.creationTimestamp ?? '', { type: 'date' })];
  return [nameColumn, ...(columnsByKind[kind] ?? []), ageColumn, ...(afterAgeByKind[kind] ?? [])];
}

export { ageColumn, nameColumn };
