import { aConfigMap, configMaps } from '@gitops-reverser/kernel-testing';
import { alice, bob, openRig } from './rig.fixture.js';

describe('the river from one cluster to one branch', () => {
  it('writes what exists as one commit of the committer, at once', async () => {
    const rig = await openRig({ objects: [aConfigMap('one'), aConfigMap('two')] });

    await rig.clock.settle();

    expect(rig.commits()).toEqual([{ author: 'GitOps Reverser', subject: 'chore: reconcile 2 configmaps' }]);
    await rig.runtime.close(0);
  });

  it('turns a live edit into a commit of its author once the window has rested', async () => {
    const rig = await openRig({ isAttributed: true });

    rig.write(aConfigMap({ name: 'one', data: { k: '1' } }), alice);
    await rig.clock.advance(4_999);
    const early = rig.commits();
    await rig.clock.advance(10_000);

    expect(early).toEqual([]);
    expect(rig.commits()).toEqual([{ author: 'Alice A', subject: 'chore: sync 1 resource(s)' }]);
    expect(rig.remote.files('main')).toMatchObject({
      'app/demo/configmap-one.jsonl': expect.stringContaining('"k":"1"'),
    });
    await rig.runtime.close(0);
  });

  it('FC-WIN-2: alice, bob, alice on one object within a second are three commits in this order', async () => {
    const rig = await openRig({ isAttributed: true });

    rig.write(aConfigMap({ name: 'one', data: { k: '1' } }), alice);
    rig.write(aConfigMap({ name: 'one', data: { k: '2' } }), bob);
    rig.write(aConfigMap({ name: 'one', data: { k: '3' } }), alice);
    await rig.clock.advance(30_000);

    expect(rig.commits().map(({ author }) => author)).toEqual(['Alice A', 'bob', 'Alice A']);
    await rig.runtime.close(0);
  });

  it('removes the document of a deleted object', async () => {
    const rig = await openRig();
    rig.write(aConfigMap({ name: 'one' }));
    await rig.clock.advance(20_000);

    rig.cluster.remove(configMaps, 'one');
    await rig.clock.advance(20_000);

    expect(Object.keys(rig.remote.files('main'))).toEqual(['README.md']);
    await rig.runtime.close(0);
  });
});
