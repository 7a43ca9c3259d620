import { refKey, type ManagedDocument, type ObjectRef, type PruneMode } from '@gitops-reverser/kernel-api';
import type { Snapshot } from './item.js';

const STRICTNESS: Readonly<Record<PruneMode, number>> = { Never: 0, OnEvent: 1, Always: 2 };

/** Tightening is immediate; loosening does not escalate work already planned. */
export const stricter = (a: PruneMode, b: PruneMode): PruneMode => (STRICTNESS[a] <= STRICTNESS[b] ? a : b);

/** Whether an observed delete removes its document. */
export const removesOnEvent = (mode: PruneMode): boolean => mode === 'OnEvent' || mode === 'Always';

/**
 * Documents of the snapshot's structural scope (type, and namespace unless the collection covers all) without a live object.
 * A document whose object exists but could not be read is none of them.
 */
export function orphansOf(snapshot: Snapshot, documents: readonly ManagedDocument[]): readonly ObjectRef[] {
  const { type, namespace } = snapshot.collection;
  const live = new Set<string>();
  for (const { refKey: key } of snapshot.objects) live.add(key);
  for (const { refKey: key } of snapshot.unread) live.add(key);
  const orphans = new Map<string, ObjectRef>();
  for (const document of documents) {
    if (document.kind !== type.kind || document.group !== type.group) continue;
    if (
      type.namespaced
        ? document.namespace === undefined || (namespace !== undefined && document.namespace !== namespace)
        : document.namespace !== undefined
    )
      continue;
    const ref: ObjectRef = {
      group: type.group,
      version: type.version,
      resource: type.resource,
      kind: type.kind,
      name: document.name,
      ...(document.namespace === undefined ? {} : { namespace: document.namespace }),
    };
    const key = refKey(ref);
    if (!live.has(key)) orphans.set(key, ref);
  }
  return [...orphans.values()];
}
