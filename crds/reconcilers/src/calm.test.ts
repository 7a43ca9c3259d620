import { TIP } from './testing/fake-runtime.fixture.js';
import { KEYS, openWorld, type World } from './testing/world.fixture.js';

async function settled(arrange: (world: World) => void = () => undefined): Promise<World> {
  const world = openWorld();
  arrange(world);
  await world.start();
  await world.settle();
  return world;
}

it('20.8: an idle system writes no status for an hour, and asks the Git host nothing', async () => {
  await using world = await settled();
  world.takeWrites();
  const probes = world.repositories.probes.length;

  await world.clock.advance(3_600_000);

  expect(world.takeWrites()).toEqual([]);
  expect(world.repositories.probes.length).toBe(probes);
  expect(world.cluster.secretReads.length).toBeGreaterThan(100);
});

it('ST-4: an outage whose text does not change is written once', async () => {
  await using world = await settled((world) => {
    world.repositories.failure = { reason: 'RemoteUnavailable', message: 'no route' };
  });
  world.takeWrites();

  await world.clock.advance(3_600_000);

  expect(world.takeWrites()).toEqual([]);
});

it('after a restart nothing is written that is there already', async () => {
  await using first = await settled();
  const stored = Object.entries(KEYS).map(
    ([kind, key]) => [kind, key, first.status(kind as keyof typeof KEYS)] as const,
  );
  await using second = openWorld();
  for (const [kind, key, status] of stored) second.cluster.edit(kind, key, () => ({ status }) as never);

  await second.start();

  expect(second.takeWrites().filter((write) => write.startsWith('event'))).toEqual([]);
});

it('FC-OPS-5: at most one status write per object and second, however often it changes', async () => {
  await using world = await settled();
  world.takeWrites();

  for (let each = 0; each < 100; each += 1) {
    world
      .target()
      .say({ folder: { state: 'Refused', refusals: [{ code: 'unsupported-file', message: `file ${each}` }] } });
    await world.clock.advance(50);
  }

  const writes = world.takeWrites().filter((write) => write === 'status GitTarget shop/live');
  expect(writes.length).toBeLessThanOrEqual(6);
  expect(world.condition('GitTarget', 'GitPathAccepted')?.message).toMatch(/^file \d+$/);
});

it('FC-OPS-5: ten refused files in any order are one stable text', async () => {
  await using world = await settled();
  const refusals = Array.from({ length: 10 }, (_, index) => ({
    code: 'unsupported-file',
    path: `${index}.bin`,
    message: `live/${index}.bin is no manifest`,
  }));
  world.target().say({ folder: { state: 'Refused', refusals } });
  await world.settle();
  world.takeWrites();

  for (let scan = 0; scan < 100; scan += 1) {
    refusals.push(...refusals.splice(0, (scan % 9) + 1));
    world.target().say({ folder: { state: 'Refused', refusals: [...refusals] } });
    await world.clock.advance(500);
  }

  expect(world.takeWrites()).toEqual([]);
  expect(world.condition('GitTarget', 'GitPathAccepted')?.message).toBe('live/0.bin is no manifest and 9 more');
});

it('3.2: state and retained work are written with another change, or every 30 seconds', async () => {
  await using world = await settled();
  await world.clock.advance(30_000);
  world.takeWrites();
  const busy = (writeCount: number): void =>
    world.branch().say({
      state: 'Retaining',
      retained: { writeCount, sizeBytes: writeCount * 100, oldestAt: world.clock.now() },
    });
  const branchWrites = (): readonly string[] =>
    world.takeWrites().filter((write) => write === 'status GitBranch shop/main');

  for (let each = 1; each <= 25; each += 1) {
    busy(each);
    await world.clock.advance(1_000);
  }
  const during = branchWrites();
  await world.clock.advance(31_000);
  const later = branchWrites();
  busy(99);
  world.branch().say({ remote: { lastVerifiedAt: world.clock.now(), verifiedBy: 'Push', commit: TIP } });
  await world.clock.advance(2_000);
  const alone = branchWrites();
  world.branch().say({ writable: { status: 'False', reason: 'PushForbidden', message: 'read only' } });
  await world.settle();

  expect(during).toHaveLength(1);
  expect(later).toHaveLength(1);
  expect(alone).toEqual([]);
  expect(world.status('GitBranch')).toMatchObject({ state: 'Retaining', retained: { writeCount: 99 } });
});

it('ST-6: an event for a change of Ready or its reason, after the patch landed, and for nothing else', async () => {
  await using world = await settled();
  world.cluster.written.splice(0);

  world.branch().say({ writable: { status: 'False', reason: 'ProtectedBranch', message: 'open a pull request' } });
  await world.settle();
  world.branch().say({ writable: { status: 'False', reason: 'ProtectedBranch', message: 'another text' } });
  await world.settle();

  const ofBranch = world.cluster.written.filter(({ about }) => about === 'GitBranch shop/main');
  expect(ofBranch.map(({ what }) => what)).toEqual(['status', 'event', 'status']);
  expect(ofBranch[1]?.body).toMatchObject({
    type: 'Warning',
    reason: 'ProtectedBranch',
    message: 'open a pull request',
  });
});

it('20.8, API-6: the status of a target stays below 16 KiB with 500 collections and 10 000 refusals', async () => {
  await using world = await settled((world) => {
    for (let each = 0; each < 8; each += 1) {
      const rules = Array.from({ length: 63 }, (_, index) => ({
        apiGroups: [''],
        resources: ['configmaps'],
        sourceNamespace: `n-${each}-${index}-${'x'.repeat(50)}`,
      }));
      world.declare('WatchRule', `shop/many-${each}`, { gitTargetRef: { name: 'live' }, rules });
    }
    world.amend('KubeProvider', {
      allowedGitTargets: [{ namespaces: { names: ['shop'] }, sourceNamespaces: ['*'] }],
    });
  });
  const ref = {
    group: 'a'.repeat(253),
    version: 'v1',
    resource: 'b'.repeat(63),
    kind: 'K',
    namespace: 'c'.repeat(63),
    name: 'd'.repeat(253),
  };
  const message = 'e'.repeat(5_000);
  const since = world.clock.now();

  world.target().stream({
    state: 'Blocked',
    trouble: { reason: 'WatchError', message, since: world.clock.now() },
  });
  world
    .target()
    .say({ refused: Array.from({ length: 10_000 }, () => ({ code: 'write-escapes-scope', message, ref, since })) });
  await world.settle();

  expect(world.status('GitTarget')).toMatchObject({ streams: { total: 506 }, refusals: { count: 10_000 } });
  expect(Buffer.byteLength(JSON.stringify(world.status('GitTarget')))).toBeLessThan(16_384);
});
