import { branchId, clusterId, provide, targetId, type KubeObject } from '@gitops-reverser/kernel-api';
import { openKernel } from '@gitops-reverser/kernel-core';
import { createRuntime } from '@gitops-reverser/kernel-pipeline';
import {
  aDeployment,
  deployments,
  fakeClock,
  fakeLogger,
  fakeMetrics,
  memoryBranchStore,
  memoryCluster,
  memoryClusterEnd,
  memoryFacts,
  memoryFactList,
  memoryRemote,
  memorySource,
} from '@gitops-reverser/kernel-testing';
import { OFFERS } from './check-plugins.js';
import { BUILT_IN } from './plugins.js';
import { targetChecks } from './target-checks.js';

const UPDATES = 1_000;

/** The default plugins between a cluster and a branch in memory, on a clock that stands still. */
async function openRiver(live: KubeObject) {
  const [clock, logger, metrics] = [fakeClock(), fakeLogger(), fakeMetrics()];
  const kernel = await openKernel({
    entries: [...Object.keys(BUILT_IN), 'memory'].map((use) => ({ use })),
    builtIn: {
      ...BUILT_IN,
      memory: {
        plugin: memorySource,
        manifest: { id: 'memory-source', kernelApi: '^1.0', points: ['source'] },
      },
    },
    from: import.meta.dirname,
    offers: [...OFFERS, { token: memoryClusterEnd }, { token: memoryFactList }],
    clock,
    logger,
    metrics,
  });
  const { isSensitive } = targetChecks([], kernel.registry.stripRules);
  const runtime = createRuntime({ scopes: kernel.scopes, clock, logger, metrics, isSensitive });
  const cluster = memoryCluster();
  cluster.put(deployments, live);
  const remote = memoryRemote({ files: { 'README.md': 'Ours.\n' } });
  const [home, main, app] = [clusterId('home'), branchId('demo', 'main'), targetId('demo', 'app')];
  const given = [provide(memoryClusterEnd, cluster), provide(memoryFactList, memoryFacts())];
  await runtime.openCluster({ id: home, dialect: 'memory', given });
  const branch = await runtime.openBranch({
    id: main,
    store: memoryBranchStore(remote, { branch: 'main' }),
    settings: { committer: { name: 'GitOps Reverser', email: 'noreply@configbutler.ai' } },
    provider: { namespace: 'demo', name: 'host' },
    branch: 'main',
  });
  const target = await runtime.openTarget({
    id: app,
    uid: 'u',
    namespace: 'demo',
    name: 'app',
    cluster: home,
    branch: main,
    settings: {
      path: 'live',
      window: { idleMs: 0, maxMs: 0 },
      messages: {},
      placement: { byType: {}, useKustomize: false },
      prune: 'OnEvent',
      suspend: false,
      generated: { include: [], exclude: [] },
    },
  });
  target.follow([{ target: app, type: deployments }]);
  await clock.advance(10_000);
  return {
    cluster,
    clock,
    branch,
    commits: () => remote.log('main').length,
    file: (path: string): readonly string[] => String(remote.files('main')[path] ?? '').split('\n'),
    heard: (outcome: string): number =>
      metrics.value('watch_events_total', {
        gittarget_namespace: 'demo',
        gittarget_name: 'app',
        group: 'apps',
        version: 'v1',
        resource: 'deployments',
        outcome,
      }),
    async [Symbol.asyncDispose]() {
      await runtime.close(0);
      await kernel.close(1_000);
    },
  };
}

const PATH = 'live/demo/apps/deployments/web.yaml';
const atRevision = (revision: number, replicas = 3): KubeObject => ({
  ...aDeployment({ name: 'web', replicas }),
  status: { readyReplicas: revision % 4, conditions: [{ type: 'Progressing', lastUpdateTime: String(revision) }] },
});

it('FC-SAN-12: after 1,000 updates of a status one edit makes one commit with one changed line', async () => {
  await using river = await openRiver(atRevision(0));
  const [commits, before] = [river.commits(), river.file(PATH)];

  for (let revision = 1; revision <= UPDATES; revision += 1) river.cluster.put(deployments, atRevision(revision));
  // The stream lets others run every few milliseconds; no time passes on the clock.
  for (let round = 0; river.heard('unchanged') < UPDATES && round < UPDATES; round += 1) await river.clock.settle();
  await river.clock.advance(60_000);
  expect([river.heard('unchanged'), river.commits(), river.branch.status().state]).toEqual([UPDATES, commits, 'Idle']);

  river.cluster.put(deployments, atRevision(UPDATES + 1, 4));
  await river.clock.advance(10_000);

  const after = river.file(PATH);
  expect(river.commits()).toBe(commits + 1);
  expect(after).toHaveLength(before.length);
  expect(after.filter((line, at) => line !== before[at])).toEqual(['  replicas: 4']);
});
