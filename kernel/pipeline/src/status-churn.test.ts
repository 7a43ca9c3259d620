import { definePlugin, type KubeObject } from '@gitops-reverser/kernel-api';
import { aDeployment, deployments, observed } from '@gitops-reverser/kernel-testing';
import { pickyLayout } from './picky.fixture.js';
import { aCollection, alice, openRig } from './rig.fixture.js';
import { begin, end, scriptedSource, upsert } from './scripted-source.fixture.js';

const UPDATES = 1_000;

/** Names an author at once for every question that is not taken back before anybody could answer. */
function attentiveAttributor() {
  const count = { answered: 0 };
  const plugin = definePlugin({ id: 'attentive', kernelApi: '^1.0', options: {} }, (on) => {
    on.attributor({
      needs: {},
      create: () => ({
        async attribute(_change, _deadline, signal) {
          await Promise.resolve();
          if (signal.aborted) return { kind: 'unresolved', reason: 'Stopped' };
          count.answered += 1;
          return { kind: 'actor', actor: alice, evidence: 'seen' };
        },
      }),
    });
  });
  return { plugin, count };
}

/** What a rollout looks like on the wire: every update differs, and none is an edit. */
const atRevision = (revision: number, replicas: number): KubeObject => {
  const live = observed(aDeployment({ name: 'web', replicas }), { uid: 'u', resourceVersion: String(revision) });
  const managedFields = [{ manager: 'kube-controller-manager', time: new Date(revision * 1_000).toISOString() }];
  return {
    ...live,
    metadata: { ...live.metadata, managedFields },
    status: { readyReplicas: revision % 4, observedGeneration: 1 },
  };
};

it('FC-SAN-12: 1,000 updates of a status make no commit, no window, no plan and no wait for an author; an edit makes one commit', async () => {
  const source = scriptedSource();
  const attributor = attentiveAttributor();
  const picky = pickyLayout();
  const rig = await openRig({
    dialect: 'scripted',
    settings: { window: { idleMs: 0, maxMs: 0 } },
    collections: [aCollection(deployments)],
    layouts: [picky.plugin],
    plugins: [source.plugin, attributor.plugin],
  });
  const live = (revision: number, replicas: number) =>
    upsert(atRevision(revision, replicas), revision, 'live', deployments);
  source.last().say(begin, upsert(atRevision(1, 3), 1, 'snapshot', deployments), end(2));
  await rig.clock.advance(10_000);
  const before = { commits: rig.commits().length, batches: picky.batches, files: rig.remote.files('main') };

  const labels = {
    gittarget_namespace: 'demo',
    gittarget_name: 'app',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
  };
  const heard = (outcome: string): number => rig.metrics.value('watch_events_total', { ...labels, outcome });
  const waiting = rig.clock.sleeping;
  for (let update = 0; update < UPDATES; update += 1) source.last().say(live(3 + update, 3));
  // The stream lets others run every few milliseconds; no time passes on the clock.
  for (let round = 0; heard('unchanged') < UPDATES && round < UPDATES; round += 1) await rig.clock.settle();

  expect(heard('unchanged')).toBe(UPDATES);
  expect(rig.clock.sleeping).toBe(waiting);
  expect(attributor.count.answered).toBe(0);
  expect(rig.branchHandle.status().state).toBe('Idle');
  await rig.clock.advance(120_000);
  expect({ commits: rig.commits().length, batches: picky.batches, files: rig.remote.files('main') }).toEqual(before);
  expect(rig.targetHandle.status().streams[0]?.cursor).toBe(String(UPDATES + 2));

  source.last().say(live(UPDATES + 3, 4));
  await rig.clock.advance(10_000);

  expect(rig.commits().slice(before.commits)).toEqual([{ author: 'Alice A', subject: expect.any(String) as string }]);
  expect(heard('routed')).toBe(2);
  expect([attributor.count.answered, picky.batches]).toEqual([1, before.batches + 1]);
  await rig.runtime.close(0);
});
