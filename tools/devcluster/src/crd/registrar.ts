import { isEqual, type KubeObject } from '../object.js';
import { type Core, commit, timestamp } from '../objects/core.js';
import { orderMetadata } from '../objects/body.js';
import { deleteObject } from '../objects/remove.js';
import type { ResourceType } from '../resources/resource-type.js';
import { customTypes, establishedStatus } from './definition.js';

const options = { uid: undefined, resourceVersion: undefined, propagation: 'Background', dryRun: false } as const;

/**
 * Keeps the catalog in step with the definitions: a new one is served, and established, before its creator hears of it.
 *
 * @param onRemoved the types of a definition that is gone; its watches end
 */
export function watchDefinitions(core: Core, onRemoved: (type: ResourceType) => void): void {
  const typesByName = new Map<string, readonly ResourceType[]>();

  core.observers.push((type, change, object) => {
    if (type.storage !== 'apiextensions.k8s.io/customresourcedefinitions') return;
    const name = object.metadata.name ?? '';
    const before = typesByName.get(name) ?? [];
    if (change === 'DELETED') {
      for (const old of before)
        for (const entry of core.store.collection(old.storage).entries())
          deleteObject(core, old, entry.object.metadata.namespace, entry.object.metadata.name ?? '', options);
      for (const old of before) {
        core.catalog.remove(old);
        core.store.dropCollection(old.storage);
        onRemoved(old);
      }
      typesByName.delete(name);
      return;
    }
    const types = customTypes(object);
    for (const old of before) core.catalog.remove(old);
    for (const served of types) core.catalog.add(served);
    typesByName.set(name, types);
    establish(core, type, object);
  });
}

function establish(core: Core, type: ResourceType, definition: KubeObject): void {
  if (definition.metadata.deletionTimestamp !== undefined) return;
  const status = establishedStatus(definition, timestamp(core));
  if (isEqual(status, definition['status'])) return;
  commit(core, type, { ...definition, metadata: orderMetadata({ ...definition.metadata }), status });
}
