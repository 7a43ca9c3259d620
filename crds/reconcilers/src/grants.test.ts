import { fakeClock, fakeLogger } from '@gitops-reverser/kernel-testing';
import { grantGate, Grants, isAdmitted, type Admission } from './grants.js';
import { MemoryCluster } from './testing/memory-cluster.fixture.js';
import { openWorld, type World } from './testing/world.fixture.js';

const selector = { matchLabels: { tier: 'tenant' } };

async function started(arrange: (world: World) => void = () => undefined): Promise<World> {
  const world = openWorld();
  arrange(world);
  await world.start();
  world.takeLog();
  return world;
}

describe('AZ-4: tightening revokes within one reconcile', () => {
  it('by the GitProvider: the worker goes without another push, and its targets with it', async () => {
    await using world = await started();

    world.amend('GitProvider', { allowedGitBranches: [{ branches: ['other'] }] });
    await world.settle();

    expect(world.takeLog()).toEqual(['close target shop/live', 'close branch shop/main within 0']);
    expect(world.verdict('GitBranch', 'BranchAllowed')).toBe('False NotAllowed');
    expect(world.status('GitProvider')).toMatchObject({ gitBranchCount: 0 });
  });

  it('by the GitBranch: streams stop, nothing else does', async () => {
    await using world = await started();

    world.amend('GitBranch', { allowedGitTargets: [] });
    await world.settle();

    expect(world.takeLog()).toEqual(['close target shop/live', 'close cluster default']);
    expect(world.verdict('GitTarget', 'TargetAllowed')).toBe('False NotAllowed');
    expect(world.verdict('WatchRule', 'GitTargetReady')).toBe('False NotAllowed');
    expect(world.status('GitBranch')).toMatchObject({ gitTargetCount: 0 });
  });

  it('by the KubeProvider, and starts again when it is given back', async () => {
    await using world = await started();

    world.amend('KubeProvider', { allowedGitTargets: [] });
    await world.settle();
    const revoked = world.takeLog();
    world.amend('KubeProvider', { allowedGitTargets: [{ namespaces: { selector: {} } }] });
    await world.settle();

    expect(revoked).toEqual(['close target shop/live', 'close cluster default']);
    expect(world.takeLog()).toEqual(['open cluster default', 'open target shop/live', 'target shop/live follows 2']);
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
  });

  it('of one source namespace: the streams of that rule stop, those of others stay', async () => {
    await using world = await started((world) => {
      world.amend('KubeProvider', {
        allowedGitTargets: [{ namespaces: { names: ['shop'] }, sourceNamespaces: ['shop', 'depot'] }],
      });
      const rules = [{ resources: ['configmaps'], sourceNamespace: 'depot' }];
      world.declare('WatchRule', 'shop/depot', { gitTargetRef: { name: 'live' }, rules });
    });
    const before = world.target().followed.map(({ namespace }) => namespace);

    world.amend('KubeProvider', { allowedGitTargets: [{ namespaces: { names: ['shop'] } }] });
    await world.settle();

    expect(before.sort()).toEqual(['depot', 'shop', undefined]);
    expect(world.target().followed.map(({ namespace }) => namespace)).toEqual(['shop', undefined]);
    expect(world.takeLog()).toEqual(['target shop/live follows 2']);
    expect(world.verdict('WatchRule', 'SourceNamespaceAuthorized', 'shop/depot')).toBe('False NotAllowed');
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
  });

  it('by a label of the namespace', async () => {
    await using world = await started((world) =>
      world.amend('KubeProvider', { allowedGitTargets: [{ namespaces: { selector } }] }),
    );

    world.cluster.namespace('shop', { tier: 'guest' });
    await world.settle();

    expect(world.takeLog()).toEqual(['close target shop/live', 'close cluster default']);
  });
});

it('12.2: while labels cannot be read nothing is narrowed, and what is denied is not let in', async () => {
  await using world = await started((world) => {
    world.amend('KubeProvider', { allowedGitTargets: [{ namespaces: { selector } }] });
    world.cluster.namespace('late', { tier: 'tenant' });
  });

  world.cluster.namespaceTrouble = 'the API server is away';
  world.amend('KubeProvider', {
    allowedGitTargets: [{ namespaces: { selector: { matchLabels: { tier: 'nobody' } } } }],
  });
  await world.settle();
  const meanwhile = { log: world.takeLog(), verdict: world.verdict('GitTarget', 'TargetAllowed') };
  world.cluster.namespaceTrouble = undefined;
  await world.clock.advance(10_000);
  await world.settle();

  expect(meanwhile).toEqual({ log: [], verdict: 'Unknown GrantUnreadable' });
  expect(world.verdict('GitTarget', 'TargetAllowed')).toBe('False NotAllowed');
  expect(world.takeLog()).toEqual(['close target shop/live', 'close cluster default']);
});

describe('Grants', () => {
  const borrower = { kind: 'GitTarget', namespace: 'shop', path: 'live' } as const;
  const lender = (...allowedGitTargets: readonly object[]) =>
    ({ kind: 'KubeProvider', name: 'default', allowedGitTargets }) as never;

  function setup() {
    const clock = fakeClock();
    const logger = fakeLogger();
    const objects = new MemoryCluster(clock);
    objects.namespace('shop', { tier: 'tenant' });
    const grants = new Grants({ objects, clock, logger });
    const ask = (...entries: readonly object[]): Admission =>
      grants.ask('GitTarget shop/live:default:1', { lender: lender(...entries), borrower });
    return { clock, logger, objects, grants, ask };
  }

  it('keeps the scope of the last decision: neither narrower nor wider', () => {
    const { objects, ask } = setup();
    ask({ namespaces: { selector }, sourceNamespaces: ['a', 'b'] });
    objects.namespaceTrouble = 'away';

    const kept = ask({ namespaces: { selector }, sourceNamespaces: ['*'] });

    expect(kept).toMatchObject({ kind: 'kept', decision: { scope: { any: false, namespaces: ['a', 'b'] } } });
  });

  it('grants by an exact name whatever the trouble: labels are never needed', () => {
    const { objects, ask } = setup();
    objects.namespaceTrouble = 'away';

    expect(ask({ namespaces: { names: ['shop'] } }).kind).toBe('granted');
  });

  it('does not narrow a scope while one more entry cannot be read', () => {
    const { objects, ask } = setup();
    ask({ namespaces: { names: ['shop'] } }, { namespaces: { selector }, sourceNamespaces: ['depot'] });
    objects.namespaceTrouble = 'away';

    const admission = ask(
      { namespaces: { names: ['shop'] } },
      { namespaces: { selector }, sourceNamespaces: ['depot'] },
    );

    expect(admission).toMatchObject({ kind: 'granted', decision: { scope: { namespaces: ['depot', 'shop'] } } });
  });

  it('forgets a denied or deleted borrower: it starts anew', () => {
    const { objects, grants, ask } = setup();
    ask({ namespaces: { selector } });
    grants.forget('GitTarget shop/live:');
    objects.namespaceTrouble = 'away';
    const afterForgetting = ask({ namespaces: { selector } });
    objects.namespaceTrouble = undefined;
    ask({ namespaces: { selector } });
    ask();
    objects.namespaceTrouble = 'away';

    expect(afterForgetting.kind).toBe('unreadable');
    expect(ask({ namespaces: { selector } }).kind).toBe('unreadable');
  });

  it('warns once when a decision has stood for ten minutes', async () => {
    const { clock, logger, objects, ask } = setup();
    ask({ namespaces: { selector } });
    objects.namespaceTrouble = 'away';
    ask({ namespaces: { selector } });
    await clock.advance(599_000);
    ask({ namespaces: { selector } });
    const early = logger.lines.length;
    await clock.advance(1_000);
    ask({ namespaces: { selector } });
    ask({ namespaces: { selector } });

    expect(early).toBe(0);
    expect(logger.said('a grant cannot be read; its last decision stands')).toHaveLength(1);
  });

  it('remembers nothing when only asked whether somebody is admitted', () => {
    const { objects, grants, ask } = setup();
    const isAdmittedNow = grants.admits({ lender: lender({ namespaces: { selector } }), borrower });
    objects.namespaceTrouble = 'away';

    expect(isAdmittedNow).toBe(true);
    expect(ask({ namespaces: { selector } }).kind).toBe('unreadable');
  });

  it('12.1: gates have the levels of the contract', () => {
    const { objects, ask } = setup();
    const levels = [ask({ namespaces: { selector } })];
    objects.namespaceTrouble = 'away';
    levels.push(ask({ namespaces: { selector } }));

    expect(levels.map((admission) => [isAdmitted(admission), grantGate('TargetAllowed', admission)])).toMatchObject([
      [true, { status: 'True', reason: 'Granted' }],
      [true, { status: 'Unknown', reason: 'GrantUnreadable', level: 'none' }],
    ]);
  });
});
