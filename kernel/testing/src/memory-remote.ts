import { ReverserError, type CommitSha, type Retry, type Signature } from '@gitops-reverser/kernel-api';
import { memoryCommit, toText, type MemoryCommit, type MemoryFile, type MemoryTree } from './git-objects.js';
import { toTree, type FileContent, type FileContents } from './memory-folder.js';

/** Files to write; `undefined` removes one. */
export type FileChanges = Readonly<Record<string, FileContent | undefined>>;

export type RemoteOperation = 'observe' | 'publish';

export interface Fault {
  readonly reason: string;
  readonly retry?: Retry;
  readonly message?: string;
}

export interface MemoryRemoteOptions {
  /** Where HEAD points; default `main`. */
  readonly head?: string;
  /** First commit of the head branch; absent: the repository is empty. */
  readonly files?: FileContents;
}

export interface ForeignPush {
  readonly branch?: string;
  readonly message?: string;
  readonly author?: Signature;
  /** Start from another branch's tip instead of this branch's. */
  readonly onto?: string;
  /** Replace the branch by a commit without parent that holds only these files: a forced push. */
  readonly rewrite?: boolean;
}

/** A remote repository in memory, with the hands of somebody else on it. */
export interface MemoryRemote {
  readonly head: string;
  setHead(branch: string): void;
  branches(): readonly string[];
  tip(branch?: string): CommitSha | undefined;
  commitAt(commit: CommitSha): MemoryCommit;
  /** Commits of a branch, newest first. */
  log(branch?: string): readonly MemoryCommit[];
  /** Text of every file on a branch, by path. */
  files(branch?: string): Readonly<Record<string, string>>;
  /** Somebody else's commit on a branch, made from its tip (or nothing). */
  foreignPush(changes: FileChanges, how?: ForeignPush): CommitSha;
  deleteBranch(branch?: string): void;

  /** The next such operation throws before anything happens on the remote. */
  failNext(operation: RemoteOperation, fault: Fault, times?: number): void;
  /** The next publish lands, and its answer is lost. */
  cutNextPublishAfterLanding(): void;
  /** Runs once inside the next publish, after it has begun and before the comparison: the place for a lost race. */
  beforeNextPublish(act: () => void): void;
  /** Such operations wait, signal permitting, until the returned function is called. */
  pause(operation: RemoteOperation): () => void;
  /** Operations begun so far. */
  readonly operations: readonly RemoteOperation[];
}

/** What a store may do with a remote; tests use {@link MemoryRemote} alone. */
export interface RemoteEnd {
  begin(operation: RemoteOperation, signal: AbortSignal): Promise<void>;
  /** Compare-and-swap of one branch; undefined means it must be absent. */
  swap(branch: string, expected: CommitSha | undefined, made: readonly MemoryCommit[]): boolean;
  takeCut(): boolean;
}

const ends = new WeakMap<MemoryRemote, RemoteEnd>();
export function remoteEnd(remote: MemoryRemote): RemoteEnd {
  const end = ends.get(remote);
  if (end === undefined) throw new TypeError('expected a remote made by memoryRemote()');
  return end;
}

const SOMEBODY: Signature = {
  name: 'Somebody Else',
  email: 'somebody@example.test',
  at: new Date('2026-01-01T00:00:00Z'),
};

const RETRY_OF: Readonly<Record<string, Retry>> = { RemoteUnavailable: 'backoff' };

export function faultError(operation: RemoteOperation, { reason, retry, message }: Fault): ReverserError {
  return new ReverserError({
    reason,
    retry: retry ?? RETRY_OF[reason] ?? 'when-changed',
    message: message ?? `memory remote: ${operation} was told to fail with ${reason}`,
    details: { operation },
  });
}

export function memoryRemote(options: MemoryRemoteOptions = {}): MemoryRemote {
  let head = options.head ?? 'main';
  const tipByBranch = new Map<string, CommitSha>();
  const commits = new Map<CommitSha, MemoryCommit>();
  const faults: Record<RemoteOperation, Fault[]> = { observe: [], publish: [] };
  const gates: Record<RemoteOperation, Promise<void> | undefined> = { observe: undefined, publish: undefined };
  const races: (() => void)[] = [];
  const operations: RemoteOperation[] = [];
  let cuts = 0;

  const commitAt = (commit: CommitSha): MemoryCommit => {
    const found = commits.get(commit);
    if (found === undefined) throw new TypeError(`memory remote: no commit ${commit}`);
    return found;
  };
  const treeOf = (branch: string): MemoryTree => {
    const tip = tipByBranch.get(branch);
    return tip === undefined ? new Map() : commitAt(tip).tree;
  };

  const remote: MemoryRemote = {
    get head() {
      return head;
    },
    setHead: (branch) => void (head = branch),
    branches: () => [...tipByBranch.keys()].sort(),
    tip: (branch = head) => tipByBranch.get(branch),
    commitAt,
    log(branch = head) {
      const found: MemoryCommit[] = [];
      for (let at = tipByBranch.get(branch); at !== undefined; at = commitAt(at).parent) found.push(commitAt(at));
      return found;
    },
    files(branch = head) {
      return Object.fromEntries(
        [...treeOf(branch)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, file]) => [path, toText(file.bytes)]),
      );
    },
    foreignPush(changes, how = {}) {
      const branch = how.branch ?? head;
      const start = how.rewrite === true ? undefined : tipByBranch.get(how.onto ?? branch);
      const tree = changedTree(start === undefined ? new Map() : commitAt(start).tree, changes);
      // Each push is a second later, so that equal content never gives an equal commit.
      const at = new Date(SOMEBODY.at.getTime() + (commits.size + 1) * 1_000);
      const author = how.author ?? { ...SOMEBODY, at };
      const made = memoryCommit({
        parent: start,
        tree,
        author,
        committer: { ...author, at },
        message: how.message ?? 'somebody else was here\n',
      });
      commits.set(made.commit, made);
      tipByBranch.set(branch, made.commit);
      return made.commit;
    },
    deleteBranch: (branch = head) => void tipByBranch.delete(branch),

    failNext(operation, fault, times = 1) {
      for (let time = 0; time < times; time += 1) faults[operation].push(fault);
    },
    cutNextPublishAfterLanding: () => void (cuts += 1),
    beforeNextPublish: (act) => void races.push(act),
    pause(operation) {
      let open: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (open = resolve));
      gates[operation] = gate;
      return () => {
        if (gates[operation] === gate) gates[operation] = undefined;
        open();
      };
    },
    operations,
  };

  ends.set(remote, {
    async begin(operation, signal) {
      signal.throwIfAborted();
      operations.push(operation);
      await orAborted(gates[operation] ?? Promise.resolve(), signal);
      if (operation === 'publish') races.shift()?.();
      const fault = faults[operation].shift();
      if (fault !== undefined) throw faultError(operation, fault);
    },
    swap(branch, expected, made) {
      if (tipByBranch.get(branch) !== expected) return false;
      for (const commit of made) commits.set(commit.commit, commit);
      const tip = made.at(-1)?.commit;
      if (tip !== undefined) tipByBranch.set(branch, tip);
      return true;
    },
    takeCut() {
      if (cuts === 0) return false;
      cuts -= 1;
      return true;
    },
  });
  if (options.files !== undefined) remote.foreignPush(options.files, { message: 'first commit\n' });
  return remote;
}

function changedTree(from: MemoryTree, changes: FileChanges): MemoryTree {
  const tree = new Map<string, MemoryFile>(from);
  for (const [path, content] of Object.entries(changes)) {
    if (content === undefined) tree.delete(path);
    else for (const [name, file] of toTree({ [path]: content })) tree.set(name, file);
  }
  return tree;
}

async function orAborted(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
