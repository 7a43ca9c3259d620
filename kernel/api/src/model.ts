import type { Cursor, TargetId } from './ids.js';

/** JSON as the API server speaks it; integers outside ±(2^53−1) are `bigint`. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export type ObjectMeta = JsonObject & {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
};

/** One object, as observed or reduced to intent. Never mutated by anyone. */
export type KubeObject = JsonObject & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

/** One served type. `group` is empty for core types; `resource` is the plural. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Names one object of one cluster. `namespace` is absent exactly for cluster-scoped objects. */
export interface ObjectRef {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** What one target follows of one type. A stream is the running follow of one collection. */
export interface Collection {
  readonly target: TargetId;
  readonly type: ResourceType;
  /** Absent: every namespace, or a cluster-scoped type. */
  readonly namespace?: string;
  /** Canonical spelling; absent: everything. */
  readonly labelSelector?: string;
}

/** Identity of a collection; the served version is data, not identity. */
export function collectionKey(collection: Collection): string {
  const { type, namespace, labelSelector } = collection;
  const scope = namespace === undefined ? '*' : namespace;
  const selector = labelSelector === undefined ? '' : `?${labelSelector}`;
  return `${collection.target}:${type.group}/${type.resource}:${scope}${selector}`;
}

/** Identity of an object within one cluster; versionless. */
export function refKey(ref: ObjectRef): string {
  return `${ref.group}/${ref.resource}/${ref.namespace ?? ''}/${ref.name}`;
}

export function refOf(type: ResourceType, object: KubeObject): ObjectRef {
  const { namespace, name } = object.metadata;
  const base = { group: type.group, version: type.version, resource: type.resource, kind: type.kind, name };
  return namespace === undefined ? base : { ...base, namespace };
}

/** What a source says about one stream, in the order received. */
export type SourceEvent =
  /** A complete replay starts; everything gathered by an unfinished earlier one is void. */
  | { readonly kind: 'snapshot-begin' }
  | {
      readonly kind: 'upsert';
      readonly ref: ObjectRef;
      readonly object: KubeObject;
      readonly via: 'snapshot' | 'live';
      readonly cursor: Cursor;
    }
  /**
   * The object is gone, or is going (it carries a deletion timestamp), or no longer matches the selector. Said once per uid.
   * `object` is the last state seen, if any.
   */
  | {
      readonly kind: 'delete';
      readonly ref: ObjectRef;
      readonly removal: 'deletion' | 'filtered';
      readonly uid?: string;
      readonly object?: KubeObject;
      readonly cursor: Cursor;
    }
  /** The only event after which absence means deletion. */
  | { readonly kind: 'snapshot-end'; readonly cursor: Cursor }
  /** Nothing changed up to here. */
  | { readonly kind: 'progress'; readonly cursor: Cursor }
  /** The connection delivers live events (again). */
  | { readonly kind: 'streaming' }
  /** The stream does not deliver at present; it goes on trying by itself. */
  | { readonly kind: 'trouble'; readonly reason: StreamTrouble; readonly message: string };

export type StreamTrouble = 'ExpiredResourceVersion' | 'WatchError' | 'WatchNotPermitted';
