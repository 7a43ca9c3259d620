import type { Clock } from '@gitops-reverser/kernel-api';
import {
  applyDefaults,
  canonicalRepository,
  repositoryText,
  type Gate,
  type GitProvider,
} from '@gitops-reverser/crd-types';
import { REQUESTED_AT, type Findings } from '../controller.js';
import { keyOf, type Declared } from '../objects.js';
import type { Repositories, RepositoryAccess } from '../repositories.js';
import type { SecretReader } from '../secrets.js';
import { storedProblem } from '../validated.js';
import { resolveCredentials } from './credentials.js';
import { RemoteProbe, type ProbeVerdict } from './probe.js';

/** How often a healthy provider's Secret is looked at again: rotations are picked up without asking the host. */
const SECRET_CHECK_MS = 30_000;
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
    const invalid = storedProblem('GitProvider', object) ?? this.#refusedUrl(object);
    if (invalid !== undefined) {
      this.#facts.delete(key);
      return { gates: [invalid] };
    }
    const repository = repositoryText(canonicalRepository(object.spec.url));
    const shared = { repository, gitBranchCount: this.#options.branchCount(key) };
    const gates: Gate<'GitProvider'>[] = [
      { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'the declaration can be used' },
    ];
    if (object.spec.commit?.signing !== undefined) {
      gates.push({
        type: 'SigningConfigured',
        status: 'False',
        reason: 'CommitConfigInvalid',
        message: 'spec.commit.signing: this version cannot sign commits; remove it, or wait for a version that can',
      });
    }
    const credentials = await resolveCredentials(
      object.spec,
      object.metadata.namespace ?? '',
      this.#options.reader,
      signal,
    );
    if (credentials.kind === 'refused') {
      gates.push({
        type: 'CredentialsResolved',
        status: 'False',
        reason: credentials.reason,
        message: credentials.message,
      });
      this.#facts.delete(key);
      return { gates, status: shared, requeueAfterMs: SECRET_CHECK_MS };
    }
    gates.push({
      type: 'CredentialsResolved',
      status: 'True',
      reason: credentials.isAnonymous ? 'Anonymous' : 'Succeeded',
      message: credentials.isAnonymous ? 'no credential: anonymous access' : 'the credential was read',
    });
    this.#facts.set(key, {
      uid: object.metadata.uid ?? '',
      repository,
      access: credentials.access,
      accessVersion: `${object.metadata.uid}/${credentials.version}`,
    });

    const probe = this.#probe(key);
    const requested = object.metadata.annotations?.[REQUESTED_AT] ?? '';
    const cause = JSON.stringify([
      object.metadata.uid,
      object.spec.url,
      object.spec.secretRef,
      object.spec.tls,
      object.spec.proxy,
      credentials.version,
      requested,
    ]);
    const verdict = await probe.judge(cause, credentials.access, signal);
    gates.push(reachableGate(verdict));
    return {
      gates,
      status: {
        ...shared,
        ...(verdict.kind === 'reachable' && verdict.defaultBranch !== undefined
          ? { defaultBranch: verdict.defaultBranch }
          : {}),
        ...this.#verifiedAt(object, probe),
      },
      requeueAfterMs: Math.min(SECRET_CHECK_MS, probe.retryAfterMs ?? SECRET_CHECK_MS),
    };
  }

  #refusedUrl(object: GitProvider): Gate<'GitProvider'> | undefined {
    const { url } = applyDefaults('GitProvider', object.spec);
    if (!/^https?:\/\//i.test(url)) {
      return {
        type: 'Validated',
        status: 'False',
        reason: 'PluginUnavailable',
        message:
          'spec.url: this version reaches repositories over http and https; give the https URL of the same repository',
      };
    }
    if (/^http:/i.test(url) && !this.#options.allowHttp) {
      return {
        type: 'Validated',
        status: 'False',
        reason: 'InsecureTransport',
        message:
          'spec.url: plain http sends credentials in clear; use https, or start the operator with --insecure-allow-git-http',
      };
    }
    if (object.spec.proxy !== undefined) {
      return {
        type: 'Validated',
        status: 'False',
        reason: 'PluginUnavailable',
        message: 'spec.proxy: this version uses the proxy of the pod environment only; remove it',
      };
    }
    return undefined;
  }

  #probe(key: string): RemoteProbe {
    const known = this.#probes.get(key) ?? new RemoteProbe(this.#options.repositories, this.#options.clock);
    this.#probes.set(key, known);
    return known;
  }

  #verifiedAt(object: GitProvider, probe: RemoteProbe): { readonly lastVerifiedAt?: string } {
    const at = probe.lastSuccessAt;
    const stored = object.status?.lastVerifiedAt;
    if (at === undefined) return stored === undefined ? {} : { lastVerifiedAt: stored };
    if (stored !== undefined && Math.abs(at.getTime() - Date.parse(stored)) < VERIFIED_EVERY_MS)
      return { lastVerifiedAt: stored };
    return { lastVerifiedAt: `${at.toISOString().slice(0, 19)}Z` };
  }
}

function reachableGate(verdict: ProbeVerdict): Gate<'GitProvider'> {
  switch (verdict.kind) {
    case 'reachable':
      return { type: 'RemoteReachable', status: 'True', reason: 'Succeeded', message: 'the remote answered' };
    case 'stalled':
      return { type: 'RemoteReachable', status: 'False', reason: verdict.reason, message: verdict.message };
    case 'away':
      return verdict.isTolerated
        ? {
            type: 'RemoteReachable',
            status: 'True',
            reason: 'Succeeded',
            message: `the remote answered before; the last look failed: ${verdict.message}`,
          }
        : { type: 'RemoteReachable', status: 'False', reason: 'RemoteUnavailable', message: verdict.message };
  }
}
