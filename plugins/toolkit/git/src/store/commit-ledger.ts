import type { Oid } from '../objects/oid.js';

export interface MadeCommit {
  readonly commit: Oid;
  readonly parent: Oid | undefined;
  readonly tree: Oid;
  readonly committedAtSeconds: number;
  /** The commit, its new trees, its new blobs. */
  readonly objects: readonly Oid[];
}

/** Commits made here that no accepted push has carried yet. */
export class CommitLedger {
  readonly #madeByCommit = new Map<Oid, MadeCommit>();
  /** Pushes without a final answer: while the branch is at `old` they may still land (chapter 40, 4.6). Oldest first. */
  #unanswered: readonly { readonly head: Oid; readonly old: Oid | undefined }[] = [];

  get(commit: Oid): MadeCommit | undefined {
    return this.#madeByCommit.get(commit);
  }

  /** @returns what an equal commit had made before, for release */
  replace(made: MadeCommit): readonly Oid[] {
    const before = this.#madeByCommit.get(made.commit);
    this.#madeByCommit.set(made.commit, made);
    return before?.objects ?? [];
  }

  /** Oldest first; `undefined` when `head` does not build on `base`. */
  chain(base: Oid | undefined, head: Oid): readonly MadeCommit[] | undefined {
    const chain: MadeCommit[] = [];
    for (let at: Oid | undefined = head; at !== base;) {
      const made: MadeCommit | undefined = at === undefined ? undefined : this.#madeByCommit.get(at);
      if (made === undefined) return undefined;
      chain.unshift(made);
      at = made.parent;
    }
    return chain;
  }

  /** `commit` and everything made below it, oldest first. */
  upTo(commit: Oid): readonly MadeCommit[] {
    const chain: MadeCommit[] = [];
    for (
      let made = this.#madeByCommit.get(commit);
      made !== undefined;
      made = made.parent === undefined ? undefined : this.#madeByCommit.get(made.parent)
    )
      chain.unshift(made);
    return chain;
  }

  /** @param old where the branch had to be for it to land; `undefined` for absent */
  unanswered(head: Oid, old: Oid | undefined): void {
    this.#unanswered = [...this.#unanswered.filter((sent) => sent.head !== head), { head, old }].slice(-MAX_UNANSWERED);
  }

  /** The branch is proven to be there: what needed it elsewhere cannot land any more. */
  proven(tip: Oid | undefined): void {
    this.#unanswered = this.#unanswered.filter(({ old }) => old === tip);
  }

  /**
   * Drops what nobody can ask for any more: commits that neither build on `base` nor may still land.
   *
   * @returns what they had made, for release
   */
  retain(base: Oid | undefined): readonly Oid[] {
    const kept = new Set<Oid>(this.#unanswered.flatMap(({ head }) => this.upTo(head).map(({ commit }) => commit)));
    for (const { commit } of this.#madeByCommit.values()) if (this.chain(base, commit) !== undefined) kept.add(commit);
    return this.#drop(({ commit }) => !kept.has(commit));
  }

  /** Drops what is on the remote now; nothing sent before it can land any more. */
  settle(commits: readonly MadeCommit[]): readonly Oid[] {
    this.#unanswered = [];
    const settled = new Set(commits.map(({ commit }) => commit));
    return this.#drop(({ commit }) => settled.has(commit));
  }

  #drop(isGone: (made: MadeCommit) => boolean): readonly Oid[] {
    const gone = [...this.#madeByCommit.values()].filter(isGone);
    for (const { commit } of gone) this.#madeByCommit.delete(commit);
    return gone.flatMap(({ objects }) => objects);
  }
}

const MAX_UNANSWERED = 8;
