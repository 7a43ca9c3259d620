import {
  branchId,
  clusterId,
  provide,
  refOf,
  targetId,
  type Actor,
  type BranchStore,
  type Collection,
  type KubeObject,
  type Plugin,
  type ResourceType,
  type TargetSettings,
} from '@gitops-reverser/kernel-api';
import {
  configMaps,
  fakeClock,
  fakeLogger,
  fakeMetrics,
  fixedAttributor,
  jsonLines,
  memoryBranchStore,
  memoryCluster,
  memoryClusterEnd,
  memoryFactList,
  memoryFacts,
  memoryRemote,
  memorySource,
  simpleSanitizer,
  type MemoryRemoteOptions,
} from '@gitops-reverser/kernel-testing';
import { createRuntime, type RuntimeGiven } from './runtime.js';
import { plainScopes } from './scopes.fixture.js';

export const TARGET = targetId('demo', 'app');
export const CLUSTER = clusterId('home');
export const BRANCH = branchId('demo', 'main');
export const alice: Actor = { username: 'alice', displayName: 'Alice A', email: 'alice@example.test' };
export const bob: Actor = { username: 'bob' };

export const someSettings = (settings: Partial<TargetSettings> = {}): TargetSettings => ({
  path: 'app',
  window: { idleMs: 5_000, maxMs: 60_000 },
  messages: {},
  placement: { byType: {}, useKustomize: false },
  prune: 'OnEvent',
  suspend: false,
  generated: { include: [], exclude: [] },
  ...settings,
});

export const aCollection = (type: ResourceType = configMaps, namespace?: string): Collection => ({
  target: TARGET,
  type,
  ...(namespace === undefined ? {} : { namespace }),
});

export interface RigFacts {
  readonly remote?: MemoryRemoteOptions;
  readonly branch?: string;
  readonly parent?: string;
  readonly settings?: Partial<TargetSettings>;
  readonly limits?: RuntimeGiven['limits'];
  /** Ask who did it; default: attribution is off. */
  readonly isAttributed?: boolean;
  readonly collections?: readonly Collection[];
  /** What the cluster holds before anything is followed. */
  readonly objects?: readonly KubeObject[];
  readonly dialect?: string;
  /** The repository is away from the beginning. */
  readonly isLookFailing?: boolean;
  readonly wrapStore?: (store: BranchStore) => BranchStore;
  /** Instead of, or beside, the kit's own. */
  readonly plugins?: readonly Plugin[];
  readonly layouts?: readonly Plugin[];
}

/** One cluster, one branch, one target and the whole river between them, on a clock that stands still. */
export async function openRig(facts: RigFacts = {}) {
  const clock = fakeClock();
  const logger = fakeLogger();
  const metrics = fakeMetrics();
  const cluster = memoryCluster();
  for (const object of facts.objects ?? []) cluster.put(configMaps, object);
  const known = memoryFacts();
  const remote = memoryRemote(facts.remote ?? { files: { 'README.md': 'hello\n' } });
  if (facts.isLookFailing === true) remote.failNext('observe', { reason: 'RemoteUnavailable' }, 1_000);
  const branch = facts.branch ?? 'main';
  const store = memoryBranchStore(remote, { branch, ...(facts.parent === undefined ? {} : { parent: facts.parent }) });
  const plugins = [
    memorySource,
    simpleSanitizer,
    ...(facts.layouts ?? [jsonLines]),
    ...(facts.isAttributed === true ? [fixedAttributor] : []),
    ...(facts.plugins ?? []),
  ];
  const scopes = plainScopes(plugins, { clock, logger, metrics });
  const runtime = createRuntime({
    scopes,
    clock,
    logger,
    metrics,
    random: () => 0.5,
    isSensitive: (group, resource) => group === '' && resource === 'secrets',
    ...(facts.limits === undefined ? {} : { limits: facts.limits }),
  });
  const clusterHandle = await runtime.openCluster({
    id: CLUSTER,
    dialect: facts.dialect ?? 'memory',
    given: [provide(memoryClusterEnd, cluster), provide(memoryFactList, known)],
  });
  const branchHandle = await runtime.openBranch({
    id: BRANCH,
    store: facts.wrapStore?.(store) ?? store,
    settings: { committer: { name: 'GitOps Reverser', email: 'noreply@configbutler.ai' } },
    provider: { namespace: 'demo', name: 'host' },
    branch,
  });
  const targetHandle = await runtime.openTarget({
    id: TARGET,
    uid: 'target-uid',
    namespace: 'demo',
    name: 'app',
    cluster: CLUSTER,
    branch: BRANCH,
    settings: someSettings(facts.settings),
  });
  targetHandle.follow(facts.collections ?? [aCollection()]);
  await clock.settle();

  return {
    clock,
    logger,
    metrics,
    cluster,
    facts: known,
    remote,
    store,
    scopes,
    runtime,
    clusterHandle,
    branchHandle,
    targetHandle,
    /** Somebody writes an object; with an actor, the fact of it is known at once. */
    write(object: KubeObject, actor?: Actor, type: ResourceType = configMaps): KubeObject {
      const held = cluster.put(type, object);
      if (actor !== undefined)
        known.add({ ref: refOf(type, held), resourceVersion: held.metadata.resourceVersion ?? '', actor });
      return held;
    },
    /** Author, first line and changed paths of each commit of ours, oldest first. */
    commits(): readonly { readonly author: string; readonly subject: string }[] {
      return remote
        .log(branch)
        .filter(({ committer }) => committer.name === 'GitOps Reverser')
        .map(({ author, message }) => ({ author: author.name, subject: message.split('\n')[0] ?? '' }))
        .reverse();
    },
    async [Symbol.asyncDispose]() {
      await runtime.close(0);
    },
  };
}
export type Rig = Awaited<ReturnType<typeof openRig>>;
