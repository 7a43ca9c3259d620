import type { JsonObject } from '../object.js';
import type { Catalog } from '../resources/catalog.js';
import type { ResourceType } from '../resources/resource-type.js';
import { refuse } from '../status.js';

/** `/openapi/v3`: one document for each group and version. */
export function openApiIndex(catalog: Catalog): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const { group, versions } of catalog.groups()) {
    for (const version of versions) {
      const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
      // The hash only has to move when the document may have.
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${catalog.generation}` };
    }
  }
  return { paths };
}

/**
 * The least that lets kubectl leave validation to the server: a PATCH of each kind that takes `fieldValidation`. Schemas of
 * built-in types are left open, so `kubectl explain` has nothing to explain there.
 */
export function openApiDocument(catalog: Catalog, group: string, version: string): JsonObject {
  const types = catalog.typesOf(group, version);
  if (types.length === 0) throw refuse.noSuchPath();
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const paths: Record<string, JsonObject> = {};
  const schemas: Record<string, JsonObject> = {};
  for (const type of types) {
    const kind = { group: type.group, version: type.version, kind: type.kind };
    paths[`${base}/${type.namespaced ? 'namespaces/{namespace}/' : ''}${type.plural}/{name}`] = {
      patch: patchOperation(type, kind),
    };
    schemas[`${group === '' ? 'core' : group}.${version}.${type.kind}`] = {
      ...(type.schema ?? { type: 'object' }),
      'x-kubernetes-group-version-kind': [kind],
    };
  }
  return { openapi: '3.0.0', info: { title: 'devcluster', version: 'v1.36.0' }, paths, components: { schemas } };
}

function patchOperation(type: ResourceType, kind: JsonObject): JsonObject {
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: name === 'force' ? 'boolean' : 'string', uniqueItems: true },
  }));
  return {
    operationId: `patch${type.kind}`,
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': kind,
    parameters,
    requestBody: { content: { 'application/merge-patch+json': { schema: { type: 'object' } } } },
    responses: { 200: { description: 'OK' } },
  };
}
