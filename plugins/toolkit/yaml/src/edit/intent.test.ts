import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { isSameIntent, rootPlace } from './intent.js';
import { isSameQuantity } from './quantity.js';

/** An object that holds one value at a path; `0` is the only item of a list. */
function objectWith(apiVersion: string, kind: string, path: string, value: JsonValue): JsonObject {
  const nest = (keys: readonly string[]): JsonValue => {
    const [key, ...rest] = keys;
    if (key === undefined) return value;
    return key === '0' ? [nest(rest)] : { [key]: nest(rest) };
  };
  return { apiVersion, kind, ...(nest(path.split('.')) as JsonObject) };
}

function isByValue(apiVersion: string, kind: string, path: string): boolean {
  const git = objectWith(apiVersion, kind, path, '1000m');
  const live = objectWith(apiVersion, kind, path, '1');
  return isSameIntent(git, live, rootPlace(live));
}

const podSpecs: readonly [string, string, string][] = [
  ['v1', 'Pod', 'spec'],
  ['v1', 'PodTemplate', 'template.spec'],
  ['v1', 'ReplicationController', 'spec.template.spec'],
  ['apps/v1', 'Deployment', 'spec.template.spec'],
  ['apps/v1', 'StatefulSet', 'spec.template.spec'],
  ['apps/v1', 'DaemonSet', 'spec.template.spec'],
  ['apps/v1', 'ReplicaSet', 'spec.template.spec'],
  ['batch/v1', 'Job', 'spec.template.spec'],
  ['batch/v1', 'CronJob', 'spec.jobTemplate.spec.template.spec'],
];
const inPodSpec = [
  ...['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) => [
    `${list}.0.resources.requests.cpu`,
    `${list}.0.resources.limits.memory`,
  ]),
  'resources.limits.cpu',
  'overhead.cpu',
  'volumes.0.emptyDir.sizeLimit',
  'volumes.0.ephemeral.volumeClaimTemplate.spec.resources.requests.storage',
  'containers.0.env.0.valueFrom.resourceFieldRef.divisor',
  'volumes.0.downwardAPI.items.0.resourceFieldRef.divisor',
];
const notInPodSpec = [
  'containers.0.env.0.value',
  'containers.0.args.0',
  'nodeSelector.requests',
  'volumes.0.csi.volumeAttributes.sizeLimit',
];

describe('chapter 20, 4.2: where quantities are equal by their value', () => {
  it.each([
    ...podSpecs.flatMap(([version, kind, spec]) => inPodSpec.map((path) => [version, kind, `${spec}.${path}`])),
    ['apps/v1', 'StatefulSet', 'spec.volumeClaimTemplates.0.spec.resources.requests.storage'],
    ['v1', 'PersistentVolumeClaim', 'spec.resources.requests.storage'],
    ['v1', 'PersistentVolume', 'spec.capacity.storage'],
    ['v1', 'ResourceQuota', 'spec.hard.pods'],
    ...['default', 'defaultRequest', 'max', 'min', 'maxLimitRequestRatio'].map((field) => [
      'v1',
      'LimitRange',
      `spec.limits.0.${field}.cpu`,
    ]),
    ...['object', 'external', 'pods', 'resource', 'containerResource'].flatMap((source) =>
      ['value', 'averageValue'].map((field) => [
        'autoscaling/v2',
        'HorizontalPodAutoscaler',
        `spec.metrics.0.${source}.target.${field}`,
      ]),
    ),
  ] as [string, string, string][])('%s %s %s', (version, kind, path) => {
    expect(isByValue(version, kind, path)).toBe(true);
  });

  it.each([
    ...podSpecs.flatMap(([version, kind, spec]) => notInPodSpec.map((path) => [version, kind, `${spec}.${path}`])),
    ['autoscaling/v2', 'HorizontalPodAutoscaler', 'spec.metrics.0.pods.metric.selector.matchLabels.value'],
    ['autoscaling/v2', 'HorizontalPodAutoscaler', 'metadata.annotations.value'],
    ['v1', 'ConfigMap', 'data.requests'],
    ['v1', 'ConfigMap', 'resources.requests.cpu'],
    ['example.org/v1', 'Deployment', 'spec.template.spec.containers.0.resources.requests.cpu'],
    ['networking.k8s.io/v1', 'Pod', 'spec.containers.0.resources.requests.cpu'],
  ] as [string, string, string][])('nowhere else: %s %s %s', (version, kind, path) => {
    expect(isByValue(version, kind, path)).toBe(false);
  });
});

describe('chapter 20, 4.2: the value of a quantity', () => {
  it.each<[JsonValue, JsonValue]>([
    ['1000m', 1],
    ['1000M', '1G'],
    ['1Ki', 1024],
    ['.5', '500m'],
    ['5.', '5'],
    ['1e3', '1k'],
    ['1E3', '1k'],
    ['1e-3', '1m'],
    ['1E', '1000P'],
    ['1Ei', '1024Pi'],
    ['1.5Gi', '1536Mi'],
    ['1n', '0.000000001'],
    ['1000u', '1m'],
    ['-1', '-1000m'],
    ['+1', '1'],
    ['0', '-0m'],
    [9007199254740993n, '9007199254740993000m'],
  ])('%p is %p', (a, b) => {
    expect(isSameQuantity(a, b)).toBe(true);
    expect(isSameQuantity(b, a)).toBe(true);
  });

  it.each<[JsonValue, JsonValue]>([
    ['1Gi', '1G'],
    ['1K', '1k'],
    ['1mi', '1Mi'],
    ['1 ', '1'],
    ['', '0'],
    ['.', '0'],
    ['-', '0'],
    ['0x10', '16'],
    ['1_000', '1000'],
    ['1e3k', '1M'],
    [true, '1'],
    [null, '0'],
    ['9223372036854775807', '9223372036854775808'],
  ])('%p is not %p', (a, b) => {
    expect(isSameQuantity(a, b)).toBe(false);
    expect(isSameQuantity(b, a)).toBe(false);
  });
});
