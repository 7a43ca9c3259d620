import { surfaceOf } from '../testing/fake-runtime.fixture.js';
import { openWorld } from '../testing/world.fixture.js';

it('before the first look at the cluster nothing is claimed about streams: neither that they run nor that no rule selects anything', async () => {
  await using world = openWorld();
  const reach = { state: 'unreachable', reason: 'SourceClusterUnreachable', message: 'no answer' } as const;
  world.runtime.surface = surfaceOf({ generation: 0, reach, types: [] });

  await world.start();
  const early = (['GitTarget', 'WatchRule'] as const).map((kind) => world.verdict(kind, 'StreamsRunning'));
  world.source().say(surfaceOf());
  await world.settle();
  const late = (['GitTarget', 'WatchRule'] as const).map((kind) => world.condition(kind, 'StreamsRunning')?.reason);

  expect(early).toEqual(['Unknown Progressing', 'Unknown Progressing']);
  expect(late).not.toContain('Progressing');
});

it('a target without rules has no streams, whatever the cluster serves', async () => {
  await using world = openWorld();
  world.only('KubeProvider', 'GitProvider', 'GitBranch', 'GitTarget');
  world.runtime.surface = surfaceOf({ generation: 0, types: [] });

  await world.start();

  expect(world.verdict('GitTarget', 'StreamsRunning')).toBe('True NoResolvedTypes');
});
