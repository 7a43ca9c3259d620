import type { Clock } from '@gitops-reverser/kernel-api';
import { canonicalRepository, repositoryText, type Gate, type GitProvider } from '@gitops-reverser/crd-types';
import { REQUESTED_AT, type Findings } from '../controller.js';
import { keyOf, type Declared } from '../objects.js';
import type { Repositories, RepositoryAccess } from '../repositories.js';
import type { SecretReader } from '../secrets.js';
import { storedProblem } from '../validated.js';
import { resolveCredentials, type CredentialsVerdict } from './credentials.js';
import { RemoteProbe, type ProbeVerdict } from './probe.js';

/** How often a healthy provider's Secret is looked at again: rotations are picked up without asking the host. */
const SECRET_CHECK_MS = 30_000;
/** The same while something is wrong with it: somebody is waiting. */
const SECRET_RETRY_MS = 10_000;
/** Proof of contact is rewritten at most this often. */
const VERIFIED_EVERY_MS = 600_000;

export interface ProviderFacts {
  readonly uid: string;
  readonly repository: string;
  readonly access: RepositoryAccess;
  /** Differs when credential, trust or proxy did. */
  readonly accessVersion: string;
}

export interface GitProviderOptions {
  readonly repositories: Repositories;
  readonly reader: SecretReader;
  readonly clock: Clock;
  readonly allowHttp: boolean;
  /** Admitted branches of a provider. */
  branchCount(key: string): number;
  /** What sessions of its branches could not reach, in a stable order; empty while all is well. */
  branchTroubles(key: string): readonly string[];
}

/** Which repository, with whose credential: says whether it can be reached, and hands out how. */
export class GitProviderReconciler {
  readonly #options: GitProviderOptions;
  readonly #probes = new Map<string, RemoteProbe>();
  readonly #facts = new Map<string, ProviderFacts>();

  constructor(options: GitProviderOptions) {
    this.#options = options;
  }

  /** How to reach the repository; absent while its declaration or credential does not allow it. */
  facts(key: string): ProviderFacts | undefined {
    return this.#facts.get(key);
  }

  async forget(key: string): Promise<void> {
    this.#probes.delete(key);
    this.#facts.delete(key);
  }

  async reconcile(object: Declared<'GitProvider'>, signal: AbortSignal): Promise<Findings<'GitProvider'>> {
    const key = keyOf(object);
    const invalid = passwordInUrl(object) ?? storedProblem('GitProvider', object) ?? this.#refusedUrl(object);
    if (invalid !== undefined) {
      this.#facts.delete(key);
      return { gates: [invalid] };
    }
    const repository = repositoryText(canonicalRepository(object.spec.url));
    const shared = { repository, gitBranchCount: this.#options.branchCount(key) };
    const gates: Gate<'GitProvider'>[] = [
      { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'the declaration can be used' },
    ];
    const namespace = object.metadata.namespace ?? '';
    const credentials = await resolveCredentials(object.spec, namespace, this.#options.reader, signal);
    const facts = this.#factsFrom(key, object, credentials, repository);
    gates.push(credentialsGate(credentials, facts !== undefined));
    if (object.spec.commit?.signing !== undefined) {
      // Configured but unusable signing: nothing is committed unsigned (chapter 40, section 7).
      this.#facts.delete(key);
      gates.push({
        type: 'SigningConfigured',
        status: 'False',
        reason: 'CommitConfigInvalid',
        message: `spec.commit.signing: GitProvider ${key} asks for signed commits, this version cannot sign; remove the block, or wait for a version that can`,
      });
      return { gates, status: shared };
    }
    if (facts === undefined) {
      this.#facts.delete(key);
      return { gates, status: shared, requeueAfterMs: SECRET_RETRY_MS };
    }
    this.#facts.set(key, facts);

    const probe = this.#probe(key);
    const question = JSON.stringify([
      object.metadata.uid,
      object.spec.url,
      object.spec.secretRef,
      object.spec.tls,
      facts.accessVersion,
      object.metadata.annotations?.[REQUESTED_AT] ?? '',
    ]);
    const heard = this.#options.branchTroubles(key).join('\n');
    const verdict = await probe.judge({ question, heard }, facts.access, signal);
    gates.push(reachableGate(verdict));
    const defaultBranch = probe.lastSuccess?.defaultBranch;
    const isWell = credentials.kind === 'resolved' && verdict.kind !== 'stalled';
    return {
      gates,
      status: {
        ...shared,
        ...(defaultBranch === undefined ? {} : { defaultBranch }),
        ...this.#verifiedAt(object, probe),
      },
      requeueAfterMs: Math.min(
        isWell ? SECRET_CHECK_MS : SECRET_RETRY_MS,
        probe.retryAfterMs ?? Number.POSITIVE_INFINITY,
      ),
    };
  }

  /** What was read, or what was read before when nothing can be read now. */
  #factsFrom(
    key: string,
    { metadata }: Declared<'GitProvider'>,
    credentials: CredentialsVerdict,
    repository: string,
  ): ProviderFacts | undefined {
    const uid = metadata.uid ?? '';
    switch (credentials.kind) {
      case 'refused':
        return undefined;
      case 'unreadable':
        return this.#facts.get(key);
      case 'resolved':
        return {
          uid,
          repository,
          access: credentials.access,
          accessVersion: `${uid}/${credentials.version}`,
        };
    }
  }

  #refusedUrl({ spec }: GitProvider): Gate<'GitProvider'> | undefined {
    const refuse = (reason: 'PluginUnavailable' | 'InsecureTransport', message: string): Gate<'GitProvider'> => ({
      type: 'Validated',
      status: 'False',
      reason,
      message,
    });
    if (!/^https?:\/\//i.test(spec.url))
      return refuse(
        'PluginUnavailable',
        'spec.url: this version reaches repositories over http and https, found an SSH address; give the https URL of the same repository',
      );
    if (/^http:/i.test(spec.url) && !this.#options.allowHttp)
      return refuse(
        'InsecureTransport',
        'spec.url: plain http sends credentials in clear; use https, or start the operator with --insecure-allow-git-http',
      );
    if (spec.proxy !== undefined)
      return refuse(
        'PluginUnavailable',
        'spec.proxy: this version uses the proxy of the pod environment only; remove it',
      );
    return undefined;
  }

  #probe(key: string): RemoteProbe {
    const known = this.#probes.get(key) ?? new RemoteProbe(this.#options.repositories, this.#options.clock);
    this.#probes.set(key, known);
    return known;
  }

  #verifiedAt(object: GitProvider, probe: RemoteProbe): { readonly lastVerifiedAt?: string } {
    const at = probe.lastSuccess?.at;
    const stored = object.status?.lastVerifiedAt;
    if (at === undefined) return stored === undefined ? {} : { lastVerifiedAt: stored };
    if (stored !== undefined && Math.abs(at.getTime() - Date.parse(stored)) < VERIFIED_EVERY_MS)
      return { lastVerifiedAt: stored };
    return { lastVerifiedAt: `${at.toISOString().slice(0, 19)}Z` };
  }
}

/** Admission refuses it (GP-3): this is about objects stored before. */
function passwordInUrl({ spec }: GitProvider): Gate<'GitProvider'> | undefined {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/@]*:[^/@]*@/.test(spec.url)) return undefined;
  return {
    type: 'Validated',
    status: 'False',
    reason: 'UserInfoInURL',
    message:
      'spec.url: the address holds a password; credentials belong into the Secret of spec.secretRef: delete and recreate the GitProvider without it, and change the password',
  };
}

function credentialsGate(verdict: CredentialsVerdict, isKept: boolean): Gate<'GitProvider'> {
  const type = 'CredentialsResolved';
  switch (verdict.kind) {
    case 'refused':
      return { type, status: 'False', reason: verdict.reason, message: verdict.message };
    case 'unreadable':
      return isKept
        ? {
            type,
            status: 'True',
            reason: 'Succeeded',
            message: `what was read before stays in use; ${verdict.message}`,
          }
        : { type, status: 'Unknown', reason: 'Progressing', message: `${verdict.message}; it is tried again` };
    case 'resolved':
      return verdict.isAnonymous
        ? { type, status: 'True', reason: 'Anonymous', message: 'no credential: anonymous access' }
        : { type, status: 'True', reason: 'Succeeded', message: 'the credential was read' };
  }
}

function reachableGate(verdict: ProbeVerdict): Gate<'GitProvider'> {
  const type = 'RemoteReachable';
  switch (verdict.kind) {
    case 'reachable':
      return { type, status: 'True', reason: 'Succeeded', message: 'the remote answered' };
    case 'stalled':
      return { type, status: 'False', reason: verdict.reason, message: verdict.message };
    case 'away':
      return verdict.isTolerated
        ? {
            type,
            status: 'True',
            reason: 'Succeeded',
            message: `the remote answered before; the last look failed: ${verdict.message}`,
          }
        : { type, status: 'False', reason: 'RemoteUnavailable', message: verdict.message };
  }
}
