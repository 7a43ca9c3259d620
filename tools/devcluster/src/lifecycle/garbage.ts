import { type Json, type KubeObject, textOf, valueAt } from '../object.js';
import { type Core, commit } from '../objects/core.js';
import { orderMetadata } from '../objects/body.js';
import { deleteObject } from '../objects/remove.js';
import { storeNext } from '../objects/update.js';
import type { ResourceType } from '../resources/resource-type.js';
import { storeKey } from '../store/entry.js';
import type { Background } from './background.js';

const options = { uid: undefined, resourceVersion: undefined, propagation: undefined, dryRun: false } as const;
const writer = {
  manager: 'kube-controller-manager',
  dryRun: false,
  fieldValidation: 'Ignore',
  subresource: '',
} as const;

/** Deletes what lost its owner (background), and serves the foreground and orphan finalizers. */
export function collectGarbage(core: Core, background: Background): void {
  /** Dependents by the uid of their owner, as `storage|key`. */
  const dependentsByUid = new Map<string, Map<string, ResourceType>>();
  const aliveUids = new Set<string>();

  const owners = (object: KubeObject): readonly string[] => {
    const list = object.metadata['ownerReferences'];
    return Array.isArray(list) ? (list as readonly Json[]).map((owner) => textOf(valueAt(owner, 'uid'))) : [];
  };
  const dependentsOf = (uid: string): { readonly type: ResourceType; readonly object: KubeObject }[] =>
    [...(dependentsByUid.get(uid) ?? [])].flatMap(([id, type]) => {
      const entry = core.store.collection(type.storage).get(id.slice(id.indexOf('|') + 1));
      return entry === undefined ? [] : [{ type, object: entry.object }];
    });
  const withoutFinalizer = (type: ResourceType, object: KubeObject, finalizer: string) => {
    const current = core.store
      .collection(type.storage)
      .get(storeKey(object.metadata.namespace, object.metadata.name ?? ''))?.object;
    if (current?.metadata.finalizers?.includes(finalizer) !== true) return;
    storeNext(
      core,
      type,
      current,
      {
        ...current,
        metadata: { ...current.metadata, finalizers: current.metadata.finalizers.filter((one) => one !== finalizer) },
      },
      writer,
    );
  };

  const collect = (uid: string) => {
    for (const { type, object } of dependentsOf(uid)) {
      if (owners(object).some((owner) => aliveUids.has(owner))) continue;
      deleteObject(core, type, object.metadata.namespace, object.metadata.name ?? '', options);
    }
  };
  const serveFinalizers = (type: ResourceType, object: KubeObject) => {
    const uid = object.metadata.uid ?? '';
    if (object.metadata.finalizers?.includes('orphan') === true) {
      for (const dependent of dependentsOf(uid)) {
        const list = dependent.object.metadata['ownerReferences'];
        const kept = (Array.isArray(list) ? (list as readonly Json[]) : []).filter(
          (owner) => valueAt(owner, 'uid') !== uid,
        );
        commit(core, dependent.type, {
          ...dependent.object,
          metadata: orderMetadata({
            ...dependent.object.metadata,
            ownerReferences: kept.length > 0 ? kept : undefined,
          }),
        });
      }
      withoutFinalizer(type, object, 'orphan');
    }
    if (object.metadata.finalizers?.includes('foregroundDeletion') === true) {
      for (const dependent of dependentsOf(uid))
        deleteObject(core, dependent.type, dependent.object.metadata.namespace, dependent.object.metadata.name ?? '', {
          ...options,
          propagation: 'Foreground',
        });
      if (dependentsOf(uid).length === 0) withoutFinalizer(type, object, 'foregroundDeletion');
    }
  };

  core.observers.push((type, change, object) => {
    const uid = object.metadata.uid ?? '';
    const id = `${type.storage}|${storeKey(object.metadata.namespace, object.metadata.name ?? '')}`;
    const mine = owners(object);
    if (change === 'DELETED') {
      aliveUids.delete(uid);
      for (const owner of mine) {
        dependentsByUid.get(owner)?.delete(id);
        // The owner may have waited for its last dependent.
        background.schedule(() => {
          for (const waiting of core.catalog.stored())
            for (const entry of aliveUids.has(owner) ? core.store.collection(waiting.storage).entries() : [])
              if (
                entry.object.metadata.uid === owner &&
                entry.object.metadata.finalizers?.includes('foregroundDeletion') === true
              )
                serveFinalizers(waiting, entry.object);
        });
      }
      if (dependentsByUid.has(uid)) background.schedule(() => collect(uid));
      return;
    }
    aliveUids.add(uid);
    for (const owner of mine) {
      const dependents = dependentsByUid.get(owner) ?? new Map<string, ResourceType>();
      dependents.set(id, type);
      dependentsByUid.set(owner, dependents);
      if (!aliveUids.has(owner)) background.schedule(() => collect(owner));
    }
    const finalizers = object.metadata.finalizers ?? [];
    // Nothing mounts a volume here: the protection ends as soon as it matters.
    for (const finalizer of finalizers)
      if (/^kubernetes\.io\/pvc?-protection$/.test(finalizer) && object.metadata.deletionTimestamp !== undefined)
        background.schedule(() => withoutFinalizer(type, object, finalizer));
    if (
      object.metadata.deletionTimestamp !== undefined &&
      (finalizers.includes('orphan') || finalizers.includes('foregroundDeletion'))
    )
      background.schedule(() => serveFinalizers(type, object));
  });
}
