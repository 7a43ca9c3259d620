import type { JsonObject, KubeObject } from '../object.js';
import type { ResourceType } from '../resources/resource-type.js';

/** `meta.k8s.io/v1` Table of some objects: what `kubectl get` prints. */
export function toTable(
  type: ResourceType,
  objects: readonly KubeObject[],
  include: 'None' | 'Metadata' | 'Object',
  nowMs: number,
  listMeta: JsonObject,
  withColumns = true,
): JsonObject {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: listMeta,
    columnDefinitions: withColumns
      ? type.columns.map(({ name, type: kind, format = '', description = '', priority }) => ({
          name,
          type: kind,
          format,
          description,
          priority,
        }))
      : null,
    rows: objects.map((object) => ({
      cells: type.columns.map((column) => column.cell(object, nowMs)),
      ...(include === 'None' ? {} : { object: include === 'Object' ? object : toPartial(object) }),
    })),
  };
}

export function toPartial(object: KubeObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}
