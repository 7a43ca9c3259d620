import {
  branchId,
  clusterId,
  hasReason,
  messageOf,
  targetId,
  type BranchStatus,
  type ClusterStatus,
  type Clock,
  type Runtime,
  type TargetHandle,
  type TargetSettings,
  type TargetStatus,
} from '@gitops-reverser/kernel-api';
import type { Gate, KubeProviderLender } from '@gitops-reverser/crd-types';
import { REQUESTED_AT, type Findings } from '../controller.js';
import { grantGate, isAdmitted, type Admission, type Grants } from '../grants.js';
import { remoteOf, seconds } from '../git-branch/reconciler.js';
import { reachable } from '../kube-provider/reconciler.js';
import { keyFor, keyOf, type ControlObjects, type Declared } from '../objects.js';
import type { Readiness } from '../readiness.js';
import { storedProblem } from '../validated.js';
import { branchGate, folderGates, providerGate, refusalsStatus, streamsGate, streamsStatus } from './gates.js';
import { planRules, type RuleFacts, type RulePlan } from './rules.js';
import { foldersNest, settingsOf } from './settings.js';

const EMPTY_PLAN: RulePlan = { collections: [], facts: new Map() };

export interface GitTargetOptions {
  readonly objects: ControlObjects;
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
  branch(key: string): {
    readonly isOpen: boolean;
    readonly status: BranchStatus | undefined;
    readonly readiness: Readiness;
  };
  provider(name: string): { readonly status: ClusterStatus | undefined; readonly readiness: Readiness };
  onChange(key: string): void;
}

interface Opened {
  readonly handle: TargetHandle;
  readonly subscription: Disposable;
  readonly uid: string;
  settings: string;
  requested: string | undefined;
}

/** One folder, its source and how it is written: judges who may, keeps the target open, and owns its watch plan. */
export class GitTargetReconciler {
  readonly #options: GitTargetOptions;
  readonly #open = new Map<string, Opened>();
  readonly #admitted = new Map<string, { readonly branch: string; readonly provider: string }>();
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
  countForBranch(branch: string): number {
    return [...this.#admitted.values()].filter((target) => target.branch === branch).length;
  }
  countForProvider(provider: string): number {
    return [...this.#admitted.values()].filter((target) => target.provider === provider).length;
  }

  /** Lets go of everything that uses a branch or a cluster that is about to close. */
  async release(uses: (target: { readonly branch: string; readonly provider: string }) => boolean): Promise<void> {
    await Promise.all([...this.#admitted].filter(([, target]) => uses(target)).map(([key]) => this.#close(key)));
  }

  async forget(key: string): Promise<void> {
    await this.#close(key);
    this.#admitted.delete(key);
    this.#plans.delete(key);
    this.#valid.delete(key);
    this.#options.grants.forget(`GitTarget ${key}:`);
  }

  async reconcile(object: Declared<'GitTarget'>): Promise<Findings<'GitTarget'>> {
    const key = keyOf(object);
    const branchKey = keyFor(
      object.spec.gitBranchRef.namespace ?? object.metadata.namespace ?? '',
      object.spec.gitBranchRef.name,
    );
    const providerName = object.spec.kubeProviderRef?.name ?? 'default';
    const branch = this.#options.objects.get('GitBranch', branchKey);
    const provider = this.#options.objects.get('KubeProvider', providerName);
    const invalid = storedProblem('GitTarget', object) ?? this.#unusable(object, branchKey, providerName);
    if (invalid !== undefined || branch === undefined || provider === undefined)
      return await this.#stop(key, invalid === undefined ? [] : [invalid]);

    const { settings, gate } = this.#settings(object);
    const lender = {
      kind: 'KubeProvider',
      name: providerName,
      uid: provider.metadata.uid ?? '',
      ...(provider.spec.allowedGitTargets === undefined ? {} : { allowedGitTargets: provider.spec.allowedGitTargets }),
    } as const;
    const admission = this.#admit(object, branch, branchKey, lender);
    const gates: Gate<'GitTarget'>[] = [gate, grantGate('TargetAllowed', admission)];
    if (settings === undefined || !isAdmitted(admission)) return await this.#stop(key, gates);
    this.#admitted.set(key, { branch: branchKey, provider: providerName });

    const onBranch = this.#options.branch(branchKey);
    const onCluster = this.#options.provider(providerName);
    const isWritable = onBranch.status?.writable.status !== 'False';
    gates.push(
      branchGate(onBranch.readiness, isWritable),
      providerGate(onCluster.readiness),
      reachable(onCluster.status?.surface?.reach),
    );
    gates.push({
      type: 'EncryptionConfigured',
      status: 'True',
      reason: 'NotRequired',
      message: 'no encryption is declared: sensitive objects are refused',
    });
    gates.push({
      type: 'RenderMatchesLive',
      status: 'True',
      reason: 'Succeeded',
      message: 'a plain folder renders to what it holds',
    });
    if (!onBranch.isOpen || onCluster.status === undefined) {
      await this.#close(key);
      return { gates, handled: object.status?.lastHandledReconcileAt };
    }
    const unavailable = await this.#keepOpen(object, branchKey, providerName, settings);
    if (unavailable !== undefined) return await this.#stop(key, [unavailable]);
    const plan = planRules(
      this.#options.objects,
      this.#options.grants,
      object,
      lender,
      onCluster.status.surface,
      (served) => this.#sensitivity(served.type, settings),
    );
    this.#plans.set(key, plan);
    const open = this.#open.get(key);
    open?.handle.follow(plan.collections);
    const status = open?.handle.status();
    if (status !== undefined)
      gates.push(
        ...folderGates(status),
        streamsGate(status.streams, plan.collections.length, this.#options.clock.now()),
      );
    return {
      gates,
      status: this.#report(object, plan, status, onBranch.status, settings),
      handled: status?.resyncedToken ?? object.status?.lastHandledReconcileAt,
      ...(settings.suspend
        ? { options: { suspended: 'spec.suspend is true: nothing is written; set it to false to go on' } }
        : {}),
    };
  }

  /** References that must exist, and the one folder rule. */
  #unusable(object: Declared<'GitTarget'>, branchKey: string, providerName: string): Gate<'GitTarget'> | undefined {
    const { objects, encryptionProviders } = this.#options;
    const refuse = (
      reason: 'GitBranchNotFound' | 'KubeProviderNotFound' | 'TargetConflict' | 'PluginUnavailable',
      message: string,
    ): Gate<'GitTarget'> => ({ type: 'Validated', status: 'False', reason, message });
    if (objects.get('GitBranch', branchKey) === undefined)
      return refuse(
        'GitBranchNotFound',
        `spec.gitBranchRef: GitBranch ${branchKey} does not exist; create it or name another`,
      );
    if (objects.get('KubeProvider', providerName) === undefined)
      return refuse(
        'KubeProviderNotFound',
        `spec.kubeProviderRef: KubeProvider ${providerName} does not exist; create it or name another`,
      );
    const owner = objects
      .list('GitTarget')
      .find(
        (other) =>
          other.metadata.uid !== object.metadata.uid &&
          this.#branchOf(other) === branchKey &&
          isOlder(other, object) &&
          foldersNest(other.spec.path, object.spec.path),
      );
    if (owner !== undefined)
      return refuse(
        'TargetConflict',
        `spec.path: folder ${object.spec.path} and folder ${owner.spec.path} of the older GitTarget ${keyOf(owner)} overlap on one branch; choose folders that do not contain each other`,
      );
    const wanted = object.spec.encryption === undefined ? undefined : (object.spec.encryption.provider ?? 'sops');
    if (wanted === undefined || encryptionProviders.includes(wanted)) return undefined;
    const loaded = encryptionProviders.length === 0 ? 'none is loaded' : `loaded: ${encryptionProviders.join(', ')}`;
    return refuse(
      'PluginUnavailable',
      `spec.encryption.provider: no writer serves ${wanted}; ${loaded}; the usual package is @gitops-reverser/plugin-${wanted}`,
    );
  }

  #branchOf(target: Declared<'GitTarget'>): string {
    return keyFor(target.spec.gitBranchRef.namespace ?? target.metadata.namespace ?? '', target.spec.gitBranchRef.name);
  }

  /** The settings in force, and the gate that says whether they are the declared ones. */
  #settings(object: Declared<'GitTarget'>): {
    readonly settings: TargetSettings | undefined;
    readonly gate: Gate<'GitTarget'>;
  } {
    const key = keyOf(object);
    const uid = object.metadata.uid ?? '';
    const declared = settingsOf(object.spec);
    const unknown = this.#unknownFilter(declared);
    const problems = unknown === undefined ? this.#options.validate(declared) : [];
    if (unknown === undefined && problems.length === 0) {
      this.#valid.set(key, { uid, settings: declared });
      return {
        settings: declared,
        gate: { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'the declaration can be used' },
      };
    }
    const earlier = this.#valid.get(key);
    const inForce =
      earlier?.uid === uid ? { ...earlier.settings, suspend: declared.suspend, prune: declared.prune } : undefined;
    const tail = inForce === undefined ? '' : '; the last valid configuration stays in force';
    if (unknown !== undefined)
      return {
        settings: inForce,
        gate: { type: 'Validated', status: 'False', reason: 'InvalidGeneratedFilter', message: `${unknown}${tail}` },
      };
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
  #admit(
    object: Declared<'GitTarget'>,
    branch: Declared<'GitBranch'>,
    branchKey: string,
    cluster: KubeProviderLender & { readonly uid: string },
  ): Admission {
    const key = keyOf(object);
    const borrower = { kind: 'GitTarget', namespace: object.metadata.namespace ?? '', path: object.spec.path } as const;
    const lender = {
      kind: 'GitBranch',
      namespace: branch.metadata.namespace ?? '',
      name: branch.metadata.name,
      ...(branch.spec.allowedGitTargets === undefined ? {} : { allowedGitTargets: branch.spec.allowedGitTargets }),
    } as const;
    const byBranch = this.#options.grants.ask(`GitTarget ${key}:${branchKey}:${branch.metadata.uid}`, {
      lender,
      borrower,
    });
    if (!isAdmitted(byBranch)) return byBranch;
    const byCluster = this.#options.grants.ask(`GitTarget ${key}:${cluster.name}:${cluster.uid}`, {
      lender: cluster,
      borrower,
    });
    return byCluster.kind === 'granted' ? byBranch : byCluster;
  }

  async #keepOpen(
    object: Declared<'GitTarget'>,
    branchKey: string,
    providerName: string,
    settings: TargetSettings,
  ): Promise<Gate<'GitTarget'> | undefined> {
    const key = keyOf(object);
    const uid = object.metadata.uid ?? '';
    const requested = object.metadata.annotations?.[REQUESTED_AT];
    const text = JSON.stringify(settings);
    const known = this.#open.get(key);
    if (known?.uid === uid) {
      if (known.settings !== text) known.handle.configure(settings);
      if (requested !== undefined && requested !== known.requested) known.handle.resync(requested);
      Object.assign(known, { settings: text, requested });
      return undefined;
    }
    await this.#close(key);
    try {
      const { namespace = '', name } = object.metadata;
      const [branchNamespace = '', branchName = ''] = branchKey.split('/');
      const handle = await this.#options.runtime.openTarget({
        id: targetId(namespace, name),
        uid,
        namespace,
        name,
        cluster: clusterId(providerName),
        branch: branchId(branchNamespace, branchName),
        settings,
      });
      const subscription = handle.onChange(() => this.#options.onChange(key));
      this.#open.set(key, { handle, subscription, uid, settings: text, requested });
      if (requested !== undefined && requested !== object.status?.lastHandledReconcileAt) handle.resync(requested);
      return undefined;
    } catch (thrown) {
      if (!hasReason(thrown, 'PluginUnavailable')) throw thrown;
      return { type: 'Validated', status: 'False', reason: 'PluginUnavailable', message: messageOf(thrown) };
    }
  }

  /** No stream runs and nothing is written while a declaration or a grant does not allow it. Files stay. */
  async #stop(key: string, gates: readonly Gate<'GitTarget'>[]): Promise<Findings<'GitTarget'>> {
    this.#admitted.delete(key);
    this.#plans.set(key, EMPTY_PLAN);
    await this.#close(key);
    return { gates };
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

  #report(
    object: Declared<'GitTarget'>,
    plan: RulePlan,
    status: TargetStatus | undefined,
    branch: BranchStatus | undefined,
    settings: TargetSettings,
  ) {
    const { retention, refused = [], streams = [] } = status ?? {};
    const { parent, ...remote } =
      branch?.remote === undefined ? { parent: undefined } : remoteOf(branch.remote, object.status?.remote);
    return {
      streams: streamsStatus(streams, plan.collections.length),
      ...(retention === undefined || settings.suspend
        ? {}
        : {
            retention: {
              mode: retention.mode,
              retainedDocuments: retention.retainedDocuments,
              observedAt: seconds(retention.observedAt),
            },
          }),
      ...('commit' in remote ? { remote } : {}),
      ...refusalsStatus(refused),
    };
  }
}

function isOlder(a: Declared<'GitTarget'>, b: Declared<'GitTarget'>): boolean {
  const rank = (object: Declared<'GitTarget'>): string => `${object.metadata.creationTimestamp} ${keyOf(object)}`;
  return rank(a) < rank(b);
}
