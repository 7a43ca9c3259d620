import { definePlugin, targetId, type Layout } from '@gitops-reverser/kernel-api';
import { aConfigMap, configMaps } from '@gitops-reverser/kernel-testing';
import { cursedStore, type FolderFault } from './folder-fault.fixture.js';
import { pickyLayout } from './picky.fixture.js';
import { alice, BRANCH, CLUSTER, openRig, someSettings, type Rig, type RigFacts } from './rig.fixture.js';

const doc = (name: string, folder = 'app'): string => `${folder}/demo/configmap-${name}.jsonl`;
const paths = (rig: Rig): readonly string[] => Object.keys(rig.remote.files('main')).sort();

const openCursed = (fault: FolderFault, facts: RigFacts = {}): Promise<Rig> =>
  openRig({
    remote: { files: { 'README.md': '', 'app/CURSED': '' } },
    ...facts,
    wrapStore: (store) => cursedStore(store, fault),
  });

async function openSibling(rig: Rig) {
  const target = targetId('demo', 'sibling');
  const sibling = await rig.runtime.openTarget({
    id: target,
    uid: 'sibling-uid',
    namespace: 'demo',
    name: 'sibling',
    cluster: CLUSTER,
    branch: BRANCH,
    settings: someSettings({ path: 'other' }),
  });
  sibling.follow([{ target, type: configMaps }]);
  return sibling;
}

describe('a folder that cannot be read', () => {
  it.each(['opening', 'listing'] as const)(
    'FC-SEC-2: until Git changes is refused while %s; siblings go on, and a repair is seen without being asked for',
    async (at) => {
      const rig = await openCursed(
        { at, reason: 'UnsafePath', retry: 'when-changed' },
        { objects: [aConfigMap('one')] },
      );
      const sibling = await openSibling(rig);
      rig.write(aConfigMap('two'));
      await rig.clock.advance(15_000);
      const [refused, meanwhile] = [rig.targetHandle.status(), paths(rig)];

      rig.remote.foreignPush({ 'app/CURSED': undefined });
      await rig.clock.advance(60_000);

      expect(refused.folder).toEqual({
        state: 'Refused',
        refusals: [
          {
            code: 'UnsupportedContent',
            path: 'CURSED',
            message:
              'the folder app cannot be read: "CURSED" is refused because of its name; rename or remove this entry',
          },
        ],
      });
      expect(refused.refused).toEqual([]);
      expect(meanwhile).toEqual(['README.md', 'app/CURSED', doc('one', 'other'), doc('two', 'other')]);
      expect(sibling.status().folder.state).toBe('Accepted');
      expect(rig.targetHandle.status().folder).toEqual({ state: 'Accepted', refusals: [] });
      expect(paths(rig)).toEqual(['README.md', doc('one'), doc('two'), doc('one', 'other'), doc('two', 'other')]);
      expect(rig.commits().at(-1)).toEqual({
        author: 'GitOps Reverser',
        subject: 'chore: reconcile 2 configmaps',
      });
      await rig.runtime.close(0);
    },
  );

  it('FC-SEC-2: is looked at again slower and slower, never in a loop', async () => {
    const rig = await openCursed({ at: 'listing', reason: 'UnsafePath', retry: 'when-changed' });

    await rig.clock.advance(3_600_000);

    expect(rig.remote.operations.length).toBeLessThan(20);
    expect(rig.remote.operations.length).toBeGreaterThan(10);
    await rig.runtime.close(0);
  });

  it('2.9: of a fault that time may cure is no verdict; every further try proves the tip first and so sees a repair', async () => {
    const rig = await openCursed(
      { at: 'listing', reason: 'ObjectMissing', retry: 'backoff' },
      { remote: { files: { 'README.md': '' } }, isAttributed: true },
    );
    await rig.clock.advance(10_000);
    rig.remote.foreignPush({ 'app/CURSED': '' });
    rig.branchHandle.observe();
    await rig.clock.settle();
    rig.write(aConfigMap('one'), alice);
    await rig.clock.advance(7_000);
    const [folder, before] = [rig.targetHandle.status().folder.state, rig.commits()];

    rig.remote.foreignPush({ 'app/CURSED': undefined });
    await rig.clock.advance(10_000);

    expect([folder, before]).toEqual(['Accepted', []]);
    expect(rig.commits()).toEqual([{ author: 'Alice A', subject: 'chore: sync 1 resource(s)' }]);
    expect(rig.targetHandle.status().refused).toEqual([]);
    await rig.runtime.close(0);
  });

  it('of an idle target is looked at again after a fault that time may cure', async () => {
    const rig = await openCursed({ at: 'listing', reason: 'ObjectMissing', retry: 'backoff' }, { collections: [] });
    rig.branchHandle.observe();
    await rig.clock.advance(5_000);
    const before = rig.targetHandle.status().folder.state;

    rig.remote.foreignPush({ 'app/CURSED': undefined });
    await rig.clock.advance(30_000);

    expect([before, rig.targetHandle.status().folder.state]).toEqual(['NotScanned', 'Accepted']);
    await rig.runtime.close(0);
  });
});

describe('5.4: a folder that can be used again', () => {
  const state = (rig: Rig) => rig.targetHandle.status().streams.map((stream) => stream.state);

  it('its streams replay until the snapshot it owes is in Git', async () => {
    const picky = pickyLayout();
    const rig = await openRig({
      layouts: [picky.plugin],
      remote: { files: { 'app/BROKEN': '' } },
      objects: [aConfigMap('one')],
    });
    await rig.clock.advance(1_000);
    const refused = state(rig);

    rig.remote.foreignPush({ 'app/BROKEN': undefined });
    rig.branchHandle.observe();
    await rig.clock.settle();
    const [folder, owed] = [rig.targetHandle.status().folder.state, state(rig)];
    rig.remote.failNext('publish', { reason: 'RemoteUnavailable' });
    await rig.clock.advance(5_000);
    const [unpublished, retained] = [rig.commits(), state(rig)];
    await rig.clock.advance(15_000);

    expect(refused).toEqual(['Streaming']);
    expect([folder, owed]).toEqual(['Accepted', ['Replaying']]);
    expect([unpublished, retained]).toEqual([[], ['Replaying']]);
    expect(paths(rig)).toEqual([doc('one')]);
    expect(state(rig)).toEqual(['Streaming']);
    await rig.runtime.close(0);
  });

  it('its snapshot starts at once, however often it was broken before', async () => {
    const picky = pickyLayout();
    const rig = await openRig({ layouts: [picky.plugin], remote: { files: { 'app/BROKEN': '' } } });
    const delays: number[] = [];
    for (let round = 1; round <= 5; round += 1) {
      rig.remote.foreignPush({ 'app/BROKEN': '' });
      rig.branchHandle.observe();
      await rig.clock.advance(6_000);
      rig.write(aConfigMap(`during-${round}`));
      rig.remote.foreignPush({ 'app/BROKEN': undefined });
      rig.branchHandle.observe();
      let seconds = 0;
      for (; seconds < 60 && !paths(rig).includes(doc(`during-${round}`)); seconds += 1) await rig.clock.advance(1_000);
      delays.push(seconds);
    }

    expect(Math.max(...delays)).toBeLessThanOrEqual(3);
    await rig.runtime.close(0);
  });
});

it('a folder that no layout knows is refused with what its layouts say of it', async () => {
  const knowing = definePlugin({ id: 'knowing', kernelApi: '^1.0', options: {} }, (on) => {
    on.layout({
      needs: {},
      create: (): Layout => ({
        recognise: () => ({ kind: 'not-mine', why: 'kustomization.yaml is built with Kustomize' }),
        documents: () => [],
        plan: () => [],
      }),
    });
  });
  const rig = await openRig({ layouts: [knowing] });

  await rig.clock.advance(10_000);

  expect(rig.targetHandle.status().folder).toMatchObject({
    state: 'Refused',
    refusals: [
      { message: expect.stringContaining('found kustomization.yaml is built with Kustomize; clean the folder') },
    ],
  });
  await rig.runtime.close(0);
});

it('I1: a commit of our own that leaves a folder nobody may write is the last one', async () => {
  const rig = await openRig({ layouts: [pickyLayout().plugin] });

  rig.write(aConfigMap({ name: 'one', data: { join: 'BROKEN.jsonl' } }));
  await rig.clock.advance(10_000);
  rig.write(aConfigMap('two'));
  await rig.clock.advance(10_000);

  expect(rig.targetHandle.status().folder).toMatchObject({ state: 'Refused', refusals: [{ code: 'invalid-yaml' }] });
  expect(paths(rig)).toEqual(['README.md', 'app/BROKEN.jsonl']);
  await rig.runtime.close(0);
});
