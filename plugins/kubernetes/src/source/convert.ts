import {
  cursor,
  refKey,
  refOf,
  type Collection,
  type Cursor,
  type KubeObject,
  type SourceEvent,
} from '@gitops-reverser/kernel-api';
import type { WatchFrame } from '@gitops-reverser/toolkit-kube';

type WatchEvent = Extract<WatchFrame, { readonly kind: 'event' }>;
type Delete = Extract<SourceEvent, { readonly kind: 'delete' }>;

export const isTerminating = (object: KubeObject): boolean => typeof object.metadata['deletionTimestamp'] === 'string';

/** Without a name there is nothing to write, and nothing to say but that time went on. */
const isNamed = (object: KubeObject): boolean =>
  typeof object.metadata?.name === 'string' && object.metadata.name !== '';

/**
 * Turns what one stream's server says into what happened. Deletion is intent: the first event whose object carries a deletion
 * timestamp is the delete, and it is said once for each uid (EV-1).
 */
export class EventConverter {
  readonly #collection: Collection;
  readonly #terminating = new Set<string>();
  readonly #goneDuringReplay = new Map<string, Delete>();

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /** A replay starts: it knows everything, and what was going before it is simply absent. */
  beginReplay(): void {
    this.#terminating.clear();
    this.#goneDuringReplay.clear();
  }

  /** An object of the replayed set; undefined for one that is going, which is logically absent (30, 2.4 step 4). */
  member(object: KubeObject): SourceEvent | undefined {
    if (!isNamed(object) || isTerminating(object)) return undefined;
    const ref = refOf(this.#collection.type, object);
    this.#goneDuringReplay.delete(refKey(ref));
    return { kind: 'upsert', ref, object, via: 'snapshot', cursor: cursor(object.metadata.resourceVersion ?? '') };
  }

  /** An event before the end of a replay. A server may be catching up with its store then: changes come among the set. */
  duringReplay(event: WatchEvent): SourceEvent | undefined {
    if (event.type === 'ADDED' || (event.type === 'MODIFIED' && !isTerminating(event.object)))
      return this.member(event.object);
    const gone = this.convert(event);
    // Inside the bracket it could not be told from a member; it is said when the set is complete.
    if (gone.kind === 'delete') this.#goneDuringReplay.set(refKey(gone.ref), gone);
    return undefined;
  }

  /** Removals seen during the replay, each to be accepted at the replay's own version. */
  endReplay(at: Cursor): readonly SourceEvent[] {
    const gone = [...this.#goneDuringReplay.values()].map((event) => ({ ...event, cursor: at }));
    this.#goneDuringReplay.clear();
    return gone;
  }

  /** A live event. */
  convert({ type, object, resourceVersion }: WatchEvent): SourceEvent {
    const at = cursor(resourceVersion);
    if (!isNamed(object)) return { kind: 'progress', cursor: at };
    const ref = refOf(this.#collection.type, object);
    // Some aggregated APIs give no uid; then the name has to do.
    const identity = object.metadata.uid ?? refKey(ref);
    if (type === 'DELETED') {
      if (this.#terminating.delete(identity)) return { kind: 'progress', cursor: at };
      const isFiltered = this.#collection.labelSelector !== undefined && !isTerminating(object);
      return this.#gone(object, isFiltered ? 'filtered' : 'deletion', at);
    }
    if (!isTerminating(object)) return { kind: 'upsert', ref, object, via: 'live', cursor: at };
    if (this.#terminating.has(identity)) return { kind: 'progress', cursor: at };
    this.#terminating.add(identity);
    return this.#gone(object, 'deletion', at);
  }

  #gone(object: KubeObject, removal: Delete['removal'], at: Cursor): Delete {
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
