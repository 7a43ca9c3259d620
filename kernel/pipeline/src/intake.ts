import {
  refKey,
  type Collection,
  type Cursor,
  type GeneratedSelection,
  type KubeObject,
  type ObjectRef,
  type Sanitizer,
  type SourceEvent,
} from '@gitops-reverser/kernel-api';
import { Baseline, type Undo } from './baseline.js';
import { fingerprint } from './canonical.js';
import type { Observation, Operation, Snapshot, SnapshotObject } from './item.js';
import { sanitize } from './sanitize.js';

export interface IntakeSettings {
  readonly sanitizers: readonly Sanitizer[];
  readonly selection: () => GeneratedSelection;
}

/** What one live event asks for. */
export type Heard =
  | {
      readonly kind: 'change';
      readonly operation: Operation;
      readonly ref: ObjectRef;
      readonly refKey: string;
      readonly object?: KubeObject;
      readonly bytes: number;
      readonly observed: Observation;
      readonly undo: Undo;
    }
  /** Nothing of it is intent, or nothing of it is new. */
  | { readonly kind: 'noise'; readonly outcome: 'unchanged' | 'excluded'; readonly filter?: string }
  | { readonly kind: 'unreadable'; readonly ref: ObjectRef; readonly refKey: string; readonly reason: string };

/** 96: about what a delete or an entry costs beside its object. */
const ENTRY_BYTES = 96;

/** Turns the events of one stream into changes and snapshots: sanitizes on receipt and drops what says nothing new. */
export class Intake {
  readonly #collection: Collection;
  readonly #settings: IntakeSettings;
  readonly #baseline = new Baseline();
  #gather: Gathering | undefined;

  constructor(collection: Collection, settings: IntakeSettings) {
    this.#collection = collection;
    this.#settings = settings;
  }

  get isGathering(): boolean {
    return this.#gather !== undefined;
  }

  /** Everything gathered by an unfinished earlier replay is void. */
  begin(): void {
    this.#gather = new Gathering();
  }

  /** The replay died: a partial snapshot is never submitted. */
  abandon(): void {
    this.#gather = undefined;
  }

  /** One member of a replay; what was filtered, if it was. */
  gather(event: SourceEvent & { readonly kind: 'upsert' }): { readonly filter: string } | undefined {
    const gathering = this.#gather;
    if (gathering === undefined || isTerminating(event.object)) return undefined;
    const { sanitizers, selection } = this.#settings;
    const key = refKey(event.ref);
    const cleaned = sanitize(sanitizers, event.object, this.#collection.type, selection());
    if (cleaned.kind === 'drop') {
      gathering.without(key);
      return { filter: cleaned.reason };
    }
    if (cleaned.kind === 'failed') gathering.unreadable(key, event.ref, cleaned.reason);
    else gathering.add(key, event.ref, cleaned.object, event.object.metadata.uid ?? '');
    return undefined;
  }

  /** An object that went while the replay was gathered. */
  ungather(event: SourceEvent & { readonly kind: 'delete' }): void {
    this.#gather?.without(refKey(event.ref));
  }

  /** The replay is complete: absence means deletion from here on. */
  complete(
    cursor: Cursor,
    epoch: number,
    collectionKey: string,
    takenAt: Date,
  ): { readonly snapshot: Snapshot; readonly undo: Undo } | undefined {
    const gathering = this.#gather;
    if (gathering === undefined) return undefined;
    this.#gather = undefined;
    const { objects, bytes } = gathering.sorted();
    const snapshot: Snapshot = {
      collection: this.#collection,
      collectionKey,
      epoch,
      objects,
      unread: gathering.unread(),
      resourceVersion: /^[0-9]+$/.test(cursor) ? cursor : '',
      bytes,
      takenAt,
    };
    return { snapshot, undo: this.#baseline.replace(gathering.known()) };
  }

  upsert(event: SourceEvent & { readonly kind: 'upsert' }): Heard {
    const { ref, object } = event;
    if (isTerminating(object)) return this.#removal(ref, object, object.metadata.uid);
    const key = refKey(ref);
    const { sanitizers, selection } = this.#settings;
    const cleaned = sanitize(sanitizers, object, this.#collection.type, selection());
    if (cleaned.kind === 'drop') return { kind: 'noise', outcome: 'excluded', filter: cleaned.reason };
    if (cleaned.kind === 'failed') return { kind: 'unreadable', ref, refKey: key, reason: cleaned.reason };
    const known = this.#baseline.get(key);
    const uid = object.metadata.uid ?? '';
    const { hash, bytes } = fingerprint(cleaned.object);
    if (known?.uid === uid && known.hash === hash) return { kind: 'noise', outcome: 'unchanged' };
    return {
      kind: 'change',
      operation: known === undefined ? 'CREATE' : 'UPDATE',
      ref,
      refKey: key,
      object: cleaned.object,
      bytes: bytes + ENTRY_BYTES,
      observed: observationOf(object),
      undo: this.#baseline.set(key, { uid, hash }),
    };
  }

  delete(event: SourceEvent & { readonly kind: 'delete' }): Heard {
    return this.#removal(event.ref, event.object, event.uid ?? event.object?.metadata.uid);
  }

  #removal(ref: ObjectRef, object: KubeObject | undefined, uid: string | undefined): Heard {
    const key = refKey(ref);
    const known = this.#baseline.get(key);
    // A newer object of that name was said already: the old one's end says nothing about it.
    if (known !== undefined && uid !== undefined && uid !== '' && known.uid !== '' && known.uid !== uid)
      return { kind: 'noise', outcome: 'unchanged' };
    if (known === undefined && object !== undefined) {
      const { sanitizers, selection } = this.#settings;
      const cleaned = sanitize(sanitizers, withoutEnd(object), this.#collection.type, selection());
      if (cleaned.kind === 'drop') return { kind: 'noise', outcome: 'excluded', filter: cleaned.reason };
    }
    const observed =
      object === undefined ? { uid: uid ?? '', resourceVersion: '', generation: 0 } : observationOf(object);
    return {
      kind: 'change',
      operation: 'DELETE',
      ref,
      refKey: key,
      bytes: ENTRY_BYTES,
      observed,
      undo: this.#baseline.delete(key),
    };
  }
}

/** Members of one replay. */
class Gathering {
  readonly #objects = new Map<
    string,
    SnapshotObject & { readonly uid: string; readonly hash: string; readonly bytes: number }
  >();
  readonly #unread = new Map<string, { readonly refKey: string; readonly ref: ObjectRef; readonly reason: string }>();

  add(key: string, ref: ObjectRef, object: KubeObject, uid: string): void {
    const { hash, bytes } = fingerprint(object);
    this.#unread.delete(key);
    this.#objects.set(key, { refKey: key, ref, object, uid, hash, bytes });
  }
  unreadable(key: string, ref: ObjectRef, reason: string): void {
    this.#objects.delete(key);
    this.#unread.set(key, { refKey: key, ref, reason });
  }
  without(key: string): void {
    this.#objects.delete(key);
    this.#unread.delete(key);
  }
  unread(): Snapshot['unread'] {
    return [...this.#unread.values()];
  }
  sorted(): { readonly objects: readonly SnapshotObject[]; readonly bytes: number } {
    let bytes = 0;
    for (const member of this.#objects.values()) bytes += member.bytes + ENTRY_BYTES;
    return { objects: [...this.#objects.values()].sort((a, b) => (a.refKey < b.refKey ? -1 : 1)), bytes };
  }
  known(): Map<string, { uid: string; hash: string }> {
    return new Map([...this.#objects].map(([key, { uid, hash }]) => [key, { uid, hash }]));
  }
}

const isTerminating = (object: KubeObject): boolean => object.metadata['deletionTimestamp'] !== undefined;

function withoutEnd(object: KubeObject): KubeObject {
  if (!isTerminating(object)) return object;
  const { deletionTimestamp: _end, deletionGracePeriodSeconds: _grace, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KubeObject['metadata'] };
}

function observationOf({ metadata }: KubeObject): Observation {
  const generation = metadata['generation'];
  return {
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: typeof generation === 'number' ? generation : 0,
  };
}
