import {
  ReverserError,
  type Base,
  type BranchStore,
  type CommitDraft,
  type CommitResult,
  type CommitSha,
  type FolderView,
  type PublishOutcome,
} from '@gitops-reverser/kernel-api';
import {
  memoryCommit,
  memoryFile,
  treeId,
  type MemoryCommit,
  type MemoryFile,
  type MemoryTree,
} from './git-objects.js';
import { checkPath, folderOf } from './memory-folder.js';
import { faultError, remoteEnd, type MemoryRemote } from './memory-remote.js';

export interface MemoryBranchStoreOptions {
  readonly branch: string;
  /** Where the branch starts when it is absent; default: the remote's head. */
  readonly parent?: string;
}

export interface MemoryBranchStore extends BranchStore {
  readonly remote: MemoryRemote;
  /** What was asked of it, in order. */
  readonly calls: readonly ('observe' | 'commit' | 'publish' | 'distrust' | 'dispose')[];
}

/** A BranchStore over a {@link MemoryRemote}: real trees, real commit ids, real compare-and-swap, no I/O. */
export function memoryBranchStore(
  remote: MemoryRemote,
  { branch, parent }: MemoryBranchStoreOptions,
): MemoryBranchStore {
  const end = remoteEnd(remote);
  const held = new Map<CommitSha, MemoryCommit>();
  const calls: ('observe' | 'commit' | 'publish' | 'distrust' | 'dispose')[] = [];
  let disposed = false;

  const use = (what: (typeof calls)[number]): void => {
    if (disposed && what !== 'dispose') throw new TypeError(`branch store of ${branch}: ${what} after it was disposed`);
    calls.push(what);
  };
  const heldCommit = (commit: CommitSha): MemoryCommit => {
    const found = held.get(commit);
    if (found === undefined)
      throw new TypeError(`branch store of ${branch}: commit ${commit} was neither fetched nor made here`);
    return found;
  };
  const fetched = (commit: CommitSha): CommitSha => {
    held.set(commit, remote.commitAt(commit));
    return commit;
  };
  /** Commits after `base` up to `head`, oldest first. */
  const since = (base: CommitSha | undefined, head: CommitSha): readonly MemoryCommit[] => {
    const found: MemoryCommit[] = [];
    for (let at: CommitSha | undefined = head; at !== base;) {
      if (at === undefined) throw new TypeError(`branch store of ${branch}: ${head} does not build on ${base}`);
      const commit = heldCommit(at);
      found.unshift(commit);
      at = commit.parent;
    }
    return found;
  };

  return {
    remote,
    calls,
    async observe(signal) {
      use('observe');
      await end.begin('observe', signal);
      const tip = remote.tip(branch);
      if (tip !== undefined) return { kind: 'branch', commit: fetched(tip) };
      return absentBase(remote, branch, parent, fetched);
    },
    folder(commit, path): FolderView {
      return folderOf(commit === undefined ? new Map() : heldCommit(commit).tree, path);
    },
    commit(draft): Promise<CommitResult> {
      return new Promise((resolve) => {
        use('commit');
        const before: MemoryTree = draft.parent === undefined ? new Map() : heldCommit(draft.parent).tree;
        const tree = applyChanges(before, draft.changes);
        if (treeId(tree) === treeId(before) && draft.allowEmpty !== true) return resolve({ kind: 'unchanged' });
        const { parent: onto, author, committer, message } = draft;
        const made = memoryCommit({ parent: onto, tree, author, committer, message });
        held.set(made.commit, made);
        resolve({ kind: 'committed', commit: made.commit });
      });
    },
    async publish(base, headCommit, signal): Promise<PublishOutcome> {
      use('publish');
      const made = since(base.kind === 'root' ? undefined : base.commit, headCommit);
      await end.begin('publish', signal);
      const tip = remote.tip(branch);
      if (tip === headCommit) return { kind: 'already-there', commit: headCommit };
      const moved = whatMoved(base, tip, remote);
      if (moved !== undefined) return { kind: 'moved', what: moved };
      if (made.length === 0) return { kind: 'already-there', commit: headCommit };
      if (!end.swap(branch, tip, made)) return { kind: 'moved', what: 'branch' };
      if (end.takeCut())
        throw faultError('publish', {
          reason: 'RemoteUnavailable',
          message: 'memory remote: the connection was cut before the answer came',
        });
      return { kind: 'published', commit: headCommit };
    },
    distrust: () => use('distrust'),
    [Symbol.asyncDispose]() {
      use('dispose');
      disposed = true;
      held.clear();
      return Promise.resolve();
    },
  };
}

function absentBase(
  remote: MemoryRemote,
  branch: string,
  parent: string | undefined,
  fetched: (commit: CommitSha) => CommitSha,
): Base {
  const refused = (reason: string, message: string): ReverserError =>
    new ReverserError({ reason, retry: 'when-changed', message, details: { branch } });
  if (remote.branches().length === 0) {
    if (parent === branch || (parent === undefined && branch === remote.head)) return { kind: 'root' };
    throw refused(
      'ParentBranchUnborn',
      `branch ${branch} cannot start: the repository is empty and its default branch ${remote.head} has no commit; push one, or choose ${remote.head}`,
    );
  }
  const from = parent ?? remote.head;
  const tip = from === branch ? undefined : remote.tip(from);
  if (tip !== undefined) return { kind: 'parent', branch: from, commit: fetched(tip) };
  if (parent === undefined)
    throw refused(
      'DefaultBranchUnresolved',
      `branch ${branch} cannot start: the default branch ${from} does not exist; name a parent branch`,
    );
  throw refused(
    'ParentBranchNotFound',
    `branch ${branch} cannot start: its parent ${parent} does not exist; create it, or name another`,
  );
}

function whatMoved(
  base: Base,
  tip: CommitSha | undefined,
  remote: MemoryRemote,
): 'branch' | 'parent' | 'deleted' | undefined {
  if (base.kind === 'branch') {
    if (tip === undefined) return 'deleted';
    return tip === base.commit ? undefined : 'branch';
  }
  if (tip !== undefined) return 'branch';
  if (base.kind === 'parent') return remote.tip(base.branch) === base.commit ? undefined : 'parent';
  return remote.branches().length === 0 ? undefined : 'parent';
}

function applyChanges(before: MemoryTree, changes: CommitDraft['changes']): MemoryTree {
  const tree = new Map<string, MemoryFile>(before);
  for (const [path, bytes] of changes) {
    checkPath(path);
    if (bytes === undefined) {
      tree.delete(path);
      continue;
    }
    const mode = tree.get(path)?.mode ?? 'file';
    if (mode !== 'file' && mode !== 'executable') throw new TypeError(`${path} is a ${mode}: only files are written`);
    tree.set(path, memoryFile(bytes, mode));
  }
  for (const path of changes.keys()) {
    if (!tree.has(path)) continue;
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
      if (tree.has(path.slice(0, cut)))
        throw new TypeError(`${path} cannot be written: ${path.slice(0, cut)} is a file`);
    }
    for (const other of tree.keys())
      if (other.startsWith(`${path}/`)) throw new TypeError(`${path} cannot be written: it is a folder`);
  }
  return tree;
}
