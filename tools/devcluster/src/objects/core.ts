import type { KubeObject } from '../object.js';
import type { Catalog } from '../resources/catalog.js';
import { type ResourceType, atVersion } from '../resources/resource-type.js';
import { type ChangeType, storeKey } from '../store/entry.js';
import type { Store } from '../store/store.js';

/** Told of every committed write, in order, before the writer gets its answer. */
type Observer = (type: ResourceType, change: ChangeType, object: KubeObject) => void;

/** What all requests share. */
export interface Core {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly now: () => Date;
  readonly observers: Observer[];
}

export function timestamp(core: Core): string {
  return core
    .now()
    .toISOString()
    .replace(/\.\d{3}Z$/, 'Z');
}

export function commit(core: Core, type: ResourceType, object: KubeObject): KubeObject {
  const isNew =
    core.store.collection(type.storage).get(storeKey(object.metadata.namespace, object.metadata.name ?? '')) ===
    undefined;
  const entry = core.store.put(type.storage, type.toStored?.(object) ?? object);
  const change = isNew ? 'ADDED' : 'MODIFIED';
  for (const observer of core.observers) observer(type, change, entry.object);
  return atVersion(entry.object, type);
}

export function commitRemoval(core: Core, type: ResourceType, last: KubeObject): KubeObject {
  const entry = core.store.remove(type.storage, type.toStored?.(last) ?? last);
  for (const observer of core.observers) observer(type, 'DELETED', entry.object);
  return entry.object;
}

export interface WriteOptions {
  readonly manager: string;
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** `''` is the object itself. */
  readonly subresource: '' | 'status' | 'scale' | 'finalize';
}

export interface Written {
  readonly object: KubeObject;
  readonly code: 200 | 201;
  /** Go out as `Warning` headers. */
  readonly warnings: readonly string[];
}
