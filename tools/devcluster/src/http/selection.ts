import type { KubeObject } from '../object.js';
import { atVersion, type ResourceType } from '../resources/resource-type.js';
import { Entry } from '../store/entry.js';
import { parseFieldSelector, parseLabelSelector } from '../store/selectors.js';

/** Which entries of a collection a request is about. */
export function selectionOf(
  type: ResourceType,
  namespace: string | undefined,
  query: URLSearchParams,
  name = '',
): { readonly matches: (entry: Entry) => boolean; readonly isFiltered: boolean } {
  const byLabel = parseLabelSelector(query.get('labelSelector'));
  const byField = parseFieldSelector(query.get('fieldSelector'), type.selectableFields);
  const tests: ((object: KubeObject) => boolean)[] = [];
  if (namespace !== undefined && type.namespaced) tests.push((object) => object.metadata.namespace === namespace);
  if (name !== '') tests.push((object) => object.metadata.name === name);
  if (byLabel !== undefined) tests.push(byLabel);
  if (byField !== undefined) tests.push(byField);
  return {
    matches: (entry) => tests.every((test) => test(entry.object)),
    isFiltered: byLabel !== undefined || byField !== undefined,
  };
}

/** The entry under the version that was asked for; usually it is the stored one itself. */
export function servedEntry(entry: Entry, type: ResourceType): Entry {
  const object = atVersion(entry.object, type);
  return object === entry.object ? entry : new Entry(entry.key, entry.version, object);
}
