import type { TargetStatus } from '@gitops-reverser/kernel-api';
import { aConfigMap, aSecret, configMaps, secrets } from '@gitops-reverser/kernel-testing';
import { pickyLayout, sealing } from './picky.fixture.js';
import { aCollection, openRig, someSettings, TARGET, type Rig } from './rig.fixture.js';

const GVR = { group: '', version: 'v1', resource: 'configmaps' };
const GT = { gittarget_namespace: 'demo', gittarget_name: 'app' };
const paths = (rig: Rig): readonly string[] =>
  Object.keys(rig.remote.files('main'))
    .filter((path) => path.startsWith('app/'))
    .sort();
const anchored = (change: string) => aConfigMap({ name: 'anchored', data: { skip: change } });
const skipped = (rig: Rig): TargetStatus['skipped'] => rig.targetHandle.status().skipped;
const skips = (rig: Rig): number =>
  rig.metrics.value('documents_skipped_total', { ...GT, ...GVR, reason: 'non-editable' }) ?? 0;

describe('20, 6.1: a skipped document', () => {
  it('FC-YML-9, FC-YML-10: is left alone and refuses nobody; the rest of its window is written', async () => {
    const rig = await openRig({ layouts: [pickyLayout().plugin] });

    rig.write(anchored('yes'));
    rig.write(aConfigMap('one'));
    await rig.clock.advance(10_000);

    expect(paths(rig)).toEqual(['app/demo/configmap-one.jsonl']);
    expect(rig.targetHandle.status()).toMatchObject({
      refused: [],
      skipped: [{ code: 'non-editable', path: 'all.jsonl', index: 1, ref: { name: 'anchored' } }],
    });
    expect(skips(rig)).toBe(1);
    expect(rig.metrics.samples('write_refusals_total')).toEqual([]);
    expect(rig.metrics.samples('git_commit_failures_total')).toEqual([]);
    await rig.runtime.close(0);
  });

  it('is counted for each write and stands once, since the first', async () => {
    const rig = await openRig({ layouts: [pickyLayout().plugin], objects: [anchored('1')] });
    await rig.clock.advance(10_000);
    const [first] = skipped(rig);

    rig.write(anchored('2'));
    await rig.clock.advance(10_000);
    rig.targetHandle.resync('again');
    await rig.clock.advance(10_000);

    expect(skipped(rig)).toEqual([first]);
    expect(skips(rig)).toBe(3);
    await rig.runtime.close(0);
  });

  it('goes with a write of its object that is not skipped, and comes back as a new one', async () => {
    const rig = await openRig({ layouts: [pickyLayout().plugin], objects: [anchored('1')] });
    await rig.clock.advance(10_000);
    const before = skipped(rig)[0]?.since.getTime() ?? 0;

    rig.write(aConfigMap({ name: 'anchored', data: { fine: 'now' } }));
    await rig.clock.advance(10_000);
    const repaired = skipped(rig);
    rig.write(anchored('again'));
    await rig.clock.advance(10_000);

    expect(repaired).toEqual([]);
    expect(skipped(rig)[0]?.since.getTime()).toBeGreaterThan(before);
    await rig.runtime.close(0);
  });

  it('goes with an accepted snapshot that does not meet it, and with its collection', async () => {
    const rig = await openRig({ layouts: [pickyLayout().plugin], objects: [anchored('1'), anchored('2')] });
    await rig.clock.advance(10_000);
    const standing = skipped(rig).length;
    rig.cluster.put(configMaps, aConfigMap({ name: 'anchored', data: { fine: 'now' } }));
    rig.targetHandle.resync('again');
    await rig.clock.advance(10_000);
    const repaired = skipped(rig).length;
    rig.write(anchored('3'));
    await rig.clock.advance(10_000);
    const again = skipped(rig).length;

    rig.targetHandle.follow([]);
    await rig.clock.advance(10_000);

    expect([standing, repaired, again, skipped(rig).length]).toEqual([1, 0, 1, 0]);
    await rig.runtime.close(0);
  });

  it('does not hold up a window that somebody else’s refusal refuses, and is no refusal of it', async () => {
    const rig = await openRig({ layouts: [pickyLayout().plugin] });

    rig.write(anchored('yes'));
    rig.write(aConfigMap({ name: 'bad', data: { refuse: 'yes' } }));
    await rig.clock.advance(30_000);

    expect(rig.targetHandle.status().refused.map(({ ref }) => ref?.name)).toEqual(['bad']);
    expect(skipped(rig).map(({ ref }) => ref?.name)).toEqual(['anchored']);
    await rig.runtime.close(0);
  });
});

describe('20, 14: plain text of a sensitive object in Git', () => {
  const exposedLayout = () => {
    const picky = pickyLayout();
    picky.plaintext.add('token');
    return picky;
  };
  const history = /rotate it/;

  it('without a writer that encrypts: refused, never written, and the refusal says that it is in the history', async () => {
    const rig = await openRig({
      layouts: [exposedLayout().plugin],
      collections: [aCollection(), aCollection(secrets)],
    });

    rig.write(aSecret('token'), undefined, secrets);
    rig.write(aConfigMap('one'));
    await rig.clock.advance(10_000);

    const { refused, plaintext } = rig.targetHandle.status();
    expect(paths(rig)).toEqual(['app/demo/configmap-one.jsonl']);
    expect(refused).toMatchObject([{ code: 'encryption-missing', message: expect.stringMatching(history) as string }]);
    expect(plaintext).toMatchObject([{ code: 'plaintext-in-git', ref: { name: 'token' }, isReplaced: false }]);
    expect(JSON.stringify([refused, plaintext]) + rig.logger.text()).not.toContain('hunter2');
    await rig.runtime.close(0);
  });

  it('with one: replaced at once, said until the next snapshot that finds it encrypted', async () => {
    const picky = exposedLayout();
    const rig = await openRig({ layouts: [picky.plugin, sealing], collections: [aCollection(secrets)] });

    rig.write(aSecret('token'), undefined, secrets);
    await rig.clock.advance(10_000);
    const replaced = rig.targetHandle.status();
    picky.plaintext.clear();
    rig.targetHandle.resync('again');
    await rig.clock.advance(10_000);

    expect(replaced.plaintext).toMatchObject([{ isReplaced: true, message: expect.stringMatching(history) as string }]);
    expect(replaced.refused).toEqual([]);
    expect(rig.targetHandle.status().plaintext).toEqual([]);
    expect(rig.remote.files('main')['app/demo/secret-token.jsonl']).toMatch(/^\{.*"sealed":true\}\n$/);
    await rig.runtime.close(0);
  });
});

describe('20, 7: placement', () => {
  const joining = (name: string) => aConfigMap({ name, data: { join: 'all.jsonl' } });
  const placed = (rig: Rig) =>
    rig.metrics.value('placements_total', { ...GT, ...GVR, source: 'sibling', disposition: 'new_file' });

  it('7.5: is counted once the remote has the document, and explained once for each object', async () => {
    const rig = await openRig({ layouts: [pickyLayout().plugin] });
    rig.remote.failNext('publish', { reason: 'RemoteUnavailable' }, 1);
    rig.write(joining('one'));
    await rig.clock.advance(6_000);
    const unpublished = placed(rig);

    await rig.clock.advance(60_000);
    rig.targetHandle.resync('again');
    await rig.clock.advance(60_000);

    expect([unpublished ?? 0, placed(rig)]).toEqual([0, 1]);
    expect(rig.logger.said('a new document was placed')).toMatchObject([
      {
        level: 'debug',
        fields: {
          gitTarget: TARGET,
          key: '/v1/configmaps/demo/one',
          path: 'all.jsonl',
          source: 'sibling',
          disposition: 'new_file',
          step: 'a',
          evidenceCount: 2,
          guard: 'path',
        },
      },
    ]);
    await rig.runtime.close(0);
  });

  it.each([
    ['refuse', 'unplaceable-edit', undefined],
    ['refuseAll', 'ignore-shadows-managed', 'unclassified'],
    ['escape', 'write-escapes-scope', 'unclassified'],
  ])('an object whose data says %s is a placement refusal only if it lacks a place: %s', async (what, code, reason) => {
    const bad = aConfigMap({ name: 'bad', data: { [what]: '../out.jsonl' } });
    const rig = await openRig({ layouts: [pickyLayout().plugin], objects: [bad] });

    await rig.clock.advance(10_000);

    expect(rig.metrics.value('write_refusals_total', { ...GT, ...GVR, kind: code })).toBe(1);
    expect(rig.metrics.samples('placement_refusals_total').map(({ labels }) => labels['reason'])).toEqual(
      reason === undefined ? [] : [reason],
    );
    await rig.runtime.close(0);
  });

  it.each([['forward'], ['backward'], ['mixed']])(
    '7.6, I10: new documents that share a new file stand in key order, heard %s',
    async (order) => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      const heard = { forward: names, backward: [...names].reverse(), mixed: ['c', 'a', 'e', 'b', 'd'] }[order] ?? [];
      const rig = await openRig({ layouts: [pickyLayout().plugin] });

      for (const name of heard) rig.write(joining(name));
      await rig.clock.advance(10_000);

      const lines = (rig.remote.files('main')['app/all.jsonl'] ?? '').trim().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { metadata: { name: string } }).metadata.name)).toEqual(names);
      await rig.runtime.close(0);
    },
  );

  it('1.3: a refusal of the whole target leaves nothing of a snapshot to write', async () => {
    const rig = await openRig({
      layouts: [pickyLayout().plugin],
      objects: [aConfigMap('one'), aConfigMap({ name: 'bad', data: { refuseAll: 'yes' } })],
    });

    await rig.clock.advance(10_000);

    expect(rig.commits()).toEqual([]);
    expect(rig.targetHandle.status().refused.map(({ code }) => code)).toEqual(['ignore-shadows-managed']);
    await rig.runtime.close(0);
  });
});

describe('40, 5.4: a refused write', () => {
  it('names its author, keeps its time while it stands, and is another one when somebody else repeats it', async () => {
    const rig = await openRig({ layouts: [pickyLayout().plugin], isAttributed: true });
    const bad = (refuse: string) => aConfigMap({ name: 'bad', data: { refuse } });
    const standing = () => rig.targetHandle.status().refused.map(({ author, since }) => [author, since.getTime()]);

    rig.write(bad('1'), { username: 'alice' });
    await rig.clock.advance(10_000);
    const first = standing();
    // The snapshot a refusal asks for finds it again.
    await rig.clock.advance(60_000);
    const still = standing();
    rig.write(bad('2'), { username: 'bob' });
    await rig.clock.advance(60_000);

    expect(first).toEqual([['alice', expect.any(Number)]]);
    expect(still).toEqual(first);
    expect(standing()).toEqual([['bob', expect.any(Number)]]);
    expect(standing()).not.toEqual(first);
    await rig.runtime.close(0);
  });
});

describe('20, 7.9: what kind of folder it is', () => {
  it('dates the resolution, not the last look', async () => {
    const rig = await openRig({ objects: [aConfigMap('one')] });
    expect(rig.targetHandle.status().folder.resolved).toBeUndefined();
    await rig.runtime.close(0);

    const shaped = pickyLayout();
    shaped.shape = { mode: 'Plain' };
    const other = await openRig({ layouts: [shaped.plugin], objects: [aConfigMap('one')] });
    const root = other.targetHandle.status().folder.resolved?.commit;
    await other.clock.advance(10_000);
    other.remote.foreignPush({ 'app/x.jsonl': '' });
    other.branchHandle.observe();
    await other.clock.advance(10_000);

    expect(other.targetHandle.status().folder).toMatchObject({
      state: 'Accepted',
      resolved: { shape: { mode: 'Plain' }, commit: root ?? '' },
    });
    await other.runtime.close(0);
  });

  it('is known of a refused folder too, if one layout claims it', async () => {
    const shaped = pickyLayout();
    shaped.shape = { mode: 'Plain' };
    const rig = await openRig({ layouts: [shaped.plugin], remote: { files: { 'app/BROKEN': '' } } });

    await rig.clock.advance(1_000);

    expect(rig.targetHandle.status().folder).toMatchObject({
      state: 'Refused',
      resolved: { shape: { mode: 'Plain' } },
    });
    await rig.runtime.close(0);
  });
});

describe('40, 3.10: a message template that fails on real changes', () => {
  const failing = { messages: { live: '{{range .Resources}}{{.Labels.app}}{{end}}' } };

  it('is told once in ten minutes, with its cause, until it is another one', async () => {
    const rig = await openRig({ settings: failing });
    const commit = async (value: string) => {
      rig.write(aConfigMap({ name: 'one', data: { value } }));
      await rig.clock.advance(10_000);
      return rig.targetHandle.status().wording;
    };
    const first = await commit('1');
    const soon = await commit('2');
    await rig.clock.advance(600_000);
    const late = await commit('3');
    rig.targetHandle.configure(someSettings());
    await rig.clock.advance(1_000);

    expect(first?.problem).toContain('app');
    expect(soon).toEqual(first);
    expect(late?.since.getTime()).toBeGreaterThan(first?.since.getTime() ?? 0);
    expect(rig.targetHandle.status().wording).toBeUndefined();
    expect(rig.commits()).toHaveLength(3);
    await rig.runtime.close(0);
  });
});

it('30, 7.2: reading and judging a folder is timed', async () => {
  const rig = await openRig({ objects: [aConfigMap('one')] });

  await rig.clock.advance(10_000);

  expect(rig.metrics.samples('store_build_duration_seconds').map(({ labels }) => labels)).toEqual([GT]);
  await rig.runtime.close(0);
});
