import type { JsonObject } from '../object.js';
import { objectShape, metadataShape } from '../schema/builtin.js';
import { decodeObject } from '../schema/decode.js';
import { type Field, type Shape, anyShape } from '../schema/shape.js';
import { columnsOf } from '../table/builtin-columns.js';
import { defaultsOf } from './builtin-defaults.js';
import { fromCoreEvent, toCoreEvent } from './event-conversion.js';
import { validateBuiltin } from './builtin-validation.js';
import { apiVersionOf, type ResourceType, type ScalePaths, storedVerbs } from './resource-type.js';

interface Row {
  readonly kind: string;
  readonly plural: string;
  readonly short?: string;
  readonly categories?: string;
  readonly cluster?: true;
  readonly status?: true;
  readonly generation?: true;
  readonly scale?: true;
  readonly name?: 'label' | 'path';
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly fields?: string;
  /** A request whose answer is computed; nothing is stored. */
  readonly virtual?: true;
}

const all = 'all';
const rowsByVersion: Readonly<Record<string, readonly Row[]>> = {
  v1: [
    {
      kind: 'Namespace',
      plural: 'namespaces',
      short: 'ns',
      cluster: true,
      status: true,
      name: 'label',
      fields: 'status.phase',
    },
    { kind: 'ConfigMap', plural: 'configmaps', short: 'cm' },
    { kind: 'Secret', plural: 'secrets', fields: 'type' },
    { kind: 'ServiceAccount', plural: 'serviceaccounts', short: 'sa' },
    {
      kind: 'Service',
      plural: 'services',
      short: 'svc',
      categories: all,
      status: true,
      name: 'label',
      fields: 'spec.clusterIP spec.type',
    },
    {
      kind: 'Event',
      plural: 'events',
      short: 'ev',
      fields:
        'involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason reportingComponent source type',
    },
    {
      kind: 'Pod',
      plural: 'pods',
      short: 'po',
      categories: all,
      status: true,
      generation: true,
      fields:
        'spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork status.phase status.podIP status.nominatedNodeName',
    },
    { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', short: 'pvc', status: true },
    { kind: 'PersistentVolume', plural: 'persistentvolumes', short: 'pv', cluster: true, status: true },
    { kind: 'Node', plural: 'nodes', short: 'no', cluster: true, status: true, fields: 'spec.unschedulable' },
    { kind: 'ResourceQuota', plural: 'resourcequotas', short: 'quota', status: true },
    { kind: 'LimitRange', plural: 'limitranges', short: 'limits' },
    { kind: 'Endpoints', plural: 'endpoints', short: 'ep' },
    { kind: 'PodTemplate', plural: 'podtemplates' },
    {
      kind: 'ReplicationController',
      plural: 'replicationcontrollers',
      short: 'rc',
      categories: all,
      status: true,
      generation: true,
      scale: true,
      fields: 'status.replicas',
    },
  ],
  'apps/v1': [
    {
      kind: 'Deployment',
      plural: 'deployments',
      short: 'deploy',
      categories: all,
      status: true,
      generation: true,
      scale: true,
    },
    {
      kind: 'StatefulSet',
      plural: 'statefulsets',
      short: 'sts',
      categories: all,
      status: true,
      generation: true,
      scale: true,
    },
    { kind: 'DaemonSet', plural: 'daemonsets', short: 'ds', categories: all, status: true, generation: true },
    {
      kind: 'ReplicaSet',
      plural: 'replicasets',
      short: 'rs',
      categories: all,
      status: true,
      generation: true,
      scale: true,
      fields: 'status.replicas',
    },
    { kind: 'ControllerRevision', plural: 'controllerrevisions' },
  ],
  'batch/v1': [
    { kind: 'Job', plural: 'jobs', categories: all, status: true, generation: true, fields: 'status.successful' },
    { kind: 'CronJob', plural: 'cronjobs', short: 'cj', categories: all, status: true, generation: true },
  ],
  'networking.k8s.io/v1': [
    { kind: 'Ingress', plural: 'ingresses', short: 'ing', status: true, generation: true },
    { kind: 'NetworkPolicy', plural: 'networkpolicies', short: 'netpol', generation: true },
    { kind: 'IngressClass', plural: 'ingressclasses', cluster: true, generation: true },
  ],
  'rbac.authorization.k8s.io/v1': [
    { kind: 'Role', plural: 'roles', name: 'path' },
    { kind: 'RoleBinding', plural: 'rolebindings', name: 'path' },
    { kind: 'ClusterRole', plural: 'clusterroles', cluster: true, name: 'path' },
    { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', cluster: true, name: 'path' },
  ],
  'policy/v1': [
    { kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', short: 'pdb', status: true, generation: true },
  ],
  'autoscaling/v2': [
    {
      kind: 'HorizontalPodAutoscaler',
      plural: 'horizontalpodautoscalers',
      short: 'hpa',
      categories: all,
      status: true,
    },
  ],
  'coordination.k8s.io/v1': [{ kind: 'Lease', plural: 'leases' }],
  'storage.k8s.io/v1': [{ kind: 'StorageClass', plural: 'storageclasses', short: 'sc', cluster: true }],
  'scheduling.k8s.io/v1': [{ kind: 'PriorityClass', plural: 'priorityclasses', short: 'pc', cluster: true }],
  'discovery.k8s.io/v1': [{ kind: 'EndpointSlice', plural: 'endpointslices' }],
  'events.k8s.io/v1': [{ kind: 'Event', plural: 'events', short: 'ev' }],
  'admissionregistration.k8s.io/v1': [
    {
      kind: 'ValidatingWebhookConfiguration',
      plural: 'validatingwebhookconfigurations',
      cluster: true,
      generation: true,
    },
    { kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations', cluster: true, generation: true },
  ],
  'authentication.k8s.io/v1': [
    { kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', cluster: true, virtual: true },
    { kind: 'TokenReview', plural: 'tokenreviews', cluster: true, virtual: true },
  ],
  'authorization.k8s.io/v1': [
    { kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', cluster: true, virtual: true },
    { kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', cluster: true, virtual: true },
    { kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews', virtual: true },
    { kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', cluster: true, virtual: true },
  ],
};

const workloadScale: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  labelSelector: undefined,
};

/** Groups whose schema-table package is not their first word. */
const packageByGroup: Readonly<Record<string, string>> = {
  'rbac.authorization.k8s.io': 'rbac',
  'authorization.k8s.io': 'authorization',
};

export function messageNameOf(group: string, version: string, kind: string): string {
  return `${group === '' ? 'core' : (packageByGroup[group] ?? group.split('.')[0])}/${version}.${kind}`;
}

export function builtinTypes(): readonly ResourceType[] {
  return Object.entries(rowsByVersion).flatMap(([apiVersion, rows]) => rows.map((row) => toType(apiVersion, row)));
}

function toType(apiVersion: string, row: Row): ResourceType {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  const message = messageNameOf(group, version, row.kind);
  const shape = objectShape(message);
  const isNewEvent = group === 'events.k8s.io';
  const defaults = defaultsOf(apiVersionOf({ group, version }), row.kind);
  return {
    group,
    version,
    kind: row.kind,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    shortNames: row.short === undefined ? [] : [row.short],
    categories: row.categories === undefined ? [] : [row.categories],
    namespaced: row.cluster !== true,
    verbs: row.virtual === true ? ['create'] : storedVerbs,
    storage: isNewEvent ? '/events' : `${group}/${row.plural}`,
    ...(isNewEvent ? { toStored: toCoreEvent, fromStored: fromCoreEvent } : {}),
    shape,
    hasStatus: row.status === true,
    hasGeneration: row.generation === true,
    ...(row.scale === true ? { scale: workloadScale } : {}),
    nameRule: row.name ?? 'subdomain',
    selectableFields: new Set(row.fields?.split(' ')),
    columns: columnsOf(row.kind),
    message,
    read: (body: JsonObject, unknowns) =>
      defaults(decodeObject(body, shape, { kind: row.kind, version: apiVersion }, unknowns)),
    validate: (object, previous) => validateBuiltin(row.kind, object, previous),
  };
}

/** Custom resource definitions are stored objects as well, checked by their own reader. */
export function crdObjectShape(): Shape {
  return {
    kind: 'object',
    atomic: false,
    fields: new Map<string, Field>([
      ['kind', { name: 'kind', shape: () => anyShape, always: false, dropsZero: true }],
      ['apiVersion', { name: 'apiVersion', shape: () => anyShape, always: false, dropsZero: true }],
      ['metadata', { name: 'metadata', shape: metadataShape, always: true, dropsZero: false }],
      ['spec', { name: 'spec', shape: () => anyShape, always: true, dropsZero: false }],
      ['status', { name: 'status', shape: () => anyShape, always: true, dropsZero: false }],
    ]),
  };
}
