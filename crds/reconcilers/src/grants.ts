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
  type NamespaceLabels,
  type WatchRuleBorrower,
} from '@gitops-reverser/crd-types';
import type { ControlObjects } from './objects.js';

export type Admission =
  | { readonly kind: 'granted'; readonly decision: Granted }
  /** Granted before, and now unreadable: the last decision stands, never narrowed and never widened (chapter 10, 12.2). */
  | { readonly kind: 'kept'; readonly decision: Granted; readonly message: string }
  | { readonly kind: 'denied'; readonly message: string }
  | { readonly kind: 'unreadable'; readonly message: string };

type Question =
  | { readonly lender: GitProviderLender; readonly borrower: GitBranchBorrower }
  | { readonly lender: GitBranchLender; readonly borrower: GitTargetBorrower }
  | { readonly lender: KubeProviderLender; readonly borrower: GitTargetBorrower | WatchRuleBorrower };

/** Asks the one deciding function with the labels the informer holds, and remembers who was granted what. */
export class Grants {
  readonly #objects: ControlObjects;
  readonly #grantedByKey = new Map<string, Granted>();

  constructor(objects: ControlObjects) {
    this.#objects = objects;
  }

  /** @param key of the borrower, unique per lender and borrower */
  ask(key: string, question: Question): Admission {
    const { lender, borrower } = question;
    const labels = needsNamespaceLabels(lender, borrower)
      ? this.#labels(borrower.namespace)
      : ({ kind: 'missing' } as const);
    // The overloads of `decide` pair lenders with their borrowers, and so does `Question`.
    const decision = decide(lender as KubeProviderLender, borrower as GitTargetBorrower, labels);
    return this.#remember(key, decision);
  }

  /** The borrower or its question is gone. */
  forget(prefix: string): void {
    for (const key of this.#grantedByKey.keys()) if (key.startsWith(prefix)) this.#grantedByKey.delete(key);
  }

  #remember(key: string, decision: Decision): Admission {
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
        return before === undefined
          ? { kind: 'unreadable', message: decision.message }
          : { kind: 'kept', decision: before, message: decision.message };
    }
  }

  #labels(namespace: string): NamespaceLabels {
    const { namespaces } = this.#objects;
    if (namespaces.trouble !== undefined) return { kind: 'unreadable', cause: namespaces.trouble.message };
    if (!namespaces.isSynced) return { kind: 'unreadable', cause: 'namespaces have not been read so far' };
    const found = namespaces.get(namespace);
    return found === undefined ? { kind: 'missing' } : { kind: 'known', labels: found.metadata.labels ?? {} };
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
