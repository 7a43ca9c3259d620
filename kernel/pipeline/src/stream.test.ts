import { definePlugin, ReverserError, type Attribution, type Collection } from '@gitops-reverser/kernel-api';
import {
  aConfigMap,
  configMaps,
  deployments,
  observed,
  secrets,
  services,
  widgets,
} from '@gitops-reverser/kernel-testing';
import { aCollection, alice, openRig, someSettings, TARGET, type Rig, type RigFacts } from './rig.fixture.js';
import { begin, end, gone, progress, scriptedSource, trouble, upsert } from './scripted-source.fixture.js';

const PER_EVENT = { window: { idleMs: 0, maxMs: 0 } };
const labels = { gittarget_namespace: 'demo', gittarget_name: 'app', group: '', version: 'v1', resource: 'configmaps' };
const census = (rig: Rig, outcome: string): number => rig.metrics.value('watch_events_total', { ...labels, outcome });

async function scriptedRig(facts: RigFacts = {}) {
  const source = scriptedSource();
  const rig = await openRig({
    dialect: 'scripted',
    settings: PER_EVENT,
    ...facts,
    plugins: [source.plugin, ...(facts.plugins ?? [])],
  });
  return { rig, source };
}
const files = (rig: Rig): readonly string[] =>
  Object.keys(rig.remote.files('main')).filter((path) => path.startsWith('app/'));
const stream = (rig: Rig) => rig.targetHandle.status().streams[0];

describe('replays', () => {
  it('WP-20: a session that dies before the end of its replay submits nothing', async () => {
    const { rig, source } = await scriptedRig();

    source.last().say(begin, upsert(aConfigMap('one'), 1, 'snapshot'));
    await rig.clock.settle();
    source.last().end();
    await rig.clock.advance(60_000);

    expect(rig.commits()).toEqual([]);
    expect(stream(rig)).toMatchObject({ state: 'Replaying' });
    expect(source.sessions.every(({ from }) => from === undefined)).toBe(true);
    await rig.runtime.close(0);
  });

  it('WP-21: an empty snapshot is authoritative once its replay is complete', async () => {
    const { rig, source } = await scriptedRig({
      settings: { ...PER_EVENT, prune: 'Always' },
      remote: {
        files: {
          'app/demo/configmap-one.jsonl':
            '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"demo"}}\n',
        },
      },
    });

    source.last().say(begin, end(5));
    await rig.clock.advance(10_000);

    expect(files(rig)).toEqual([]);
    await rig.runtime.close(0);
  });

  it('a replay that starts again voids what the unfinished one gathered', async () => {
    const { rig, source } = await scriptedRig();

    source
      .last()
      .say(begin, upsert(aConfigMap('void'), 1, 'snapshot'), begin, upsert(aConfigMap('one'), 2, 'snapshot'), end(3));
    await rig.clock.advance(10_000);

    expect(files(rig)).toEqual(['app/demo/configmap-one.jsonl']);
    expect(rig.commits()).toEqual([
      { author: 'GitOps Reverser', subject: 'chore: reconcile 1 configmaps (last resourceVersion: 3)' },
    ]);
    await rig.runtime.close(0);
  });

  it('WP-40, WP-42: a later session resumes from the last accepted cursor, byte for byte', async () => {
    const { rig, source } = await scriptedRig();
    source.last().say(begin, end(5), upsert(aConfigMap('one'), 7), progress(9));
    await rig.clock.settle();

    source.last().end();
    await rig.clock.advance(3_000);

    expect(source.sessions.map(({ from }) => from)).toEqual([undefined, '9']);
    await rig.runtime.close(0);
  });

  it('an expired cursor makes the next session replay', async () => {
    const { rig, source } = await scriptedRig();
    source.last().say(begin, end(5), trouble('ExpiredResourceVersion'));
    await rig.clock.settle();
    const told = stream(rig);

    source.last().end();
    await rig.clock.advance(3_000);

    expect(told).toMatchObject({ state: 'Replaying', trouble: { reason: 'ExpiredResourceVersion' } });
    expect(source.last().from).toBeUndefined();
    await rig.runtime.close(0);
  });

  it('WP-22: at most so many replays at the same time; a stream in trouble gives its place away', async () => {
    const collections: readonly Collection[] = [configMaps, secrets, services, deployments, widgets].map((type) =>
      aCollection(type),
    );
    const { rig, source } = await scriptedRig({ collections, limits: { replays: 4, replaysPerCluster: 2 } });
    const open = (): readonly string[] => source.sessions.map(({ key }) => key);
    const atFirst = open();

    source.sessions[0]?.say(begin, end(1));
    await rig.clock.settle();
    const afterOne = open();
    source.sessions[1]?.say(trouble('WatchError'));
    await rig.clock.settle();

    expect(atFirst).toEqual(['v1/configmaps', 'v1/secrets']);
    expect(afterOne).toEqual(['v1/configmaps', 'v1/secrets', 'v1/services']);
    expect(open()).toHaveLength(4);
    expect(rig.targetHandle.status().streams.map(({ state }) => state)).toEqual([
      'Streaming',
      'Blocked',
      'Replaying',
      'Replaying',
      'Replaying',
    ]);
    await rig.runtime.close(0);
  });

  it('a stream whose source throws says so, waits longer and longer, and goes on', async () => {
    const { rig, source } = await scriptedRig();

    source.last().fail(
      new ReverserError({
        reason: 'WatchNotPermitted',
        retry: 'when-changed',
        message: 'configmaps: watch is not permitted',
      }),
    );
    await rig.clock.settle();
    const blocked = stream(rig);
    await rig.clock.advance(2_000);
    const retried = source.sessions.length;
    source.last().say(begin, end(1));
    await rig.clock.settle();

    expect(blocked).toMatchObject({ state: 'Replaying', trouble: { reason: 'WatchNotPermitted' } });
    expect(retried).toBe(2);
    expect(stream(rig)).toMatchObject({ state: 'Streaming' });
    await rig.runtime.close(0);
  });
});

describe('what passes and what does not', () => {
  it('EV-4: an update that says nothing new is dropped and its cursor accepted', async () => {
    const { rig, source } = await scriptedRig();
    source.last().say(begin, upsert(aConfigMap('one'), 1, 'snapshot'), end(1));
    await rig.clock.settle();

    source.last().say(upsert(aConfigMap('one'), 2), upsert(aConfigMap('one'), 3));
    await rig.clock.advance(10_000);

    expect(rig.commits()).toHaveLength(1);
    expect(census(rig, 'unchanged')).toBe(2);
    expect(stream(rig)?.cursor).toBe('3');
    await rig.runtime.close(0);
  });

  it('EV-5: there and back again while the first is pending is not taken for no change', async () => {
    const { rig, source } = await scriptedRig({ plugins: [slowAttributor()] });
    const one = (value: string) => aConfigMap({ name: 'one', data: { value } });
    source.last().say(begin, upsert(one('a'), 1, 'snapshot'), end(1));
    await rig.clock.settle();

    source.last().say(upsert(one('b'), 2), upsert(one('a'), 3));
    await rig.clock.advance(30_000);

    expect(census(rig, 'unchanged')).toBe(0);
    expect(rig.remote.files('main')['app/demo/configmap-one.jsonl']).toContain('"value":"a"');
    await rig.runtime.close(0);
  });

  it('FC-WCH-7, EV-1: a deletion is the first event that carries its timestamp; clearing finalizers says nothing more', async () => {
    const { rig, source } = await scriptedRig();
    const object = observed(aConfigMap('one'), { resourceVersion: '1' });
    const going = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    source.last().say(begin, upsert(object, 1, 'snapshot'), end(1));
    await rig.clock.advance(10_000);

    source.last().say(upsert(going, 2));
    await rig.clock.advance(10_000);

    expect(files(rig)).toEqual([]);
    expect(rig.commits()).toHaveLength(2);
    await rig.runtime.close(0);
  });

  it('a terminating object is no member of a snapshot', async () => {
    const { rig, source } = await scriptedRig();
    const object = observed(aConfigMap('one'));

    source
      .last()
      .say(
        begin,
        upsert(
          { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
          1,
          'snapshot',
        ),
        end(1),
      );
    await rig.clock.advance(10_000);

    expect(files(rig)).toEqual([]);
    await rig.runtime.close(0);
  });

  it('EV-3: the late end of an older object of the same name is ignored', async () => {
    const { rig, source } = await scriptedRig();
    const [older, newer] = [
      observed(aConfigMap('one'), { uid: 'older' }),
      observed(aConfigMap('one'), { uid: 'newer' }),
    ];

    source.last().say(begin, end(1), upsert(older, 2), upsert(newer, 3), gone(older, 4));
    await rig.clock.advance(20_000);

    expect(files(rig)).toEqual(['app/demo/configmap-one.jsonl']);
    await rig.runtime.close(0);
  });

  it('EV-3: delete and create again in one window ends as the new content, as an update', async () => {
    const { rig, source } = await scriptedRig({ settings: {} });
    const [older, newer] = [
      observed(aConfigMap({ name: 'one', data: { value: 'a' } }), { uid: 'older' }),
      observed(aConfigMap({ name: 'one', data: { value: 'b' } }), { uid: 'newer' }),
    ];
    source.last().say(begin, upsert(older, 1, 'snapshot'), end(1));
    await rig.clock.advance(10_000);

    source.last().say(gone(older, 2), upsert(newer, 3));
    await rig.clock.advance(20_000);

    expect(rig.remote.log('main')[0]?.message).toBe('chore: sync 1 resource(s)\n\n- [UPDATE] v1/configmaps/demo/one\n');
    await rig.runtime.close(0);
  });

  it('EV-16: what a sanitizer drops is counted, never written, and its author is not waited for', async () => {
    const asked: string[] = [];
    const { rig, source } = await scriptedRig({ plugins: [slowAttributor(asked)] });

    source.last().say(begin, end(1), upsert(aConfigMap('kube-root-ca.crt'), 2), upsert(aConfigMap('one'), 3));
    await rig.clock.settle();
    const handled = stream(rig)?.cursor;
    await rig.clock.advance(20_000);

    expect(handled).toBe('2');
    expect(files(rig)).toEqual(['app/demo/configmap-one.jsonl']);
    expect(rig.metrics.value('objects_filtered_total', { ...labels, reason: 'ClusterGenerated' })).toBe(1);
    expect(asked).toEqual(['kube-root-ca.crt', 'one']);
    await rig.runtime.close(0);
  });

  it('a delete of what was never mirrored because it is generated is no change either', async () => {
    const { rig, source } = await scriptedRig({
      remote: {
        files: {
          'app/demo/configmap-kube-root-ca.crt.jsonl':
            '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kube-root-ca.crt","namespace":"demo"}}\n',
        },
      },
    });

    source.last().say(begin, end(1), gone(aConfigMap('kube-root-ca.crt'), 2));
    await rig.clock.advance(20_000);

    expect(files(rig)).toEqual(['app/demo/configmap-kube-root-ca.crt.jsonl']);
    await rig.runtime.close(0);
  });

  it('FC-WIN-3: there and back again, and born and gone, make no commit and no error', async () => {
    const { rig, source } = await scriptedRig({ settings: {} });
    const one = (value: string) => aConfigMap({ name: 'one', data: { value } });
    source.last().say(begin, upsert(one('a'), 1, 'snapshot'), end(1));
    await rig.clock.advance(10_000);
    const before = rig.commits().length;

    source
      .last()
      .say(upsert(one('b'), 2), upsert(one('a'), 3), upsert(aConfigMap('two'), 4), gone(aConfigMap('two'), 5));
    await rig.clock.advance(60_000);

    expect(rig.commits()).toHaveLength(before);
    expect(rig.branchHandle.status()).toMatchObject({ state: 'Idle' });
    expect(rig.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
    await rig.runtime.close(0);
  });

  it('FC-WIN-4: an author who never rests gets a commit at the maximum, and no edit is lost', async () => {
    const { rig, source } = await scriptedRig({ settings: {} });
    source.last().say(begin, end(1));
    await rig.clock.settle();

    for (let second = 1; second <= 150; second += 1) {
      source.last().say(upsert(aConfigMap({ name: 'one', data: { k: String(second) } }), second + 1));
      await rig.clock.advance(1_000);
    }
    await rig.clock.advance(20_000);

    expect(rig.commits()).toHaveLength(3);
    expect(rig.remote.files('main')['app/demo/configmap-one.jsonl']).toContain('"k":"150"');
    expect(
      rig.metrics.samples('git_windows_closed_total').map(({ labels: { reason }, value }) => [reason, value]),
    ).toEqual([
      ['max-duration', 2],
      ['idle-timeout', 1],
    ]);
    await rig.runtime.close(0);
  });
});

/** Answers after a second, with alice; notes whom it was asked about. */
function slowAttributor(asked: string[] = []) {
  return definePlugin({ id: 'slow', kernelApi: '^1.0', options: {} }, (on) => {
    on.attributor({
      needs: {},
      create: () => ({
        attribute({ ref }, _deadline, signal): Promise<Attribution> {
          asked.push(ref.name);
          return new Promise((resolve) =>
            signal.addEventListener('abort', () => resolve({ kind: 'unresolved', reason: 'NoFact' }), { once: true }),
          );
        },
      }),
    });
  });
}

describe('attribution', () => {
  it('FA-17: waits overlap and order holds: a burst costs one grace, not the sum', async () => {
    const { rig, source } = await scriptedRig({ plugins: [slowAttributor()], settings: {} });
    source.last().say(begin, end(1));
    await rig.clock.settle();

    for (let place = 2; place < 12; place += 1) source.last().say(upsert(aConfigMap(`n${place}`), place));
    await rig.clock.advance(3_000);
    const cursorAfterGrace = stream(rig)?.cursor;
    await rig.clock.advance(20_000);

    expect(cursorAfterGrace).toBe('11');
    expect(rig.commits()).toEqual([
      { author: 'unknown (attribution unresolved)', subject: 'chore: sync 10 resource(s)' },
    ]);
    await rig.runtime.close(0);
  });

  it('a known author behind an unknown one waits for its turn', async () => {
    const rig = await openRig({ isAttributed: true, settings: PER_EVENT });

    rig.write(aConfigMap({ name: 'one', data: { k: '1' } }));
    rig.write(aConfigMap({ name: 'one', data: { k: '2' } }), alice);
    await rig.clock.advance(2_000);
    const early = rig.commits();
    await rig.clock.advance(20_000);

    expect(early).toEqual([]);
    expect(rig.commits().map(({ author }) => author)).toEqual(['unknown (attribution unresolved)', 'Alice A']);
    await rig.runtime.close(0);
  });

  it('an attributor that throws costs the name and nothing else', async () => {
    const broken = definePlugin({ id: 'broken', kernelApi: '^1.0', options: {} }, (on) => {
      on.attributor({
        needs: {},
        create: () => ({
          attribute() {
            throw new TypeError('no');
          },
        }),
      });
    });
    const { rig, source } = await scriptedRig({ plugins: [broken] });

    source.last().say(begin, end(1), upsert(aConfigMap('one'), 2));
    await rig.clock.advance(10_000);

    expect(rig.commits()).toMatchObject([{ author: 'unknown (attribution unresolved)' }]);
    await rig.runtime.close(0);
  });
});

describe('the plan of a target', () => {
  const both = [aCollection(), aCollection(secrets)];

  it('WP-10: the first plan starts at once; a change waits for two quiet seconds', async () => {
    const { rig, source } = await scriptedRig();
    const first = source.sessions.length;

    rig.targetHandle.follow(both);
    await rig.clock.advance(1_900);
    const early = source.sessions.length;
    await rig.clock.advance(200);

    expect([first, early, source.sessions.length]).toEqual([1, 1, 2]);
    await rig.runtime.close(0);
  });

  it('WP-10: but not for longer than ten seconds', async () => {
    const { rig, source } = await scriptedRig();

    for (let second = 0; second < 10; second += 1) {
      rig.targetHandle.follow([aCollection(), { ...aCollection(secrets), labelSelector: `second=${second}` }]);
      await rig.clock.advance(1_000);
    }

    expect(source.sessions).toHaveLength(2);
    await rig.runtime.close(0);
  });

  it('WP-10: a rule toggled off and on inside the quiet time causes no replay', async () => {
    const { rig, source } = await scriptedRig();

    rig.targetHandle.follow([]);
    await rig.clock.advance(1_000);
    rig.targetHandle.follow([aCollection()]);
    await rig.clock.advance(20_000);

    expect(source.sessions).toHaveLength(1);
    expect(source.last().isOpen).toBe(true);
    await rig.runtime.close(0);
  });

  it.each([
    { why: 'nothing', collections: [] },
    { why: 'two collections', collections: both },
  ])('listeners that ask again for what is followed, $why, are not told again', async ({ collections }) => {
    const { rig } = await scriptedRig({ collections });
    let heard = 0;
    rig.targetHandle.onChange(() => {
      heard += 1;
      // Without an end to it the test would never get its turn back.
      if (heard < 50) rig.targetHandle.follow(collections.map((collection) => ({ ...collection })));
    });

    rig.targetHandle.follow(collections);
    await rig.clock.advance(60_000);

    expect(heard).toBeLessThan(5);
    await rig.runtime.close(0);
  });

  it('a changed served version starts over with a replay; other streams are left alone', async () => {
    const { rig, source } = await scriptedRig({ collections: both });
    for (const session of source.sessions) session.say(begin, end(1));
    await rig.clock.settle();

    rig.targetHandle.follow([aCollection({ ...configMaps, version: 'v2' }), aCollection(secrets)]);
    await rig.clock.advance(3_000);

    expect(source.sessions.map(({ key, from, isOpen }) => [key, from, isOpen])).toEqual([
      ['v1/configmaps', undefined, false],
      ['v1/secrets', undefined, true],
      ['v2/configmaps', undefined, true],
    ]);
    await rig.runtime.close(0);
  });

  it('WP-32: stopping a stream touches no file, under any mode', async () => {
    const rig = await openRig({ settings: { prune: 'Always' }, objects: [aConfigMap('one')] });
    await rig.clock.advance(10_000);

    rig.targetHandle.follow([]);
    await rig.clock.advance(60_000);

    expect(files(rig)).toEqual(['app/demo/configmap-one.jsonl']);
    expect(rig.targetHandle.status().streams).toEqual([]);
    await rig.runtime.close(0);
  });

  it('5.5: a resync observes, replays every scope, and gives its token back once all have settled', async () => {
    const { rig, source } = await scriptedRig({ collections: both });
    for (const session of source.sessions) session.say(begin, end(1));
    await rig.clock.advance(20_000);
    const looks = rig.remote.operations.filter((operation) => operation === 'observe').length;

    rig.targetHandle.resync('now');
    await rig.clock.settle();
    source.sessions[2]?.say(begin, end(2));
    await rig.clock.advance(10_000);
    const half = rig.targetHandle.status().resyncedToken;
    source.sessions[3]?.say(begin, end(2));
    await rig.clock.advance(10_000);

    expect(source.sessions).toHaveLength(4);
    expect(rig.remote.operations.filter((operation) => operation === 'observe').length).toBeGreaterThan(looks);
    expect([half, rig.targetHandle.status().resyncedToken]).toEqual([undefined, 'now']);
    await rig.runtime.close(0);
  });

  it('a resync of a target that follows nothing is done at once', async () => {
    const { rig } = await scriptedRig({ collections: [] });

    rig.targetHandle.resync('nothing');

    expect(rig.targetHandle.status().resyncedToken).toBe('nothing');
    await rig.runtime.close(0);
  });

  it('other settings reach the branch, and the plugins made for the old ones are closed', async () => {
    const { rig } = await scriptedRig();

    rig.targetHandle.configure(someSettings({ ...PER_EVENT, placement: { byType: {}, useKustomize: true } }));
    await rig.clock.settle();

    expect(rig.scopes.labels()).toEqual(['cluster home', 'branch demo/main', `target ${TARGET} (2)`]);
    await rig.runtime.close(0);
  });
});

describe('admission', () => {
  it('WP-40: a refused item ends the session with its cursor unchanged, and is said again', async () => {
    const { rig, source } = await scriptedRig({ limits: { queueItems: 4 } });
    source.last().say(begin, end(1));
    await rig.clock.advance(10_000);
    const resume = rig.remote.pause('publish');
    source.last().say(upsert(aConfigMap('a'), 2));
    await rig.clock.settle();

    source.last().say(upsert(aConfigMap('b'), 3), upsert(aConfigMap('c'), 4), upsert(aConfigMap('d'), 5));
    await rig.clock.settle();
    const cursor = stream(rig)?.cursor;
    resume();
    await rig.clock.advance(3_000);

    expect(cursor).toBe('4');
    expect(source.last().from).toBe('4');
    expect(
      rig.metrics.value('git_queue_drops_total', {
        provider_namespace: 'demo',
        provider_name: 'host',
        branch: 'main',
        kind: 'write',
      }),
    ).toBe(1);
    source.last().say(upsert(aConfigMap('d'), 5));
    await rig.clock.advance(20_000);
    expect(files(rig)).toHaveLength(4);
    await rig.runtime.close(0);
  });

  it('1.7: above four times the buffer live writes are refused as BacklogFull, and read again once the remote takes them', async () => {
    const { rig, source } = await scriptedRig({ limits: { bufferBytes: 200 } });
    source.last().say(begin, end(1));
    await rig.clock.advance(10_000);
    rig.remote.failNext('publish', { reason: 'RemoteUnavailable' }, 1);

    for (let place = 2; place < 10; place += 1) {
      source.last().say(upsert(aConfigMap(`n${place}`), place));
      await rig.clock.settle();
    }
    const full = rig.branchHandle.status();
    const cursor = Number(stream(rig)?.cursor);
    await rig.clock.advance(30_000);

    expect(full.publishing).toMatchObject({ status: 'False', reason: 'BacklogFull' });
    expect(cursor).toBeLessThan(9);
    expect(source.last().from).toBe(String(cursor));
    expect(rig.branchHandle.status().publishing).toMatchObject({ status: 'True' });
    await rig.runtime.close(0);
  });
});
