import { ReverserError, type BranchStore } from '@gitops-reverser/kernel-api';
import { aConfigMap } from '@gitops-reverser/kernel-testing';
import { openRig, type Rig } from './rig.fixture.js';

const PER_EVENT = { window: { idleMs: 0, maxMs: 0 } };
const edit = (rig: Rig, name: string, value: string): unknown => rig.write(aConfigMap({ name, data: { value } }));
const valueOf = (rig: Rig, name: string): string | undefined =>
  /"value":"([^"]*)"/.exec(rig.remote.files('main')[`app/demo/configmap-${name}.jsonl`] ?? '')?.[1];
const operations = (rig: Rig, from: number): readonly string[] => rig.remote.operations.slice(from);

/** A target whose first snapshot is done, so that what follows is about live edits alone. */
async function settledRig(facts: Parameters<typeof openRig>[0] = {}): Promise<Rig> {
  const rig = await openRig({ ...facts, settings: { ...PER_EVENT, ...facts?.settings } });
  await rig.clock.advance(60_000);
  return rig;
}

describe('FC-PSH-1: somebody pushed first', () => {
  it.each([
    { name: 'another file', files: { 'other.txt': 'theirs' }, expected: { 'other.txt': 'theirs' } },
    { name: 'another document of our folder', files: { 'app/theirs.jsonl': '' }, expected: { 'app/theirs.jsonl': '' } },
    {
      name: 'the same document',
      files: {
        'app/demo/configmap-one.jsonl':
          '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"demo"},"data":{"value":"theirs"}}\n',
      },
      expected: {},
    },
    { name: 'our document, deleted', files: { 'app/demo/configmap-one.jsonl': undefined }, expected: {} },
  ])('$name: replayed on their tip, never merged, never forced', async ({ files, expected }) => {
    const rig = await settledRig({ objects: [aConfigMap({ name: 'one', data: { value: '1' } })] });

    let theirs: string | undefined;
    rig.remote.beforeNextPublish(() => {
      theirs = rig.remote.foreignPush(files);
    });
    edit(rig, 'one', '2');
    await rig.clock.advance(10_000);

    expect(valueOf(rig, 'one')).toBe('2');
    expect(rig.remote.files('main')).toMatchObject(expected);
    expect(rig.remote.log('main')[0]?.parent).toBe(theirs);
    expect(
      rig.metrics.value('git_push_retries_total', {
        provider_namespace: 'demo',
        provider_name: 'host',
        branch: 'main',
        reason: 'remote_moved',
      }),
    ).toBe(1);
    await rig.runtime.close(0);
  });

  it('three lost races end the cycle with BranchMoving, and everything is kept', async () => {
    const rig = await settledRig();
    const race = (left: number): void => {
      if (left === 0) return;
      rig.remote.beforeNextPublish(() => {
        rig.remote.foreignPush({ 'race.txt': String(left) });
        race(left - 1);
      });
    };

    race(3);
    edit(rig, 'one', '1');
    await rig.clock.settle();
    const during = rig.branchHandle.status();
    await rig.clock.advance(20_000);

    expect(during.publishing).toMatchObject({ status: 'False', reason: 'BranchMoving' });
    expect(during.retained?.writeCount).toBe(1);
    expect(valueOf(rig, 'one')).toBe('1');
    expect(rig.branchHandle.status().publishing).toMatchObject({ status: 'True' });
    await rig.runtime.close(0);
  });
});

describe('FC-PSH-3: the server says no', () => {
  it('keeps the writes, shows the words of the host, and asks slower and slower', async () => {
    const rig = await settledRig();
    const before = rig.remote.operations.length;

    rig.remote.failNext(
      'publish',
      { reason: 'ProtectedBranch', message: 'the host declined: policy: mail domain' },
      100,
    );
    edit(rig, 'one', '1');
    await rig.clock.advance(600_000);
    const refused = rig.branchHandle.status();
    const attempts = operations(rig, before).filter((operation) => operation === 'publish').length;
    rig.remote.failNext('publish', { reason: 'ProtectedBranch' }, 0);
    await rig.runtime.close(0);

    expect(refused.writable).toMatchObject({
      status: 'False',
      reason: 'ProtectedBranch',
      message: expect.stringContaining('policy: mail domain'),
    });
    expect(refused.retained?.writeCount).toBe(1);
    expect(attempts).toBeLessThanOrEqual(10);
    expect(rig.commits()).toEqual([]);
  });

  it('lands once the refusal is gone, and says so', async () => {
    const rig = await settledRig();

    rig.remote.failNext('publish', { reason: 'PushForbidden' }, 2);
    edit(rig, 'one', '1');
    await rig.clock.advance(120_000);

    expect(valueOf(rig, 'one')).toBe('1');
    expect(rig.branchHandle.status().writable).toMatchObject({ status: 'True', reason: 'Succeeded' });
    await rig.runtime.close(0);
  });

  it('a failed look never clears a proven refusal', async () => {
    const rig = await settledRig();

    rig.remote.failNext('publish', { reason: 'ProtectedBranch' }, 1);
    rig.remote.failNext('observe', { reason: 'RemoteUnavailable' }, 1);
    edit(rig, 'one', '1');
    await rig.clock.advance(10_500);

    expect(rig.branchHandle.status()).toMatchObject({
      writable: { reason: 'ProtectedBranch' },
      reachable: { status: 'False', reason: 'RemoteUnavailable' },
    });
    await rig.runtime.close(0);
  });
});

describe('4.6: a push without an answer', () => {
  it('is found at the tip and settled, not made twice', async () => {
    const rig = await settledRig();

    rig.remote.cutNextPublishAfterLanding();
    edit(rig, 'one', '1');
    await rig.clock.advance(60_000);

    expect(rig.commits()).toHaveLength(1);
    expect(rig.targetHandle.status().lastCommit).toBe(rig.remote.tip('main'));
    expect(rig.branchHandle.status()).toMatchObject({ state: 'Idle', publishing: { status: 'True' } });
    await rig.runtime.close(0);
  });

  it('settles up to it, and what came later builds on it', async () => {
    const rig = await settledRig();

    rig.remote.cutNextPublishAfterLanding();
    edit(rig, 'one', '1');
    await rig.clock.settle();
    edit(rig, 'two', '2');
    await rig.clock.advance(60_000);

    expect(rig.commits()).toHaveLength(2);
    expect([valueOf(rig, 'one'), valueOf(rig, 'two')]).toEqual(['1', '2']);
    await rig.runtime.close(0);
  });

  it('may land after an advertisement showed the old tip: it is recognised whenever it does', async () => {
    let land: (() => Promise<unknown>) | undefined;
    const slow = (store: BranchStore): BranchStore => ({
      observe: (signal) => store.observe(signal),
      folder: (commit, path) => store.folder(commit, path),
      commit: (draft) => store.commit(draft),
      distrust: () => store.distrust(),
      async publish(base, head, signal) {
        if (land !== undefined) {
          // Landed while we were about to push again.
          await land();
          land = undefined;
          return store.publish(base, head, signal);
        }
        land = () => store.publish(base, head, signal);
        throw new ReverserError({ reason: 'RemoteUnavailable', retry: 'backoff', message: 'the connection died' });
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    });
    const rig = await openRig({ settings: PER_EVENT, wrapStore: slow });

    edit(rig, 'one', '1');
    await rig.clock.settle();
    edit(rig, 'two', '2');
    await rig.clock.advance(120_000);

    expect(rig.commits()).toHaveLength(2);
    expect([valueOf(rig, 'one'), valueOf(rig, 'two')]).toEqual(['1', '2']);
    expect(
      rig.metrics.value('git_foreign_commits_total', {
        provider_namespace: 'demo',
        provider_name: 'host',
        branch: 'main',
      }),
    ).toBe(0);
    await rig.runtime.close(0);
  });
});

describe('FC-PSH-4 and FC-PSH-5: nothing new, and history rewritten', () => {
  it('makes no commit when a human pushed exactly the change we are about to make', async () => {
    const rig = await settledRig({ settings: { window: { idleMs: 5_000, maxMs: 60_000 } } });

    edit(rig, 'one', '1');
    rig.remote.foreignPush({
      'app/demo/configmap-one.jsonl':
        '{"apiVersion":"v1","data":{"value":"1"},"kind":"ConfigMap","metadata":{"name":"one","namespace":"demo"}}\n',
    });
    const tip = rig.remote.tip('main');
    await rig.clock.advance(60_000);

    expect(rig.commits()).toEqual([]);
    expect(rig.remote.tip('main')).toBe(tip);
    expect(rig.targetHandle.status().lastCommit).toBe(tip);
    expect(rig.branchHandle.status()).toMatchObject({ state: 'Idle' });
    await rig.runtime.close(0);
  });

  it('replays on the rewritten tip what was not acknowledged, and never what the remote dropped', async () => {
    const rig = await settledRig();
    edit(rig, 'old', '1');
    await rig.clock.advance(10_000);

    rig.remote.foreignPush({ 'README.md': 'anew\n' }, { rewrite: true });
    edit(rig, 'new', '2');
    await rig.clock.advance(20_000);

    expect(Object.keys(rig.remote.files('main')).sort()).toEqual(['README.md', 'app/demo/configmap-new.jsonl']);
    expect(rig.remote.log('main')).toHaveLength(2);
    await rig.runtime.close(0);
  });
});

describe('4.4: cadence', () => {
  it('pushes the first commit at once and the next ones together five seconds later', async () => {
    const rig = await settledRig();
    const before = rig.remote.operations.length;

    edit(rig, 'one', '1');
    await rig.clock.settle();
    edit(rig, 'two', '1');
    await rig.clock.settle();
    edit(rig, 'three', '1');
    await rig.clock.advance(4_900);
    const early = rig.commits().length;
    await rig.clock.advance(200);

    expect(early).toBe(1);
    expect(rig.commits()).toHaveLength(3);
    // A healthy publication is one push; nothing is fetched before it.
    expect(operations(rig, before)).toEqual(['publish', 'publish']);
    await rig.runtime.close(0);
  });

  it('1.10: a healthy branch with nothing retained says nothing to the host, for a day', async () => {
    const rig = await settledRig();
    const before = rig.remote.operations.length;

    await rig.clock.advance(86_400_000);

    expect(operations(rig, before)).toEqual([]);
    expect(rig.branchHandle.status().state).toBe('Idle');
    await rig.runtime.close(0);
  });

  it('FC-PSH-9: a change of the credential makes a waiting retry due now', async () => {
    const rig = await settledRig();
    rig.remote.failNext('publish', { reason: 'AuthenticationFailed' }, 1);
    edit(rig, 'one', '1');
    await rig.clock.advance(1_000);
    const waiting = rig.branchHandle.status();

    rig.branchHandle.distrust();
    await rig.clock.settle();

    expect(waiting).toMatchObject({
      writable: { reason: 'AuthenticationFailed' },
      reachable: { reason: 'AuthenticationFailed' },
    });
    expect(valueOf(rig, 'one')).toBe('1');
    expect(rig.branchHandle.status()).toMatchObject({ writable: { status: 'True' }, reachable: { status: 'True' } });
    await rig.runtime.close(0);
  });

  it('a host key that is not trusted is not asked again for five minutes', async () => {
    const rig = await openRig({ settings: PER_EVENT });
    await rig.clock.advance(60_000);
    const before = rig.remote.operations.length;

    rig.remote.failNext('publish', { reason: 'HostKeyUntrusted' }, 1);
    edit(rig, 'one', '1');
    await rig.clock.advance(299_000);

    expect(operations(rig, before)).toEqual(['publish']);
    await rig.runtime.close(0);
  });
});

describe('4.7 and 4.8: where the branch is', () => {
  it('standby: no-op writes and idling create no branch; the first real commit does, on its parent', async () => {
    const rig = await openRig({ branch: 'mirror', settings: PER_EVENT });
    await rig.clock.advance(60_000);
    const before = rig.remote.branches();
    const parent = rig.remote.tip('main');

    rig.write(aConfigMap({ name: 'one', data: { value: '1' } }));
    await rig.clock.advance(10_000);

    expect(before).toEqual(['main']);
    expect(rig.remote.log('mirror')[0]?.parent).toBe(parent);
    expect(rig.branchHandle.status()).toMatchObject({ parentResolved: { status: 'True', reason: 'NotNeeded' } });
    await rig.runtime.close(0);
  });

  it('an empty repository gets a root commit', async () => {
    const rig = await openRig({ remote: {}, objects: [aConfigMap('one')] });

    await rig.clock.advance(1_000);

    expect(rig.remote.log('main').map(({ parent }) => parent)).toEqual([undefined]);
    await rig.runtime.close(0);
  });

  it('a missing parent keeps everything and recovers when it appears', async () => {
    const rig = await openRig({ branch: 'mirror', parent: 'base', objects: [aConfigMap('one')] });
    await rig.clock.advance(1_000);
    const missing = rig.branchHandle.status();

    rig.remote.foreignPush({ 'a.txt': 'a' }, { branch: 'base', onto: 'main' });
    await rig.clock.advance(30_000);

    expect(missing).toMatchObject({
      state: 'Recovering',
      parentResolved: { status: 'False', reason: 'ParentBranchNotFound' },
      reachable: { status: 'True' },
      retained: { writeCount: 1 },
    });
    expect(rig.remote.branches()).toContain('mirror');
    await rig.runtime.close(0);
  });

  it('a branch deleted after a merge is recreated by the next real commit alone', async () => {
    const rig = await openRig({ branch: 'mirror', settings: PER_EVENT });
    rig.write(aConfigMap({ name: 'one', data: { value: '1' } }));
    await rig.clock.advance(20_000);

    rig.remote.deleteBranch('mirror');
    await rig.clock.advance(60_000);
    const idle = rig.remote.branches();
    rig.write(aConfigMap({ name: 'two', data: { value: '2' } }));
    await rig.clock.advance(20_000);

    expect(idle).toEqual(['main']);
    expect(Object.keys(rig.remote.files('mirror'))).toContain('app/demo/configmap-two.jsonl');
    await rig.runtime.close(0);
  });
});

describe('an unreachable repository', () => {
  it('keeps windows with their authors, reports, and recovers without a restart', async () => {
    const rig = await openRig({ settings: PER_EVENT });
    await rig.clock.advance(60_000);

    rig.remote.failNext('publish', { reason: 'RemoteUnavailable' }, 3);
    edit(rig, 'one', '1');
    await rig.clock.settle();
    edit(rig, 'two', '2');
    await rig.clock.advance(5_000);
    const down = rig.branchHandle.status();
    await rig.clock.advance(300_000);

    expect(down).toMatchObject({
      state: 'Retaining',
      publishing: { status: 'False', reason: 'RemoteUnavailable' },
      retained: { writeCount: 2 },
    });
    expect(rig.commits()).toHaveLength(2);
    expect(rig.branchHandle.status()).toMatchObject({ state: 'Idle', reachable: { status: 'True' } });
    await rig.runtime.close(0);
  });

  it('5.3: a foreign tip is met by an observation: replay and rescan, and no snapshot of the cluster', async () => {
    const rig = await settledRig({ objects: [aConfigMap({ name: 'one', data: { value: '1' } })] });
    const replays = (): number =>
      rig.metrics.samples('watch_recovery_total').reduce((sum, { value }) => sum + value, 0);
    const before = replays();

    rig.remote.foreignPush({ 'app/demo/configmap-one.jsonl': undefined });
    rig.branchHandle.observe();
    await rig.clock.advance(60_000);

    expect(replays()).toBe(before);
    expect(valueOf(rig, 'one')).toBeUndefined();
    expect(
      rig.metrics.value('git_foreign_commits_total', {
        provider_namespace: 'demo',
        provider_name: 'host',
        branch: 'main',
      }),
    ).toBe(1);
    expect(rig.branchHandle.status().remote).toMatchObject({ commit: rig.remote.tip('main'), verifiedBy: 'Fetch' });
    await rig.runtime.close(0);
  });
});

describe('further failures of a push', () => {
  it('a pack the remote cannot use is built anew on a fresh base, once', async () => {
    const rig = await settledRig();
    const before = rig.remote.operations.length;

    rig.remote.failNext('publish', { reason: 'RemoteRejectedPack' }, 1);
    edit(rig, 'one', '1');
    await rig.clock.settle();

    expect(operations(rig, before)).toEqual(['publish', 'observe', 'publish']);
    expect(rig.store.calls).toContain('distrust');
    expect(valueOf(rig, 'one')).toBe('1');
    await rig.runtime.close(0);
  });

  it('5.3: the cooldown is waived once when somebody else moved the branch', async () => {
    const rig = await settledRig();
    edit(rig, 'one', '1');
    await rig.clock.settle();
    edit(rig, 'two', '2');
    await rig.clock.settle();

    rig.remote.foreignPush({ 'other.txt': 'x' });
    rig.branchHandle.observe();
    await rig.clock.settle();

    expect(valueOf(rig, 'two')).toBe('2');
    await rig.runtime.close(0);
  });

  it('snapshots of one scope do not pile up while the repository is away', async () => {
    const rig = await openRig({ remote: { files: { 'README.md': '' } }, isLookFailing: true });

    for (const token of ['a', 'b', 'c']) {
      rig.targetHandle.resync(token);
      await rig.clock.advance(1_000);
    }
    const waiting = rig.branchHandle.status();

    expect(waiting).toMatchObject({ state: 'Recovering', retained: { writeCount: 1 } });
    await rig.runtime.close(0);
  });
});
