import type { Json, JsonObject, KubeObject } from '../object.js';
import type { Shape } from '../schema/shape.js';
import type { ResourceName, StatusCause } from '../status.js';
import type { Column } from '../table/column.js';

export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly labelSelector: readonly string[] | undefined;
}

/** One served version of one resource. */
export interface ResourceType extends ResourceName {
  readonly version: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Objects of all versions of a resource are kept in one collection. */
  readonly storage: string;
  readonly shape: Shape;
  readonly hasStatus: boolean;
  readonly hasGeneration: boolean;
  readonly scale?: ScalePaths;
  readonly nameRule: 'subdomain' | 'label' | 'path';
  readonly selectableFields: ReadonlySet<string>;
  readonly columns: readonly Column[];
  /** Custom types only: the schema as its definition declares it. */
  readonly schema?: JsonObject;
  /** Built-in types only: the message their protobuf is read by. */
  readonly message?: string;
  /** How a body is read: unknown fields removed and named, defaults set, wrong types refused. */
  readonly read: (body: JsonObject, unknowns: { readonly paths: string[] }) => JsonObject;
  /** Only where versions differ by more than their name: the form that is stored, and back. */
  readonly toStored?: (object: KubeObject) => KubeObject;
  readonly fromStored?: (object: KubeObject) => KubeObject;
  /** Everything wrong with an object, given what it was before. */
  readonly validate: (object: KubeObject, previous: KubeObject | undefined) => readonly StatusCause[];
}

export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** A stored object as one version serves it. There is no conversion but that of events: only the name of the version differs. */
export function atVersion(object: KubeObject, type: ResourceType): KubeObject {
  const apiVersion = apiVersionOf(type);
  if (object.apiVersion === apiVersion) return object;
  return type.fromStored === undefined ? { ...object, apiVersion } : type.fromStored(object);
}

export const storedVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;

export function invalid(field: string, value: Json | undefined, why: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown(value)}: ${why}`, field };
}
export function required(field: string, why = ''): StatusCause {
  return { reason: 'FieldValueRequired', message: `Required value${why === '' ? '' : `: ${why}`}`, field };
}
function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  return typeof value === 'bigint'
    ? String(value)
    : JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));
}
