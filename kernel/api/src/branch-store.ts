import type { FolderView } from './folder.js';
import type { CommitSha } from './ids.js';

/** What commits are planned on. */
export type Base =
  | { readonly kind: 'branch'; readonly commit: CommitSha }
  /** The branch is proven absent; the first commit starts on the parent's tip and creates it. */
  | { readonly kind: 'parent'; readonly branch: string; readonly commit: CommitSha }
  /** The repository is empty, or an unrelated root was asked for: the first commit has no parent. */
  | { readonly kind: 'root' };

export interface Signature {
  readonly name: string;
  readonly email: string;
  /** Whole seconds; written with zone +0000. */
  readonly at: Date;
}

export interface CommitDraft {
  readonly parent: CommitSha | undefined;
  /** By path within the repository; `undefined` removes the file. */
  readonly changes: ReadonlyMap<string, Uint8Array | undefined>;
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
  /** Make a commit even when no byte changes. */
  readonly allowEmpty?: boolean;
}

export type CommitResult = { readonly kind: 'committed'; readonly commit: CommitSha } | { readonly kind: 'unchanged' };

export type PublishOutcome =
  | { readonly kind: 'published'; readonly commit: CommitSha }
  /** The remote already is at `head`: an earlier push landed without an answer. */
  | { readonly kind: 'already-there'; readonly commit: CommitSha }
  /** Somebody else moved the branch, created or deleted it, or its parent moved before the first push. */
  | { readonly kind: 'moved'; readonly what: 'branch' | 'parent' | 'deleted' };

/** Everything a branch needs of one remote repository. One owner; never forced; no working tree. */
export interface BranchStore extends AsyncDisposable {
  /**
   * Proves where the branch is: one advertisement, and a fetch only when it moved. Opens no connection before its first call.
   * @throws ReverserError RemoteUnavailable (backoff), AuthenticationFailed, AccessDenied, RepositoryNotFound, HostKeyUntrusted,
   * TLSVerificationFailed, UnsupportedObjectFormat, ParentBranchNotFound, ParentBranchUnborn, DefaultBranchUnresolved
   */
  observe(signal: AbortSignal): Promise<Base>;
  /** The folder at a commit this store fetched or made; an empty view where there is none. Synchronous. */
  folder(commit: CommitSha | undefined, path: string): FolderView;
  /** Makes objects; nothing reaches the remote. */
  commit(draft: CommitDraft): Promise<CommitResult>;
  /**
   * Moves the branch from `base` to `head` by compare-and-swap with exactly the objects made since.
   * @throws ReverserError as `observe`, and PushForbidden, ProtectedBranch, PushRejected, RemoteRejectedPack. After any error the
   * push may still have landed: observe, and look whether the tip is a head that was sent.
   */
  publish(base: Base, head: CommitSha, signal: AbortSignal): Promise<PublishOutcome>;
  /** Forgets every cached fact about the remote: its address, parent or credential changed. */
  distrust(): void;
}
