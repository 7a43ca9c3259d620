import type { Clock, KubeObject, Logger, Runtime, TargetSettings } from '@gitops-reverser/kernel-api';
import {
  EventRecorder,
  KubeClient,
  type InformerChange,
  type KubeConnection,
  type KubeCredentials,
  type KubeconfigPolicy,
} from '@gitops-reverser/toolkit-kube';
import { Controller, REQUESTED_AT } from './controller.js';
import { GitBranchReconciler, providerOf } from './git-branch/reconciler.js';
import { GitProviderReconciler } from './git-provider/reconciler.js';
import { refsOf, type TargetRefs } from './git-target/checks.js';
import { GitTargetReconciler } from './git-target/reconciler.js';
import { foldersNest } from './git-target/settings.js';
import { Grants } from './grants.js';
import { KubeProviderReconciler } from './kube-provider/reconciler.js';
import { ControlObjects, keyOf, type Declared, type Objects, type Reconciled } from './objects.js';
import type { Repositories } from './repositories.js';
import { SecretReader } from './secrets.js';
import { RuleReconciler, targetOf } from './watch-rule/reconciler.js';

export interface ReconcilersOptions {
  /** To the cluster our own objects live in. */
  readonly connection: KubeConnection;
  /** The operator's own way there: what `inCluster` lends. */
  readonly localCredentials: KubeCredentials;
  readonly runtime: Runtime;
  readonly repositories: Repositories;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly operatorNamespace: string;
  readonly instance: string;
  readonly allowGitHttp: boolean;
  readonly kubeconfigPolicy: KubeconfigPolicy;
  readonly sourceLimits: { readonly qps: number; readonly burst: number };
  readonly generatedFilters: readonly { readonly id: string; readonly on: boolean }[];
  readonly encryptionProviders: readonly string[];
  /** Values of `spec.connection.dialect` that some loaded source serves. */
  readonly dialects: readonly string[];
  /** Hides secrets in a text that leaves the process: conditions and events. */
  redact(text: string): string;
  isSensitive(group: string, resource: string): boolean;
  /** Problems of templates and placement that no schema can express. */
  validateTarget(settings: TargetSettings): readonly string[];
}

export interface RunningReconcilers {
  /** What has not been read so far; undefined once every cache is complete. */
  missing(): string | undefined;
  /** Stops deciding: nothing is opened, closed or reported any more. What is open stays open, for the runtime to close. */
  stop(): Promise<void>;
  /** Closes the connections of source clusters, once the runtime has let go of them. */
  disconnect(): Promise<void>;
}

/** Starts one controller per kind. A settled object wakes those that depend on it; nothing polls. */
export function startReconcilers(options: ReconcilersOptions): RunningReconcilers {
  const logger = options.logger.child({ component: 'reconcilers' });
  const client = new KubeClient(options.connection);
  const objects = new ControlObjects(client, logger);
  const deciding = decideOn({ ...options, logger, client, objects });
  const started = objects.synced().then(
    () => deciding.start(),
    () => undefined,
  );
  return {
    missing: () => objects.missing(),
    disconnect: () => deciding.disconnect(),
    async stop() {
      await objects[Symbol.asyncDispose]();
      await started;
      await deciding.stop();
    },
  };
}

/** The reconcilers over whatever tells them of objects. */
export interface Deciding {
  /** Every object known was read completely (WP-15). */
  start(): void;
  stop(): Promise<void>;
  disconnect(): Promise<void>;
}

export interface DecidingOptions extends Omit<ReconcilersOptions, 'connection'> {
  readonly client: KubeClient;
  readonly objects: Objects;
}

export function decideOn(options: DecidingOptions): Deciding {
  const { clock, runtime, repositories, logger, client, objects } = options;
  const grants = new Grants({ objects, clock, logger });
  const reader = new SecretReader(client);
  const recorder = new EventRecorder({ client, component: 'gitops-reverser', instance: options.instance, logger });
  const redact = (text: string): string => options.redact(text);
  const shared = { objects, client, recorder, clock, logger, redact };

  const targets: GitTargetReconciler = new GitTargetReconciler({
    objects,
    grants,
    runtime,
    clock,
    generatedFilters: options.generatedFilters,
    encryptionProviders: options.encryptionProviders,
    isSensitive: options.isSensitive,
    validate: options.validateTarget,
    branch: (key) => ({ handle: branches.handle(key), readiness: branchController.readiness(key) }),
    provider: (name) => ({ handle: clusters.handle(name), readiness: clusterController.readiness(name) }),
    onChange: (key) => targetController.enqueue(key),
  });
  const branches: GitBranchReconciler = new GitBranchReconciler({
    objects,
    grants,
    runtime,
    repositories,
    provider: (key) => ({ facts: providers.facts(key), readiness: providerController.readiness(key) }),
    targetCount: (key) => targets.countForBranch(key),
    release: (key) => targets.release(({ branch }) => branch === key),
    onChange: (key) => {
      branchController.enqueue(key);
      wakeTargetsOf(({ branch }) => branch === key);
    },
  });
  const clusters: KubeProviderReconciler = new KubeProviderReconciler({
    runtime,
    clock,
    reader,
    policy: options.kubeconfigPolicy,
    operatorNamespace: options.operatorNamespace,
    local: options.localCredentials,
    limits: options.sourceLimits,
    dialects: options.dialects,
    targetCount: (name) => targets.countForProvider(name),
    release: (name) => targets.release(({ provider }) => provider === name),
    onChange: (name) => {
      clusterController.enqueue(name);
      wakeTargetsOf(({ provider }) => provider === name);
    },
  });
  const providers: GitProviderReconciler = new GitProviderReconciler({
    repositories,
    reader,
    clock,
    allowHttp: options.allowGitHttp,
    branchCount: (key) => branches.countFor(key),
    branchTroubles: (key) => branches.troublesOf(key),
  });
  const ruleOptions = {
    objects,
    grants,
    clock,
    target: (key: string) => ({ status: targets.status(key), readiness: targetController.readiness(key) }),
    facts: (target: string, rule: string) => targets.rule(target, rule),
  };
  const rules = new RuleReconciler('WatchRule', ruleOptions);
  const clusterRules = new RuleReconciler('ClusterWatchRule', ruleOptions);

  const wakeTargetsOf = (uses: (refs: TargetRefs) => boolean): void => {
    for (const target of objects.list('GitTarget')) if (uses(refsOf(target))) targetController.enqueue(keyOf(target));
  };
  const wakeBranchesOf = (provider: string): void => {
    for (const branch of objects.list('GitBranch'))
      if (providerOf(branch) === provider) branchController.enqueue(keyOf(branch));
  };
  const wakeRulesOf = (target: string): void => {
    for (const rule of objects.list('WatchRule')) if (targetOf(rule) === target) ruleController.enqueue(keyOf(rule));
    for (const rule of objects.list('ClusterWatchRule'))
      if (targetOf(rule) === target) clusterRuleController.enqueue(keyOf(rule));
  };
  /** Those that may want the same remote branch: who owns it depends on who is admitted. */
  const wakeRivalsOfBranch = (branch: Declared<'GitBranch'>): void => {
    for (const other of objects.list('GitBranch'))
      if (other.spec.branch === branch.spec.branch && keyOf(other) !== keyOf(branch))
        branchController.enqueue(keyOf(other));
  };
  /** Those that may want the same folder. */
  const wakeRivalsOfTarget = (target: Declared<'GitTarget'>): void => {
    const { branch } = refsOf(target);
    for (const other of objects.list('GitTarget')) {
      const isRival = refsOf(other).branch === branch && foldersNest(other.spec.path, target.spec.path);
      if (isRival && keyOf(other) !== keyOf(target)) targetController.enqueue(keyOf(other));
    }
  };
  /** Wakes dependents only when what they read of the object changed. */
  const settled = new Settled();

  const providerController: Controller<'GitProvider'> = new Controller({
    ...shared,
    kind: 'GitProvider',
    reconcile: (object, signal) => providers.reconcile(object, signal),
    forget: (key) => providers.forget(key),
    onSettled: (key) => {
      if (settled.changed(`p ${key}`, [providerController.readiness(key), providers.facts(key)?.accessVersion]))
        wakeBranchesOf(key);
    },
  });
  const branchController: Controller<'GitBranch'> = new Controller({
    ...shared,
    kind: 'GitBranch',
    reconcile: (object) => branches.reconcile(object),
    forget: (key) => branches.forget(key),
    onSettled: (key) => {
      const branch = objects.get('GitBranch', key);
      const isOpen = branches.handle(key) !== undefined;
      if (settled.changed(`b ${key}`, [branchController.readiness(key), isOpen]))
        wakeTargetsOf((refs) => refs.branch === key);
      if (branch !== undefined && settled.changed(`ba ${key}`, branches.isAdmitted(key))) wakeRivalsOfBranch(branch);
      for (const provider of branchRefs.exchange(key, branch === undefined ? [] : [providerOf(branch)])) {
        const facts = [branches.countFor(provider), branches.troublesOf(provider)];
        if (settled.changed(`n ${provider}`, facts)) providerController.enqueue(provider);
      }
    },
  });
  const clusterController: Controller<'KubeProvider'> = new Controller({
    ...shared,
    kind: 'KubeProvider',
    reconcile: (object, signal) => clusters.reconcile(object, signal),
    forget: (name) => clusters.forget(name),
    onSettled: (name) => {
      const isOpen = clusters.handle(name) !== undefined;
      if (settled.changed(`k ${name}`, [clusterController.readiness(name), isOpen]))
        wakeTargetsOf(({ provider }) => provider === name);
    },
  });
  const targetController: Controller<'GitTarget'> = new Controller({
    ...shared,
    kind: 'GitTarget',
    reconcile: (object) => targets.reconcile(object),
    forget: (key) => targets.forget(key),
    onSettled: (key) => {
      const target = objects.get('GitTarget', key);
      wakeRulesOf(key);
      if (target !== undefined && settled.changed(`ta ${key}`, targets.isAdmitted(key))) wakeRivalsOfTarget(target);
      for (const { branch, provider } of targetRefs.exchange(key, target === undefined ? [] : [refsOf(target)])) {
        if (settled.changed(`tb ${branch}`, targets.countForBranch(branch))) branchController.enqueue(branch);
        if (settled.changed(`tk ${provider}`, targets.countForProvider(provider))) clusterController.enqueue(provider);
      }
    },
  });
  const branchRefs = new References<string>();
  const targetRefs = new References<TargetRefs>();
  const ruleController: Controller<'WatchRule'> = new Controller({
    ...shared,
    kind: 'WatchRule',
    reconcile: (object) => rules.reconcile(object, keyOf(object)),
    forget: (key) => rules.forget(key),
    onSettled: () => undefined,
  });
  const clusterRuleController: Controller<'ClusterWatchRule'> = new Controller({
    ...shared,
    kind: 'ClusterWatchRule',
    reconcile: (object) => clusterRules.reconcile(object, keyOf(object)),
    forget: (key) => clusterRules.forget(key),
    onSettled: () => undefined,
  });
  const controllers = [
    providerController,
    branchController,
    clusterController,
    targetController,
    ruleController,
    clusterRuleController,
  ];

  const subscriptions: Disposable[] = [];
  const onRedeclared = <K extends Reconciled>(kind: K, act: (change: InformerChange<Declared<K>>) => void): void => {
    subscriptions.push(objects.onChange(kind, (change) => isRedeclared(change) && act(change)));
  };
  const wakeTargetOfRule = (change: InformerChange<Declared<'WatchRule'> | Declared<'ClusterWatchRule'>>): void => {
    targetController.enqueue(targetOf(change.object));
    if (change.kind === 'updated') targetController.enqueue(targetOf(change.before));
  };

  return {
    start() {
      // Lenders, conflicts and rules reach across objects: a change of one re-decides its neighbours at once (AZ-4).
      onRedeclared('GitProvider', ({ kind, object }) => {
        if (kind === 'updated') wakeBranchesOf(keyOf(object));
        // Two providers may name one repository.
        else branchController.enqueueAll();
      });
      onRedeclared('GitBranch', ({ kind, object }) => {
        wakeTargetsOf(({ branch }) => branch === keyOf(object));
        if (kind !== 'updated') wakeRivalsOfBranch(object);
      });
      onRedeclared('KubeProvider', ({ object }) => wakeTargetsOf(({ provider }) => provider === keyOf(object)));
      onRedeclared('GitTarget', ({ kind, object }) => {
        wakeRulesOf(keyOf(object));
        if (kind !== 'updated') wakeRivalsOfTarget(object);
      });
      onRedeclared('WatchRule', wakeTargetOfRule);
      onRedeclared('ClusterWatchRule', wakeTargetOfRule);
      subscriptions.push(
        objects.onNamespaceChange((change) => {
          if (change.kind === 'updated' && isSameText(change.before.metadata.labels, change.object.metadata.labels))
            return;
          branchController.enqueueAll();
          targetController.enqueueAll();
        }),
      );
      for (const controller of controllers) controller.start();
    },
    disconnect: () => clusters.disconnect(),
    async stop() {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      await Promise.all(controllers.map((controller) => controller[Symbol.asyncDispose]()));
    },
  };
}

const isSameText = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Anything but a mere status write. */
const isRedeclared = (change: InformerChange<KubeObject>): boolean =>
  change.kind !== 'updated' ||
  change.before.metadata['generation'] !== change.object.metadata['generation'] ||
  change.before.metadata['deletionTimestamp'] !== change.object.metadata['deletionTimestamp'] ||
  change.before.metadata.annotations?.[REQUESTED_AT] !== change.object.metadata.annotations?.[REQUESTED_AT];

/** What dependents read of an object, to tell a change from a repetition. */
class Settled {
  readonly #seen = new Map<string, string>();

  changed(key: string, facts: unknown): boolean {
    const text = JSON.stringify(facts);
    if (this.#seen.get(key) === text) return false;
    this.#seen.set(key, text);
    return true;
  }
}

/** What objects point at: whoever is no longer pointed at is told once more. */
class References<T> {
  readonly #byKey = new Map<string, readonly T[]>();

  /** @returns the new ones and those of before */
  exchange(key: string, refs: readonly T[]): readonly T[] {
    const before = this.#byKey.get(key) ?? [];
    if (refs.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, refs);
    return [...refs, ...before];
  }
}
