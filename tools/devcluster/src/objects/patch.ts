import { serverSideApply } from '../fields/server-side-apply.js';
import { type Json, type JsonObject, type KubeObject, type MutableJson, isObject } from '../object.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import { applyStrategicPatch } from '../patch/strategic-patch.js';
import { apiVersionOf, atVersion, required, type ResourceType } from '../resources/resource-type.js';
import { refuse } from '../status.js';
import { storeKey } from '../store/entry.js';
import { readBody } from './body.js';
import type { Core, WriteOptions, Written } from './core.js';
import { storeNew } from './create.js';
import { currentObject, storeNext } from './update.js';

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply';

export const patchKindByMediaType: Readonly<Record<string, PatchKind>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

export interface PatchOptions extends WriteOptions {
  readonly force: boolean;
  /** The manager was named by the request, as apply demands. */
  readonly hasFieldManager: boolean;
}

export function patchObject(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  kind: PatchKind,
  patch: Json,
  options: PatchOptions,
): Written {
  if (kind === 'apply') return applyObject(core, type, namespace, name, patch, options);
  const current = currentObject(core, type, namespace, name);
  const patched = patchedJson(current, type, kind, patch);
  const { object, warnings } = readBody(patched, type, options.fieldValidation, true);
  return { ...storeNext(core, type, current, object, options), warnings };
}

/** The three patches that need no owner. */
export function patchedJson(
  current: JsonObject,
  type: ResourceType,
  kind: Exclude<PatchKind, 'apply'>,
  patch: Json,
): JsonObject {
  if (kind === 'json') return applyJsonPatch(current, patch);
  if (!isObject(patch)) throw refuse.badRequest('the patch must be a JSON object');
  if (kind === 'merge') return applyMergePatch(current, patch);
  // Custom resources have no merge keys in the server's types.
  if (type.message === undefined)
    throw refuse.unsupportedMediaType('application/strategic-merge-patch+json', [
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ]);
  return applyStrategicPatch(current, patch, type.shape);
}

function applyObject(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  patch: Json,
  options: PatchOptions,
): Written {
  if (!options.hasFieldManager)
    throw refuse.invalid({ group: 'meta.k8s.io', plural: 'patchoptions', kind: 'PatchOptions' }, '', [
      required('fieldManager', 'is required for apply patch'),
    ]);
  if (!isObject(patch)) throw refuse.badRequest('an applied configuration must be an object');
  if (typeof patch['apiVersion'] !== 'string' || typeof patch['kind'] !== 'string')
    throw refuse.badRequest('an applied configuration must contain apiVersion and kind');
  const metadata = isObject(patch['metadata']) ? patch['metadata'] : {};
  if (metadata['managedFields'] !== undefined && metadata['managedFields'] !== null)
    throw refuse.badRequest('metadata.managedFields must be nil');
  if (metadata['name'] !== undefined && metadata['name'] !== name)
    throw refuse.badRequest(
      `the name of the object (${String(metadata['name'])}) does not match the name on the URL (${name})`,
    );

  const found = core.store.collection(type.storage).get(storeKey(type.namespaced ? namespace : undefined, name));
  const live = found === undefined ? undefined : atVersion(found.object, type);
  // The reader would add defaults, which are nobody's intent: only its objections are wanted here.
  const { warnings } = readBody(patch, type, options.fieldValidation, true);
  const config = intentOf(patch, name);
  const writer = {
    manager: options.manager,
    apiVersion: apiVersionOf(type),
    subresource: options.subresource === 'finalize' ? '' : options.subresource,
    time: timeOf(core),
  };
  const restricted = type.hasStatus ? byDoor(config, options.subresource) : config;
  const applied = serverSideApply(live, restricted, writer, options.force, type.shape);
  const { object } = readBody(applied.object, type, 'Ignore');
  if (live === undefined) {
    if (options.subresource !== '') throw refuse.notFound(type, name);
    if (typeof metadata['uid'] === 'string')
      throw refuse.conflict(
        type,
        name,
        `uid mismatch: the provided object specified uid ${metadata['uid']}, and no existing object was found`,
      );
    return { ...storeNew(core, type, namespace, object, options, applied.managed), warnings };
  }
  return { ...storeNext(core, type, live, object, options, applied.managed), warnings };
}

function timeOf(core: Core): string {
  return core
    .now()
    .toISOString()
    .replace(/\.\d{3}Z$/, 'Z');
}

function intentOf(patch: JsonObject, name: string): KubeObject {
  const metadata: MutableJson = { ...(isObject(patch['metadata']) ? patch['metadata'] : {}), name };
  for (const gone of ['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'selfLink', 'namespace'])
    delete metadata[gone];
  return { ...patch, metadata } as unknown as KubeObject;
}

/** Through the object's own door no status can be applied, through `status` nothing else. */
function byDoor(config: KubeObject, subresource: WriteOptions['subresource']): KubeObject {
  if (subresource === 'status')
    return {
      apiVersion: config.apiVersion,
      kind: config.kind,
      metadata: { name: config.metadata.name ?? '' },
      ...(config['status'] === undefined ? {} : { status: config['status'] }),
    };
  const { status: _gone, ...rest } = config;
  return rest as KubeObject;
}
