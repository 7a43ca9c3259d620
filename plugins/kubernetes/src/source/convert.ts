import { cursor, refOf, type Collection, type KubeObject, type SourceEvent } from '@gitops-reverser/kernel-api';
import type { WatchFrame } from '@gitops-reverser/toolkit-kube';

type WatchEvent = Extract<WatchFrame, { readonly kind: 'event' }>;

export const isTerminating = (object: KubeObject): boolean => typeof object.metadata['deletionTimestamp'] === 'string';

/** Turns the live events of one stream into what changed: deletion is intent, and is said once per uid (EV-1). */
export class EventConverter {
  readonly #collection: Collection;
  readonly #terminating = new Set<string>();

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /** A new replay knows everything; what was going before it is simply absent. */
  reset(): void {
    this.#terminating.clear();
  }

  convert({ type, object, resourceVersion }: WatchEvent): SourceEvent {
    const at = cursor(resourceVersion);
    const uid = object.metadata.uid ?? '';
    if (type === 'DELETED') {
      if (this.#terminating.delete(uid)) return { kind: 'progress', cursor: at };
      const isFiltered = this.#collection.labelSelector !== undefined && !isTerminating(object);
      return this.#gone(object, isFiltered ? 'filtered' : 'deletion', at);
    }
    if (!isTerminating(object))
      return { kind: 'upsert', ref: refOf(this.#collection.type, object), object, via: 'live', cursor: at };
    if (this.#terminating.has(uid)) return { kind: 'progress', cursor: at };
    this.#terminating.add(uid);
    return this.#gone(object, 'deletion', at);
  }

  #gone(object: KubeObject, removal: 'deletion' | 'filtered', at: ReturnType<typeof cursor>): SourceEvent {
    const { uid } = object.metadata;
    return {
      kind: 'delete',
      ref: refOf(this.#collection.type, object),
      removal,
      object,
      cursor: at,
      ...(uid === undefined ? {} : { uid }),
    };
  }
}

/** Both decimal: may be compared, within one type of one cluster (EV-8). */
export function isOlder(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
