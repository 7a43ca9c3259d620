import type { JsonObject, JsonValue, ListMapKeys, ResourceType } from '@gitops-reverser/kernel-api';

/** Deeper than any definition the API server admits by itself; ends a schema that refers to itself. */
const DEEPEST = 50;

/** By kind, the lists of one group version whose items the server tells apart by fields (`x-kubernetes-list-type: map`). */
export function listMapKeysByKind(
  document: JsonObject,
  { group, version }: Pick<ResourceType, 'group' | 'version'>,
): ReadonlyMap<string, ListMapKeys> {
  const schemas = mapOf(mapOf(document['components'])['schemas']);
  const keysByKind = new Map<string, ListMapKeys>();
  for (const schema of Object.values(schemas).map(mapOf)) {
    for (const type of listOf(schema['x-kubernetes-group-version-kind']).map(mapOf)) {
      if (type['group'] !== group || type['version'] !== version || typeof type['kind'] !== 'string') continue;
      const found: Record<string, readonly string[]> = {};
      collect(schema, '', found, 0);
      if (Object.keys(found).length > 0) keysByKind.set(type['kind'], found);
    }
  }
  return keysByKind;
}

/** References lead to metadata alone: what a definition declares is published in place. */
function collect(schema: JsonObject, path: string, found: Record<string, readonly string[]>, depth: number): void {
  if (depth > DEEPEST) return;
  const keys = listOf(schema['x-kubernetes-list-map-keys']);
  if (schema['x-kubernetes-list-type'] === 'map' && keys.length > 0) found[path] = keys.map(String);
  if (schema['items'] !== undefined) collect(mapOf(schema['items']), path, found, depth + 1);
  for (const [name, property] of Object.entries(mapOf(schema['properties'])))
    collect(mapOf(property), path === '' ? name : `${path}/${name}`, found, depth + 1);
}

const mapOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : [];
