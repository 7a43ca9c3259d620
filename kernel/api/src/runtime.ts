import type { BranchStore, Signature } from './branch-store.js';
import type { BranchId, ClusterId, Cursor, CommitSha, TargetId } from './ids.js';
import type { Collection, StreamTrouble } from './model.js';
import type { FolderShape, GeneratedSelection, ServedType, Surface } from './points.js';
import type { Refusal } from './refusal.js';
import type { Provided } from './tokens.js';

export type PruneMode = 'Never' | 'OnEvent' | 'Always';

/** A namespace of the source cluster and who names it. */
export interface SourceNamespace {
  /** `*` is every one. */
  readonly name: string;
  /** Declarations as a message names them: `WatchRule shop/basics`. */
  readonly namedBy: readonly string[];
}

/** How one target is written: the parsed, defaulted form of its declaration. */
export interface TargetSettings {
  /** Folder within the repository, normalised; `.` is the root. */
  readonly path: string;
  readonly window: { readonly idleMs: number; readonly maxMs: number };
  /** Template texts; absent: the built-in wording. */
  readonly messages: { readonly live?: string; readonly request?: string; readonly reconcile?: string };
  readonly placement: {
    readonly byType: Readonly<Record<string, string>>;
    readonly default?: string;
    readonly useKustomize: boolean;
  };
  /** Absent: decided per document. */
  readonly serializeNamespace?: boolean;
  /** Namespaces this target may follow, its own first. Absent: nobody declared any. */
  readonly sourceNamespaces?: readonly SourceNamespace[];
  readonly prune: PruneMode;
  readonly suspend: boolean;
  readonly generated: GeneratedSelection;
  /** A writer that `serves` this encrypts what is sensitive; absent: sensitive writes are refused. */
  readonly encryption?: { readonly provider: string };
}

export interface ClusterSpec {
  readonly id: ClusterId;
  /** Value a loaded source serves. */
  readonly dialect: string;
  /** The connection and whatever else the source needs. */
  readonly given: readonly Provided<'cluster'>[];
}

export interface BranchSpec {
  readonly id: BranchId;
  readonly store: BranchStore;
  readonly settings: BranchSettings;
  /** Metric and log labels. */
  readonly provider: { readonly namespace: string; readonly name: string };
  readonly branch: string;
}
export interface BranchSettings {
  readonly committer: { readonly name: string; readonly email: string };
}

export interface TargetSpec {
  readonly id: TargetId;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly cluster: ClusterId;
  readonly branch: BranchId;
  readonly settings: TargetSettings;
}

/** Announces that `status()` may differ; carries nothing. */
export type Listener = () => void;

export interface ClusterStatus {
  /** Absent until the source said something. */
  readonly surface?: Surface;
}
export interface ClusterHandle {
  status(): ClusterStatus;
  onChange(listener: Listener): Disposable;
  /** Stops every stream of this cluster, then its source. Files stay. */
  close(): Promise<void>;
}

export type BranchState = 'Idle' | 'Collecting' | 'Retaining' | 'Publishing' | 'Recovering' | 'Draining';
export interface Verdict {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
export interface RemoteStatus {
  /** Absent: the branch is not there. */
  readonly commit?: CommitSha;
  readonly lastVerifiedAt: Date;
  readonly verifiedBy: 'Push' | 'Fetch';
  readonly parent?: { readonly branch: string; readonly state: 'Present' | 'Missing' | 'Unborn' };
}
export interface BranchStatus {
  readonly state: BranchState;
  /** Absent until the branch was looked at once. */
  readonly remote?: RemoteStatus;
  /** Reasons of `ParentBranchResolved`, `Writable`, `Publishing` (chapter 10, 3.3). */
  readonly parentResolved: Verdict;
  readonly writable: Verdict;
  readonly publishing: Verdict;
  /** What the last look at the repository met, as a reason of `RemoteReachable` (chapter 10, 2.3). */
  readonly reachable: Verdict;
  readonly retained?: { readonly writeCount: number; readonly sizeBytes: number; readonly oldestAt: Date };
}
export interface BranchHandle {
  status(): BranchStatus;
  onChange(listener: Listener): Disposable;
  /** Takes effect with the next commit made. */
  configure(settings: BranchSettings): void;
  /** The address, credential or parent changed: forget what was cached and make pending retries due now. */
  distrust(): void;
  /** Asks for one look at the remote; coalesced. */
  observe(): void;
  /** Publishes what is retained within `budgetMs`, then stops. */
  close(budgetMs: number): Promise<void>;
}

export interface StreamStatus {
  readonly collection: Collection;
  readonly state: 'Replaying' | 'Streaming' | 'Blocked';
  readonly trouble?: { readonly reason: StreamTrouble; readonly message: string; readonly since: Date };
  readonly cursor?: Cursor;
}
/** A "no" that holds until something clears it. */
export interface StandingRefusal extends Refusal {
  /** The same one found again keeps its time; one that went and came back has a new one. */
  readonly since: Date;
  /** Who wrote what was refused, if that is known. */
  readonly author?: string;
}
/** Plain text of a sensitive object that Git holds, or held until just now. */
export interface PlaintextFinding extends StandingRefusal {
  /** The document is encrypted from now on; its older versions are not. */
  readonly isReplaced: boolean;
}
export interface TargetStatus {
  readonly streams: readonly StreamStatus[];
  /** The folder as last judged. */
  readonly folder: {
    readonly state: 'NotScanned' | 'Accepted' | 'Refused';
    readonly refusals: readonly Refusal[];
    /** What kind of folder it is, and since which commit; absent while no layout knows it. */
    readonly resolved?: { readonly shape: FolderShape; readonly commit?: CommitSha; readonly at: Date };
  };
  /** Standing object-level refusals; cleared by the next accepted snapshot of their collection. */
  readonly refused: readonly StandingRefusal[];
  /** Documents left as they are; cleared also by a write of the object that is not skipped. They block nothing. */
  readonly skipped: readonly StandingRefusal[];
  /** The last time a message template failed on real changes and the built-in wording stood in; at most one in ten minutes. */
  readonly wording?: { readonly problem: string; readonly since: Date };
  /** They block nothing either. */
  readonly plaintext: readonly PlaintextFinding[];
  /** Absent: nothing measured yet, or suspended. */
  readonly retention?: { readonly mode: PruneMode; readonly retainedDocuments: number; readonly observedAt: Date };
  /** Absent until something of this target was published or found published. */
  readonly lastCommit?: CommitSha;
  /** The last token given to `resync` whose every scope has settled. */
  readonly resyncedToken?: string;
}
export interface TargetHandle {
  status(): TargetStatus;
  onChange(listener: Listener): Disposable;
  configure(settings: TargetSettings): void;
  /** The whole plan of this target: streams are started, kept and stopped to match. Stopping never touches files. */
  follow(collections: readonly Collection[]): void;
  /** A fresh snapshot of every scope; `token` comes back in the status once all have settled. */
  resync(token: string): void;
  /** Streams stop, the open window is dropped; commits already made are still pushed. */
  close(): Promise<void>;
}

/** All that whoever reads declarations knows of the kernel. Opening is cheap: it dials nothing by itself. */
export interface Runtime {
  /** @throws ReverserError PluginUnavailable when no loaded source serves the dialect */
  openCluster(spec: ClusterSpec): Promise<ClusterHandle>;
  openBranch(spec: BranchSpec): Promise<BranchHandle>;
  /** @throws ReverserError PluginUnavailable when no loaded writer serves the encryption provider */
  openTarget(spec: TargetSpec): Promise<TargetHandle>;
}

export type { ServedType, Signature };
