import type { Clock, KubeObject, Logger, Runtime, TargetSettings } from '@gitops-reverser/kernel-api';
import {
  EventRecorder,
  KubeClient,
  type InformerChange,
  type KubeConnection,
  type KubeCredentials,
  type KubeconfigPolicy,
} from '@gitops-reverser/toolkit-kube';
import { Controller } from './controller.js';
import { GitBranchReconciler } from './git-branch/reconciler.js';
import { GitProviderReconciler } from './git-provider/reconciler.js';
import { GitTargetReconciler } from './git-target/reconciler.js';
import { Grants } from './grants.js';
import { KubeProviderReconciler } from './kube-provider/reconciler.js';
import { ControlObjects, keyFor, keyOf, type Declared } from './objects.js';
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
  const { clock, connection, runtime, repositories } = options;
  const logger = options.logger.child({ component: 'reconcilers' });
  const client = new KubeClient(connection);
  const objects = new ControlObjects(client);
  const grants = new Grants(objects);
  const reader = new SecretReader(client);
  const recorder = new EventRecorder({ client, component: 'gitops-reverser', instance: options.instance, logger });
  const shared = { objects, client, recorder, clock, logger };

  const targets: GitTargetReconciler = new GitTargetReconciler({
    objects,
    grants,
    runtime,
    clock,
    generatedFilters: options.generatedFilters,
    encryptionProviders: options.encryptionProviders,
    isSensitive: options.isSensitive,
    validate: options.validateTarget,
    branch: (key) => ({
      isOpen: branches.isOpen(key),
      status: branches.status(key),
      readiness: branchController.readiness(key),
    }),
    provider: (name) => ({ status: clusters.status(name), readiness: clusterController.readiness(name) }),
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
  });
  const ruleOptions = {
    objects,
    clock,
    target: (key: string) => ({ status: targets.status(key), readiness: targetController.readiness(key) }),
    facts: (target: string, rule: string) => targets.rule(target, rule),
  };
  const rules = new RuleReconciler('WatchRule', ruleOptions);
  const clusterRules = new RuleReconciler('ClusterWatchRule', ruleOptions);

  const wakeTargetsOf = (uses: (refs: { readonly branch: string; readonly provider: string }) => boolean): void => {
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
      if (settled.changed(`b ${key}`, [branchController.readiness(key), branches.isOpen(key)]))
        wakeTargetsOf((refs) => refs.branch === key);
      if (branch !== undefined && settled.changed(`n ${providerOf(branch)}`, branches.countFor(providerOf(branch))))
        providerController.enqueue(providerOf(branch));
    },
  });
  const clusterController: Controller<'KubeProvider'> = new Controller({
    ...shared,
    kind: 'KubeProvider',
    reconcile: (object, signal) => clusters.reconcile(object, signal),
    forget: (name) => clusters.forget(name),
    onSettled: (name) => {
      if (settled.changed(`k ${name}`, [clusterController.readiness(name), clusters.status(name) !== undefined]))
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
      for (const { branch, provider } of target === undefined ? knownRefs.get(key) : [refsOf(target)]) {
        if (settled.changed(`tb ${branch}`, targets.countForBranch(branch))) branchController.enqueue(branch);
        if (settled.changed(`tk ${provider}`, targets.countForProvider(provider))) clusterController.enqueue(provider);
      }
      if (target !== undefined) knownRefs.set(key, [refsOf(target)]);
    },
  });
  const knownRefs = new RefsMemory();
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
  const started = objects.synced().then(
    () => {
      // Lenders, conflicts and rules reach across objects: a change of one re-decides its neighbours at once (AZ-4).
      subscriptions.push(
        objects.informer('GitProvider').onChange((change) => {
          if (isRedeclared(change)) wakeBranchesOf(keyOf(change.object));
        }),
        objects.informer('GitBranch').onChange((change) => {
          if (isRedeclared(change)) wakeTargetsOf(({ branch }) => branch === keyOf(change.object));
          if (change.kind !== 'updated') branchController.enqueueAll();
        }),
        objects.informer('KubeProvider').onChange((change) => {
          if (isRedeclared(change)) wakeTargetsOf(({ provider }) => provider === keyOf(change.object));
        }),
        objects.informer('GitTarget').onChange((change) => {
          if (isRedeclared(change)) wakeRulesOf(keyOf(change.object));
          if (change.kind !== 'updated') targetController.enqueueAll();
        }),
        objects.informer('WatchRule').onChange((change) => {
          if (!isRedeclared(change)) return;
          targetController.enqueue(targetOf(change.object));
          if (change.kind === 'updated') targetController.enqueue(targetOf(change.before));
        }),
        objects.informer('ClusterWatchRule').onChange((change) => {
          if (!isRedeclared(change)) return;
          targetController.enqueue(targetOf(change.object));
          if (change.kind === 'updated') targetController.enqueue(targetOf(change.before));
        }),
        objects.namespaces.onChange((change) => {
          const isSame =
            change.kind === 'updated' &&
            JSON.stringify(change.before.metadata.labels) === JSON.stringify(change.object.metadata.labels);
          if (isSame) return;
          branchController.enqueueAll();
          targetController.enqueueAll();
        }),
      );
      for (const controller of controllers) controller.start();
    },
    () => undefined,
  );

  return {
    missing: () => objects.missing(),
    disconnect: () => clusters.disconnect(),
    async stop() {
      await objects[Symbol.asyncDispose]();
      await started;
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      await Promise.all(controllers.map((controller) => controller[Symbol.asyncDispose]()));
    },
  };
}

/** Anything but a mere status write. */
const isRedeclared = (change: InformerChange<KubeObject>): boolean =>
  change.kind !== 'updated' ||
  change.before.metadata['generation'] !== change.object.metadata['generation'] ||
  change.before.metadata['deletionTimestamp'] !== change.object.metadata['deletionTimestamp'];

const refsOf = (target: Declared<'GitTarget'>): { readonly branch: string; readonly provider: string } => ({
  branch: keyFor(target.spec.gitBranchRef.namespace ?? target.metadata.namespace ?? '', target.spec.gitBranchRef.name),
  provider: target.spec.kubeProviderRef?.name ?? 'default',
});

const providerOf = (branch: Declared<'GitBranch'>): string =>
  keyFor(branch.spec.gitProviderRef.namespace ?? branch.metadata.namespace ?? '', branch.spec.gitProviderRef.name);

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

/** References of targets that are gone: their lenders are told once more. */
class RefsMemory {
  readonly #byKey = new Map<string, readonly { readonly branch: string; readonly provider: string }[]>();

  get(key: string): readonly { readonly branch: string; readonly provider: string }[] {
    const refs = this.#byKey.get(key) ?? [];
    this.#byKey.delete(key);
    return refs;
  }
  set(key: string, refs: readonly { readonly branch: string; readonly provider: string }[]): void {
    this.#byKey.set(key, refs);
  }
}
