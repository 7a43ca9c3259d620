import { branchId, clusterId, hasReason, targetId } from '@gitops-reverser/kernel-api';
import { aConfigMap, configMaps, memoryBranchStore, memoryRemote } from '@gitops-reverser/kernel-testing';
import { alice, BRANCH, CLUSTER, openRig, someSettings, TARGET } from './rig.fixture.js';

describe('opening', () => {
  it('dials nothing by itself', async () => {
    const rig = await openRig({ collections: [] });

    await rig.clock.advance(3_600_000);

    expect(rig.remote.operations).toEqual([]);
    expect(rig.branchHandle.status()).toMatchObject({
      state: 'Idle',
      reachable: { status: 'Unknown' },
      writable: { status: 'Unknown', reason: 'NotAttempted' },
      parentResolved: { status: 'Unknown' },
    });
    await rig.runtime.close(0);
  });

  it('refuses a second owner of a branch or cluster, and a target whose lenders are not open', async () => {
    const rig = await openRig();
    const branch = {
      id: BRANCH,
      store: memoryBranchStore(memoryRemote(), { branch: 'main' }),
      settings: { committer: { name: 'a', email: 'b' } },
      provider: { namespace: 'n', name: 'p' },
      branch: 'main',
    };
    const target = {
      id: targetId('demo', 'second'),
      uid: 'u',
      namespace: 'demo',
      name: 'second',
      cluster: CLUSTER,
      branch: branchId('demo', 'absent'),
      settings: someSettings(),
    };

    const reasons = await Promise.all(
      [
        rig.runtime.openBranch(branch),
        rig.runtime.openCluster({ id: CLUSTER, dialect: 'memory', given: [] }),
        rig.runtime.openTarget(target),
        rig.runtime.openCluster({ id: clusterId('x'), dialect: 'nobodys', given: [] }),
      ].map((opening) =>
        opening.then(
          () => 'opened',
          (error: unknown) =>
            ['AlreadyOpen', 'NotOpen', 'PluginUnavailable'].find((reason) => hasReason(error, reason)) ?? String(error),
        ),
      ),
    );

    expect(reasons).toEqual(['AlreadyOpen', 'AlreadyOpen', 'NotOpen', 'PluginUnavailable']);
    await rig.runtime.close(0);
  });

  it('one look is what an observation costs, however often it is asked for', async () => {
    const rig = await openRig({ collections: [] });

    rig.branchHandle.observe();
    rig.branchHandle.observe();
    await rig.clock.settle();

    expect(rig.remote.operations).toEqual(['observe']);
    expect(rig.branchHandle.status()).toMatchObject({
      remote: { commit: rig.remote.tip('main'), verifiedBy: 'Fetch' },
      parentResolved: { status: 'True', reason: 'NotNeeded' },
    });
    expect(rig.targetHandle.status().folder.state).toBe('Accepted');
    await rig.runtime.close(0);
  });

  it('a failed look is tried again by itself until the repository answers, then never again', async () => {
    const rig = await openRig({ collections: [] });
    rig.remote.failNext('observe', { reason: 'RemoteUnavailable' }, 2);

    rig.branchHandle.observe();
    await rig.clock.settle();
    const away = rig.branchHandle.status();
    await rig.clock.advance(3_600_000);

    expect(away).toMatchObject({ state: 'Recovering', reachable: { status: 'False', reason: 'RemoteUnavailable' } });
    expect(rig.remote.operations).toEqual(['observe', 'observe', 'observe']);
    expect(rig.branchHandle.status()).toMatchObject({ state: 'Idle', reachable: { status: 'True' } });
    await rig.runtime.close(0);
  });
});

describe('FC-OPS-3: stopping politely', () => {
  it('closes the windows, publishes without waiting for the cooldown, and leaves nothing running', async () => {
    const rig = await openRig({ isAttributed: true });
    rig.write(aConfigMap('one'), alice);
    await rig.clock.advance(1_000);

    await rig.runtime.close(25_000);

    expect(rig.commits()).toEqual([{ author: 'Alice A', subject: 'chore: sync 1 resource(s)' }]);
    expect(rig.clock.sleeping).toBe(0);
    expect(rig.scopes.labels()).toEqual([]);
    expect(rig.store.calls.at(-1)).toBe('dispose');
  });

  it('ends at its budget when the host hangs, and says what was left', async () => {
    const rig = await openRig();
    rig.write(aConfigMap('one'));
    await rig.clock.advance(1_000);
    rig.remote.pause('publish');

    const closing = rig.branchHandle.close(20_000);
    await rig.clock.advance(20_000);
    await closing;

    expect(
      rig.logger.said('stopped before everything was published; the next snapshot repairs the state'),
    ).toHaveLength(1);
    await rig.runtime.close(0);
    expect(rig.clock.sleeping).toBe(0);
  });

  it('a push that hangs already when the stop begins is given up at the budget', async () => {
    const rig = await openRig({ settings: { window: { idleMs: 0, maxMs: 0 } } });
    await rig.clock.advance(10_000);
    rig.remote.pause('publish');
    rig.write(aConfigMap('one'));
    await rig.clock.settle();
    const during = rig.branchHandle.status().state;

    const closing = rig.branchHandle.close(20_000);
    await rig.clock.advance(20_000);
    await closing;

    expect(during).toBe('Publishing');
    await rig.runtime.close(0);
    expect(rig.clock.sleeping).toBe(0);
  });

  it('refuses what comes after the stop began', async () => {
    const rig = await openRig();
    await rig.clock.advance(10_000);

    const closing = rig.branchHandle.close(1_000);
    rig.write(aConfigMap('late'));
    await closing;

    expect(rig.commits()).toEqual([]);
    await rig.runtime.close(0);
  });

  it('a closed target drops its window, pushes what is committed, and can be opened again', async () => {
    const rig = await openRig({ settings: { window: { idleMs: 0, maxMs: 0 } } });
    await rig.clock.advance(10_000);
    rig.write(aConfigMap('one'));
    await rig.clock.settle();
    rig.write(aConfigMap('two'));
    await rig.clock.settle();

    await rig.targetHandle.close();
    const spec = {
      id: TARGET,
      uid: 'again',
      namespace: 'demo',
      name: 'app',
      cluster: CLUSTER,
      branch: BRANCH,
      settings: someSettings(),
    };
    const again = await rig.runtime.openTarget(spec);
    await rig.clock.settle();

    expect(rig.commits()).toHaveLength(2);
    expect(again.status().folder.state).toBe('Accepted');
    expect(rig.metrics.samples('git_branch_targets')).toHaveLength(1);
    await rig.runtime.close(0);
  });

  it('2.8, 3.1: commits of a closed target are pushed later, replayed without removing anything, and only then its plugins go', async () => {
    const rig = await openRig({ settings: { window: { idleMs: 0, maxMs: 0 } }, objects: [aConfigMap('old')] });
    await rig.clock.advance(10_000);
    rig.remote.failNext('publish', { reason: 'RemoteUnavailable' }, 1);
    rig.write(aConfigMap('new'));
    rig.cluster.remove(configMaps, 'old');
    await rig.clock.settle();

    await rig.targetHandle.close();
    const label = `target ${TARGET}`;
    const waiting = rig.scopes.labels().includes(label);
    const again = await rig.runtime.openTarget({
      id: TARGET,
      uid: 'again',
      namespace: 'demo',
      name: 'app',
      cluster: CLUSTER,
      branch: BRANCH,
      settings: someSettings(),
    });
    rig.remote.foreignPush({ 'other.txt': 'x' });
    await rig.clock.advance(30_000);

    expect(waiting).toBe(true);
    expect(Object.keys(rig.remote.files('main')).sort()).toEqual([
      'README.md',
      'app/demo/configmap-new.jsonl',
      'app/demo/configmap-old.jsonl',
      'other.txt',
    ]);
    expect(rig.scopes.labels()).not.toContain(label);
    expect(again.status().streams).toEqual([]);
    await rig.runtime.close(0);
  });

  it('a closed cluster stops its streams and touches no file', async () => {
    const rig = await openRig({ objects: [aConfigMap('one')] });
    await rig.clock.advance(10_000);

    await rig.clusterHandle.close();
    rig.write(aConfigMap('two'));
    await rig.clock.advance(60_000);

    expect(Object.keys(rig.remote.files('main'))).toEqual(['README.md', 'app/demo/configmap-one.jsonl']);
    await rig.targetHandle.close();
    await rig.runtime.close(0);
    expect(rig.scopes.labels()).toEqual([]);
  });
});

describe('what others see', () => {
  it('tells listeners that something may differ, until they are disposed', async () => {
    const rig = await openRig();
    let [branch, target] = [0, 0];
    const onBranch = rig.branchHandle.onChange(() => (branch += 1));
    rig.targetHandle.onChange(() => (target += 1));
    rig.targetHandle.onChange(() => {
      throw new TypeError('a listener of nobody’s');
    });

    rig.write(aConfigMap('one'));
    await rig.clock.advance(20_000);
    const heard = branch;
    onBranch[Symbol.dispose]();
    rig.write(aConfigMap('two'));
    await rig.clock.advance(20_000);

    expect(heard).toBeGreaterThan(0);
    expect(branch).toBe(heard);
    expect(target).toBeGreaterThan(0);
    expect(rig.logger.said('a status listener failed').length).toBeGreaterThan(0);
    await rig.runtime.close(0);
  });

  it('the committer of the next commit is the one configured last', async () => {
    const rig = await openRig();
    rig.branchHandle.configure({ committer: { name: 'New Name', email: 'new@example.test' } });

    rig.write(aConfigMap('one'));
    await rig.clock.advance(20_000);

    expect(rig.remote.log('main')[0]).toMatchObject({
      author: { name: 'New Name' },
      committer: { name: 'New Name', email: 'new@example.test' },
    });
    await rig.runtime.close(0);
  });

  it('3.4: the author date is the arrival of the last write, kept across a replay; the committer date is now', async () => {
    const rig = await openRig({ isAttributed: true });
    await rig.clock.advance(10_000);
    rig.remote.beforeNextPublish(() => void rig.remote.foreignPush({ 'other.txt': 'x' }));

    rig.write(aConfigMap('one'), alice);
    await rig.clock.advance(2_000);
    rig.write(aConfigMap('two'), alice);
    await rig.clock.advance(5_000);

    expect(rig.remote.log('main')[0]).toMatchObject({
      author: { at: new Date('2026-01-01T00:00:12Z') },
      committer: { at: new Date('2026-01-01T00:00:17Z') },
    });
    await rig.runtime.close(0);
  });

  it('the surface of a cluster is passed on', async () => {
    const rig = await openRig();

    expect(rig.clusterHandle.status().surface).toMatchObject({ reach: { state: 'reachable' } });
    await rig.runtime.close(0);
  });

  it('a message template of the target words its commits, and a failing one costs no window', async () => {
    const rig = await openRig({
      settings: { messages: { live: '{{.Author}}{{range .Resources}}: {{.Name}} {{.Labels.app}}{{end}}' } },
      isAttributed: true,
    });

    rig.write(aConfigMap({ name: 'one', labels: { app: 'web' } }), alice);
    await rig.clock.advance(10_000);
    rig.write(aConfigMap('two'), alice);
    await rig.clock.advance(10_000);

    expect(rig.commits().map(({ subject }) => subject)).toEqual(['alice: one web', 'chore: sync 1 resource(s)']);
    expect(rig.metrics.samples('git_commits_total').map(({ labels }) => labels['message_source'])).toEqual([
      'live',
      'template_fallback',
    ]);
    await rig.runtime.close(0);
  });
});

it('every instrument of the river carries the name and labels of chapter 30, 7.2', async () => {
  const rig = await openRig();

  expect([...rig.metrics.names()].sort()).toEqual([
    'documents_skipped_total',
    'git_branch_targets',
    'git_commit_failures_total',
    'git_commits_total',
    'git_documents_total',
    'git_event_to_remote_seconds',
    'git_fetches_total',
    'git_foreign_commits_total',
    'git_foreign_rewrites_total',
    'git_push_duration_seconds',
    'git_push_retries_total',
    'git_pushes_total',
    'git_queue_depth',
    'git_queue_drops_total',
    'git_resync_failures_total',
    'git_retained_bytes',
    'git_windows_closed_total',
    'objects_filtered_total',
    'placement_refusals_total',
    'placements_total',
    'store_build_duration_seconds',
    'watch_event_handling_seconds',
    'watch_events_total',
    'watch_plan_dirty_targets',
    'watch_plan_oldest_dirty_since_timestamp_seconds',
    'watch_plan_pass_duration_seconds',
    'watch_plan_passes_total',
    'watch_recovery_total',
    'watch_replay_duration_seconds',
    'watch_sessions_ended_total',
    'watch_streams_open',
    'watch_types',
    'write_refusals_total',
  ]);
  await rig.runtime.close(0);
});
