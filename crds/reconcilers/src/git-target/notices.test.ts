import type { StandingRefusal, TargetStatus } from '@gitops-reverser/kernel-api';
import { openWorld, type World } from '../testing/world.fixture.js';

const ref = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespace: 'shop', name: 'anch' };
const skip = (since: Date, name = 'anch'): StandingRefusal => ({
  code: 'non-editable',
  message: `ConfigMap shop/${name}: it holds an anchor`,
  path: `${name}.yaml`,
  index: 0,
  ref: { ...ref, name },
  since,
  skip: true,
});

/** `reason message` of each Event about the target since the last call; what was repeated has no reason. */
const events = (world: World): readonly string[] =>
  world.cluster.written
    .splice(0)
    .filter(({ what, about }) => what === 'event' && (about === 'GitTarget shop/live' || about.startsWith('repeated')))
    .map(({ body }) => `${String(body['reason'] ?? 'repeated')} ${String(body['message'] ?? '')}`);

async function say(world: World, status: Partial<TargetStatus>): Promise<readonly string[]> {
  world.target().say(status);
  await world.settle();
  return events(world);
}

async function started(): Promise<World> {
  const world = openWorld();
  await world.start();
  events(world);
  return world;
}

describe('20, 6.1: the Event DocumentSkipped', () => {
  it('names path, index and reason, once for each standing skip, and again after it went and came back', async () => {
    await using world = await started();
    const first = skip(world.clock.now());
    const told = await say(world, { skipped: [first] });
    const again = await say(world, { skipped: [{ ...first }], resyncedToken: 'x' });
    const gone = await say(world, { skipped: [] });
    await world.clock.advance(700_000);
    events(world);
    const back = await say(world, { skipped: [skip(world.clock.now())] });

    expect(told).toEqual([
      'DocumentSkipped anch.yaml, document 0: non-editable: ConfigMap shop/anch: it holds an anchor',
    ]);
    expect(again.filter((text) => text.includes('Skipped'))).toEqual([]);
    expect(gone.filter((text) => text.includes('Skipped'))).toEqual([]);
    expect(back).toEqual(told);
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
    expect(world.status('GitTarget')).not.toHaveProperty('refusals');
  });

  it('a thousand at once are told in few Events, with a count', async () => {
    await using world = await started();
    const since = world.clock.now();

    const told = await say(world, { skipped: Array.from({ length: 1_000 }, (_, at) => skip(since, `n${at}`)) });

    expect(told).toHaveLength(25);
    expect(told.at(-1)).toMatch(/; and 975 more like it$/);
  });

  it('waits for a status that can be stored', async () => {
    await using world = await started();
    world.cluster.statusTrouble = 409;
    const blocked = await say(world, { skipped: [skip(world.clock.now())] });
    world.cluster.statusTrouble = undefined;
    world.annotate('GitTarget', 'again');
    await world.settle();

    expect([blocked, events(world).filter((text) => text.startsWith('DocumentSkipped')).length]).toEqual([[], 1]);
  });
});

it('40, 5.4: the Event WriteRefused names object, reason and author', async () => {
  await using world = await started();

  const told = await say(world, {
    refused: [
      {
        code: 'write-escapes-scope',
        message: 'ConfigMap shop/anch: leaves the folder',
        ref,
        author: 'alice',
        since: world.clock.now(),
      },
    ],
  });

  expect(told).toContain('WriteRefused write-escapes-scope: ConfigMap shop/anch: leaves the folder (written by alice)');
  expect(told).toContain('WriteBoundaryRefused ConfigMap shop/anch: leaves the folder');
});

it('40, 3.10: the Event CommitMessageFallback tells what failed, again when it fails again', async () => {
  await using world = await started();
  const at = world.clock.now();
  const failed = await say(world, { wording: { problem: 'no label app', since: at } });
  const same = await say(world, { wording: { problem: 'no label app', since: at }, resyncedToken: 'x' });

  expect(failed).toEqual([
    'CommitMessageFallback a template of spec.commit.message failed on real changes and the built-in wording was used: no label app; repair it',
  ]);
  expect(same).toEqual([]);
});

describe('20, 14: plain text in Git', () => {
  const found = (since: Date, isReplaced: boolean) => ({
    code: 'plaintext-in-git',
    message: 'Secret shop/db: found plain text in db.yaml; older commits keep the value: rotate it',
    path: 'db.yaml',
    ref: { ...ref, resource: 'secrets', kind: 'Secret', name: 'db' },
    since,
    isReplaced,
  });

  it.each([
    { isReplaced: false, count: 1, why: 'it stands' },
    { isReplaced: true, count: undefined, why: 'the history alone holds it' },
  ])('is an Event and blocks nothing; an entry of status.refusals while $why', async ({ isReplaced, count }) => {
    await using world = await started();

    const told = await say(world, { plaintext: [found(world.clock.now(), isReplaced)] });

    expect(told).toEqual([
      'PlaintextSecretInHistory Secret shop/db: found plain text in db.yaml; older commits keep the value: rotate it',
    ]);
    expect(world.status('GitTarget')['refusals']).toEqual(
      count === undefined
        ? undefined
        : {
            count,
            sample: [{ group: '', resource: 'secrets', namespace: 'shop', name: 'db', reason: 'PlaintextInGit' }],
          },
    );
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
  });
});
