import { aConfigMap } from '@gitops-reverser/kernel-testing';
import { openRig } from './rig.fixture.js';

it('says at info level what reached the remote, and nothing of a snapshot that found everything in Git', async () => {
  const rig = await openRig({ objects: [aConfigMap({ name: 'one' })] });
  await rig.clock.advance(60_000);
  const first = rig.logger.said('a write reached the remote').length;

  rig.targetHandle.resync('again');
  await rig.clock.advance(60_000);

  expect([first, rig.logger.said('a write reached the remote').length]).toEqual([1, 1]);
  expect(rig.logger.said('nothing to write: Git says so already').map(({ level }) => level)).toEqual(['debug']);
  await rig.runtime.close(0);
});
