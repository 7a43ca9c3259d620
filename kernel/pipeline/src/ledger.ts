import type { Base, CommitSha } from '@gitops-reverser/kernel-api';

/** A push whose final answer we do not have: it may still land. */
export interface SentPush {
  readonly head: CommitSha;
  readonly onto: Base;
  /** Which plan its commits belong to: a rebuild starts another. */
  readonly chain: number;
  /** Every write it settles, with the commit that holds it. */
  readonly commitByWrite: ReadonlyMap<number, CommitSha | undefined>;
}

/** 500: own pushes that are told from foreign ones. */
const OWN_PUSHES = 500;

/** What we sent, and what of it the remote never answered. */
export class PushLedger {
  #unanswered: SentPush[] = [];
  readonly #own: CommitSha[] = [];

  sending(push: SentPush): void {
    this.#unanswered = this.#unanswered.filter(({ head }) => head !== push.head);
    this.#unanswered.push(push);
    const known = this.#own.indexOf(push.head);
    if (known >= 0) this.#own.splice(known, 1);
    this.#own.push(push.head);
    if (this.#own.length > OWN_PUSHES) this.#own.shift();
  }

  /** The tip is proven: pushes onto anything else can no longer land. */
  proven(tip: Base): SentPush | undefined {
    const landed = tip.kind === 'branch' ? this.#unanswered.find(({ head }) => head === tip.commit) : undefined;
    this.#unanswered = this.#unanswered.filter(({ onto }) => isSameBase(onto, tip));
    return landed;
  }

  /** Of our pushes only the newest is ours when it is met as a tip: an older one is a roll-back by somebody. */
  isNewestOwn(commit: CommitSha): boolean {
    return this.#own.at(-1) === commit;
  }

  hasPushed(commit: CommitSha): boolean {
    return this.#own.includes(commit);
  }
}

export function isSameBase(a: Base | undefined, b: Base): boolean {
  if (a === undefined || a.kind !== b.kind) return false;
  switch (b.kind) {
    case 'root':
      return true;
    case 'branch':
      return a.kind === 'branch' && a.commit === b.commit;
    case 'parent':
      return a.kind === 'parent' && a.commit === b.commit && a.branch === b.branch;
  }
}
