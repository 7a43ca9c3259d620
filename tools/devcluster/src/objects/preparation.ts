import {
  type Json,
  type JsonObject,
  type KubeObject,
  type MutableJson,
  isObject,
  textOf,
  valueAt,
  withValueAt,
} from '../object.js';
import { initialStatus } from '../crd/definition.js';
import type { ResourceType } from '../resources/resource-type.js';
import { orderMetadata } from './body.js';
import type { Core } from './core.js';

/** What the API server writes into a new object on its own account, so that nobody owns it. */
export function prepareForCreate(core: Core, type: ResourceType, object: KubeObject): KubeObject {
  if (type.kind === 'CustomResourceDefinition' && type.group === 'apiextensions.k8s.io')
    return { ...object, status: initialStatus(object) };
  return type.group === '' || type.group === 'batch' ? (preparations[type.kind]?.(object, core) ?? object) : object;
}

const preparations: Readonly<Record<string, (object: KubeObject, core: Core) => KubeObject>> = {
  Namespace: (object) => ({ ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  Service: (object, core) => {
    const spec: MutableJson = { ...(object['spec'] as JsonObject) };
    if (spec['type'] !== 'ExternalName' && spec['clusterIP'] === undefined) spec['clusterIP'] = nextAddress(core);
    if (spec['type'] !== 'ExternalName' && spec['clusterIPs'] === undefined && spec['clusterIP'] !== undefined)
      spec['clusterIPs'] = [spec['clusterIP']];
    if (spec['type'] !== 'ExternalName')
      Object.assign(spec, {
        ipFamilies: spec['ipFamilies'] ?? ['IPv4'],
        ipFamilyPolicy: spec['ipFamilyPolicy'] ?? 'SingleStack',
      });
    return { ...object, spec: spec as JsonObject, status: { loadBalancer: {} } };
  },
  Pod: (object) => {
    const spec = object['spec'] as JsonObject;
    const tolerations = Array.isArray(spec['tolerations']) ? (spec['tolerations'] as readonly Json[]) : [];
    const added = ['not-ready', 'unreachable'].map((condition) => ({
      key: `node.kubernetes.io/${condition}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    }));
    return {
      ...object,
      spec: { ...spec, priority: 0, preemptionPolicy: 'PreemptLowerPriority', tolerations: [...tolerations, ...added] },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    };
  },
  PersistentVolumeClaim: (object) => ({
    ...protectedBy(object, 'kubernetes.io/pvc-protection'),
    status: { phase: 'Pending' },
  }),
  PersistentVolume: (object) => ({
    ...protectedBy(object, 'kubernetes.io/pv-protection'),
    status: { phase: 'Pending' },
  }),
  Job: (object) => {
    if (valueAt(object, 'spec', 'manualSelector') === true) return object;
    const uid = object.metadata.uid ?? '';
    const labels = valueAt(object, 'spec', 'template', 'metadata', 'labels');
    const generated = {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': object.metadata.name ?? '',
      'controller-uid': uid,
      'job-name': object.metadata.name ?? '',
    };
    const selected = withValueAt(object, ['spec', 'selector'], {
      matchLabels: { 'batch.kubernetes.io/controller-uid': uid },
    });
    const done = withValueAt(selected, ['spec', 'template', 'metadata', 'labels'], {
      ...(isObject(labels) ? labels : {}),
      ...generated,
    }) as KubeObject;
    return {
      ...done,
      metadata: orderMetadata({
        ...done.metadata,
        labels: { ...object.metadata.labels, ...(object.metadata.labels === undefined ? generated : {}) },
      }),
    };
  },
};

function protectedBy(object: KubeObject, finalizer: string): KubeObject {
  return {
    ...object,
    metadata: orderMetadata({ ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), finalizer] }),
  };
}

/** Service addresses are counted up from 10.96.0.10, skipping those taken. */
function nextAddress(core: Core): string {
  const taken = new Set(
    core.store
      .collection('/services')
      .entries()
      .map((entry) => textOf(valueAt(entry.object, 'spec', 'clusterIP'))),
  );
  for (let number = 10; number < 65_536; number += 1) {
    const address = `10.96.${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
  return 'None';
}
