import { branchId, type BranchHandle, type BranchStatus, type Runtime } from '@gitops-reverser/kernel-api';
import { applyDefaults, canonicalRepository, repositoryText, type Gate } from '@gitops-reverser/crd-types';
import { REQUESTED_AT, type Findings } from '../controller.js';
import type { ProviderFacts } from '../git-provider/reconciler.js';
import { grantGate, isAdmitted, type Grants } from '../grants.js';
import { keyFor, keyOf, splitKey, type ControlObjects, type Declared } from '../objects.js';
import type { Readiness } from '../readiness.js';
import type { Repositories } from '../repositories.js';
import { storedProblem } from '../validated.js';

/** Last publication of a branch whose object is gone. */
const CLOSE_BUDGET_MS = 10_000;
const VERIFIED_EVERY_MS = 600_000;

export interface GitBranchOptions {
  readonly objects: ControlObjects;
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
  facts: ProviderFacts;
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

  isOpen(key: string): boolean {
    return this.#open.has(key);
  }

  status(key: string): BranchStatus | undefined {
    return this.#open.get(key)?.handle.status();
  }

  /** Admitted branches of a provider. */
  countFor(providerKey: string): number {
    return [...this.#admitted.values()].filter((provider) => provider === providerKey).length;
  }

  async forget(key: string): Promise<void> {
    await this.#close(key);
    this.#admitted.delete(key);
    this.#options.grants.forget(`GitBranch ${key}:`);
  }

  async reconcile(object: Declared<'GitBranch'>): Promise<Findings<'GitBranch'>> {
    const key = keyOf(object);
    const providerKey = keyFor(
      object.spec.gitProviderRef.namespace ?? object.metadata.namespace ?? '',
      object.spec.gitProviderRef.name,
    );
    const invalid = storedProblem('GitBranch', object) ?? this.#conflict(object, providerKey);
    if (invalid !== undefined) {
      this.#admitted.delete(key);
      // Work of a branch whose provider is gone is kept until the provider is back or the branch object goes.
      if (invalid.reason !== 'GitProviderNotFound') await this.#close(key);
      return { gates: [invalid] };
    }
    const gates: Gate<'GitBranch'>[] = [
      { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'the declaration can be used' },
    ];
    const provider = this.#options.objects.get('GitProvider', providerKey);
    const lender = {
      kind: 'GitProvider',
      ...namedIn(providerKey),
      ...(provider?.spec.allowedGitBranches === undefined
        ? {}
        : { allowedGitBranches: provider.spec.allowedGitBranches }),
    } as const;
    const borrower = {
      kind: 'GitBranch',
      namespace: object.metadata.namespace ?? '',
      branch: object.spec.branch,
    } as const;
    const admission = this.#options.grants.ask(`GitBranch ${key}:${provider?.metadata.uid}`, { lender, borrower });
    gates.push(grantGate('BranchAllowed', admission));
    if (!isAdmitted(admission)) {
      this.#admitted.delete(key);
      await this.#close(key);
      return { gates };
    }
    this.#admitted.set(key, providerKey);
    const { facts, readiness } = this.#options.provider(providerKey);
    gates.push(providerGate(readiness));
    if (facts !== undefined && provider !== undefined) await this.#keepOpen(object, provider, facts);
    const status = this.status(key);
    if (status !== undefined) gates.push(...workerGates(status));
    return {
      gates,
      status: { gitTargetCount: this.#options.targetCount(key), ...workerStatus(object, status) },
      volatile: ['state', 'retained'],
    };
  }

  /** Cross-object rules: the provider exists, and no older branch owns the same remote branch. */
  #conflict(object: Declared<'GitBranch'>, providerKey: string): Gate<'GitBranch'> | undefined {
    const provider = this.#options.objects.get('GitProvider', providerKey);
    if (provider === undefined) {
      return {
        type: 'Validated',
        status: 'False',
        reason: 'GitProviderNotFound',
        message: `spec.gitProviderRef: GitProvider ${providerKey} does not exist; create it or name another`,
      };
    }
    const own = remoteBranch(provider.spec.url, object.spec.branch);
    const older = this.#options.objects
      .list('GitBranch')
      .filter((other) => keyOf(other) !== keyOf(object) && isOlder(other, object));
    const owner = older.find((other) => {
      const theirs = this.#options.objects.get(
        'GitProvider',
        keyFor(other.spec.gitProviderRef.namespace ?? other.metadata.namespace ?? '', other.spec.gitProviderRef.name),
      );
      return theirs !== undefined && remoteBranch(theirs.spec.url, other.spec.branch) === own;
    });
    if (owner === undefined) return undefined;
    return {
      type: 'Validated',
      status: 'False',
      reason: 'BranchConflict',
      message: `branch ${object.spec.branch} of this repository is owned by the older GitBranch ${keyOf(owner)}; use that one, or delete one of the two`,
    };
  }

  async #keepOpen(
    object: Declared<'GitBranch'>,
    provider: Declared<'GitProvider'>,
    facts: ProviderFacts,
  ): Promise<void> {
    const key = keyOf(object);
    const identity = JSON.stringify([object.metadata.uid, facts.uid, facts.repository]);
    const { committer } = applyDefaults('GitProvider', provider.spec).commit;
    const requested = object.metadata.annotations?.[REQUESTED_AT] ?? '';
    const known = this.#open.get(key);
    if (known?.identity === identity) {
      if (known.facts.accessVersion !== facts.accessVersion || known.parentBranch !== object.spec.parentBranch)
        known.handle.distrust();
      if (JSON.stringify(known.committer) !== JSON.stringify(committer)) known.handle.configure({ committer });
      if (known.requested !== requested && requested !== object.status?.lastHandledReconcileAt) known.handle.observe();
      Object.assign(known, { facts, parentBranch: object.spec.parentBranch, committer, requested });
      return;
    }
    await this.#close(key);
    const store = this.#options.repositories.open({
      id: key,
      branch: object.spec.branch,
      access: () => this.#open.get(key)?.facts.access ?? facts.access,
      parentBranch: () => (this.#open.has(key) ? this.#open.get(key)?.parentBranch : object.spec.parentBranch),
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
    this.#open.set(key, {
      handle,
      subscription,
      identity,
      facts,
      parentBranch: object.spec.parentBranch,
      committer,
      requested,
    });
    handle.observe();
    this.#options.onChange(key);
  }

  async #close(key: string): Promise<void> {
    const open = this.#open.get(key);
    if (open === undefined) return;
    await this.#options.release(key);
    this.#open.delete(key);
    open.subscription[Symbol.dispose]();
    await open.handle.close(CLOSE_BUDGET_MS);
  }
}

const namedIn = (key: string): { readonly namespace: string; readonly name: string } => {
  const { namespace = '', name } = splitKey(key);
  return { namespace, name };
};

/** Canonical, so that two spellings of one remote branch are one. */
function remoteBranch(url: string, branch: string): string {
  return `${repositoryText(canonicalRepository(url))}\n${branch}`;
}

function isOlder(a: Declared<'GitBranch'>, b: Declared<'GitBranch'>): boolean {
  const rank = (object: Declared<'GitBranch'>): string => `${object.metadata['creationTimestamp']} ${keyOf(object)}`;
  return rank(a) < rank(b);
}

function providerGate(readiness: Readiness): Gate<'GitBranch'> {
  const type = 'GitProviderReady';
  if (readiness.level === 'ok') return { type, status: 'True', reason: 'Succeeded', message: 'the provider is ready' };
  const status = readiness.status === 'Unknown' ? 'Unknown' : 'False';
  return {
    type,
    status,
    reason: 'GitProviderNotReady',
    message: `the provider is not ready: ${readiness.reason}: ${readiness.message}`,
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
