import type {
  CommitSha,
  ObjectRef,
  PruneMode,
  Refusal,
  StepPlacement,
  TargetId,
  TargetSettings,
} from '@gitops-reverser/kernel-api';
import type { AuthorKind } from './author.js';
import type { Authorship, Snapshot, SnapshotOutcome } from './item.js';
import type { Lane } from './lane.js';
import type { MessageSource } from './message.js';
import type { WindowEntry } from './window.js';

export type DocumentOutcome = 'written' | 'deleted_live' | 'deleted_sweep' | 'unchanged' | 'retained';
/** What one object came to; a refused or skipped one came to nothing. */
export interface DocumentCount {
  readonly ref: ObjectRef;
  readonly outcome: DocumentOutcome;
}

/** What planning one write came to. Void as soon as its base is. */
export interface PlannedCommit {
  /** Absent: the content is there already; only the remote can settle that. */
  readonly commit: CommitSha | undefined;
  readonly authorKind: AuthorKind;
  readonly messageSource: MessageSource;
  readonly documents: readonly DocumentCount[];
  /** New documents of the commit. */
  readonly placements: readonly { readonly ref: ObjectRef; readonly path: string; readonly placement: StepPlacement }[];
  /** Documents it left as they are. */
  readonly skipped: readonly Refusal[];
}

export interface PendingFacts {
  /** In arrival order, rising. */
  readonly id: number;
  readonly target: TargetId;
  /** Lives as long as this write, whatever becomes of the target. */
  readonly lane: Lane;
  readonly author: Authorship;
  /** Author date; kept across replays. */
  readonly authoredAt: Date;
  readonly bytes: number;
  /** Captured at close; at replay the stricter of this and the current one wins. */
  readonly prune: PruneMode;
  readonly messages: TargetSettings['messages'];
  plan: PlannedCommit | undefined;
  /** It was a commit, or proven to be there, at least once: suspending its target does not take it back. */
  wasPlanned: boolean;
  failures: number;
  /** Not before this moment; set while an unexpected error is waited out. */
  retryAtMs: number;
}

/** What is captured of a target when one of its windows closes or a snapshot of it arrives. */
export const pendingFacts = (
  lane: Lane,
  id: number,
  facts: Pick<PendingFacts, 'author' | 'authoredAt' | 'bytes'>,
): PendingFacts => ({
  ...facts,
  id,
  target: lane.facts.id,
  lane,
  prune: lane.settings.prune,
  messages: lane.settings.messages,
  plan: undefined,
  wasPlanned: false,
  failures: 0,
  retryAtMs: 0,
});

/** One finalized, retained unit: at most one commit, kept until the remote confirms it. */
export type PendingWrite = PendingFacts &
  (
    | { readonly kind: 'window'; readonly entries: readonly WindowEntry[] }
    | { readonly kind: 'snapshot'; readonly snapshot: Snapshot; readonly settle: (outcome: SnapshotOutcome) => void }
  );

export const collectionKeysOf = (write: PendingWrite): readonly string[] =>
  write.kind === 'snapshot'
    ? [write.snapshot.collectionKey]
    : [...new Set(write.entries.map(({ collectionKey }) => collectionKey))];

/** Arrival of each change it holds, for the time from acceptance to the remote. */
export const arrivalsOf = (write: PendingWrite): readonly Date[] =>
  write.kind === 'snapshot' ? [write.snapshot.takenAt] : write.entries.map(({ arrivedAt }) => arrivedAt);
