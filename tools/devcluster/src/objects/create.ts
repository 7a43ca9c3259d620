import { randomUUID } from 'node:crypto';
import { afterUpdate, type ManagedEntry, withManaged } from '../fields/managed-fields.js';
import type { JsonObject, KubeObject } from '../object.js';
import { generatedName, metadataProblems } from '../resources/names.js';
import { apiVersionOf, required, type ResourceType } from '../resources/resource-type.js';
import { ApiError, refuse } from '../status.js';
import { storeKey } from '../store/entry.js';
import { orderMetadata, readBody } from './body.js';
import { type Core, type WriteOptions, type Written, commit, timestamp } from './core.js';
import { prepareForCreate } from './preparation.js';

export function createObject(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  body: JsonObject,
  options: WriteOptions,
): Written {
  // A new object has no status yet; only the status subresource can give it one.
  const { status: _status, ...withoutStatus } = body;
  const { object, warnings } = readBody(type.hasStatus ? withoutStatus : body, type, options.fieldValidation);
  return { ...storeNew(core, type, namespace, object, options), warnings };
}

/** @param owned who owns what, when an apply has already decided it */
export function storeNew(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  read: KubeObject,
  options: WriteOptions,
  owned?: readonly ManagedEntry[],
): Written {
  const sent = read.metadata;
  if (type.namespaced && sent.namespace !== undefined && sent.namespace !== namespace)
    throw refuse.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (sent.resourceVersion !== undefined && sent.resourceVersion !== '')
    throw new ApiError({
      code: 500,
      reason: '',
      message: 'resourceVersion should not be set on objects to be created',
    });
  const generateName = typeof sent['generateName'] === 'string' ? sent['generateName'] : undefined;
  const name = sent.name ?? (generateName === undefined ? undefined : generatedName(generateName));
  if (name === undefined)
    throw refuse.invalid(type, '', [required('metadata.name', 'name or generateName is required')]);
  if (type.namespaced) requireNamespace(core, type, namespace ?? '', name);
  if (core.store.collection(type.storage).get(storeKey(type.namespaced ? namespace : undefined, name)) !== undefined)
    throw refuse.exists(type, name);

  const time = timestamp(core);
  const intent: KubeObject = {
    ...read,
    metadata: orderMetadata({
      name,
      generateName,
      labels: sent.labels,
      annotations: sent.annotations,
      ownerReferences: sent['ownerReferences'],
      finalizers: sent.finalizers,
    }),
  };
  const managed =
    owned ??
    afterUpdate(
      undefined,
      intent,
      { manager: options.manager, apiVersion: apiVersionOf(type), subresource: '', time },
      type.shape,
    );
  const identified: KubeObject = {
    ...intent,
    metadata: orderMetadata({
      ...intent.metadata,
      ...(type.namespaced ? { namespace } : {}),
      uid: randomUUID(),
      ...(type.hasGeneration ? { generation: 1 } : {}),
      creationTimestamp: time,
    }),
  };
  const prepared = prepareForCreate(core, type, identified);
  const problems = [...metadataProblems(prepared.metadata, type), ...type.validate(prepared, undefined)];
  if (problems.length > 0) throw refuse.invalid(type, name, problems);
  const finished = withManaged(prepared, managed);
  return { object: options.dryRun ? finished : commit(core, type, finished), code: 201, warnings: [] };
}

function requireNamespace(core: Core, type: ResourceType, namespace: string, name: string): void {
  const found = core.store.collection('/namespaces').get(namespace);
  const namespaces = { group: '', plural: 'namespaces', kind: 'Namespace' };
  if (found === undefined) throw refuse.notFound(namespaces, namespace);
  if (found.object.metadata.deletionTimestamp !== undefined)
    throw refuse.forbidden(
      type,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
}
