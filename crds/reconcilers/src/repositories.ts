import type { BranchStore } from '@gitops-reverser/kernel-api';

/** How to reach one repository, at this moment. Holds secrets: never log it. */
export interface RepositoryAccess {
  readonly url: string;
  /** Absent: anonymous. */
  readonly credentials?:
    | { readonly kind: 'basic'; readonly username: string; readonly password: string }
    | { readonly kind: 'bearer'; readonly token: string };
  /** PEM certificates trusted beside the system's. */
  readonly ca?: string;
}

/** What the reconcilers need of the Git side. */
export interface Repositories {
  /** One advertisement. @throws ReverserError with the reasons of `RemoteReachable` (chapter 10, 2.3) */
  probe(access: RepositoryAccess, signal: AbortSignal): Promise<{ readonly defaultBranch?: string }>;
  /** Opens no connection. `access` and `parentBranch` are asked again for each session, so that a rotation needs no reopening. */
  open(options: {
    readonly id: string;
    readonly branch: string;
    access(): RepositoryAccess;
    parentBranch(): string | undefined;
  }): BranchStore;
}
