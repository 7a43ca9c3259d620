import { surfaceOf, TIP } from './testing/fake-runtime.fixture.js';
import { openWorld, quickStart, type World } from './testing/world.fixture.js';

async function started(arrange: (world: World) => void = () => undefined): Promise<World> {
  const world = openWorld();
  arrange(world);
  await world.start();
  return world;
}
const later = { creationTimestamp: '2026-01-02T00:00:00Z' };

it('opens in the order of need: branch and cluster, then the target, then its streams', async () => {
  await using world = await started();

  expect(world.takeLog()).toEqual([
    'open cluster default',
    'open branch shop/main',
    'observe branch shop/main',
    'open target shop/live',
    'target shop/live follows 2',
  ]);
  expect(world.status('GitProvider')).toMatchObject({
    repository: 'git.example.test/shop/state',
    defaultBranch: 'main',
    gitBranchCount: 1,
    lastVerifiedAt: expect.stringMatching(/^2026-01-01T00:00:0\dZ$/) as string,
  });
  expect(world.status('GitBranch')).toMatchObject({ gitTargetCount: 1, state: 'Idle', remote: { commit: TIP } });
  expect(world.status('GitTarget')).toMatchObject({
    streams: { summary: '2/2', total: 2, ready: 2, replaying: 0, blocked: 0 },
    placement: { mode: 'Plain', resolvedAtCommit: TIP, resolvedAt: expect.stringMatching(/^2026-/) as string },
    remote: { commit: TIP, verifiedBy: 'Fetch' },
  });
  expect(world.status('KubeProvider')).toMatchObject({
    gitTargetCount: 1,
    applierClaimCount: 0,
    auditRoute: 'default',
    server: '',
    serverVersion: 'v1.36.0',
  });
  expect(world.status('WatchRule')).toMatchObject({ streams: { summary: '1/1' } });
});

it('declared in any order it comes to the same end', async () => {
  await using world = openWorld();
  world.only();
  await world.start();
  for (const kind of [
    'ClusterWatchRule',
    'WatchRule',
    'GitTarget',
    'GitBranch',
    'GitProvider',
    'KubeProvider',
  ] as const) {
    const key = {
      ClusterWatchRule: 'wide',
      WatchRule: 'shop/basics',
      GitTarget: 'shop/live',
      GitBranch: 'shop/main',
      GitProvider: 'shop/home',
      KubeProvider: 'default',
    }[kind];
    world.declare(kind, key, quickStart[kind]);
    await world.settle();
  }

  expect(world.verdict('WatchRule', 'Ready')).toBe('True Succeeded');
  expect(world.verdict('ClusterWatchRule', 'Ready')).toBe('True Succeeded');
});

describe('deletion (10, 14)', () => {
  it('of a GitProvider keeps the worker and its retained work; a recreated one gets a new worker and a fresh look', async () => {
    await using world = await started();
    world.takeLog();

    world.cluster.remove('GitProvider', 'shop/home');
    await world.settle();
    const gone = { log: world.takeLog(), verdict: world.verdict('GitBranch', 'Validated') };
    const probes = world.repositories.probes.length;
    world.declare('GitProvider', 'shop/home', quickStart.GitProvider);
    await world.settle();

    expect(gone).toEqual({ log: [], verdict: 'False GitProviderNotFound' });
    expect(world.takeLog()).toEqual([
      'close target shop/live',
      'close branch shop/main within 10000',
      'open branch shop/main',
      'observe branch shop/main',
      'open target shop/live',
      'target shop/live follows 2',
    ]);
    expect(world.repositories.probes.length).toBe(probes + 1);
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
  });

  it('of a GitProvider ends the use of its credential at once', async () => {
    await using world = await started();
    const access = (): unknown => world.repositories.opened[0]?.access();
    const before = access();

    world.cluster.remove('GitProvider', 'shop/home');
    await world.settle();

    expect(before).toMatchObject({ url: quickStart.GitProvider.url });
    expect(access).toThrow('GitBranch shop/main: its GitProvider lends no usable access now');
  });

  it('of a GitBranch publishes once more; its targets say so', async () => {
    await using world = await started();
    world.takeLog();

    world.cluster.remove('GitBranch', 'shop/main');
    await world.settle();

    expect(world.takeLog()).toEqual([
      'close target shop/live',
      'close branch shop/main within 10000',
      'close cluster default',
    ]);
    expect(world.verdict('GitTarget', 'Validated')).toBe('False GitBranchNotFound');
    expect(world.status('GitProvider')).toMatchObject({ gitBranchCount: 0 });
  });

  it('of a GitTarget stops its streams, wakes its lenders and tells its rules', async () => {
    await using world = await started();
    world.takeLog();

    world.cluster.remove('GitTarget', 'shop/live');
    await world.settle();

    expect(world.takeLog()).toEqual(['close target shop/live', 'close cluster default']);
    expect(world.verdict('WatchRule', 'Validated')).toBe('False GitTargetNotFound');
    expect(world.verdict('ClusterWatchRule', 'Validated')).toBe('False GitTargetNotFound');
    expect(world.status('GitBranch')).toMatchObject({ gitTargetCount: 0 });
    expect(world.status('KubeProvider')).toMatchObject({ gitTargetCount: 0 });
    expect(world.verdict('KubeProvider', 'SourceClusterReachable')).toBe('absent');
  });

  it('of a GitTarget that somebody holds with a finalizer stops its streams already', async () => {
    await using world = await started();
    world.takeLog();

    world.cluster.edit('GitTarget', 'shop/live', ({ metadata }) => ({
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T01:00:00Z' },
    }));
    await world.settle();

    expect(world.takeLog()).toEqual(['close target shop/live', 'close cluster default']);
    expect(world.verdict('GitTarget', 'Reconciling')).toBe('True Progressing');
  });

  it('of a rule stops the collections nobody else selects', async () => {
    await using world = await started();

    world.cluster.remove('WatchRule', 'shop/basics');
    await world.settle();

    expect(world.target().followed.map(({ type }) => type.resource)).toEqual(['namespaces']);
  });

  it('of a KubeProvider stops its streams; recreated, everything starts again', async () => {
    await using world = await started();
    world.takeLog();

    world.cluster.remove('KubeProvider', 'default');
    await world.settle();
    const gone = { log: world.takeLog(), verdict: world.verdict('GitTarget', 'Validated') };
    world.declare('KubeProvider', 'default', quickStart.KubeProvider);
    await world.settle();

    expect(gone).toEqual({
      log: ['close target shop/live', 'close cluster default'],
      verdict: 'False KubeProviderNotFound',
    });
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
  });

  it('and another one of the same name, seen as one change, inherits nothing', async () => {
    await using world = await started((world) => world.annotate('GitProvider', 'a'));
    world.repositories.failure = { reason: 'RemoteUnavailable', message: 'no route' };

    // One turn: the queue sees the key once.
    world.cluster.remove('GitProvider', 'shop/home');
    world.declare('GitProvider', 'shop/home', { ...quickStart.GitProvider, url: 'https://git.example.test/other.git' });
    await world.settle();

    // The namesake's success tolerates nothing of the new one.
    expect(world.verdict('GitProvider', 'RemoteReachable')).toBe('False RemoteUnavailable');
    expect(world.status('GitProvider')).toMatchObject({ repository: 'git.example.test/other' });
  });

  it('created again while its worker is still closing is not forgotten', async () => {
    await using world = await started();
    let letGo: () => void = () => undefined;
    world.runtime.whileClosing = (what) =>
      what.startsWith('branch') ? new Promise((resolve) => (letGo = resolve)) : Promise.resolve();
    world.cluster.remove('GitBranch', 'shop/main');
    await world.settle();

    world.declare('GitBranch', 'shop/main', quickStart.GitBranch);
    await world.settle();
    letGo();
    world.runtime.whileClosing = undefined;
    await world.settle();

    expect(world.verdict('GitBranch', 'Ready')).toBe('True Succeeded');
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
  });
});

describe('who owns a remote branch or a folder', () => {
  const second = (world: World): void => {
    world.declare('GitProvider', 'shop/second', {
      ...quickStart.GitProvider,
      url: 'https://git.example.test/shop/state',
    });
    world.declare('GitBranch', 'shop/younger', { ...quickStart.GitBranch, gitProviderRef: { name: 'second' } }, later);
  };

  it('40, 1.1: two branches of one repository never get two workers; when the older goes the younger takes over', async () => {
    await using world = await started(second);
    const open = [...world.runtime.branches.keys()];

    world.cluster.remove('GitBranch', 'shop/main');
    await world.settle();

    expect(open).toEqual(['shop/main']);
    expect([...world.runtime.branches.keys()]).toEqual(['shop/younger']);
    expect(world.verdict('GitBranch', 'Validated', 'shop/younger')).toBe('True Succeeded');
  });

  it('an older branch whose provider appears later takes the branch back', async () => {
    await using world = await started((world) => {
      second(world);
      world.cluster.remove('GitProvider', 'shop/home');
    });
    const open = [...world.runtime.branches.keys()];

    world.declare('GitProvider', 'shop/home', quickStart.GitProvider);
    await world.settle();

    expect(open).toEqual(['shop/younger']);
    expect([...world.runtime.branches.keys()]).toEqual(['shop/main']);
    expect(world.verdict('GitBranch', 'Validated', 'shop/younger')).toBe('False BranchConflict');
  });

  it('who is not admitted owns nothing: an ungranted older target blocks nobody', async () => {
    await using world = await started((world) => {
      world.declare(
        'GitTarget',
        'squat/all',
        { gitBranchRef: { name: 'main', namespace: 'shop' }, path: '.' },
        { creationTimestamp: '2020-01-01T00:00:00Z' },
      );
    });
    const before = world.verdict('GitTarget', 'Ready');

    // Admitted, it is the older one, and the younger makes room.
    world.amend('GitBranch', { allowedGitTargets: [{ namespaces: { names: ['shop', 'squat'] } }] });
    await world.settle();

    expect(before).toBe('True Succeeded');
    expect(world.verdict('GitTarget', 'Validated')).toBe('False TargetConflict');
  });

  it('targets side by side live on one branch', async () => {
    await using world = await started((world) =>
      world.declare('GitTarget', 'shop/lively', { ...quickStart.GitTarget, path: 'lively' }, later),
    );

    expect(world.verdict('GitTarget', 'Ready', 'shop/lively')).toBe('True Succeeded');
    expect(world.status('GitBranch')).toMatchObject({ gitTargetCount: 2 });
  });
});

describe('rotation', () => {
  it('of a credential reaches the open worker: no reopening, one distrust, one probe', async () => {
    await using world = await started();
    world.takeLog();
    const probes = world.repositories.probes.length;

    world.cluster.secret('shop', 'git-creds', { username: 'bot', password: 'canary-two' });
    await world.clock.advance(30_000);
    await world.settle();

    expect(world.takeLog()).toEqual(['distrust branch shop/main']);
    expect(world.repositories.opened).toHaveLength(1);
    expect(world.repositories.opened[0]?.access().credentials).toMatchObject({ password: 'canary-two' });
    expect(world.repositories.probes.length).toBe(probes + 1);
  });

  it('of trust material alone counts as well', async () => {
    const pem = (mark: string): string => `-----BEGIN CERTIFICATE-----\n${mark}\n-----END CERTIFICATE-----\n`;
    await using world = await started((world) => {
      world.cluster.configMap('shop', 'corp-ca', { 'ca.crt': pem('A') });
      world.amend('GitProvider', { secretRef: undefined, tls: { caRef: { name: 'corp-ca' } } });
    });
    world.takeLog();

    world.cluster.configMap('shop', 'corp-ca', { 'ca.crt': pem('B') });
    await world.clock.advance(30_000);
    await world.settle();

    expect(world.takeLog()).toEqual(['distrust branch shop/main']);
    expect(world.repositories.opened[0]?.access().ca).toContain('B');
  });

  it('a wrong credential, corrected, recovers without a restart', async () => {
    await using world = await started((world) => {
      world.repositories.failure = { reason: 'AuthenticationFailed', message: 'the host refused the credential' };
    });
    const before = world.verdict('GitProvider', 'RemoteReachable');

    world.repositories.failure = undefined;
    world.cluster.secret('shop', 'git-creds', { username: 'bot', password: 'canary-right' });
    await world.clock.advance(10_000);
    await world.settle();

    expect(before).toBe('False AuthenticationFailed');
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
  });

  it('a Secret that is taken away ends the use of what it held; back, the worker looks again', async () => {
    await using world = await started();
    world.takeLog();

    world.cluster.remove('Secret', 'shop/git-creds');
    await world.clock.advance(30_000);
    await world.settle();
    const access = (): unknown => world.repositories.opened[0]?.access();
    expect(access).toThrow('lends no usable access now');
    world.cluster.secret('shop', 'git-creds', { username: 'bot', password: 'canary-back' });
    await world.clock.advance(10_000);
    await world.settle();

    expect(world.takeLog()).toEqual(['distrust branch shop/main']);
    expect(access()).toMatchObject({ credentials: { password: 'canary-back' } });
  });

  it('signing that cannot be done lets nothing be published unsigned', async () => {
    await using world = await started();

    world.amend('GitProvider', { commit: { signing: { secretRef: { name: 'signing' } } } });
    await world.settle();

    expect(() => world.repositories.opened[0]?.access()).toThrow('lends no usable access now');
    expect(world.verdict('GitBranch', 'GitProviderReady')).toBe('False GitProviderNotReady');
  });

  const kubeconfig = (server: string, token: string): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'ws', cluster: { server } }],
      users: [{ name: 'me', user: { token } }],
      contexts: [{ name: 'ws', context: { cluster: 'ws', user: 'me' } }],
      'current-context': 'ws',
    });
  const withKubeconfig = (world: World): void => {
    world.cluster.secret('reverser-system', 'ws', { value: kubeconfig('https://ws.example.test', 'canary-1') });
    world.amend('KubeProvider', { connection: { secretRef: { name: 'ws' } } });
  };

  it('of a kubeconfig keeps the cluster open and proves that it was loaded', async () => {
    await using world = await started(withKubeconfig);
    world.takeLog();
    const before = world.status('KubeProvider')['credential'];

    world.cluster.secret('reverser-system', 'ws', { value: kubeconfig('https://ws.example.test', 'canary-2') });
    await world.clock.advance(30_000);
    await world.settle();

    expect(world.takeLog()).toEqual([]);
    expect(world.status('KubeProvider')['credential']).not.toEqual(before);
    expect(world.status('KubeProvider')).toMatchObject({ server: 'https://ws.example.test' });
  });

  it('of a kubeconfig to another server opens the cluster anew, and its targets with it', async () => {
    await using world = await started(withKubeconfig);
    world.takeLog();

    world.cluster.secret('reverser-system', 'ws', { value: kubeconfig('https://other.example.test', 'canary-2') });
    await world.clock.advance(30_000);
    await world.settle();

    expect(world.takeLog()).toEqual([
      'close target shop/live',
      'close cluster default',
      'open cluster default',
      'open target shop/live',
      'target shop/live follows 2',
    ]);
  });

  it('of the request rate opens the connection anew, once', async () => {
    await using world = await started(withKubeconfig);
    world.takeLog();

    world.amend('KubeProvider', { client: { qps: 5, burst: 10 } });
    await world.settle();
    const first = world.takeLog();
    await world.clock.advance(60_000);

    expect(first.filter((line) => line.startsWith('open cluster'))).toHaveLength(1);
    expect(world.takeLog()).toEqual([]);
  });
});

describe('changes reach what is open', () => {
  it('a parent branch is asked for again', async () => {
    await using world = await started();
    world.takeLog();

    world.amend('GitBranch', { parentBranch: 'base' });
    await world.settle();

    expect(world.repositories.opened[0]?.parentBranch()).toBe('base');
    expect(world.takeLog()).toEqual(['distrust branch shop/main']);
  });

  it('a committer applies from the next commit', async () => {
    await using world = await started();
    world.takeLog();

    world.amend('GitProvider', { commit: { committer: { name: 'Plum Bot', email: 'bot@plum.example.test' } } });
    await world.settle();

    expect(world.takeLog()).toEqual(['configure branch shop/main']);
    expect(world.branch().settings.committer).toEqual({ name: 'Plum Bot', email: 'bot@plum.example.test' });
  });

  it('settings of a target are handed on, suspension included, without reopening', async () => {
    await using world = await started();
    world.takeLog();

    world.amend('GitTarget', { suspend: true, prune: { mode: 'Always' } });
    await world.settle();

    expect(world.takeLog()).toEqual(['configure target shop/live']);
    expect(world.target().settings).toMatchObject({ suspend: true, prune: 'Always' });
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Suspended');
  });

  it('4.2: under an invalid template the old wording stays, while prune and suspension are obeyed', async () => {
    await using world = await started((world) => {
      world.problems = ({ messages }) => (messages.live?.includes('bad') === true ? ['liveTemplate: bad'] : []);
      world.amend('GitTarget', { commit: { message: { liveTemplate: 'good' } } });
    });

    world.amend('GitTarget', { commit: { message: { liveTemplate: 'bad' } }, suspend: true, prune: { mode: 'Never' } });
    await world.settle();

    expect(world.target().settings).toMatchObject({ messages: { live: 'good' }, suspend: true, prune: 'Never' });
    expect(world.verdict('GitTarget', 'Stalled')).toBe('True InvalidConfig');
  });

  it('a CRD that appears becomes followed, one that goes stops', async () => {
    await using world = await started((world) =>
      world.amend('WatchRule', { rules: [{ resources: ['configmaps'] }, { resources: ['plums'] }] }),
    );
    const types = surfaceOf().types;
    const plums = { group: 'fruit.example.test', version: 'v1', resource: 'plums', kind: 'Plum', namespaced: true };
    const before = world.verdict('WatchRule', 'ResourcesResolved');

    world.source().say(
      surfaceOf({
        generation: 2,
        types: [...types, { type: plums, singular: 'plum', shortNames: [], preferred: true, verdict: 'followable' }],
      }),
    );
    await world.settle();
    const during = world.target().followed.map(({ type }) => type.resource);
    world.source().say(surfaceOf({ generation: 3 }));
    await world.settle();

    expect(before).toBe('False ResourcesNotServed');
    expect(during.sort()).toEqual(['configmaps', 'namespaces', 'plums']);
    expect(world.target().followed).toHaveLength(2);
    expect(world.verdict('WatchRule', 'ResourcesResolved')).toBe('False ResourcesNotServed');
  });

  it('a rule that moves to another target leaves the first and joins the second', async () => {
    await using world = await started((world) =>
      world.declare('GitTarget', 'shop/second', { ...quickStart.GitTarget, path: 'second' }, later),
    );

    world.amend('WatchRule', { gitTargetRef: { name: 'second' } });
    await world.settle();

    expect(world.target().followed.map(({ type }) => type.resource)).toEqual(['namespaces']);
    expect(world.target('shop/second').followed.map(({ type }) => type.resource)).toEqual(['configmaps']);
    expect(world.condition('WatchRule', 'GitTargetReady')?.message).toContain('shop/second');
  });

  it('streams that are about to stop are not counted', async () => {
    await using world = await started();
    world.runtime.streamsAtOnce = false;

    world.cluster.remove('ClusterWatchRule', 'wide');
    await world.settle();

    expect(world.target().status().streams).toHaveLength(2);
    expect(world.status('GitTarget')).toMatchObject({ streams: { summary: '1/1', total: 1, ready: 1 } });
  });
});

describe('races', () => {
  it('a target never stays open on a branch that closed while it opened', async () => {
    await using world = openWorld();
    let raced = false;
    world.runtime.whileOpeningTarget = async () => {
      if (raced) return;
      raced = true;
      world.amend('GitProvider', { allowedGitBranches: [] });
      await world.clock.settle();
    };

    await world.start();

    expect([...world.runtime.targets.keys()]).toEqual([]);
    expect([...world.runtime.branches.keys()]).toEqual([]);
    world.amend('GitProvider', { allowedGitBranches: [{ branches: ['**'] }] });
    await world.settle();
    expect(world.verdict('GitTarget', 'Ready')).toBe('True Succeeded');
  });

  it('while a branch closes no target opens on it again', async () => {
    await using world = await started();
    let letGo: () => void = () => undefined;
    world.runtime.whileClosing = (what) =>
      what.startsWith('branch') ? new Promise((resolve) => (letGo = resolve)) : Promise.resolve();
    world.cluster.remove('GitBranch', 'shop/main');
    await world.settle();
    world.takeLog();

    world.annotate('GitTarget', 'try');
    await world.settle();
    const meanwhile = world.takeLog();
    letGo();
    await world.settle();

    expect(meanwhile.filter((line) => line.startsWith('open'))).toEqual([]);
  });

  it('FC-OPS-4: hosts that hang do not hold up the others', async () => {
    await using world = await started((world) => {
      world.repositories.hanging = 'hanging';
      for (let each = 0; each < 8; each += 1)
        world.declare('GitProvider', `aaa/hanging-${each}`, { url: `https://git.example.test/hanging/${each}.git` });
    });

    expect(world.verdict('GitProvider', 'Ready')).toBe('True Succeeded');
    expect(world.verdict('GitProvider', 'Ready', 'aaa/hanging-0')).toBe('absent');
  });
});

describe('10, 0.5: requestedAt asks once', () => {
  it('of a provider: one probe', async () => {
    await using world = await started();
    const probes = world.repositories.probes.length;

    world.annotate('GitProvider', 'one');
    await world.settle();
    await world.clock.advance(120_000);

    expect(world.repositories.probes.length).toBe(probes + 1);
    expect(world.status('GitProvider')).toMatchObject({ lastHandledReconcileAt: 'one' });
  });

  it('of a branch: one look', async () => {
    await using world = await started();
    world.takeLog();

    world.annotate('GitBranch', 'one');
    await world.settle();

    expect(world.takeLog()).toEqual(['observe branch shop/main']);
    expect(world.status('GitBranch')).toMatchObject({ lastHandledReconcileAt: 'one' });
  });

  it('of a target: one resync, handled when every scope has settled', async () => {
    await using world = await started();
    world.takeLog();

    world.annotate('GitTarget', 'one');
    await world.settle();
    const early = world.status('GitTarget')['lastHandledReconcileAt'];
    world.target().say({ resyncedToken: 'one' });
    await world.settle();

    expect(world.takeLog()).toEqual(['resync target shop/live one']);
    expect(early).toBeUndefined();
    expect(world.status('GitTarget')).toMatchObject({ lastHandledReconcileAt: 'one' });
  });

  it('of a target that cannot run: owed until it can', async () => {
    await using world = await started((world) => world.amend('GitBranch', { allowedGitTargets: [] }));

    world.annotate('GitTarget', 'one');
    await world.settle();
    const early = world.status('GitTarget')['lastHandledReconcileAt'];
    world.takeLog();
    world.amend('GitBranch', { allowedGitTargets: [{}] });
    await world.settle();

    expect(early).toBeUndefined();
    expect(world.takeLog()).toContain('resync target shop/live one');
  });

  it('of a rule: resolved again', async () => {
    await using world = await started();

    world.annotate('WatchRule', 'one');
    await world.settle();

    expect(world.status('WatchRule')).toMatchObject({ lastHandledReconcileAt: 'one' });
  });

  it('after a restart it is not asked again', async () => {
    await using world = openWorld();
    for (const kind of ['GitBranch', 'GitTarget'] as const) {
      world.annotate(kind, 'one');
      world.cluster.edit(kind, kind === 'GitBranch' ? 'shop/main' : 'shop/live', () => ({
        status: { lastHandledReconcileAt: 'one' },
      }));
    }

    await world.start();

    expect(world.takeLog().filter((line) => line.startsWith('resync'))).toEqual([]);
  });
});

describe('what sessions met shows on the provider (40, 4.6)', () => {
  it('a session that cannot reach the host makes the provider look, and look again once it can', async () => {
    await using world = await started();
    const probes = world.repositories.probes.length;

    world.repositories.failure = { reason: 'AuthenticationFailed', message: 'the password was revoked' };
    world.branch().say({ reachable: { status: 'False', reason: 'AuthenticationFailed', message: 'refused' } });
    await world.settle();
    const during = world.verdict('GitProvider', 'RemoteReachable');
    world.repositories.failure = undefined;
    world.branch().say({ reachable: { status: 'True', reason: 'Succeeded', message: 'the repository answers' } });
    await world.settle();

    expect(during).toBe('False AuthenticationFailed');
    expect(world.verdict('GitProvider', 'RemoteReachable')).toBe('True Succeeded');
    expect(world.repositories.probes.length).toBe(probes + 2);
  });

  it('a probe that disagrees with a session is asked once, not again and again', async () => {
    await using world = await started();
    const probes = world.repositories.probes.length;

    for (let each = 0; each < 5; each += 1) {
      const message = `refused for the ${each}. time`;
      world.branch().say({ reachable: { status: 'False', reason: 'RemoteUnavailable', message } });
      await world.settle();
    }

    expect(world.repositories.probes.length).toBe(probes + 1);
  });
});

it('ST-5, FC-SEC-4: conditions and events pass the redactor', async () => {
  await using world = await started((world) => {
    world.options = { redact: (text) => text.replaceAll('canary-password', '[redacted]') };
    world.repositories.failure = {
      reason: 'AuthenticationFailed',
      message: 'the host said: canary-password is not the password',
    };
  });

  expect(world.condition('GitProvider', 'RemoteReachable')?.message).toBe(
    'the host said: [redacted] is not the password',
  );
  expect(JSON.stringify(world.cluster.written)).not.toContain('canary');
});

it('stopping leaves what is open to the runtime and decides nothing more', async () => {
  const world = await started();
  world.takeLog();
  world.takeWrites();
  await world[Symbol.asyncDispose]();

  world.amend('GitBranch', { allowedGitTargets: [] });
  await world.clock.advance(60_000);

  expect(world.takeLog()).toEqual([]);
  expect(world.takeWrites()).toEqual([]);
  expect(world.clock.sleeping).toBe(0);
});
