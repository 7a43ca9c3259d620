import type { KubeObject, ObjectMeta } from '../object.js';
import { Collection } from './collection.js';
import { type Entry, storeKey } from './entry.js';

/** All collections under one monotonic resourceVersion, as one etcd keeps them. */
export class Store {
  readonly #ringSize: number;
  readonly #collectionsByName = new Map<string, Collection>();
  #version: number;

  /** @param startVersion a fresh cluster has already written something: version 1 is always too old */
  constructor(ringSize: number, startVersion = 10) {
    this.#ringSize = ringSize;
    this.#version = startVersion;
  }

  /** The newest version written anywhere. */
  get version(): number {
    return this.#version;
  }

  collection(name: string): Collection {
    let found = this.#collectionsByName.get(name);
    if (found === undefined) {
      found = new Collection(name, this.#ringSize, this.#version);
      this.#collectionsByName.set(name, found);
    }
    return found;
  }

  collections(): Iterable<Collection> {
    return this.#collectionsByName.values();
  }

  /** Objects of a type that is gone go with it, each with its DELETED event. */
  dropCollection(name: string): void {
    const found = this.#collectionsByName.get(name);
    for (const entry of found?.entries() ?? []) this.remove(name, entry.object);
    this.#collectionsByName.delete(name);
  }

  put(name: string, object: KubeObject): Entry {
    this.#version += 1;
    const key = storeKey(object.metadata.namespace, object.metadata.name ?? '');
    return this.collection(name).put(key, this.#version, withVersion(object, this.#version));
  }

  remove(name: string, last: KubeObject): Entry {
    this.#version += 1;
    const key = storeKey(last.metadata.namespace, last.metadata.name ?? '');
    return this.collection(name).remove(key, this.#version, withVersion(last, this.#version));
  }

  /** As after a restart of the API server: every version handed out so far is too old for a watch. */
  expireAll(): void {
    this.#version += 1;
    for (const collection of this.#collectionsByName.values()) collection.expireBefore(this.#version);
  }
}

/** Puts the version where the API server writes it, behind the uid, whatever the order of the sender. */
function withVersion(object: KubeObject, version: number): KubeObject {
  // An object that has been stored before has its place for it.
  if (object.metadata.resourceVersion !== undefined)
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  const { name, generateName, namespace, uid, ...rest } = object.metadata;
  const metadata: ObjectMeta = {
    ...(name === undefined ? {} : { name }),
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    resourceVersion: String(version),
    ...rest,
  };
  return { ...object, metadata };
}
