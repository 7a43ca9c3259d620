import { type JsonObject, type KubeObject, isObject, textOf, valueAt, withValueAt } from '../object.js';
import { type ResourceType, invalid } from '../resources/resource-type.js';
import { refuse } from '../status.js';
import type { Core, WriteOptions, Written } from './core.js';
import { storeNext } from './update.js';

/** The `autoscaling/v1` view of an object that can be scaled. */
export function toScale(type: ResourceType, object: KubeObject): KubeObject {
  const paths = type.scale;
  if (paths === undefined) throw refuse.noSuchPath();
  const replicas = valueAt(object, ...paths.specReplicas);
  const current = valueAt(object, ...paths.statusReplicas);
  const matchLabels =
    valueAt(object, 'spec', 'selector', 'matchLabels') ??
    (type.kind === 'ReplicationController' ? valueAt(object, 'spec', 'selector') : undefined);
  const selector =
    paths.labelSelector === undefined
      ? Object.entries(isObject(matchLabels) && type.message !== undefined ? matchLabels : {})
          .map(([key, value]) => `${key}=${String(value)}`)
          .join(',')
      : textOf(valueAt(object, ...paths.labelSelector));
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: { replicas: typeof current === 'number' ? current : 0, ...(selector === '' ? {} : { selector }) },
  };
}

export function storeScale(
  core: Core,
  type: ResourceType,
  current: KubeObject,
  scale: JsonObject,
  options: WriteOptions,
): Written {
  const paths = type.scale;
  if (paths === undefined) throw refuse.noSuchPath();
  const name = current.metadata.name ?? '';
  const sent = valueAt(scale, 'metadata', 'resourceVersion');
  if (typeof sent === 'string' && sent !== '' && sent !== current.metadata.resourceVersion)
    throw refuse.modified(type, name);
  const replicas = valueAt(scale, 'spec', 'replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0)
    throw refuse.invalid({ group: 'autoscaling', plural: 'scales', kind: 'Scale' }, name, [
      invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  const next = withValueAt(current, paths.specReplicas, replicas) as KubeObject;
  const written = storeNext(core, type, current, next, { ...options, subresource: 'scale' });
  return { ...written, object: toScale(type, written.object) };
}
