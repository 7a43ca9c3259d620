import { afterUpdate, type ManagedEntry, readManaged, withManaged } from '../fields/managed-fields.js';
import { type Json, type JsonObject, type KubeObject, type MutableJson, isEqual } from '../object.js';
import { metadataProblems } from '../resources/names.js';
import { apiVersionOf, atVersion, type ResourceType } from '../resources/resource-type.js';
import { refuse, type StatusCause } from '../status.js';
import { storeKey } from '../store/entry.js';
import { orderMetadata, readBody } from './body.js';
import { type Core, type WriteOptions, type Written, commit, commitRemoval, timestamp } from './core.js';

export function currentObject(core: Core, type: ResourceType, namespace: string | undefined, name: string): KubeObject {
  const found = core.store.collection(type.storage).get(storeKey(type.namespaced ? namespace : undefined, name));
  if (found === undefined) throw refuse.notFound(type, name);
  return atVersion(found.object, type);
}

/** PUT. */
export function updateObject(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  body: JsonObject,
  options: WriteOptions,
): Written {
  const current = currentObject(core, type, namespace, name);
  const { object, warnings } = readBody(body, type, options.fieldValidation);
  const version = object.metadata.resourceVersion;
  if ((version === undefined || version === '') && type.message === undefined)
    throw refuse.invalid(type, name, [
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 0: must be specified for an update',
        field: 'metadata.resourceVersion',
      },
    ]);
  return { ...storeNext(core, type, current, object, options), warnings };
}

/** The common end of PUT, PATCH and scale: `next` was read, everything the sender may not change is put back. */
export function storeNext(
  core: Core,
  type: ResourceType,
  current: KubeObject,
  next: KubeObject,
  options: WriteOptions,
  owned?: readonly ManagedEntry[],
): Written {
  checkIdentity(type, current, next);
  const allowed = restrict(type, current, next, options.subresource);
  const specChanged = type.hasGeneration && !isEqual(contentOf(allowed, type), contentOf(current, type));
  const metadata: MutableJson = {
    ...allowed.metadata,
    name: current.metadata.name,
    namespace: current.metadata.namespace,
    uid: current.metadata.uid,
    resourceVersion: current.metadata.resourceVersion,
    creationTimestamp: current.metadata.creationTimestamp,
    deletionTimestamp: current.metadata.deletionTimestamp,
    deletionGracePeriodSeconds: current.metadata['deletionGracePeriodSeconds'],
    generation: specChanged ? (current.metadata.generation ?? 0) + 1 : current.metadata.generation,
    managedFields: undefined,
  };
  const settled: KubeObject = { ...allowed, metadata: orderMetadata(metadata) };
  const problems = [
    ...metadataProblems(settled.metadata, type),
    ...finalizerProblems(current, settled),
    ...type.validate(settled, current),
  ];
  if (problems.length > 0) throw refuse.invalid(type, current.metadata.name ?? '', problems);

  const writer = {
    manager: options.manager,
    apiVersion: apiVersionOf(type),
    subresource: options.subresource === 'finalize' ? '' : options.subresource,
    time: options.subresource === 'scale' ? undefined : timestamp(core),
  };
  const live = withSentManaged(current, next);
  const managed =
    owned ??
    (isEqual(withoutManaged(live), withoutManaged(settled))
      ? readManaged(live)
      : afterUpdate(live, settled, writer, type.shape));
  const finished = withManaged(settled, managed);
  // A write that changes nothing keeps its version and is seen by no watch.
  if (isEqual(finished, current)) return { object: current, code: 200, warnings: [] };
  if (options.dryRun) return { object: finished, code: 200, warnings: [] };
  if (isReadyToGo(type, finished)) {
    // The last finalizer went: the writer sees the previous version, the watch the object as it was.
    commitRemoval(core, type, current);
    return { object: finished, code: 200, warnings: [] };
  }
  return { object: commit(core, type, finished), code: 200, warnings: [] };
}

function isReadyToGo(type: ResourceType, object: KubeObject): boolean {
  return (
    object.metadata.deletionTimestamp !== undefined &&
    (object.metadata.finalizers ?? []).length === 0 &&
    type.storage !== '/namespaces'
  );
}

/** A sender may rewrite the ownership itself, as kubectl does when it takes over what it applied client-side. */
function withSentManaged(current: KubeObject, next: KubeObject): KubeObject {
  const sent = next.metadata['managedFields'];
  if (!Array.isArray(sent) || isEqual(sent, current.metadata['managedFields'])) return current;
  return { ...current, metadata: { ...current.metadata, managedFields: sent } };
}

function withoutManaged(object: KubeObject): Json {
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
}

function checkIdentity(type: ResourceType, current: KubeObject, next: KubeObject): void {
  const name = current.metadata.name ?? '';
  const sent = next.metadata;
  if (sent.name !== undefined && sent.name !== name)
    throw refuse.badRequest(`the name of the object (${sent.name}) does not match the name on the URL (${name})`);
  if (sent.namespace !== undefined && sent.namespace !== current.metadata.namespace)
    throw refuse.badRequest(
      `the namespace of the object (${sent.namespace}) does not match the namespace on the URL (${current.metadata.namespace ?? ''})`,
    );
  if (sent.uid !== undefined && sent.uid !== '' && sent.uid !== current.metadata.uid)
    throw refuse.conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${sent.uid}, UID in object meta: ${current.metadata.uid ?? ''}`,
    );
  if (
    sent.resourceVersion !== undefined &&
    sent.resourceVersion !== '' &&
    sent.resourceVersion !== current.metadata.resourceVersion
  )
    throw refuse.modified(type, name);
}

/** What each door may change: the object all but its status, `status` nothing but that, `scale` and `finalize` one field. */
function restrict(
  type: ResourceType,
  current: KubeObject,
  next: KubeObject,
  subresource: WriteOptions['subresource'],
): KubeObject {
  switch (subresource) {
    case '':
      if (!type.hasStatus) return next;
      return current['status'] === undefined ? without(next, 'status') : { ...next, status: current['status'] };
    case 'status':
      return next['status'] === undefined ? without(current, 'status') : { ...current, status: next['status'] };
    case 'scale':
    case 'finalize':
      return next;
  }
}

function without(object: KubeObject, key: string): KubeObject {
  const copy: MutableJson = { ...object };
  delete copy[key];
  return copy as unknown as KubeObject;
}

/** What a new generation is counted by. */
function contentOf(object: KubeObject, type: ResourceType): Json {
  return { ...object, metadata: {}, ...(type.hasStatus ? { status: null } : {}) };
}

function finalizerProblems(current: KubeObject, next: KubeObject): StatusCause[] {
  if (current.metadata.deletionTimestamp === undefined) return [];
  const before = current.metadata.finalizers ?? [];
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
  return added.length === 0
    ? []
    : [
        {
          reason: 'FieldValueForbidden',
          message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => JSON.stringify(one)).join(', ')}}`,
          field: 'metadata.finalizers',
        },
      ];
}
