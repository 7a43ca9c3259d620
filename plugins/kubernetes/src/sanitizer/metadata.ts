import {
  compileStripRules,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type ResourceType,
} from '@gitops-reverser/kernel-api';
import { bookkeeping } from './bookkeeping.js';
import { isEmpty, isList, isMap, without } from './json.js';

const own = compileStripRules([bookkeeping]);

/** Chapter 20, 3.2: of the root object's metadata only name, namespace, labels and annotations are intent. */
export function desiredMetadata(object: KubeObject, type: ResourceType): JsonObject {
  const kept: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object.metadata)) {
    if (key === 'name' || key === 'namespace') kept.push([key, value]);
    if (key === 'labels' && isMap(value)) {
      const labels = without(value, (name, text) => stripsLabel(name, text, object, type));
      if (!isEmpty(labels)) kept.push([key, labels]);
    }
    if (key === 'annotations' && isMap(value)) {
      const annotations = without(value, (name) => own.strippedBy('annotations', name) !== undefined);
      if (!isEmpty(annotations)) kept.push([key, annotations]);
    }
  }
  return Object.fromEntries(kept);
}

function stripsLabel(name: string, text: JsonValue, object: KubeObject, type: ResourceType): boolean {
  if (own.strippedBy('labels', name) !== undefined) return true;
  if (name === 'kubernetes.io/metadata.name')
    return type.group === '' && type.kind === 'Namespace' && text === object.metadata.name;
  return name === 'app.kubernetes.io/managed-by' && typeof text === 'string' && text.startsWith('kustomize-');
}

/** `creationTimestamp: null` in the metadata of any embedded template goes; the same key elsewhere stays. */
export function withoutNullTimestamps(value: JsonValue): JsonValue {
  if (isList(value)) {
    let changed = false;
    const items = value.map((item) => {
      const next = withoutNullTimestamps(item);
      changed ||= next !== item;
      return next;
    });
    return changed ? items : value;
  }
  if (!isMap(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, child]): [string, JsonValue] => {
    const inside =
      key === 'metadata' && isMap(child)
        ? without(child, (name, text) => name === 'creationTimestamp' && text === null)
        : child;
    const next = withoutNullTimestamps(inside);
    changed ||= next !== child;
    return [key, next];
  });
  return changed ? Object.fromEntries(entries) : value;
}
