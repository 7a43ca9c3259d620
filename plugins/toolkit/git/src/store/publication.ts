import type { Base, PublishOutcome } from '@gitops-reverser/kernel-api';
import { commitSha, hasReason, isReverserError } from '@gitops-reverser/kernel-api';
import { gitError } from '../errors.js';
import { ZERO_OID, type Oid } from '../objects/oid.js';
import { buildPack } from '../objects/pack-writer.js';
import type { PackFile } from '../objects/pack-file.js';
import type { RemoteRefs } from '../protocol/advertisement.js';
import { REASON_BY_CLASS, settlePush, type PushClass } from '../protocol/push-classification.js';
import type { PushResult, RemoteRepository } from '../protocol/remote-repository.js';
import { refOf } from './branch-situation.js';
import type { MadeCommit } from './commit-ledger.js';
import type { ObjectKeeper } from './object-keeper.js';

export interface PublicationOptions {
  readonly remote: RemoteRepository;
  readonly keeper: ObjectKeeper;
  readonly branch: string;
  readonly base: Base;
  readonly head: Oid;
  /** From `base` to `head`, oldest first. */
  readonly chain: readonly MadeCommit[];
  /** What the remote last said it can do: with it the first request may be the push itself. */
  readonly knownCapabilities: readonly string[] | undefined;
  /** Reads the refs of the branch and what it may start from. */
  readRefs(signal: AbortSignal): Promise<RemoteRefs>;
  /** Reads the advertisement of a push, waiting out one that is older than our last push. */
  readPushRefs(
    refs: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly refs: RemoteRefs; readonly capabilities: readonly string[] }>;
  /** A push was handed to the remote; its fate is open until `landed`, or for ever. */
  sent(head: Oid, old: Oid | undefined): void;
  /** @param old where the branch was before */
  landed(commits: readonly MadeCommit[], pack: PackFile | undefined, old: Oid | undefined): void;
  /** Fresh refs that say more than the outcome does. */
  sawRefs(refs: RemoteRefs): void;
}

type Step =
  { readonly kind: 'done'; readonly outcome: PublishOutcome } | { readonly kind: 'again'; readonly one: boolean };

/** One attempt to move the branch from `base` to `head` (chapter 40, 4.2). Never forced: `old` is compared by the server. */
export class Publication {
  readonly #options: PublicationOptions;
  readonly #ref: string;
  /** Where the branch must be for the rest to land. */
  #old: Oid | undefined;
  #rest: readonly MadeCommit[];
  #capabilities: readonly string[] | undefined;

  constructor(options: PublicationOptions) {
    this.#options = options;
    this.#ref = refOf(options.branch);
    this.#old = options.base.kind === 'branch' ? options.base.commit : undefined;
    this.#rest = options.chain;
    this.#capabilities = options.knownCapabilities;
  }

  async run(signal: AbortSignal): Promise<PublishOutcome> {
    const { base, head, remote } = this.#options;
    let mayGoFirst =
      base.kind === 'branch' &&
      this.#capabilities?.includes('report-status') === true &&
      remote.canPushFirst &&
      this.#rest.length > 0;
    let isSplit = false;
    let isOpen = false;
    for (;;) {
      if (!mayGoFirst) {
        const early = await this.#compare(signal).catch((error: unknown) => {
          throw isOpen && isReverserError(error) ? unanswered(error) : error;
        });
        if (early !== undefined) return early;
      }
      const commits = isSplit ? this.#rest.slice(0, 1) : this.#rest;
      const step = await this.#push(commits, mayGoFirst, isSplit, signal);
      if (step.kind === 'done') {
        if (step.outcome.kind === 'moved' || this.#rest.length === 0)
          return step.outcome.kind === 'moved' ? step.outcome : { ...step.outcome, commit: commitSha(head) };
        mayGoFirst = true;
        continue;
      }
      mayGoFirst = false;
      isOpen = true;
      isSplit ||= step.one;
    }
  }

  /** The client's own comparison, on the advertisement the push answers to. */
  async #compare(signal: AbortSignal): Promise<PublishOutcome | undefined> {
    const { base, head } = this.#options;
    const parentRef = base.kind === 'parent' ? refOf(base.branch) : undefined;
    const { refs, capabilities } = await this.#options.readPushRefs(
      [this.#ref, ...(parentRef === undefined ? [] : [parentRef])],
      signal,
    );
    this.#capabilities = capabilities;
    const tip = refs.oidByRef.get(this.#ref);
    if (tip === head) return this.#alreadyThere();
    this.#settleUpTo(tip);
    if (tip !== this.#old) return this.#moved(refs, tip);
    if (tip === undefined && base.kind === 'parent' && refs.oidByRef.get(parentRef ?? '') !== base.commit)
      return { kind: 'moved', what: 'parent' };
    if (tip === undefined && base.kind === 'root' && refs.isEmpty !== true) return { kind: 'moved', what: 'parent' };
    if (this.#rest.length === 0) return { kind: 'already-there', commit: commitSha(head) };
    return undefined;
  }

  async #push(commits: readonly MadeCommit[], isFirst: boolean, isSplit: boolean, signal: AbortSignal): Promise<Step> {
    const { remote, keeper } = this.#options;
    const head = commits.at(-1)?.commit;
    if (head === undefined) throw new TypeError('a push without commits');
    const oids = new Set(commits.flatMap(({ objects }) => objects));
    const { bytes, pack } = buildPack([...oids].map((oid) => keeper.objects.encoded(oid)));
    this.#options.sent(head, this.#old);
    let result: PushResult;
    try {
      result = await remote.push(
        { ref: this.#ref, old: this.#old ?? ZERO_OID, new: head },
        bytes,
        this.#capabilities ?? [],
        signal,
      );
    } catch (error) {
      // The kept connection may have been closed under us: the advertisement tells what became of the push.
      if (isFirst && hasReason(error, 'RemoteUnavailable') && CUT_CODES.has(String(error.details['code'])))
        return { kind: 'again', one: false };
      throw isReverserError(error) ? unanswered(error) : error;
    }
    const { verdict } = result;
    let outcome: PushClass;
    if (verdict.kind === 'ask') {
      const refs = await this.#options.readRefs(signal);
      const tip = refs.oidByRef.get(this.#ref);
      if (tip === head) return this.#landed(commits, pack, 'already-there');
      if (this.#settleUpTo(tip)) return { kind: 'again', one: false };
      outcome = settlePush(verdict, tip === this.#old ? 'still-old' : 'elsewhere');
      if (outcome === 'moved') {
        this.#options.sawRefs(refs);
        return { kind: 'done', outcome: this.#moved(refs, tip) };
      }
    } else outcome = verdict.class;

    if (outcome === 'accepted') return this.#landed(commits, pack, 'published');
    // Without an advertisement just before, an answer of the transport alone is not the last word.
    if (
      isFirst &&
      result.retryAfterMs === undefined &&
      (result.status !== 200 || outcome === 'protocol' || outcome === 'unknown') &&
      outcome !== 'too-large'
    )
      return { kind: 'again', one: false };
    if (outcome === 'too-large' && !isSplit && commits.length > 1) return { kind: 'again', one: true };
    if (outcome === 'base-lost') keeper.doubt();
    throw this.#refused(outcome, result);
  }

  /** An earlier push of ours without an answer: what it carried has landed, the rest builds on it (chapter 40, 4.6). */
  #settleUpTo(tip: Oid | undefined): boolean {
    const landed = this.#rest.findIndex(({ commit }) => commit === tip);
    if (landed === -1) return false;
    this.#options.landed(this.#rest.slice(0, landed + 1), undefined, this.#old);
    this.#rest = this.#rest.slice(landed + 1);
    this.#old = tip;
    return true;
  }

  #landed(commits: readonly MadeCommit[], pack: PackFile, kind: 'published' | 'already-there'): Step {
    const head = commits.at(-1)?.commit ?? this.#options.head;
    this.#options.landed(commits, pack, this.#old);
    this.#rest = this.#rest.slice(commits.length);
    this.#old = head;
    return { kind: 'done', outcome: { kind, commit: commitSha(head) } };
  }

  #alreadyThere(): PublishOutcome {
    if (this.#rest.length > 0) this.#options.landed(this.#rest, undefined, this.#old);
    return { kind: 'already-there', commit: commitSha(this.#options.head) };
  }

  #moved(refs: RemoteRefs, tip: Oid | undefined): PublishOutcome {
    if (tip !== undefined) this.#options.sawRefs(refs);
    return { kind: 'moved', what: tip === undefined ? 'deleted' : 'branch' };
  }

  #refused(outcome: Exclude<PushClass, 'accepted' | 'moved'> | PushClass, result: PushResult): Error {
    const { remote, branch } = this.#options;
    const said = remote.show(result.verdict.said);
    const details = {
      branch,
      class: outcome,
      outcome: outcome === 'unknown' || outcome === 'protocol' ? 'unknown' : 'refused',
      ...(result.retryAfterMs === undefined ? {} : { retryAfterMs: result.retryAfterMs }),
    };
    const reason = outcome === 'accepted' || outcome === 'moved' ? 'RemoteUnavailable' : REASON_BY_CLASS[outcome];
    return gitError(reason, `${remote.displayUrl}: the push to ${branch} ${WHAT_BY_CLASS[outcome]}: ${said}`, details);
  }
}

const CUT_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

const WHAT_BY_CLASS: Readonly<Record<PushClass, string>> = {
  accepted: 'was accepted',
  moved: 'met another one',
  unknown: 'has no final answer and may have landed; the branch is looked at before anything is sent again',
  transient: 'could not be taken now and is tried again',
  credential: 'was refused because of the credential; check the Secret of spec.secretRef',
  permission: 'was refused because the credential may not write; give it write access',
  missing: 'found no repository; check spec.url',
  policy: 'was refused by a rule of the host; allow this credential to push to the branch, or write to another branch',
  content: 'was refused because of what it holds',
  'too-large': 'was refused because it is too large; raise the limit of the host',
  protocol: 'could not be processed by the host; it is built anew and tried again',
  'base-lost': 'builds on objects the host lost; everything is fetched anew',
};

/** A push whose connection broke may have landed, unless nothing was sent at all. */
function unanswered(
  error: Error & { readonly reason: string; readonly details: Readonly<Record<string, unknown>> },
): Error {
  if (error.reason !== 'RemoteUnavailable' || error.details['sent'] === false) return error;
  return gitError('RemoteUnavailable', `${error.message}; the push was under way and may have landed`, {
    ...error.details,
    outcome: 'unknown',
  });
}
