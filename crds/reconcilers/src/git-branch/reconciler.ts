import {
  branchId,
  ReverserError,
  type BranchHandle,
  type BranchStatus,
  type Runtime,
} from '@gitops-reverser/kernel-api';
import {
  applyDefaults,
  canonicalRepository,
  sameRepository,
  type Gate,
  type GitBranchBorrower,
  type GitProviderLender,
  type RepositoryIdentity,
} from '@gitops-reverser/crd-types';
import { REQUESTED_AT, type Findings } from '../controller.js';
import type { ProviderFacts } from '../git-provider/reconciler.js';
import { grantGate, isAdmitted, retryOf, type Grants } from '../grants.js';
import { isOlder, keyFor, keyOf, splitKey, type Declared, type Objects } from '../objects.js';
import { NOT_JUDGED, type Readiness } from '../readiness.js';
import type { Repositories, RepositoryAccess } from '../repositories.js';
import { storedProblem } from '../validated.js';

/** Last publication of a branch whose object is gone. */
const CLOSE_BUDGET_MS = 10_000;
const VERIFIED_EVERY_MS = 600_000;

export interface GitBranchOptions {
  readonly objects: Objects;
  readonly grants: Grants;
  readonly runtime: Runtime;
  readonly repositories: Repositories;
  provider(key: string): { readonly facts: ProviderFacts | undefined; readonly readiness: Readiness };
  targetCount(key: string): number;
  /** Targets of this branch must let go before it closes. */
  release(key: string): Promise<void>;
  onChange(key: string): void;
}

interface Opened {
  readonly handle: BranchHandle;
  readonly subscription: Disposable;
  readonly identity: string;
  /** Absent while the provider lends no access. */
  facts: ProviderFacts | undefined;
  parentBranch: string | undefined;
  committer: { readonly name: string; readonly email: string };
  requested: string;
}

/** One branch of one provider and its one worker: says who may write it, keeps it open, and reports what the remote said. */
export class GitBranchReconciler {
  readonly #options: GitBranchOptions;
  readonly #open = new Map<string, Opened>();
  readonly #admitted = new Map<string, string>();

  constructor(options: GitBranchOptions) {
    this.#options = options;
  }

  /** The open worker; another one after it was closed and opened again. */
  handle(key: string): BranchHandle | undefined {
    return this.#open.get(key)?.handle;
  }

  isAdmitted(key: string): boolean {
    return this.#admitted.has(key);
  }

  /** Admitted branches of a provider. */
  countFor(providerKey: string): number {
    return [...this.#admitted.values()].filter((provider) => provider === providerKey).length;
  }

  /** Why sessions of a provider's branches do not reach it: each reason once. */
  troublesOf(providerKey: string): readonly string[] {
    const reasons = [...this.#open]
      .filter(([key]) => this.#admitted.get(key) === providerKey)
      .map(([, { handle }]) => handle.status().reachable)
      .filter(({ status }) => status === 'False')
      .map(({ reason }) => reason);
    return [...new Set(reasons)].sort();
  }

  async forget(key: string): Promise<void> {
    this.#admitted.delete(key);
    await this.#close(key, CLOSE_BUDGET_MS);
    this.#options.grants.forget(`GitBranch ${key}:`);
  }

  async reconcile(object: Declared<'GitBranch'>): Promise<Findings<'GitBranch'>> {
    const key = keyOf(object);
    const providerKey = providerOf(object);
    const invalid = storedProblem('GitBranch', object);
    const provider = this.#options.objects.get('GitProvider', providerKey);
    if (invalid === undefined && provider === undefined) {
      // Work of a branch whose provider is gone is kept until the provider is back or the branch object goes.
      this.#admitted.delete(key);
      this.#lose(key);
      return { gates: [refused('GitProviderNotFound', `spec.gitProviderRef: ${notThere(providerKey)}`)] };
    }
    if (invalid !== undefined || provider === undefined) return await this.#stop(key, [invalid], CLOSE_BUDGET_MS);
    const owner = this.#ownerBefore(object, provider);
    if (owner !== undefined) {
      const message = `spec.branch: ${object.spec.branch} of this repository is owned by the older GitBranch ${owner}; use that one, or delete one of the two`;
      return await this.#stop(key, [refused('BranchConflict', message)], CLOSE_BUDGET_MS);
    }
    const gates: Gate<'GitBranch'>[] = [
      { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'the declaration can be used' },
    ];
    const admission = this.#options.grants.ask(
      `GitBranch ${key}:${providerKey}:${provider.metadata.uid}`,
      questionOf(object, provider),
    );
    gates.push(grantGate('BranchAllowed', admission));
    // Whoever is not admitted may not use the credential, not even once more.
    if (!isAdmitted(admission)) return { ...(await this.#stop(key, gates, 0)), ...retryOf(admission) };
    this.#admitted.set(key, providerKey);
    const { facts, readiness } = this.#options.provider(providerKey);
    gates.push(providerGate(providerKey, readiness));
    if (facts === undefined) this.#lose(key);
    else await this.#keepOpen(object, provider, facts);
    const status = this.handle(key)?.status();
    if (status !== undefined) gates.push(...workerGates(status));
    return {
      gates,
      status: { gitTargetCount: this.#options.targetCount(key), ...workerStatus(object, status) },
      volatile: ['state', 'retained'],
      isEarly: readiness === NOT_JUDGED,
      ...retryOf(admission),
    };
  }

  /** @returns key of the older branch that owns the same remote branch; one that is not admitted owns nothing */
  #ownerBefore(object: Declared<'GitBranch'>, provider: Declared<'GitProvider'>): string | undefined {
    const own = repositoryOf(provider);
    if (own === undefined) return undefined;
    const owner = this.#options.objects
      .list('GitBranch')
      .filter(({ spec, metadata }) => spec.branch === object.spec.branch && metadata.uid !== object.metadata.uid)
      .filter((other) => isOlder(other, object))
      .find((other) => {
        const theirs = this.#options.objects.get('GitProvider', providerOf(other));
        const repository = theirs === undefined ? undefined : repositoryOf(theirs);
        if (theirs === undefined || repository === undefined) return false;
        const isSame = sameRepository(repository, own);
        return isSame && (this.isAdmitted(keyOf(other)) || this.#options.grants.admits(questionOf(other, theirs)));
      });
    return owner === undefined ? undefined : keyOf(owner);
  }

  async #keepOpen(
    object: Declared<'GitBranch'>,
    provider: Declared<'GitProvider'>,
    facts: ProviderFacts,
  ): Promise<void> {
    const key = keyOf(object);
    const identity = JSON.stringify([object.metadata.uid, facts.uid, facts.repository]);
    const { committer } = applyDefaults('GitProvider', provider.spec).commit;
    const { parentBranch } = object.spec;
    const requested = object.metadata.annotations?.[REQUESTED_AT] ?? '';
    const known = this.#open.get(key);
    if (known?.identity === identity) {
      const isOutdated =
        known.facts?.accessVersion !== facts.accessVersion || known.parentBranch !== object.spec.parentBranch;
      const isRecommitted = JSON.stringify(known.committer) !== JSON.stringify(committer);
      const isRequested = known.requested !== requested && requested !== object.status?.lastHandledReconcileAt;
      // The store asks for access and parent as soon as it is told to look.
      Object.assign(known, { facts, parentBranch, committer, requested });
      if (isOutdated) known.handle.distrust();
      if (isRecommitted) known.handle.configure({ committer });
      if (isRequested) known.handle.observe();
      return;
    }
    await this.#close(key, CLOSE_BUDGET_MS);
    let opened: Pick<Opened, 'facts' | 'parentBranch'> = { facts, parentBranch };
    const store = this.#options.repositories.open({
      id: key,
      branch: object.spec.branch,
      access: () => accessOf(key, opened.facts),
      parentBranch: () => opened.parentBranch,
    });
    const { namespace = '', name } = splitKey(keyOf(provider));
    const handle = await this.#options.runtime.openBranch({
      id: branchId(object.metadata.namespace ?? '', object.metadata.name),
      store,
      settings: { committer },
      provider: { namespace, name },
      branch: object.spec.branch,
    });
    const subscription = handle.onChange(() => this.#options.onChange(key));
    const entry: Opened = { handle, subscription, identity, facts, parentBranch, committer, requested };
    opened = entry;
    this.#open.set(key, entry);
    handle.observe();
    this.#options.onChange(key);
  }

  /** The provider lends nothing now: no session starts with what it lent before. */
  #lose(key: string): void {
    const open = this.#open.get(key);
    if (open !== undefined) open.facts = undefined;
  }

  async #stop(
    key: string,
    gates: readonly (Gate<'GitBranch'> | undefined)[],
    budgetMs: number,
  ): Promise<Findings<'GitBranch'>> {
    this.#admitted.delete(key);
    await this.#close(key, budgetMs);
    return { gates: gates.filter((gate) => gate !== undefined) };
  }

  async #close(key: string, budgetMs: number): Promise<void> {
    const open = this.#open.get(key);
    if (open === undefined) return;
    // First, so that no target opens on it again.
    this.#open.delete(key);
    open.subscription[Symbol.dispose]();
    await this.#options.release(key);
    await open.handle.close(budgetMs);
  }
}

export const providerOf = (branch: Declared<'GitBranch'>): string =>
  keyFor(branch.spec.gitProviderRef.namespace ?? branch.metadata.namespace ?? '', branch.spec.gitProviderRef.name);

const notThere = (providerKey: string): string =>
  `GitProvider ${providerKey} does not exist; create it or name another`;

const refused = (reason: 'GitProviderNotFound' | 'BranchConflict', message: string): Gate<'GitBranch'> => ({
  type: 'Validated',
  status: 'False',
  reason,
  message,
});

function accessOf(key: string, facts: ProviderFacts | undefined): RepositoryAccess {
  if (facts !== undefined) return facts.access;
  throw new ReverserError({
    reason: 'RemoteUnavailable',
    retry: 'when-changed',
    message: `GitBranch ${key}: its GitProvider lends no usable access now; the conditions of the GitProvider say why`,
  });
}

function questionOf(
  branch: Declared<'GitBranch'>,
  provider: Declared<'GitProvider'>,
): { readonly lender: GitProviderLender; readonly borrower: GitBranchBorrower } {
  const { allowedGitBranches } = provider.spec;
  return {
    lender: {
      kind: 'GitProvider',
      namespace: provider.metadata.namespace ?? '',
      name: provider.metadata.name,
      ...(allowedGitBranches === undefined ? {} : { allowedGitBranches }),
    },
    borrower: { kind: 'GitBranch', namespace: branch.metadata.namespace ?? '', branch: branch.spec.branch },
  };
}

/** Absent for an address that today's admission refuses: its provider says so. */
function repositoryOf({ spec }: Declared<'GitProvider'>): RepositoryIdentity | undefined {
  try {
    return canonicalRepository(spec.url);
  } catch {
    return undefined;
  }
}

function providerGate(key: string, readiness: Readiness): Gate<'GitBranch'> {
  const type = 'GitProviderReady';
  if (readiness.level === 'ok') return { type, status: 'True', reason: 'Succeeded', message: 'the provider is ready' };
  const status = readiness.status === 'Unknown' ? 'Unknown' : 'False';
  return {
    type,
    status,
    reason: 'GitProviderNotReady',
    message: `GitProvider ${key} is not ready: ${readiness.reason}: ${readiness.message}`,
    level: readiness.level,
  };
}

/** The worker speaks in the reasons of the table; the roll-up refuses any other. */
function workerGates(status: BranchStatus): readonly Gate<'GitBranch'>[] {
  const gate = (type: 'ParentBranchResolved' | 'Writable' | 'Publishing', verdict: BranchStatus['writable']) =>
    ({ type, ...verdict }) as Gate<'GitBranch'>;
  return [
    gate('ParentBranchResolved', status.parentResolved),
    gate('Writable', status.writable),
    gate('Publishing', status.publishing),
  ];
}

function workerStatus(object: Declared<'GitBranch'>, status: BranchStatus | undefined) {
  if (status === undefined) return {};
  const { remote, retained, state } = status;
  return {
    state,
    ...(retained === undefined
      ? {}
      : {
          retained: {
            writeCount: retained.writeCount,
            sizeBytes: retained.sizeBytes,
            oldestAt: seconds(retained.oldestAt),
          },
        }),
    ...(remote === undefined ? {} : { remote: remoteOf(remote, object.status?.remote) }),
  };
}

/** As the branch and each of its targets show it; proof of an unchanged tip is rewritten at most every 10 minutes. */
export function remoteOf(
  remote: NonNullable<BranchStatus['remote']>,
  stored: { readonly commit?: string; readonly lastVerifiedAt?: string; readonly verifiedBy?: string } | undefined,
) {
  const commit = remote.commit ?? '';
  const isFresh =
    stored?.lastVerifiedAt !== undefined &&
    stored.commit === commit &&
    remote.lastVerifiedAt.getTime() - Date.parse(stored.lastVerifiedAt) < VERIFIED_EVERY_MS;
  const lastVerifiedAt = isFresh
    ? (stored?.lastVerifiedAt ?? seconds(remote.lastVerifiedAt))
    : seconds(remote.lastVerifiedAt);
  const verifiedBy = isFresh ? ((stored?.verifiedBy ?? remote.verifiedBy) as 'Push' | 'Fetch') : remote.verifiedBy;
  return { commit, lastVerifiedAt, verifiedBy, ...(remote.parent === undefined ? {} : { parent: remote.parent }) };
}

export const seconds = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;
