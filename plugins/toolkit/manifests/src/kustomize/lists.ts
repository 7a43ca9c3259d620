import type { JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { parseApiVersion, type DocumentIdentity } from '../identity.js';
import { isFields } from './shapes.js';

/**
 * What kustomize makes of a document whose kind ends in `List`: the objects in it, however deep. Undefined when it is no list, or
 * holds what is no object.
 */
export function objectsInList(bytes: Uint8Array, index: number): readonly DocumentIdentity[] | undefined {
  const parsed = parseDocuments(bytes);
  const document = parsed.ok ? parsed.value.find((each) => each.index === index) : undefined;
  if (document?.state !== 'read' || !isFields(document.value) || !isList(document.value)) return undefined;
  const found: DocumentIdentity[] = [];
  const pending: JsonValue[] = [document.value];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (!isFields(value)) return undefined;
    const { items } = value;
    if (isList(value)) {
      if (items !== null && !Array.isArray(items)) return undefined;
      pending.push(...((items ?? []) as readonly JsonValue[]).toReversed());
      continue;
    }
    const identity = identityOf(value);
    if (identity === undefined) return undefined;
    found.push(identity);
  }
  return found;
}

const isList = ({ kind, items }: { readonly [key: string]: JsonValue }): boolean =>
  typeof kind === 'string' && kind.endsWith('List') && items !== undefined;

function identityOf(value: { readonly [key: string]: JsonValue }): DocumentIdentity | undefined {
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isFields(metadata)) return undefined;
  const { name, namespace } = metadata;
  if (typeof name !== 'string' || name === '' || kind === '') return undefined;
  const where = typeof namespace === 'string' && namespace !== '' ? { namespace } : {};
  return { ...parseApiVersion(apiVersion), kind, ...where, name };
}
