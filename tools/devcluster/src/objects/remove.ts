import { type JsonObject, type KubeObject, isObject, textOf } from '../object.js';
import type { ResourceType } from '../resources/resource-type.js';
import { refuse } from '../status.js';
import { orderMetadata } from './body.js';
import { type Core, commit, commitRemoval, timestamp } from './core.js';
import { currentObject } from './update.js';

export interface DeleteOptions {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly propagation: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly dryRun: boolean;
}

/** What a DELETE answers: the object while finalizers hold it, otherwise a Status with its uid. */
export type Deleted =
  | { readonly kind: 'held'; readonly object: KubeObject }
  | { readonly kind: 'gone'; readonly object: KubeObject; readonly status: JsonObject };

export function parseDeleteOptions(body: JsonObject | undefined, query: URLSearchParams): DeleteOptions {
  const preconditions = isObject(body?.['preconditions']) ? body['preconditions'] : {};
  const policy = textOf(body?.['propagationPolicy']) || query.get('propagationPolicy') || '';
  if (policy !== '' && policy !== 'Background' && policy !== 'Foreground' && policy !== 'Orphan')
    throw refuse.invalid({ group: 'meta.k8s.io', plural: 'deleteoptions', kind: 'DeleteOptions' }, '', [
      {
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
        field: 'propagationPolicy',
      },
    ]);
  const dryRun = body?.['dryRun'];
  return {
    uid: textOf(preconditions['uid']) || undefined,
    resourceVersion: textOf(preconditions['resourceVersion']) || undefined,
    propagation: policy === '' ? undefined : policy,
    dryRun: query.getAll('dryRun').includes('All') || (Array.isArray(dryRun) && dryRun.includes('All')),
  };
}

const propagationFinalizers = { Foreground: 'foregroundDeletion', Orphan: 'orphan' } as const;

export function deleteObject(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  options: DeleteOptions,
): Deleted {
  const current = currentObject(core, type, namespace, name);
  const { uid, resourceVersion } = current.metadata;
  // Upstream names the kind here, not the resource.
  const byKind = { ...type, plural: type.kind };
  if (options.uid !== undefined && options.uid !== uid)
    throw refuse.conflict(
      byKind,
      name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid ?? ''}). The object might have been deleted and then recreated`,
    );
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion)
    throw refuse.conflict(
      byKind,
      name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion ?? ''}). The object might have been modified`,
    );

  const extra =
    options.propagation === 'Foreground' || options.propagation === 'Orphan'
      ? [propagationFinalizers[options.propagation]]
      : [];
  const finalizers = [...new Set([...(current.metadata.finalizers ?? []), ...extra])];
  const isNamespace = type.storage === '/namespaces';
  if (finalizers.length === 0 && !isNamespace)
    return {
      kind: 'gone',
      object: options.dryRun ? current : commitRemoval(core, type, current),
      status: goneStatus(type, current),
    };
  if (current.metadata.deletionTimestamp !== undefined) return { kind: 'held', object: current };

  const marked: KubeObject = {
    ...current,
    ...(isNamespace
      ? { status: { ...(isObject(current['status']) ? current['status'] : {}), phase: 'Terminating' } }
      : {}),
    metadata: orderMetadata({
      ...current.metadata,
      deletionTimestamp: timestamp(core),
      ...(isNamespace ? {} : { deletionGracePeriodSeconds: 0 }),
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ...(type.hasGeneration ? { generation: (current.metadata.generation ?? 0) + 1 } : {}),
    }),
  };
  return { kind: 'held', object: options.dryRun ? marked : commit(core, type, marked) };
}

function goneStatus(type: ResourceType, object: KubeObject): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: object.metadata.name ?? '',
      ...(type.group === '' ? {} : { group: type.group }),
      kind: type.plural,
      uid: object.metadata.uid ?? '',
    },
  };
}
