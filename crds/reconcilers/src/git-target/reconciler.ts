import {
  branchId,
  clusterId,
  collectionKey,
  hasReason,
  messageOf,
  targetId,
  type BranchHandle,
  type ClusterHandle,
  type Clock,
  type Runtime,
  type TargetHandle,
  type TargetSettings,
  type TargetStatus,
} from '@gitops-reverser/kernel-api';
import type { Gate, KubeProviderLender } from '@gitops-reverser/crd-types';
import { REQUESTED_AT, type Findings } from '../controller.js';
import { grantGate, isAdmitted, retryOf, type Admission, type Grants } from '../grants.js';
import { reachable } from '../kube-provider/reconciler.js';
import { isOlder, keyOf, splitKey, type Declared, type Objects } from '../objects.js';
import { NOT_JUDGED, type Readiness } from '../readiness.js';
import { storedProblem } from '../validated.js';
import { branchQuestion, encryptionGate, missing, refsOf, refused, type TargetRefs } from './checks.js';
import { branchGate, folderGates, providerGate, streamsGate, streamsPatienceMs } from './gates.js';
import { noticesOf } from './notices.js';
import { report, streamsStatus } from './report.js';
import { planRules, sourceNamespacesOf, type RuleFacts, type RulePlan } from './rules.js';
import { foldersNest, settingsOf } from './settings.js';

const EMPTY_PLAN: RulePlan = { collections: [], facts: new Map() };
/** Branch or cluster were closed while a target opened on them: whoever opens them again wakes it, this is for certain. */
const MOVED_RETRY_MS = 2_000;

export interface GitTargetOptions {
  readonly objects: Objects;
  readonly grants: Grants;
  readonly runtime: Runtime;
  readonly clock: Clock;
  /** Filter ids a target may name, with their default. */
  readonly generatedFilters: readonly { readonly id: string; readonly on: boolean }[];
  /** Encryption providers some loaded writer serves. */
  readonly encryptionProviders: readonly string[];
  isSensitive(group: string, resource: string): boolean;
  /** Problems of templates and placement that no schema can express; empty when there are none. */
  validate(settings: TargetSettings): readonly string[];
  branch(key: string): { readonly handle: BranchHandle | undefined; readonly readiness: Readiness };
  provider(name: string): { readonly handle: ClusterHandle | undefined; readonly readiness: Readiness };
  onChange(key: string): void;
}

interface Opened {
  readonly handle: TargetHandle;
  readonly subscription: Disposable;
  readonly uid: string;
  readonly refs: TargetRefs;
  /** What it was opened on: another handle is another opening. */
  readonly branch: BranchHandle;
  readonly cluster: ClusterHandle;
  settings: string;
  followed: string;
  requested: string | undefined;
}

type KubeLender = KubeProviderLender & { readonly uid: string };

/** One folder, its source and how it is written: judges who may, keeps the target open, and owns its watch plan. */
export class GitTargetReconciler {
  readonly #options: GitTargetOptions;
  readonly #open = new Map<string, Opened>();
  readonly #admitted = new Map<string, TargetRefs>();
  readonly #plans = new Map<string, RulePlan>();
  /** Last valid settings by object: a template error does not stop a working target. */
  readonly #valid = new Map<string, { readonly uid: string; readonly settings: TargetSettings }>();

  constructor(options: GitTargetOptions) {
    this.#options = options;
  }

  rule(key: string, rule: string): RuleFacts | undefined {
    return this.#plans.get(key)?.facts.get(rule);
  }
  status(key: string): TargetStatus | undefined {
    return this.#open.get(key)?.handle.status();
  }
  isAdmitted(key: string): boolean {
    return this.#admitted.has(key);
  }
  countForBranch(branch: string): number {
    return [...this.#admitted.values()].filter((target) => target.branch === branch).length;
  }
  countForProvider(provider: string): number {
    return [...this.#admitted.values()].filter((target) => target.provider === provider).length;
  }

  /** Lets go of everything that uses a branch or a cluster that is about to close. */
  async release(uses: (target: TargetRefs) => boolean): Promise<void> {
    await Promise.all([...this.#open].filter(([, { refs }]) => uses(refs)).map(([key]) => this.#close(key)));
  }

  async forget(key: string): Promise<void> {
    this.#admitted.delete(key);
    this.#plans.delete(key);
    this.#valid.delete(key);
    await this.#close(key);
    this.#options.grants.forget(`GitTarget ${key}:`);
  }

  async reconcile(object: Declared<'GitTarget'>): Promise<Findings<'GitTarget'>> {
    const key = keyOf(object);
    const refs = refsOf(object);
    const { objects } = this.#options;
    const branch = objects.get('GitBranch', refs.branch);
    const provider = objects.get('KubeProvider', refs.provider);
    const invalid = storedProblem('GitTarget', object) ?? missing(refs, branch, provider);
    if (invalid !== undefined || branch === undefined || provider === undefined)
      return await this.#stop(object, [invalid]);
    const unusable = this.#conflict(object, branch) ?? this.#unserved(object);
    if (unusable !== undefined) return await this.#stop(object, [unusable]);
    // It goes as soon as whoever holds it lets go; from now on nothing more enters the river.
    if (object.metadata.deletionTimestamp !== undefined) return await this.#stop(object, []);

    const { settings, gate } = this.#settings(object);
    const { allowedGitTargets } = provider.spec;
    const lender: KubeLender = {
      kind: 'KubeProvider',
      name: refs.provider,
      uid: provider.metadata.uid ?? '',
      ...(allowedGitTargets === undefined ? {} : { allowedGitTargets }),
    };
    const admission = this.#admit(object, branch, lender);
    const gates: Gate<'GitTarget'>[] = [gate, grantGate('TargetAllowed', admission)];
    if (settings === undefined || !isAdmitted(admission))
      return { ...(await this.#stop(object, gates)), ...retryOf(admission) };
    this.#admitted.set(key, refs);

    const onBranch = this.#options.branch(refs.branch);
    const onCluster = this.#options.provider(refs.provider);
    const isWritable = onBranch.handle?.status().writable.status !== 'False';
    const surface = onCluster.handle?.status().surface;
    gates.push(
      branchGate(refs.branch, onBranch.readiness, isWritable),
      providerGate(refs.provider, onCluster.readiness),
      reachable(surface?.reach),
    );
    const opened = await this.#keepOpen(object, refs, onBranch.handle, onCluster.handle, settings);
    if (opened.kind === 'refused') return await this.#stop(object, [opened.gate]);
    if (opened.kind === 'waiting') {
      gates.push(encryptionGate(settings, [], []));
      const handled = object.status?.lastHandledReconcileAt;
      const isEarly = onBranch.readiness === NOT_JUDGED || onCluster.readiness === NOT_JUDGED;
      return { gates, handled, isEarly, ...(opened.isMoved ? { requeueAfterMs: MOVED_RETRY_MS } : retryOf(admission)) };
    }
    const uncovered = new Set<string>();
    const plan = planRules(objects, this.#options.grants, object, lender, surface, (served) => {
      const problem = this.#sensitivity(served.type, settings);
      if (problem !== undefined) uncovered.add(served.type.resource);
      return problem;
    });
    this.#plans.set(key, plan);
    this.#follow(opened.target, plan);
    const status = opened.target.handle.status();
    const keys = new Set(plan.collections.map(collectionKey));
    // Streams that are about to stop are no longer its business.
    const streams = status.streams.filter(({ collection }) => keys.has(collectionKey(collection)));
    const now = this.#options.clock.now();
    gates.push(encryptionGate(settings, [...uncovered].sort(), status.plaintext), ...folderGates(status));
    // Before the first look at the cluster nobody knows what the rules select: nothing is claimed.
    const isKnown = (surface?.generation ?? 0) > 0 || plan.facts.size === 0;
    if (isKnown) gates.push(streamsGate(streams, plan.collections.length, now));
    const retries = [retryOf(admission).requeueAfterMs, plan.retryMs, streamsPatienceMs(streams, now)];
    const requeueAfterMs = Math.min(...retries.map((ms) => ms ?? Number.POSITIVE_INFINITY));
    return {
      gates,
      status: report(object, status, onBranch.handle, settings, streamsStatus(streams, plan.collections.length)),
      notices: noticesOf(status),
      handled: status.resyncedToken ?? object.status?.lastHandledReconcileAt,
      ...(Number.isFinite(requeueAfterMs) ? { requeueAfterMs } : {}),
      ...(settings.suspend
        ? { options: { suspended: 'spec.suspend is true: nothing is written; set it to false to go on' } }
        : {}),
    };
  }

  /** The one folder rule. Who is not admitted to the branch owns no folder of it. */
  #conflict(object: Declared<'GitTarget'>, branch: Declared<'GitBranch'>): Gate<'GitTarget'> | undefined {
    const branchKey = keyOf(branch);
    const owner = this.#options.objects
      .list('GitTarget')
      .filter((other) => other.metadata.uid !== object.metadata.uid && refsOf(other).branch === branchKey)
      .filter((other) => isOlder(other, object) && foldersNest(other.spec.path, object.spec.path))
      .find((other) => this.isAdmitted(keyOf(other)) || this.#options.grants.admits(branchQuestion(other, branch)));
    if (owner === undefined) return undefined;
    return refused(
      'TargetConflict',
      `spec.path: folder ${object.spec.path} and folder ${owner.spec.path} of the older GitTarget ${keyOf(owner)} overlap on one branch; choose folders that do not contain each other`,
    );
  }

  #unserved({ spec }: Declared<'GitTarget'>): Gate<'GitTarget'> | undefined {
    const { encryptionProviders } = this.#options;
    const wanted = spec.encryption === undefined ? undefined : (spec.encryption.provider ?? 'sops');
    if (wanted === undefined || encryptionProviders.includes(wanted)) return undefined;
    const loaded = encryptionProviders.length === 0 ? 'none is loaded' : `loaded: ${encryptionProviders.join(', ')}`;
    return refused(
      'PluginUnavailable',
      `spec.encryption.provider: no writer serves ${wanted}; ${loaded}; the usual package is @gitops-reverser/plugin-${wanted}`,
    );
  }

  /** The settings in force, and the gate that says whether they are the declared ones. */
  #settings(object: Declared<'GitTarget'>): {
    readonly settings: TargetSettings | undefined;
    readonly gate: Gate<'GitTarget'>;
  } {
    const key = keyOf(object);
    const uid = object.metadata.uid ?? '';
    const sourceNamespaces = sourceNamespacesOf(this.#options.objects, object);
    const declared = { ...settingsOf(object.spec), sourceNamespaces };
    const unknown = this.#unknownFilter(declared);
    const problems = unknown === undefined ? this.#options.validate(declared) : [];
    if (unknown === undefined && problems.length === 0) {
      this.#valid.set(key, { uid, settings: declared });
      return {
        settings: declared,
        gate: { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'the declaration can be used' },
      };
    }
    // Only a template or a placement leaves a working target as it is (chapter 10, 4.2 and 4.6).
    if (unknown !== undefined)
      return {
        settings: undefined,
        gate: { type: 'Validated', status: 'False', reason: 'InvalidGeneratedFilter', message: unknown },
      };
    const earlier = this.#valid.get(key);
    const { suspend, prune } = declared;
    const inForce = earlier?.uid === uid ? { ...earlier.settings, suspend, prune, sourceNamespaces } : undefined;
    const tail = inForce === undefined ? '' : '; the last valid configuration stays in force';
    const more = problems.length === 1 ? '' : ` and ${problems.length - 1} more`;
    return {
      settings: inForce,
      gate: { type: 'Validated', status: 'False', reason: 'InvalidConfig', message: `${problems[0]}${more}${tail}` },
    };
  }

  #unknownFilter({ generated }: TargetSettings): string | undefined {
    const { generatedFilters } = this.#options;
    const on = generatedFilters.filter((filter) => filter.on).map(({ id }) => id);
    const off = generatedFilters.filter((filter) => !filter.on).map(({ id }) => id);
    const badInclude = generated.include.find((id) => id !== '*' && !on.includes(id));
    if (badInclude !== undefined)
      return `spec.includeGenerated: ${badInclude} is no filter that is on by default; there are ${on.join(', ')} and *`;
    const badExclude = generated.exclude.find((id) => !off.includes(id));
    return badExclude === undefined
      ? undefined
      : `spec.excludeGenerated: ${badExclude} is no filter that is off by default; there are ${off.join(', ')}`;
  }

  /** Both lenders must admit it: the branch and the cluster. */
  #admit(object: Declared<'GitTarget'>, branch: Declared<'GitBranch'>, cluster: KubeLender): Admission {
    const key = keyOf(object);
    const question = branchQuestion(object, branch);
    const { grants } = this.#options;
    const byBranch = grants.ask(`GitTarget ${key}:${keyOf(branch)}:${branch.metadata.uid}`, question);
    if (!isAdmitted(byBranch)) return byBranch;
    const { borrower } = question;
    const byCluster = grants.ask(`GitTarget ${key}:${cluster.name}:${cluster.uid}`, { lender: cluster, borrower });
    return byCluster.kind === 'granted' ? byBranch : byCluster;
  }

  async #keepOpen(
    object: Declared<'GitTarget'>,
    refs: TargetRefs,
    branch: BranchHandle | undefined,
    cluster: ClusterHandle | undefined,
    settings: TargetSettings,
  ): Promise<
    | { readonly kind: 'open'; readonly target: Opened }
    | { readonly kind: 'waiting'; readonly isMoved: boolean }
    | { readonly kind: 'refused'; readonly gate: Gate<'GitTarget'> }
  > {
    const key = keyOf(object);
    const uid = object.metadata.uid ?? '';
    const requested = object.metadata.annotations?.[REQUESTED_AT];
    const text = JSON.stringify(settings);
    const known = this.#open.get(key);
    if (known !== undefined && known.uid === uid && known.branch === branch && known.cluster === cluster) {
      if (known.settings !== text) known.handle.configure(settings);
      if (requested !== undefined && requested !== known.requested) known.handle.resync(requested);
      Object.assign(known, { settings: text, requested });
      return { kind: 'open', target: known };
    }
    await this.#close(key);
    if (branch === undefined || cluster === undefined) return { kind: 'waiting', isMoved: false };
    const { namespace = '', name } = object.metadata;
    const { namespace: branchNamespace = '', name: branchName } = splitKey(refs.branch);
    let handle: TargetHandle;
    try {
      handle = await this.#options.runtime.openTarget({
        id: targetId(namespace, name),
        uid,
        namespace,
        name,
        cluster: clusterId(refs.provider),
        branch: branchId(branchNamespace, branchName),
        settings,
      });
    } catch (thrown) {
      if (hasReason(thrown, 'NotOpen')) return { kind: 'waiting', isMoved: true };
      if (!hasReason(thrown, 'PluginUnavailable')) throw thrown;
      return { kind: 'refused', gate: refused('PluginUnavailable', messageOf(thrown)) };
    }
    const isSame =
      this.#options.branch(refs.branch).handle === branch && this.#options.provider(refs.provider).handle === cluster;
    if (!isSame) {
      await handle.close();
      return { kind: 'waiting', isMoved: true };
    }
    const subscription = handle.onChange(() => this.#options.onChange(key));
    const target: Opened = {
      handle,
      subscription,
      uid,
      refs,
      branch,
      cluster,
      settings: text,
      followed: '',
      requested,
    };
    this.#open.set(key, target);
    if (requested !== undefined && requested !== object.status?.lastHandledReconcileAt) handle.resync(requested);
    return { kind: 'open', target };
  }

  #follow(target: Opened, { collections }: RulePlan): void {
    const followed = JSON.stringify(collections);
    if (target.followed === followed) return;
    target.followed = followed;
    target.handle.follow(collections);
  }

  /** No stream runs and nothing is written while a declaration or a grant does not allow it. Files stay. */
  async #stop(
    object: Declared<'GitTarget'>,
    gates: readonly (Gate<'GitTarget'> | undefined)[],
  ): Promise<Findings<'GitTarget'>> {
    const key = keyOf(object);
    this.#admitted.delete(key);
    this.#plans.set(key, EMPTY_PLAN);
    await this.#close(key);
    // A resync that was asked for is still owed.
    return {
      gates: gates.filter((gate) => gate !== undefined),
      handled: object.status?.lastHandledReconcileAt,
    };
  }

  async #close(key: string): Promise<void> {
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#open.delete(key);
    open.subscription[Symbol.dispose]();
    await open.handle.close();
  }

  /** A sensitive type needs an encrypting writer (chapter 20, section 12, check 9). */
  #sensitivity(
    type: { readonly group: string; readonly resource: string },
    settings: TargetSettings,
  ): string | undefined {
    if (settings.encryption !== undefined || !this.#options.isSensitive(type.group, type.resource)) return undefined;
    return `${type.resource} is sensitive and the GitTarget declares no encryption; nothing is ever written in clear`;
  }
}
