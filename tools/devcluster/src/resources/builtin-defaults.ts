import { type Json, type JsonObject, type MutableJson, isObject, valueAt } from '../object.js';

type Defaults = (object: JsonObject) => JsonObject;

/** The API server's own defaults for the types people look at most. Only what upstream sets, nothing invented. */
export function defaultsOf(apiVersion: string, kind: string): Defaults {
  return defaultsByKind[`${apiVersion}/${kind}`] ?? ((object) => object);
}

/** Copies `object` with the missing keys of `defaults` filled in. */
function fill(object: Json | undefined, defaults: Readonly<Record<string, Json>>): MutableJson {
  const found: MutableJson = { ...(isObject(object) ? object : {}) };
  for (const [key, value] of Object.entries(defaults)) if (found[key] === undefined) found[key] = value;
  return found;
}
function mapList(list: Json | undefined, change: (item: JsonObject) => MutableJson): Json | undefined {
  return Array.isArray(list)
    ? list.map((item: Json) => (isObject(item) ? (change(item) as JsonObject) : item))
    : undefined;
}
function set(object: MutableJson, key: string, value: Json | undefined): void {
  if (value !== undefined) object[key] = value;
}

function container(found: JsonObject): MutableJson {
  const image = typeof found['image'] === 'string' ? found['image'] : '';
  const tag = image.includes('@') ? 'digest' : /:([^/:]+)$/.exec(image)?.[1];
  const done = fill(found, {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent',
  });
  set(
    done,
    'ports',
    mapList(done['ports'], (port) => fill(port, { protocol: 'TCP' })),
  );
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const value = done[probe];
    if (!isObject(value)) continue;
    const filled = fill(value, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
    if (isObject(filled['httpGet']))
      filled['httpGet'] = fill(filled['httpGet'], { path: '/', scheme: 'HTTP' }) as JsonObject;
    done[probe] = filled as JsonObject;
  }
  return done;
}

const volumeModes: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  configMap: { defaultMode: 420 },
  secret: { defaultMode: 420 },
  projected: { defaultMode: 420 },
  downwardAPI: { defaultMode: 420 },
  hostPath: { type: '' },
};
function podSpec(spec: Json | undefined, restartPolicy: string): JsonObject {
  const done = fill(spec, {
    restartPolicy,
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  });
  for (const list of ['containers', 'initContainers']) set(done, list, mapList(done[list], container));
  set(
    done,
    'volumes',
    mapList(done['volumes'], (volume) => {
      const filled = fill(volume, {});
      for (const [source, mode] of Object.entries(volumeModes))
        if (isObject(filled[source])) filled[source] = fill(filled[source], mode) as JsonObject;
      return filled;
    }),
  );
  if (typeof done['serviceAccountName'] === 'string' && done['serviceAccount'] === undefined)
    done['serviceAccount'] = done['serviceAccountName'];
  return done as JsonObject;
}
function template(found: Json | undefined, restartPolicy = 'Always'): JsonObject {
  const done = fill(found, {});
  done['spec'] = podSpec(done['spec'], restartPolicy);
  return done as JsonObject;
}

/** Changes `spec` of an object. */
function onSpec(change: (spec: MutableJson) => void, annotations?: Readonly<Record<string, string>>): Defaults {
  return (given) => {
    const object: JsonObject =
      annotations === undefined
        ? given
        : {
            ...given,
            metadata: {
              ...(given['metadata'] as JsonObject),
              annotations: fill(valueAt(given, 'metadata', 'annotations'), annotations) as JsonObject,
            },
          };
    const spec: MutableJson = { ...(isObject(object['spec']) ? object['spec'] : {}) };
    change(spec);
    return { ...object, spec: spec as JsonObject };
  };
}
const merge = (spec: MutableJson, defaults: Readonly<Record<string, Json>>) =>
  Object.assign(spec, fill(spec as JsonObject, defaults));

const jobSpec = (spec: MutableJson) => {
  merge(spec, {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    suspend: false,
    completionMode: 'NonIndexed',
    podReplacementPolicy: 'TerminatingOrFailed',
    manualSelector: false,
  });
  spec['template'] = template(spec['template']);
};

const defaultsByKind: Readonly<Record<string, Defaults>> = {
  'v1/Namespace': (object) => {
    const metadata = fill(object['metadata'], {});
    if (typeof metadata['name'] === 'string')
      metadata['labels'] = {
        ...(metadata['labels'] as JsonObject | undefined),
        'kubernetes.io/metadata.name': metadata['name'],
      };
    return { ...object, metadata: metadata as JsonObject };
  },
  'v1/Secret': (object) => {
    const { stringData, ...rest } = object;
    const done = fill(rest, { type: 'Opaque' });
    if (isObject(stringData)) {
      const data: MutableJson = { ...(isObject(done['data']) ? done['data'] : {}) };
      for (const [key, value] of Object.entries(stringData)) data[key] = Buffer.from(String(value)).toString('base64');
      done['data'] = data as JsonObject;
    }
    return done as JsonObject;
  },
  'v1/Service': onSpec((spec) => {
    merge(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
    set(
      spec,
      'ports',
      mapList(spec['ports'], (port) =>
        fill(port, { protocol: 'TCP', ...(port['port'] === undefined ? {} : { targetPort: port['port'] }) }),
      ),
    );
    if (spec['type'] !== 'ExternalName') merge(spec, { internalTrafficPolicy: 'Cluster' });
    if (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer')
      merge(spec, { externalTrafficPolicy: 'Cluster' });
    if (spec['type'] === 'LoadBalancer') merge(spec, { allocateLoadBalancerNodePorts: true });
  }),
  'v1/Pod': (object) => {
    const spec = fill(podSpec(object['spec'], 'Always'), { enableServiceLinks: true });
    return { ...object, spec: spec as JsonObject };
  },
  'v1/PersistentVolumeClaim': onSpec((spec) => {
    merge(spec, { volumeMode: 'Filesystem' });
  }),
  'v1/PersistentVolume': onSpec((spec) => {
    merge(spec, { volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' });
  }),
  'apps/v1/Deployment': onSpec((spec) => {
    merge(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    spec['template'] = template(spec['template']);
    const strategy = fill(spec['strategy'], { type: 'RollingUpdate' });
    if (strategy['type'] === 'RollingUpdate')
      strategy['rollingUpdate'] = fill(strategy['rollingUpdate'], {
        maxUnavailable: '25%',
        maxSurge: '25%',
      }) as JsonObject;
    spec['strategy'] = strategy as JsonObject;
  }),
  'apps/v1/StatefulSet': onSpec((spec) => {
    merge(spec, {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    });
    spec['template'] = template(spec['template']);
    const strategy = fill(spec['updateStrategy'], { type: 'RollingUpdate' });
    if (strategy['type'] === 'RollingUpdate')
      strategy['rollingUpdate'] = fill(strategy['rollingUpdate'], { partition: 0 }) as JsonObject;
    spec['updateStrategy'] = strategy as JsonObject;
    set(
      spec,
      'volumeClaimTemplates',
      mapList(spec['volumeClaimTemplates'], (claim) => ({
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        ...claim,
        spec: fill(claim['spec'], { volumeMode: 'Filesystem' }) as JsonObject,
        status: fill(claim['status'], { phase: 'Pending' }) as JsonObject,
      })),
    );
  }),
  'apps/v1/DaemonSet': onSpec(
    (spec) => {
      merge(spec, { revisionHistoryLimit: 10 });
      spec['template'] = template(spec['template']);
      const strategy = fill(spec['updateStrategy'], { type: 'RollingUpdate' });
      if (strategy['type'] === 'RollingUpdate')
        strategy['rollingUpdate'] = fill(strategy['rollingUpdate'], { maxUnavailable: 1, maxSurge: 0 }) as JsonObject;
      spec['updateStrategy'] = strategy as JsonObject;
    },
    { 'deprecated.daemonset.template.generation': '1' },
  ),
  'apps/v1/ReplicaSet': onSpec((spec) => {
    merge(spec, { replicas: 1 });
    spec['template'] = template(spec['template']);
  }),
  'batch/v1/Job': (object) => {
    const done = onSpec(jobSpec)(object);
    const metadata = fill(done['metadata'], {});
    const labels = valueAt(done, 'spec', 'template', 'metadata', 'labels');
    if (metadata['labels'] === undefined) set(metadata, 'labels', labels);
    return { ...done, metadata: metadata as JsonObject };
  },
  'batch/v1/CronJob': onSpec((spec) => {
    merge(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    const jobTemplate = fill(spec['jobTemplate'], {});
    const inner = fill(jobTemplate['spec'], {});
    // A template is not numbered before it becomes a Job: only its pods are defaulted.
    inner['template'] = template(inner['template']);
    jobTemplate['spec'] = inner as JsonObject;
    spec['jobTemplate'] = jobTemplate as JsonObject;
  }),
  'networking.k8s.io/v1/NetworkPolicy': onSpec((spec) => {
    for (const list of ['ingress', 'egress'])
      set(
        spec,
        list,
        mapList(spec[list], (rule) => {
          const filled = fill(rule, {});
          set(
            filled,
            'ports',
            mapList(filled['ports'], (port) => fill(port, { protocol: 'TCP' })),
          );
          return filled;
        }),
      );
    if (spec['policyTypes'] === undefined)
      spec['policyTypes'] = spec['egress'] === undefined ? ['Ingress'] : ['Ingress', 'Egress'];
  }),
  'rbac.authorization.k8s.io/v1/RoleBinding': binding,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': binding,
  'autoscaling/v2/HorizontalPodAutoscaler': onSpec((spec) => {
    merge(spec, {
      minReplicas: 1,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
      ],
    });
  }),
  'storage.k8s.io/v1/StorageClass': (object) =>
    fill(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }) as JsonObject,
  'scheduling.k8s.io/v1/PriorityClass': (object) =>
    fill(object, { preemptionPolicy: 'PreemptLowerPriority' }) as JsonObject,
};

function binding(object: JsonObject): JsonObject {
  const done = fill(object, {});
  set(
    done,
    'subjects',
    mapList(done['subjects'], (subject) =>
      fill(subject, subject['kind'] === 'ServiceAccount' ? {} : { apiGroup: 'rbac.authorization.k8s.io' }),
    ),
  );
  if (isObject(done['roleRef']))
    done['roleRef'] = fill(done['roleRef'], { apiGroup: 'rbac.authorization.k8s.io' }) as JsonObject;
  return done as JsonObject;
}
