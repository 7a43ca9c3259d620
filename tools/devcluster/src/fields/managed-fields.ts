import { type Json, type JsonObject, type KubeObject, type MutableJson, isObject, textOf } from '../object.js';
import type { Shape } from '../schema/shape.js';
import { compare, withoutUnowned } from './comparison.js';
import { FieldSet } from './field-set.js';

export interface ManagedEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time: string | undefined;
  readonly subresource: string;
  readonly fields: FieldSet;
}

/** Who writes, in which role. */
export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  /** Seconds, RFC 3339; absent for writes through `scale`, as upstream. */
  readonly time: string | undefined;
}

export function readManaged(object: KubeObject | undefined): ManagedEntry[] {
  const list = object?.metadata['managedFields'];
  if (!Array.isArray(list)) return [];
  return (list as readonly Json[]).filter(isObject).map((entry) => ({
    manager: textOf(entry['manager']),
    operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
    apiVersion: textOf(entry['apiVersion']),
    time: typeof entry['time'] === 'string' ? entry['time'] : undefined,
    subresource: textOf(entry['subresource']),
    fields: FieldSet.fromFieldsV1(entry['fieldsV1']),
  }));
}

/** The object with these entries; empty ones vanish, order is upstream's: operation, time, manager. */
export function withManaged(object: KubeObject, entries: readonly ManagedEntry[]): KubeObject {
  const { managedFields: _previous, ...metadata } = object.metadata;
  const list = entries
    .filter((entry) => !entry.fields.isEmpty)
    .sort(
      (a, b) =>
        compareText(a.operation, b.operation) ||
        compareText(a.time ?? '', b.time ?? '') ||
        compareText(a.manager, b.manager) ||
        compareText(a.apiVersion, b.apiVersion) ||
        compareText(a.subresource, b.subresource),
    )
    .map(toJson);
  return {
    ...object,
    metadata: (list.length === 0 ? metadata : { ...metadata, managedFields: list }) as KubeObject['metadata'],
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toJson(entry: ManagedEntry): JsonObject {
  const found: MutableJson = { manager: entry.manager, operation: entry.operation, apiVersion: entry.apiVersion };
  if (entry.time !== undefined) found['time'] = entry.time;
  found['fieldsType'] = 'FieldsV1';
  found['fieldsV1'] = entry.fields.toFieldsV1();
  if (entry.subresource !== '') found['subresource'] = entry.subresource;
  return found as JsonObject;
}

export function isSameWriter(entry: ManagedEntry, writer: Writer, operation: ManagedEntry['operation']): boolean {
  return (
    entry.operation === operation &&
    entry.manager === writer.manager &&
    entry.subresource === writer.subresource &&
    (operation === 'Apply' || entry.apiVersion === writer.apiVersion)
  );
}

/** Ownership after a write that is no apply: what it changed it owns, what it removed nobody owns. */
export function afterUpdate(
  live: KubeObject | undefined,
  next: KubeObject,
  writer: Writer,
  shape: Shape,
): ManagedEntry[] {
  const { changed, removed } = compare(live === undefined ? undefined : stripManaged(live), stripManaged(next), shape);
  const taken = withoutUnowned(changed);
  const entries: ManagedEntry[] = [];
  let mine: ManagedEntry | undefined;
  for (const entry of readManaged(live)) {
    if (isSameWriter(entry, writer, 'Update')) mine = { ...entry, fields: entry.fields.difference(removed) };
    else entries.push({ ...entry, fields: entry.fields.difference(removed).difference(taken) });
  }
  if (!taken.isEmpty)
    mine = {
      manager: writer.manager,
      operation: 'Update',
      apiVersion: writer.apiVersion,
      time: writer.time,
      subresource: writer.subresource,
      fields: (mine?.fields ?? new FieldSet()).union(taken),
    };
  return mine === undefined ? entries : [...entries, mine];
}

export function stripManaged(object: KubeObject): KubeObject {
  const { managedFields: _gone, ...metadata } = object.metadata;
  return { ...object, metadata };
}
