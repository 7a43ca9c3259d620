import type { FolderView } from './folder.js';
import type { ClusterId, CommitSha, Cursor } from './ids.js';
import type { Collection, KubeObject, ObjectRef, ResourceType, SourceEvent } from './model.js';
import type { Refusal } from './refusal.js';
import type { Result } from './result.js';

/** One type of a cluster and whether it may be followed. */
export interface ServedType {
  readonly type: ResourceType;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** The version the server prefers for this group and resource. */
  readonly preferred: boolean;
  /** `retained`: discovery blinked; treated as live. */
  readonly verdict: 'followable' | 'retained' | 'refused';
  /** The one reason it cannot be followed. `silent`: a wildcard skips it without a word. */
  readonly refusal?: { readonly reason: string; readonly message: string; readonly silent: boolean };
}

/** What one source cluster serves, as last judged. */
export interface Surface {
  /** Rises only when something below changed. */
  readonly generation: number;
  readonly reach: {
    readonly state: 'unknown' | 'reachable' | 'unreachable';
    readonly reason: string;
    readonly message: string;
  };
  readonly serverVersion?: string;
  readonly types: readonly ServedType[];
}

/** What exists and what changed, for one source cluster. */
export interface Source {
  /** Yields at once what is known, and again whenever that changes. Never throws for a cluster that is away. */
  surface(signal: AbortSignal): AsyncIterable<Surface>;
  /**
   * One stream, in the order received. Reconnects by itself; throws only what reconnecting cannot cure. Asking for the next
   * event accepts the one before. Without `from` it starts with a snapshot; with one it resumes, or falls back to a snapshot.
   */
  follow(collection: Collection, from: Cursor | undefined, signal: AbortSignal): AsyncIterable<SourceEvent>;
}

export interface Actor {
  readonly username: string;
  readonly displayName?: string;
  readonly email?: string;
}

export interface ObservedChange {
  readonly cluster: ClusterId;
  readonly ref: ObjectRef;
  readonly uid?: string;
  readonly removal: boolean;
  readonly resourceVersion: string;
}

export type Attribution =
  | { readonly kind: 'actor'; readonly actor: Actor; readonly evidence: string }
  | { readonly kind: 'unresolved'; readonly reason: string };

/** Who did it. */
export interface Attributor {
  /** Answers by `deadline`: "unresolved" is an answer, silence is a bug. */
  attribute(change: ObservedChange, deadline: Date, signal: AbortSignal): Promise<Attribution>;
}

/** Filter ids a target switches: `include` mirrors what is dropped by default (`*`: all), `exclude` drops what is kept by default. */
export interface GeneratedSelection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export type Sanitized =
  { readonly kind: 'keep'; readonly object: KubeObject } | { readonly kind: 'drop'; readonly reason: string };

/** What of it is intent. Pure and idempotent; never mutates its argument. */
export interface Sanitizer {
  sanitize(object: KubeObject, type: ResourceType, selection: GeneratedSelection): Sanitized;
}

export type DesiredChange =
  | { readonly kind: 'upsert'; readonly ref: ObjectRef; readonly object: KubeObject; readonly sensitive: boolean }
  | { readonly kind: 'delete'; readonly ref: ObjectRef };

/** How the place of a new document was found (chapter 20, 7.1 and 7.5). */
export interface StepPlacement {
  readonly source: 'by_type' | 'default' | 'kustomize_root' | 'sibling' | 'canonical';
  readonly disposition: 'new_file' | 'appended';
  /** Which kind of evidence an inference followed, how many documents it rests on, and what kept it from being obeyed. */
  readonly step?: string;
  readonly evidenceCount?: number;
  readonly guard?: string;
}

export type PlanStep =
  | {
      readonly kind: 'put-document';
      readonly path: string;
      readonly ref: ObjectRef;
      readonly object: KubeObject;
      readonly sensitive: boolean;
      /** Why a new document goes there; absent for one that is edited where it lies. */
      readonly placement?: StepPlacement;
      /** The object is sensitive and Git holds a plain document of it: its value stays in the history whatever is written. */
      readonly replacesPlaintext?: true;
    }
  | { readonly kind: 'drop-document'; readonly path: string; readonly ref: ObjectRef }
  /**
   * `pointer` is in the file's own terms: an `.env` key, empty for the whole file, or in YAML a JSON pointer, before it
   * `Kind.group/namespace/name#` where the file holds several documents. What is not there is a skip.
   */
  | { readonly kind: 'set-value'; readonly path: string; readonly pointer: string; readonly value: unknown };

/** What kind of folder it is, as a status shows it. */
export interface FolderShape {
  /** PascalCase: `Plain`. */
  readonly mode: string;
  /** Folder that is rendered, within the target's. */
  readonly renderRoot?: string;
  /** Folders that are read and never written. */
  readonly readOnlyBases?: readonly string[];
}

export type Recognition =
  | { readonly kind: 'mine'; readonly shape?: FolderShape }
  /** `why`: what another layout would have to know, as half a sentence about one file. */
  | { readonly kind: 'not-mine'; readonly why?: string }
  /** `shape`: it is this layout's folder all the same. */
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[]; readonly shape?: FolderShape };

/** One document a layout manages. `group` is derived from its apiVersion. */
export interface ManagedDocument {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly path: string;
}

/** A file that a folder should have beside its documents, such as a README. `path` is relative to the folder. */
export interface BootstrapFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Where it belongs. Pure over the folder it is shown; never plans outside that folder. */
export interface Layout {
  /** A folder view that cannot be read throws; retry `when-changed` then means that the folder is refused until Git changes. */
  recognise(folder: FolderView): Recognition;
  /** Documents the folder holds, whoever wrote them. */
  documents(folder: FolderView): readonly ManagedDocument[];
  /**
   * Plans a batch on one folder; answers are in the order of `changes` and do not depend on it. An object the folder already
   * means gives an empty plan.
   */
  plan(changes: readonly DesiredChange[], folder: FolderView): readonly Result<readonly PlanStep[], Refusal>[];
  /**
   * Files the folder should have. Those that are missing join a commit that changes something of it; none ever makes a commit
   * of its own, and none replaces what is there.
   */
  bootstrap?(folder: FolderView): readonly BootstrapFile[];
}

/** Which bytes. Rendering an unchanged step over its own output returns that output byte for byte. */
export interface Writer {
  readonly encrypts: boolean;
  accepts(step: PlanStep): boolean;
  render(
    step: PlanStep,
    before: Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<Result<Uint8Array | 'delete-file', Refusal>>;
  /** As a layout's; where both name one path, the layout's is taken. */
  bootstrap?(folder: FolderView): readonly BootstrapFile[];
}

export type ApplyReason = 'ForeignCommit' | 'Converge' | 'Replay' | 'RefusedEdit' | 'Requested';

export interface ApplyRequest {
  readonly applyId: string;
  readonly commit: CommitSha;
  readonly reason: ApplyReason;
  readonly deadline: Date;
}

export interface HoldOwner {
  readonly uid: string;
  readonly name: string;
}
/** How the applier stood before it was held; given back verbatim on release. Opaque to everyone but the applier. */
export type HoldOriginal = string;
export type HoldResult =
  | { readonly kind: 'held'; readonly original: HoldOriginal }
  | { readonly kind: 'contested'; readonly by: string; readonly message: string };
export type ReleasePolicy = 'Restore' | 'Resume' | 'KeepHeld';
export type ReleaseResult = { readonly kind: 'released' } | { readonly kind: 'not-ours'; readonly message: string };
export type ApplyOutcome =
  | { readonly kind: 'applied'; readonly commit: CommitSha }
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string };

/** Told around the time in which the applier writes into the source cluster. */
export interface WindowHooks {
  opened(): Promise<void>;
  closed(): Promise<void>;
}

/** The forward leg of one claim. Delivers what the branch decided; decides nothing itself. */
export interface Applier {
  observe(
    signal: AbortSignal,
  ): AsyncIterable<{ readonly applied?: CommitSha; readonly busy: boolean; readonly held: boolean }>;
  /** Takes the hold. Nothing but `release` gives it back: stopping the operator keeps it. */
  hold(owner: HoldOwner, signal: AbortSignal): Promise<HoldResult>;
  apply(request: ApplyRequest, window: WindowHooks, signal: AbortSignal): Promise<ApplyOutcome>;
  release(policy: ReleasePolicy, original: HoldOriginal, signal: AbortSignal): Promise<ReleaseResult>;
}

/** The one table that ties a point to its type and its scope. */
export interface Points {
  source: { instance: Source; scope: 'cluster' };
  attributor: { instance: Attributor; scope: 'cluster' };
  sanitizer: { instance: Sanitizer; scope: 'cluster' };
  layout: { instance: Layout; scope: 'target' };
  writer: { instance: Writer; scope: 'target' };
  applier: { instance: Applier; scope: 'branch' };
}
export type PointName = keyof Points;
export const POINT_SCOPES = {
  source: 'cluster',
  attributor: 'cluster',
  sanitizer: 'cluster',
  layout: 'target',
  writer: 'target',
  applier: 'branch',
} as const satisfies { readonly [P in PointName]: Points[P]['scope'] };
