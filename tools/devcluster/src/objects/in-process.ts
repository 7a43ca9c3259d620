import { type JsonObject, type KubeObject, asKubeObject, groupVersionOf } from '../object.js';
import { type ResourceType, atVersion } from '../resources/resource-type.js';
import { storeKey } from '../store/entry.js';
import type { Core } from './core.js';
import { createObject } from './create.js';
import { patchObject } from './patch.js';
import { deleteObject } from './remove.js';

/** What callers may pass: an object literal with at least apiVersion, kind and metadata. */
export interface LooseObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly generateName?: string };
}

const loader = { manager: 'devcluster', dryRun: false, fieldValidation: 'Ignore', subresource: '' } as const;

/** The same writes the HTTP front makes, without the front. */
export class InProcessClient {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  ensureNamespace(name: string): void {
    if (this.#core.store.collection('/namespaces').get(name) !== undefined) return;
    createObject(
      this.#core,
      this.#typeOf('v1', 'Namespace'),
      undefined,
      { metadata: { name } },
      { ...loader, manager: 'kube-apiserver' },
    );
  }

  load(objects: Iterable<LooseObject>): number {
    let count = 0;
    const storages = new Set<string>();
    for (const object of objects) {
      const { type, namespace, body } = this.#place(object);
      createObject(this.#core, type, namespace, body, loader);
      storages.add(type.storage);
      count += 1;
    }
    // The bytes are made here, so that the first snapshot a bench takes measures the reader and not this server.
    for (const storage of storages)
      for (const entry of this.#core.store.collection(storage).entries()) entry.line('ADDED');
    return count;
  }

  apply(objects: LooseObject | Iterable<LooseObject>, manager: string): readonly KubeObject[] {
    const list = Symbol.iterator in objects ? objects : [objects];
    return [...list].map((object) => {
      const { type, namespace, body } = this.#place(object);
      const name = object.metadata.name;
      if (name === undefined)
        throw new Error(
          `devcluster: apply of a ${object.kind} without metadata.name: give it a name, or use load with generateName`,
        );
      return patchObject(this.#core, type, namespace, name, 'apply', body, {
        ...loader,
        manager,
        fieldValidation: 'Strict',
        force: true,
        hasFieldManager: true,
      }).object;
    });
  }

  get(apiVersion: string, kind: string, name: string, namespace?: string): KubeObject | undefined {
    const type = this.#typeOf(apiVersion, kind);
    const found = this.#core.store
      .collection(type.storage)
      .get(storeKey(type.namespaced ? (namespace ?? 'default') : undefined, name));
    return found === undefined ? undefined : atVersion(found.object, type);
  }

  list(apiVersion: string, kind: string, namespace?: string): readonly KubeObject[] {
    const type = this.#typeOf(apiVersion, kind);
    return this.#core.store
      .collection(type.storage)
      .entries()
      .filter((entry) => namespace === undefined || entry.object.metadata.namespace === namespace)
      .map((entry) => atVersion(entry.object, type));
  }

  delete(apiVersion: string, kind: string, name: string, namespace?: string): void {
    const type = this.#typeOf(apiVersion, kind);
    deleteObject(this.#core, type, type.namespaced ? (namespace ?? 'default') : undefined, name, {
      uid: undefined,
      resourceVersion: undefined,
      propagation: undefined,
      dryRun: false,
    });
  }

  #typeOf(apiVersion: string, kind: string): ResourceType {
    const { group, version } = groupVersionOf(apiVersion);
    const type = this.#core.catalog.findKind(group, version, kind);
    if (type === undefined)
      throw new Error(
        `devcluster: no kind "${kind}" in version "${apiVersion}": apply its CustomResourceDefinition first`,
      );
    return type;
  }

  #place(object: LooseObject): {
    readonly type: ResourceType;
    readonly namespace: string | undefined;
    readonly body: JsonObject;
  } {
    const body = asKubeObject(object);
    if (body === undefined) throw new Error('devcluster: an object needs apiVersion, kind and metadata');
    const type = this.#typeOf(object.apiVersion, object.kind);
    const namespace = type.namespaced ? (object.metadata.namespace ?? 'default') : undefined;
    if (namespace !== undefined) this.ensureNamespace(namespace);
    return { type, namespace, body };
  }
}
