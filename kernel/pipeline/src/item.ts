import type { Actor, Collection, KubeObject, ObjectRef } from '@gitops-reverser/kernel-api';

/** Who did it, decided once and for all before an item is routed. */
export type Authorship =
  | { readonly outcome: 'not_attempted' }
  | { readonly outcome: 'unresolved' }
  | { readonly outcome: 'resolved'; readonly actor: Actor };

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** What is known of the object at the moment of a change; empty where the source did not say. */
export interface Observation {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
}

/** One live change on its way to a branch. */
export interface WriteItem extends Observation {
  readonly collection: Collection;
  readonly collectionKey: string;
  /** Per stream, gapless, assigned at receipt. */
  readonly sequence: number;
  readonly ref: ObjectRef;
  readonly refKey: string;
  readonly operation: Operation;
  /** Sanitized; absent exactly for DELETE. */
  readonly object?: KubeObject;
  readonly bytes: number;
  readonly author: Authorship;
  readonly receivedAt: Date;
}

export interface SnapshotObject {
  readonly ref: ObjectRef;
  readonly refKey: string;
  readonly object: KubeObject;
}

/** Complete desired state of one collection. */
export interface Snapshot {
  readonly collection: Collection;
  readonly collectionKey: string;
  /** Which start of the stream gathered it. */
  readonly epoch: number;
  /** Sorted by resource identity. */
  readonly objects: readonly SnapshotObject[];
  /** Objects that exist but could not be read: their documents are never swept. */
  readonly unread: readonly { readonly refKey: string; readonly ref: ObjectRef; readonly reason: string }[];
  /** Version of the whole set, for messages; empty when the cursor is not a number. */
  readonly resourceVersion: string;
  readonly bytes: number;
  readonly takenAt: Date;
}

export type SnapshotOutcome =
  /** Written, or found to be there already, and the remote confirmed it. */
  | 'settled'
  /** A newer snapshot of the same scope took its place. */
  | 'superseded'
  /** Nothing was written: the folder is refused, the target is suspended or gone, or planning failed for good. */
  | 'dropped';
