import {
  provide,
  ReverserError,
  targetSettings,
  type BranchHandle,
  type BranchId,
  type BranchSpec,
  type ClusterHandle,
  type ClusterId,
  type ClusterSpec,
  type Clock,
  type Logger,
  type Metrics,
  type Runtime,
  type Scopes,
  type TargetHandle,
  type TargetSettings,
  type TargetSpec,
} from '@gitops-reverser/kernel-api';
import { BranchWorker } from './branch-worker.js';
import { OpenedCluster } from './cluster.js';
import type { Commons } from './commons.js';
import { DEFAULT_LIMITS, type RuntimeLimits } from './limits.js';
import { declareGauges, declareMeters } from './meters.js';
import { replayGate } from './replay-gate.js';
import { Target, type OpenedPlugins } from './target.js';
import type { OpenScope } from '@gitops-reverser/kernel-api';

export interface RuntimeGiven {
  readonly scopes: Scopes;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: Partial<RuntimeLimits>;
  /** Types whose objects only a writer that encrypts may write: core `secrets`, and what the configuration adds. */
  isSensitive(group: string, resource: string): boolean;
  /** 0..1; spreads retries. Default: `Math.random`. */
  readonly random?: () => number;
}

/** The runtime as its owner sees it. */
export interface RunningRuntime extends Runtime {
  /** Stops every stream, publishes what is retained on every branch at the same time, and closes clusters and branches. */
  close(budgetMs: number): Promise<void>;
}

interface OpenedBranch {
  readonly handle: BranchHandle;
  readonly worker: BranchWorker;
  readonly scope: OpenScope;
  readonly targets: Set<Target>;
}

/** The river, cold: nothing flows until a cluster, a branch and a target are opened and the target is told what to follow. */
export function createRuntime(given: RuntimeGiven): RunningRuntime {
  const { scopes, clock, logger, metrics } = given;
  const limits: RuntimeLimits = { ...DEFAULT_LIMITS, ...given.limits };
  const commons: Commons = {
    clock,
    logger,
    limits,
    meters: declareMeters(metrics),
    gauges: declareGauges(metrics),
    gate: replayGate(limits),
    random: given.random ?? Math.random,
    isSensitive: (group, resource) => given.isSensitive(group, resource),
  };
  const clusterById = new Map<ClusterId, OpenedCluster>();
  const branchById = new Map<BranchId, OpenedBranch>();
  const targetScopes = new Set<string>();

  return {
    async openCluster(spec: ClusterSpec): Promise<ClusterHandle> {
      refuseTwice(clusterById, spec.id, 'cluster');
      const scope = await scopes.open({
        scope: 'cluster',
        id: spec.id,
        given: spec.given,
        leases: [],
        serving: { source: spec.dialect },
      });
      const [source, second] = scope.instances('source');
      if (source === undefined || second !== undefined) {
        await scope.close();
        throw new ReverserError({
          reason: 'PluginUnavailable',
          retry: 'when-changed',
          message: `cluster ${spec.id}: expected one loaded source that serves the dialect ${spec.dialect}, found ${source === undefined ? 'none' : 'several'}; ${source === undefined ? 'load the plugin that serves it' : 'unload one of them'}`,
        });
      }
      const opened = new OpenedCluster(
        spec.id,
        scope,
        source.instance,
        logger.child({ sourceCluster: spec.id }),
        () => {
          if (clusterById.get(spec.id) === opened) clusterById.delete(spec.id);
        },
      );
      clusterById.set(spec.id, opened);
      return opened;
    },

    async openBranch(spec: BranchSpec): Promise<BranchHandle> {
      refuseTwice(branchById, spec.id, 'branch');
      const scope = await scopes.open({ scope: 'branch', id: spec.id, given: [], leases: [] });
      const worker = new BranchWorker({ spec, ...commons, logger: logger.child({ branch: spec.id }) });
      const targets = new Set<Target>();
      const handle: BranchHandle = {
        status: () => worker.status(),
        onChange: (listener) => worker.onChange(listener),
        configure: (settings) => worker.configure(settings),
        distrust: () => worker.distrust(),
        observe: () => worker.observe(),
        async close(budgetMs) {
          if (branchById.get(spec.id)?.handle === handle) branchById.delete(spec.id);
          // Down the river: no more changes come in, then what is there goes out.
          await Promise.all([...targets].map((target) => target.stopStreams()));
          await worker.close(budgetMs);
          await scope.close();
          await spec.store[Symbol.asyncDispose]();
        },
      };
      branchById.set(spec.id, { handle, worker, scope, targets });
      scope.run(`branch ${spec.id}`, (signal) => worker.run(signal));
      return handle;
    },

    async openTarget(spec: TargetSpec): Promise<TargetHandle> {
      const cluster = clusterById.get(spec.cluster);
      const branch = branchById.get(spec.branch);
      if (cluster === undefined || branch === undefined) {
        throw new ReverserError({
          reason: 'NotOpen',
          retry: 'when-changed',
          message: `target ${spec.id}: expected ${cluster === undefined ? `cluster ${spec.cluster}` : `branch ${spec.branch}`} to be open, found that it is not; open it first`,
        });
      }
      const plugins = async (settings: TargetSettings): Promise<OpenedPlugins> => {
        // Other settings open their plugins before the old ones are let go, and a target may come back before its past is settled.
        const id = freeLabel(targetScopes, spec.id);
        targetScopes.add(id);
        const scope = await scopes
          .open({
            scope: 'target',
            id,
            given: [provide(targetSettings, settings)],
            leases: [cluster.scope, branch.scope],
            ...(settings.encryption === undefined ? {} : { serving: { writer: settings.encryption.provider } }),
          })
          .catch((error: unknown) => {
            targetScopes.delete(id);
            throw error;
          });
        const close = (): Promise<void> => scope.close().finally(() => targetScopes.delete(id));
        return { layouts: scope.instances('layout'), writers: scope.instances('writer'), close };
      };
      const opened = await plugins(spec.settings);
      const target: Target = new Target(
        { spec, cluster, worker: branch.worker, commons, plugins, closed: () => void branch.targets.delete(target) },
        opened,
      );
      branch.targets.add(target);
      return target;
    },

    async close(budgetMs) {
      await Promise.all(
        [...branchById.values()].flatMap(({ targets }) => [...targets].map((target) => target.stopStreams())),
      );
      await Promise.all([...branchById.values()].map(({ handle }) => handle.close(budgetMs)));
      await Promise.all([...clusterById.values()].map((cluster) => cluster.close()));
    },
  };
}

function refuseTwice(opened: ReadonlyMap<unknown, unknown>, id: string, what: string): void {
  if (!opened.has(id)) return;
  throw new ReverserError({
    reason: 'AlreadyOpen',
    retry: 'when-changed',
    message: `${what} ${id}: expected to be opened once, found it open; close it first: a ${what} has one owner`,
  });
}

function freeLabel(taken: ReadonlySet<string>, id: string): string {
  for (let place = 1; ; place += 1) {
    const label = place === 1 ? id : `${id} (${place})`;
    if (!taken.has(label)) return label;
  }
}
