import type { JsonObject, JsonValue, KubeObject, ResourceType } from '@gitops-reverser/kernel-api';
import { isEmpty, isList, isMap, without } from './json.js';

/** A key to strip. Rules of prefix form end in `/`; `keep` lists what an author writes under that prefix. */
interface StripRule {
  readonly match: 'exact' | 'prefix';
  readonly value: string;
  readonly keep?: readonly string[];
}
const exact = (...values: readonly string[]): StripRule[] => values.map((value) => ({ match: 'exact', value }));
const prefix = (value: string, keep: readonly string[] = []): StripRule => ({ match: 'prefix', value, keep });

/** Chapter 20, 3.3. */
const LABELS: readonly StripRule[] = [
  prefix('kustomize.toolkit.fluxcd.io/'),
  prefix('applyset.kubernetes.io/'),
  prefix('kro.run/'),
  ...exact('helm.toolkit.fluxcd.io/name', 'helm.toolkit.fluxcd.io/namespace'),
  ...exact('resourceset.fluxcd.controlplane.io/name', 'resourceset.fluxcd.controlplane.io/namespace'),
];

/** Chapter 20, 3.4. */
const ANNOTATIONS: readonly StripRule[] = [
  prefix('kubectl.kubernetes.io/', [
    'kubectl.kubernetes.io/default-container',
    'kubectl.kubernetes.io/default-logs-container',
  ]),
  ...exact('argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/installation-id'),
  ...exact('kcp.io/cluster'),
  prefix('kustomize.toolkit.fluxcd.io/', [
    'kustomize.toolkit.fluxcd.io/reconcile',
    'kustomize.toolkit.fluxcd.io/prune',
    'kustomize.toolkit.fluxcd.io/ssa',
    'kustomize.toolkit.fluxcd.io/substitute',
  ]),
  prefix('applyset.kubernetes.io/'),
  ...exact('meta.helm.sh/release-name', 'meta.helm.sh/release-namespace'),
  prefix('deployment.kubernetes.io/'),
  ...exact('deprecated.daemonset.template.generation'),
  prefix('control-plane.alpha.kubernetes.io/'),
  ...exact('autoscaling.alpha.kubernetes.io/conditions', 'autoscaling.alpha.kubernetes.io/current-metrics'),
  ...exact(
    'pv.kubernetes.io/bind-completed',
    'pv.kubernetes.io/bound-by-controller',
    'volume.kubernetes.io/selected-node',
  ),
  ...exact('volume.kubernetes.io/storage-provisioner', 'volume.beta.kubernetes.io/storage-provisioner'),
  ...exact('batch.kubernetes.io/job-tracking', 'endpoints.kubernetes.io/last-change-trigger-time'),
  ...exact('config.kubernetes.io/origin', 'alpha.config.kubernetes.io/transformations'),
  prefix('objectset.rio.cattle.io/'),
];

const strips = (rules: readonly StripRule[], key: string): boolean =>
  rules.some(({ match, value, keep }) =>
    match === 'exact' ? key === value : key.startsWith(value) && !keep?.includes(key),
  );

/** Chapter 20, 3.2: of the root object's metadata only name, namespace, labels and annotations are intent. */
export function desiredMetadata(object: KubeObject, type: ResourceType): JsonObject {
  const kept: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object.metadata)) {
    if (key === 'name' || key === 'namespace') kept.push([key, value]);
    if (key === 'labels' && isMap(value)) {
      const labels = without(value, (name, text) => stripsLabel(name, text, object, type));
      if (!isEmpty(labels)) kept.push([key, labels]);
    }
    if (key === 'annotations' && isMap(value)) {
      const annotations = without(value, (name) => strips(ANNOTATIONS, name));
      if (!isEmpty(annotations)) kept.push([key, annotations]);
    }
  }
  return Object.fromEntries(kept);
}

function stripsLabel(name: string, text: JsonValue, object: KubeObject, type: ResourceType): boolean {
  if (strips(LABELS, name)) return true;
  if (name === 'kubernetes.io/metadata.name')
    return type.group === '' && type.kind === 'Namespace' && text === object.metadata.name;
  return name === 'app.kubernetes.io/managed-by' && typeof text === 'string' && text.startsWith('kustomize-');
}

/** `creationTimestamp: null` in the metadata of any embedded template goes; the same key elsewhere stays. */
export function withoutNullTimestamps(value: JsonValue): JsonValue {
  if (isList(value)) {
    let changed = false;
    const items = value.map((item) => {
      const next = withoutNullTimestamps(item);
      changed ||= next !== item;
      return next;
    });
    return changed ? items : value;
  }
  if (!isMap(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, child]): [string, JsonValue] => {
    const inside =
      key === 'metadata' && isMap(child)
        ? without(child, (name, text) => name === 'creationTimestamp' && text === null)
        : child;
    const next = withoutNullTimestamps(inside);
    changed ||= next !== child;
    return [key, next];
  });
  return changed ? Object.fromEntries(entries) : value;
}
