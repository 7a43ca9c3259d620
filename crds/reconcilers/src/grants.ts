import type { Clock, Logger } from '@gitops-reverser/kernel-api';
import {
  decide,
  needsNamespaceLabels,
  type Decision,
  type GitBranchBorrower,
  type GitBranchLender,
  type GitProviderLender,
  type GitTargetBorrower,
  type Granted,
  type KubeProviderLender,
  type WatchRuleBorrower,
} from '@gitops-reverser/crd-types';
import type { Objects } from './objects.js';

/** An unreadable grant is asked again after this long: nothing tells when it can be read again. */
export const GRANT_RETRY_MS = 10_000;
/** A decision that stands for this long without being confirmed is worth a warning (chapter 10, 12.2). */
const WARN_AFTER_MS = 600_000;

export type Admission =
  | { readonly kind: 'granted'; readonly decision: Granted }
  /** Granted before, and now unreadable: the last decision stands, never narrowed and never widened (chapter 10, 12.2). */
  | { readonly kind: 'kept'; readonly decision: Granted; readonly message: string }
  | { readonly kind: 'denied'; readonly message: string }
  | { readonly kind: 'unreadable'; readonly message: string };

export type Question =
  | { readonly lender: GitProviderLender; readonly borrower: GitBranchBorrower }
  | { readonly lender: GitBranchLender; readonly borrower: GitTargetBorrower }
  | { readonly lender: KubeProviderLender; readonly borrower: GitTargetBorrower | WatchRuleBorrower };

export interface GrantsOptions {
  readonly objects: Objects;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Asks the one deciding function with the labels of namespaces, and remembers who was granted what. */
export class Grants {
  readonly #options: GrantsOptions;
  readonly #grantedByKey = new Map<string, Granted>();
  /** Since when a grant cannot be read; `warned` once it was said. */
  readonly #unreadable = new Map<string, { readonly since: number; warned: boolean }>();

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  /** @param key of the question, unique per lender and borrower; starts with the borrower's kind and key */
  ask(key: string, question: Question): Admission {
    const decision = this.#decide(question);
    if (decision.kind !== 'unreadable') this.#unreadable.delete(key);
    const before = this.#grantedByKey.get(key);
    switch (decision.kind) {
      case 'granted': {
        const settled = decision.incomplete === undefined || before === undefined ? decision : before;
        this.#grantedByKey.set(key, settled);
        return { kind: 'granted', decision: settled };
      }
      case 'denied':
        this.#grantedByKey.delete(key);
        return { kind: 'denied', message: decision.message };
      case 'unreadable':
        if (before === undefined) return { kind: 'unreadable', message: decision.message };
        this.#warnWhenLasting(key, decision.message);
        return { kind: 'kept', decision: before, message: decision.message };
    }
  }

  /** Whether a borrower is certainly admitted; remembers nothing. */
  admits(question: Question): boolean {
    return this.#decide(question).kind === 'granted';
  }

  /** The borrower is gone. */
  forget(prefix: string): void {
    for (const map of [this.#grantedByKey, this.#unreadable])
      for (const key of map.keys()) if (key.startsWith(prefix)) map.delete(key);
  }

  #decide({ lender, borrower }: Question): Decision {
    const labels = needsNamespaceLabels(lender, borrower)
      ? this.#options.objects.namespaceLabels(borrower.namespace)
      : ({ kind: 'missing' } as const);
    // The overloads of `decide` pair lenders with their borrowers, and so does `Question`.
    return decide(lender as KubeProviderLender, borrower as GitTargetBorrower, labels);
  }

  #warnWhenLasting(key: string, problem: string): void {
    const now = this.#options.clock.now().getTime();
    const known = this.#unreadable.get(key) ?? { since: now, warned: false };
    this.#unreadable.set(key, known);
    if (known.warned || now - known.since < WARN_AFTER_MS) return;
    known.warned = true;
    this.#options.logger.warn(
      { grant: key, problem, sinceMs: now - known.since },
      'a grant cannot be read; its last decision stands',
    );
  }
}

/** The gate of a grant, with the levels of chapter 10, 1.2. */
export function grantGate<T extends string>(type: T, admission: Admission) {
  switch (admission.kind) {
    case 'granted':
      return { type, status: 'True', reason: 'Granted', message: 'admitted' } as const;
    case 'kept':
      return {
        type,
        status: 'Unknown',
        reason: 'GrantUnreadable',
        message: `${admission.message}; the last decision stands`,
        level: 'none',
      } as const;
    case 'denied':
      return { type, status: 'False', reason: 'NotAllowed', message: admission.message } as const;
    case 'unreadable':
      return {
        type,
        status: 'Unknown',
        reason: 'GrantUnreadable',
        message: admission.message,
        level: 'progress',
      } as const;
  }
}
export const isAdmitted = (admission: Admission): boolean => admission.kind === 'granted' || admission.kind === 'kept';
/** For findings: when to ask again. */
export const retryOf = ({ kind }: Admission): { readonly requeueAfterMs?: number } =>
  kind === 'kept' || kind === 'unreadable' ? { requeueAfterMs: GRANT_RETRY_MS } : {};
