import { openWorld } from '../testing/world.fixture.js';

const rule = (...sourceNamespaces: readonly (string | undefined)[]) => ({
  gitTargetRef: { name: 'live' },
  rules: sourceNamespaces.map((sourceNamespace) => ({
    apiGroups: [''],
    resources: ['configmaps'],
    ...(sourceNamespace === undefined ? {} : { sourceNamespace }),
  })),
});

describe('20, 7.7: the namespaces a target may hold objects of', () => {
  it('are its own and those its rules name, with who names them', async () => {
    await using world = openWorld();
    world.declare('WatchRule', 'shop/more', rule('depot', undefined, '*'));
    world.declare('WatchRule', 'shop/elsewhere', { ...rule('other'), gitTargetRef: { name: 'another' } });
    await world.start();

    expect(world.target().settings.sourceNamespaces).toEqual([
      { name: 'shop', namedBy: ['GitTarget shop/live', 'WatchRule shop/basics', 'WatchRule shop/more'] },
      { name: 'depot', namedBy: ['WatchRule shop/more'] },
      { name: '*', namedBy: ['WatchRule shop/more'] },
    ]);
  });

  it('follow the rules: a rule that comes or goes configures the target before it is followed', async () => {
    await using world = openWorld();
    world.amend('KubeProvider', {
      allowedGitTargets: [{ namespaces: { names: ['shop'] }, sourceNamespaces: ['shop', 'depot'] }],
    });
    await world.start();
    world.takeLog();

    world.declare('WatchRule', 'shop/more', rule('depot'));
    await world.settle();
    const came = [world.takeLog(), world.target().settings.sourceNamespaces?.map(({ name }) => name)];
    world.cluster.remove('WatchRule', 'shop/more');
    await world.settle();

    expect(came).toEqual([
      ['configure target shop/live', 'target shop/live follows 3'],
      ['shop', 'depot'],
    ]);
    expect(world.target().settings.sourceNamespaces?.map(({ name }) => name)).toEqual(['shop']);
  });

  it('count although no grant admits them today', async () => {
    await using world = openWorld();
    world.declare('WatchRule', 'shop/more', rule('depot'));

    await world.start();

    expect(world.verdict('WatchRule', 'SourceNamespaceAuthorized', 'shop/more')).toBe('False NotAllowed');
    expect(world.target().settings.sourceNamespaces?.map(({ name }) => name)).toEqual(['shop', 'depot']);
  });

  it('4.2: are those of today also while an earlier configuration stays in force', async () => {
    await using world = openWorld();
    world.problems = ({ messages }) => (messages.live === undefined ? [] : ['spec.commit.message.liveTemplate: bad']);
    await world.start();

    world.amend('GitTarget', { commit: { message: { liveTemplate: '{{ .Nothing }}' } } });
    world.declare('WatchRule', 'shop/more', rule('depot'));
    await world.settle();

    expect(world.verdict('GitTarget', 'Validated')).toBe('False InvalidConfig');
    expect(world.target().settings.messages).toEqual({});
    expect(world.target().settings.sourceNamespaces?.map(({ name }) => name)).toEqual(['shop', 'depot']);
  });
});
