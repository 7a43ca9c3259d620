import {
  commitSha,
  hasReason,
  type Base,
  type BranchStore,
  type Clock,
  type CommitDraft,
  type CommitResult,
  type CommitSha,
  type FolderView,
  type PublishOutcome,
} from '@gitops-reverser/kernel-api';
import { gitError } from '../errors.js';
import { encodeCommit } from '../objects/commit-object.js';
import { MalformedData } from '../objects/delta.js';
import { EMPTY_TREE_OID, type Oid } from '../objects/oid.js';
import { buildPack } from '../objects/pack-writer.js';
import { editTree } from '../objects/tree-edit.js';
import type { PackFile } from '../objects/pack-file.js';
import type { RemoteRefs } from '../protocol/advertisement.js';
import { pushCapabilities } from '../protocol/push-request.js';
import { NotOurRef, type RemoteRepository } from '../protocol/remote-repository.js';
import type { Transport } from '../transport/transport.js';
import { refOf, situationOf, type Situation } from './branch-situation.js';
import { CommitLedger, type MadeCommit } from './commit-ledger.js';
import { emptyFolder, Folders } from './folder-view.js';
import type { ObjectKeeper } from './object-keeper.js';
import { Publication } from './publication.js';

export interface GitBranchStoreParts {
  readonly transport: Transport;
  readonly remote: RemoteRepository;
  readonly branch: string;
  parentBranch(): string | undefined;
  readonly clock: Clock;
  /** Opens the cache; called once, before the first use. */
  openKeeper(): Promise<ObjectKeeper>;
}

/** A load balancer may answer from a replica that has not seen our push yet (chapter 40, 4.11). */
const LAG_RETRY_MS = 1_000;
/** Refs read while a push was refused are as good as refs read by `observe` right after it. */
const FRESH_MS = 1_000;

export class GitBranchStore implements BranchStore {
  readonly #parts: GitBranchStoreParts;
  readonly #ledger = new CommitLedger();
  #keeper: ObjectKeeper | undefined;
  #folders: Folders | undefined;
  /** Where the branch was last proven to be; cleared by doubt. */
  #trusted: Oid | undefined;
  #capabilities: readonly string[] | undefined;
  #lastPush: { readonly old: Oid | undefined } | undefined;
  #fresh: { readonly refs: RemoteRefs; readonly atMs: number } | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(parts: GitBranchStoreParts) {
    this.#parts = parts;
  }

  observe(signal: AbortSignal): Promise<Base> {
    return this.#inTurn(signal, async (linked) => {
      await this.#open();
      await this.#parts.transport.begin(linked);
      const fresh = this.#takeFresh();
      try {
        return await this.#baseOf(fresh ?? (await this.#readRefs(linked)), linked);
      } catch (error) {
        if (!(error instanceof NotOurRef)) throw error;
        // Rewritten between the list and the fetch: the list is read anew, once (chapter 40, 4.9).
        return await this.#baseOf(await this.#readRefs(linked), linked).catch((again: unknown) => {
          throw again instanceof NotOurRef
            ? gitError(
                'RemoteUnavailable',
                `${this.#parts.remote.displayUrl}: the branch changes faster than it can be fetched (${again.message}); it is tried again`,
              )
            : again;
        });
      }
    });
  }

  folder(commit: CommitSha | undefined, path: string): FolderView {
    if (commit === undefined) return emptyFolder(path);
    return this.#need().folders.open(this.#describe(commit).tree, path);
  }

  async commit(draft: CommitDraft): Promise<CommitResult> {
    const { keeper } = await this.#open();
    const parent = draft.parent === undefined ? undefined : this.#describe(draft.parent);
    const before = parent?.tree ?? EMPTY_TREE_OID;
    const { tree, made } = await editTree(keeper.trees, keeper.objects, before, draft.changes);
    if (tree === before && draft.allowEmpty !== true) {
      keeper.objects.release(made);
      return { kind: 'unchanged' };
    }
    const committedAtSeconds = Math.max(
      Math.floor(draft.committer.at.getTime() / 1000),
      parent?.committedAtSeconds ?? 0,
    );
    const committer = { ...draft.committer, at: new Date(committedAtSeconds * 1000) };
    let commit: Oid;
    try {
      commit = keeper.objects.make(
        'commit',
        encodeCommit({ tree, parent: draft.parent, author: draft.author, committer, message: draft.message }),
      );
    } catch (error) {
      keeper.objects.release(made);
      throw error;
    }
    this.#forget(
      this.#ledger.replace({ commit, parent: draft.parent, tree, committedAtSeconds, objects: [...made, commit] }),
    );
    return { kind: 'committed', commit: commitSha(commit) };
  }

  publish(base: Base, head: CommitSha, signal: AbortSignal): Promise<PublishOutcome> {
    return this.#inTurn(signal, async (linked) => {
      const { keeper } = await this.#open();
      const chain = this.#ledger.chain(base.kind === 'root' ? undefined : base.commit, head);
      if (chain === undefined)
        throw new TypeError(
          `branch ${this.#parts.branch}: commit ${head} does not build on the base it is published from`,
        );
      await this.#parts.transport.begin(linked);
      const publication = new Publication({
        remote: this.#parts.remote,
        keeper,
        branch: this.#parts.branch,
        base,
        head,
        chain,
        knownCapabilities: base.kind === 'branch' && this.#trusted === base.commit ? this.#capabilities : undefined,
        readRefs: (again) => this.#readRefs(again),
        readPushRefs: (refs, again) => this.#readPushRefs(refs, again),
        sent: (sent, old) => {
          this.#trusted = undefined;
          this.#ledger.unanswered(sent, old);
        },
        landed: (commits, pack, old) => {
          this.#landed(commits, pack);
          this.#lastPush = { old };
        },
        sawRefs: (refs) => (this.#fresh = { refs, atMs: this.#parts.clock.now().getTime() }),
      });
      this.#fresh = undefined;
      const outcome = await publication.run(linked);
      if (outcome.kind === 'moved') this.#trusted = undefined;
      return outcome;
    });
  }

  distrust(): void {
    this.#trusted = undefined;
    this.#capabilities = undefined;
    this.#fresh = undefined;
    this.#lastPush = undefined;
    void this.#inTurn(this.#closing.signal, () => this.#parts.remote.forget()).catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#queue.catch(() => undefined);
    await this.#parts.transport[Symbol.asyncDispose]();
    await this.#keeper?.close();
    this.#keeper = undefined;
  }

  /** One thing at a time: a look and a push of one branch never interleave. */
  #inTurn<T>(signal: AbortSignal, act: (linked: AbortSignal) => Promise<T>): Promise<T> {
    const turn = this.#queue.then(async () => {
      const linked = new AbortController();
      const stop = (reason: unknown) => (): void => linked.abort(reason);
      const onAbort = (): void => stop(signal.reason)();
      const onClose = (): void => stop(this.#closing.signal.reason)();
      if (signal.aborted) throw signal.reason;
      if (this.#closing.signal.aborted) throw this.#closing.signal.reason;
      signal.addEventListener('abort', onAbort, { once: true });
      this.#closing.signal.addEventListener('abort', onClose, { once: true });
      try {
        return await act(linked.signal);
      } finally {
        signal.removeEventListener('abort', onAbort);
        this.#closing.signal.removeEventListener('abort', onClose);
      }
    });
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #open(): Promise<{ readonly keeper: ObjectKeeper; readonly folders: Folders }> {
    if (this.#keeper === undefined) {
      this.#keeper = await this.#parts.openKeeper();
      this.#folders = new Folders(this.#keeper.objects, this.#keeper.trees);
    }
    return this.#need();
  }

  #need(): { readonly keeper: ObjectKeeper; readonly folders: Folders } {
    if (this.#keeper === undefined || this.#folders === undefined)
      throw new TypeError(`branch ${this.#parts.branch}: nothing is held before it was observed`);
    return { keeper: this.#keeper, folders: this.#folders };
  }

  #describe(commit: Oid): { readonly tree: Oid; readonly committedAtSeconds: number } {
    return this.#ledger.get(commit) ?? this.#need().keeper.commit(commit);
  }

  #takeFresh(): RemoteRefs | undefined {
    const fresh = this.#fresh;
    this.#fresh = undefined;
    return fresh !== undefined && this.#parts.clock.now().getTime() - fresh.atMs < FRESH_MS ? fresh.refs : undefined;
  }

  #wantedRefs(): string[] {
    const parent = this.#parts.parentBranch();
    return [
      refOf(this.#parts.branch),
      ...(parent === undefined || parent === this.#parts.branch ? [] : [refOf(parent)]),
    ];
  }

  async #readRefs(signal: AbortSignal): Promise<RemoteRefs> {
    const question = { refs: this.#wantedRefs() };
    const refs = await this.#parts.remote.readRefs(question, signal);
    if (!this.#isLagging(refs)) return refs;
    await this.#waitOutLag(signal);
    return this.#parts.remote.readRefs(question, signal);
  }

  async #readPushRefs(
    wanted: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly refs: RemoteRefs; readonly capabilities: readonly string[] }> {
    let answer = await this.#parts.remote.readPushRefs({ refs: wanted }, signal);
    if (this.#isLagging(answer.refs)) {
      await this.#waitOutLag(signal);
      answer = await this.#parts.remote.readPushRefs({ refs: wanted }, signal);
    }
    this.#capabilities = pushCapabilities(answer.capabilities, this.#parts.remote.agent);
    return { refs: answer.refs, capabilities: this.#capabilities };
  }

  /** Whether the branch is shown where our last accepted push took it away from. */
  #isLagging(refs: RemoteRefs): boolean {
    const last = this.#lastPush;
    if (last === undefined) return false;
    const tip = refs.oidByRef.get(refOf(this.#parts.branch));
    // Once seen where we put it, going back is somebody's doing.
    if (tip !== last.old) this.#lastPush = undefined;
    return tip === last.old;
  }

  async #waitOutLag(signal: AbortSignal): Promise<void> {
    this.#lastPush = undefined;
    await this.#parts.clock.sleep(LAG_RETRY_MS, signal);
    signal.throwIfAborted();
  }

  async #baseOf(refs: RemoteRefs, signal: AbortSignal): Promise<Base> {
    const { branch, remote } = this.#parts;
    const parent = this.#parts.parentBranch();
    let situation: Situation = situationOf(refs, branch, parent, remote.displayUrl);
    if (situation.kind === 'ask-whole') {
      const all = await remote.readRefs({ refs: this.#wantedRefs(), isWhole: true }, signal);
      situation = situationOf({ ...all, isEmpty: all.isEmpty ?? false }, branch, parent, remote.displayUrl);
    }
    const tip = situation.kind === 'branch' ? situation.oid : undefined;
    this.#ledger.proven(tip);
    if (situation.kind === 'root') {
      this.#discardAllBut(undefined);
      this.#trusted = undefined;
      return { kind: 'root' };
    }
    const { kind, oid } = situation as Exclude<Situation, { kind: 'root' | 'ask-whole' }>;
    await this.#hold(oid, signal);
    this.#discardAllBut(oid);
    this.#trusted = tip;
    return kind === 'branch'
      ? { kind, commit: commitSha(oid) }
      : { kind, branch: (situation as { readonly branch: string }).branch, commit: commitSha(oid) };
  }

  /** Makes sure that the whole tree of a commit is here: our own push that landed, something held already, or a fetch. */
  async #hold(commit: Oid, signal: AbortSignal): Promise<void> {
    const { keeper } = this.#need();
    if (this.#ledger.get(commit) !== undefined) return this.#landed(this.#ledger.upTo(commit), undefined);
    if (keeper.holds(commit)) return;
    try {
      await keeper.receive(commit, this.#parts.remote.fetchPack({ wants: [commit], haves: keeper.roots }, signal));
    } catch (error) {
      const isDamaged = error instanceof MalformedData || hasReason(error, 'ObjectMissing');
      if (!isDamaged) throw error;
      // What we believed to hold was wrong, or the answer was: once more from nothing.
      keeper.doubt();
      await keeper
        .receive(commit, this.#parts.remote.fetchPack({ wants: [commit], haves: [] }, signal))
        .catch((again: unknown) => {
          if (!(again instanceof MalformedData)) throw again;
          throw gitError(
            'RemoteUnavailable',
            `${this.#parts.remote.displayUrl}: what was fetched cannot be used: ${again.message}; it is tried again`,
          );
        });
    }
  }

  #landed(commits: readonly MadeCommit[], pack: PackFile | undefined): void {
    const { keeper } = this.#need();
    const head = commits.at(-1);
    if (head === undefined) return;
    const oids = new Set(commits.flatMap(({ objects }) => objects));
    keeper.published(head.commit, pack ?? buildPack([...oids].map((oid) => keeper.objects.encoded(oid))).pack);
    this.#forget(this.#ledger.settle(commits));
    this.#trusted = head.commit;
  }

  #discardAllBut(base: Oid | undefined): void {
    this.#forget(this.#ledger.retain(base));
  }

  #forget(objects: readonly Oid[]): void {
    this.#need().keeper.objects.release(objects);
  }
}
