import { isReverserError, messageOf, reasonOf, type Clock } from '@gitops-reverser/kernel-api';
import type { Repositories, RepositoryAccess } from '../repositories.js';

const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 300_000;
/** One lost packet pages nobody: a provider that was reachable stays ready this long after its first failure. */
const TOLERANCE_MS = 300_000;
const STALLING = [
  'AuthenticationFailed',
  'AccessDenied',
  'RepositoryNotFound',
  'HostKeyUntrusted',
  'TLSVerificationFailed',
  'UnsupportedObjectFormat',
] as const;
export type StallingReason = (typeof STALLING)[number];

export type ProbeVerdict =
  | { readonly kind: 'reachable'; readonly defaultBranch?: string; readonly at: Date }
  | { readonly kind: 'stalled'; readonly reason: StallingReason; readonly message: string }
  | { readonly kind: 'away'; readonly message: string; readonly isTolerated: boolean };

/** What the outcome of a look depends on. */
export interface ProbeCause {
  /** Declaration, credential and request: a different one is a new question. */
  readonly question: string;
  /** What sessions of branches met: a different one is a reason to look again. */
  readonly heard: string;
}

/**
 * Looks at one remote when it must: at first, when what it depends on changed, when asked, when a session learned otherwise, and
 * again after a failure with a growing delay. A healthy provider asks the host nothing (chapter 40, 1.10).
 */
export class RemoteProbe {
  readonly #repositories: Repositories;
  readonly #clock: Clock;
  #cause: ProbeCause | undefined;
  #verdict: ProbeVerdict | undefined;
  #failures = 0;
  #dueAt = 0;
  #failingSince = 0;
  #success: { readonly at: Date; readonly defaultBranch?: string } | undefined;

  constructor(repositories: Repositories, clock: Clock) {
    this.#repositories = repositories;
    this.#clock = clock;
  }

  get lastSuccess(): { readonly at: Date; readonly defaultBranch?: string } | undefined {
    return this.#success;
  }

  /** When to look again; undefined while nothing is wrong. */
  get retryAfterMs(): number | undefined {
    return this.#failures === 0 ? undefined : Math.max(1_000, this.#dueAt - this.#clock.now().getTime());
  }

  async judge(cause: ProbeCause, access: RepositoryAccess, signal: AbortSignal): Promise<ProbeVerdict> {
    const isAsked = cause.question !== this.#cause?.question;
    const isDue = this.#failures > 0 && this.#clock.now().getTime() >= this.#dueAt;
    if (this.#verdict !== undefined && !isAsked && !isDue && cause.heard === this.#cause?.heard) return this.#verdict;
    if (isAsked) this.#failures = 0;
    this.#cause = cause;
    this.#verdict = await this.#look(access, signal);
    return this.#verdict;
  }

  async #look(access: RepositoryAccess, signal: AbortSignal): Promise<ProbeVerdict> {
    try {
      const { defaultBranch } = await this.#repositories.probe(access, signal);
      this.#failures = 0;
      this.#failingSince = 0;
      this.#success = { at: this.#clock.now(), ...(defaultBranch === undefined ? {} : { defaultBranch }) };
      return { kind: 'reachable', ...this.#success };
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      this.#failures += 1;
      const now = this.#clock.now().getTime();
      if (this.#failingSince === 0) this.#failingSince = now;
      this.#dueAt = now + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
      const stalling = STALLING.find((reason) => reason === reasonOf(thrown));
      if (stalling !== undefined) return { kind: 'stalled', reason: stalling, message: messageOf(thrown) };
      if (!isReverserError(thrown)) throw thrown;
      const isTolerated = this.#success !== undefined && now - this.#failingSince < TOLERANCE_MS;
      return { kind: 'away', message: thrown.message, isTolerated };
    }
  }
}
