import { setTimeout as delay } from 'node:timers/promises';
import { freePort, git, startGitHost } from '@gitops-reverser/e2e-harness';
import { kindNames, toCrd } from '@gitops-reverser/crd-types';
import { bot, declareCluster, openStage, STRANGER, type Stage, type Team } from './operator.fixture.js';

// One operator for all teams; every team has a namespace, a repository and a bad day of its own.
describe('the whole operator, from source, on an embedded API server and a real Git host', () => {
  let stage: Stage;
  const teams: Team[] = [];
  async function team(...given: Parameters<Stage['team']>): Promise<Team> {
    const made = await stage.team(...given);
    teams.push(made);
    return made;
  }

  beforeAll(async () => {
    stage = await openStage();
    await stage.installPlugin();
    declareCluster(stage);
    stage.start({ plugins: [{ use: 'default' }, { use: STRANGER, options: { prefix: 'private.example.test/' } }] });
    await stage.untilReady();
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose](), 30_000);

  it('mirrors what exists, then edits, then deletions', async () => {
    const { repository, ...orchard } = await orchards(await team('orchard'));
    expect(await repository.log('main')).toHaveLength(2);

    orchard.edit({ a: 'two' });
    await orchard.lands('configmaps/press.yaml', 'two');
    orchard.remove();
    await orchard.lands('configmaps/press.yaml', undefined);
  }, 30_000);

  async function orchards(made: Team) {
    made.configMap('press', { a: 'one' });
    made.declare();
    await made.lands('configmaps/press.yaml', 'one');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');
    return {
      repository: made.repository,
      edit: (data: Readonly<Record<string, string>>) => made.configMap('press', data),
      remove: () => stage.cluster.delete('v1', 'ConfigMap', 'press', made.name),
      lands: (path: string, text: string | undefined) => made.lands(path, text),
    };
  }

  it('issue 3, done 5: a plugin from outside the workspace, loaded by configuration, takes part', async () => {
    const made = await team('stranger');
    made.configMap(
      'noted',
      { a: 'b' },
      { 'private.example.test/note': 'not for Git', 'public.example.test/note': 'kept' },
    );
    made.declare();

    await made.lands('configmaps/noted.yaml', 'public.example.test/note: kept');

    expect(await made.file('configmaps/noted.yaml')).not.toContain('private.example.test');
  }, 30_000);

  it('follows a type whose definition arrives later', async () => {
    const made = await team('late-type');
    made.configMap('press', { a: 'b' });
    made.declare({
      rules: [{ resources: ['configmaps'] }, { apiGroups: ['late.example.test'], resources: ['plums'] }],
    });
    const missing = await made.reads('WatchRule/basics', 'ResourcesResolved', 'False ResourcesNotServed');
    await made.lands('configmaps/press.yaml', 'a: b');

    stage.cluster.apply(plums as never);
    stage.cluster.apply({
      apiVersion: 'late.example.test/v1',
      kind: 'Plum',
      metadata: { name: 'ripe', namespace: made.name },
      spec: { stones: 1 },
    } as never);

    await made.lands('late.example.test/plums/ripe.yaml', 'stones: 1');
    await made.reads('WatchRule/basics', 'Ready', 'True Succeeded');
    expect(missing.message).toContain('spec.rules[1]: plums');
  }, 40_000);

  it('stops at a revoked grant without touching a file, and goes on where it stopped', async () => {
    const made = await team('revoked');
    made.configMap('press', { a: 'one' });
    made.declare();
    await made.lands('configmaps/press.yaml', 'one');

    made.declare({ provider: { allowedGitBranches: [] } });
    const denied = await made.reads('GitBranch/main', 'BranchAllowed', 'False NotAllowed');
    made.configMap('press', { a: 'two' });
    await delay(1_000);
    const meanwhile = await made.file('configmaps/press.yaml');
    made.declare();

    await made.lands('configmaps/press.yaml', 'two');
    expect(meanwhile).toContain('one');
    expect(denied.message).toContain('GitProvider revoked/home admits nobody');
  }, 40_000);

  it('puts its commits on top of what strangers push', async () => {
    const made = await team('foreign');
    made.configMap('press', { a: 'one' });
    made.declare();
    await made.lands('configmaps/press.yaml', 'one');

    const theirs = await made.repository.commitFiles('main', { 'docs/why.md': 'Because.\n' });
    made.configMap('press', { a: 'two' });
    await made.lands('configmaps/press.yaml', 'two');

    const [ours, foreign] = await made.repository.log('main');
    expect([ours?.parents, foreign?.sha]).toEqual([[theirs], theirs]);
    expect(await made.repository.showFile('main', 'docs/why.md')).toBe('Because.\n');
  }, 30_000);

  it('a Secret that is missing, then wrong, then right: no restart, and nothing of it in a condition', async () => {
    const made = await team('credentials', { access: { anonymous: 'none', accounts: [bot] } });
    made.configMap('press', { a: 'b' });
    made.declare({ provider: { secretRef: { name: 'git-creds' } } });
    const missing = await made.reads('GitProvider/home', 'CredentialsResolved', 'False SecretNotFound');
    made.credentials('canary-wrong');
    made.ask('GitProvider', 'home');
    const wrong = await made.reads('GitProvider/home', 'RemoteReachable', 'False AuthenticationFailed');
    await made.reads('GitTarget/live', 'GitBranchReady', 'False GitBranchNotReady');

    made.credentials(bot.password);
    await made.lands('configmaps/press.yaml', 'a: b');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');

    expect(missing.message).toContain('Secret credentials/git-creds does not exist');
    expect(wrong.message).not.toContain('canary');
  }, 60_000);

  it('a Git host that is not there, then there', async () => {
    const made = await team('unreachable');
    const port = await freePort();
    made.configMap('press', { a: 'b' });
    made.declare({ provider: { url: `http://127.0.0.1:${port}/late.git` } });
    const found = await made.reads('GitProvider/home', 'RemoteReachable', 'False RemoteUnavailable');

    await using late = await startGitHost({ dir: `${stage.dir}/late`, port });
    const repository = await late.createRepository('late', { files: { 'README.md': 'Late.\n' } });
    made.ask('GitProvider', 'home');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');

    expect(found.message).toContain(`127.0.0.1:${port}`);
    expect(await repository.showFile('main', 'live/unreachable/configmaps/press.yaml')).toContain('a: b');
    await repository.fsck();
  }, 60_000);

  it('a folder that is not ours, repaired in Git', async () => {
    const made = await team('occupied', { files: { 'live/app.bin': 'binary' } });
    made.configMap('press', { a: 'b' });
    made.declare();
    const refused = await made.reads('GitTarget/live', 'GitPathAccepted', 'False UnsupportedContent');
    const untouched = await made.repository.log('main');

    await made.repository.commitFiles('main', { 'live/app.bin': null });
    made.ask('GitTarget', 'live');
    await made.lands('configmaps/press.yaml', 'a: b');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');

    expect(refused.message).toContain('app.bin');
    expect(untouched).toHaveLength(1);
    expect(await made.repository.showFile('main', 'live/README.md')).toContain('GitOps Reverser writes this folder');
  }, 40_000);

  it('40, 3.2: a folder without a README and an ignore file gets them beside a change, never alone', async () => {
    const press = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: press\n  namespace: bare\ndata:\n  a: one\n';
    const made = await team('bare', { files: { 'live/bare/press.yaml': press } });
    made.configMap('press', { a: 'one' });
    made.declare();
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');
    const nothingChanged = await made.repository.log('main');

    made.configMap('press', { a: 'two' });
    await made.lands('press.yaml', 'two');
    await made.repository.commitFiles('main', { 'live/README.md': 'Theirs.\n', 'live/.gittargetignore': null });
    made.configMap('press', { a: 'three' });
    await made.lands('press.yaml', 'three');
    made.configMap('press', { a: 'four' });
    await made.lands('press.yaml', 'four');

    const [fourth, third, , second] = await made.repository.log('main');
    const touched = [second, third, fourth].map((commit) =>
      commit?.files.map(({ change, path }) => `${change} ${path}`),
    );
    expect(nothingChanged).toHaveLength(1);
    expect(touched).toEqual([
      ['A live/.gittargetignore', 'A live/README.md', 'M live/bare/press.yaml'],
      ['A live/.gittargetignore', 'M live/bare/press.yaml'],
      ['M live/bare/press.yaml'],
    ]);
    expect(await made.repository.showFile('main', 'live/README.md')).toBe('Theirs.\n');
  }, 60_000);

  it('FC-PLC-5: the same resource twice, in whatever version: the condition names both files, nothing is touched', async () => {
    const shop = (kind: string, name: string, apiVersion: string): string =>
      `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: twice}\n`;
    const files = {
      'live/a.yaml': shop('ConfigMap', 'settings', 'v1'),
      'live/b/c.yaml': shop('ConfigMap', 'settings', 'v1'),
      'live/d.yaml': shop('Deployment', 'web', 'apps/v1'),
      'live/e.yaml': shop('Deployment', 'web', 'apps/v1beta1'),
    };
    const made = await team('twice', { files });
    made.configMap('settings', { a: 'one' });
    made.configMap('other', { a: 'one' });
    made.declare({ target: { prune: { mode: 'Always' } } });
    const refused = await made.reads('GitTarget/live', 'GitPathAccepted', 'False UnsupportedContent');
    made.configMap('settings', { a: 'two' });
    await delay(500);
    const untouched = await made.repository.log('main');

    await made.repository.commitFiles('main', { 'live/b/c.yaml': null, 'live/d.yaml': null });
    made.ask('GitTarget', 'live');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');

    expect(refused.message).toMatch(/b\/c\.yaml: ConfigMap twice\/settings.* a\.yaml.* and 1 more$/);
    expect(untouched).toHaveLength(1);
    expect(await made.repository.showFile('main', 'live/a.yaml')).toContain('a: two');
  }, 60_000);

  it('FC-SEC-2: an entry whose name is not UTF-8 stops its folder alone, until it is gone', async () => {
    const made = await team('misnamed');
    // What no file system of ours writes: git itself puts it there.
    const edit = async (line: string): Promise<void> => {
      const head = `commit refs/heads/main\ncommitter F <f@example.com> ${Math.floor(Date.now() / 1000)} +0000\ndata 4\nedit\nfrom refs/heads/main^0\n`;
      await git(['--git-dir', made.repository.dir, 'fast-import', '--quiet', '--done'], {
        input: Buffer.from(`${head}${line}\ndone\n`),
      });
    };
    await edit(String.raw`M 100644 inline "live/caf\351.txt"` + '\ndata 1\nx');
    made.configMap('press', { a: 'b' });
    made.declare();
    made.apply('GitTarget', 'sibling', {
      spec: {
        gitBranchRef: { name: 'main' },
        path: 'other',
        commit: { window: { idleTimeout: '100ms', maxDuration: '1s' } },
      },
    });
    made.apply('WatchRule', 'sibling', {
      spec: { gitTargetRef: { name: 'sibling' }, rules: [{ apiGroups: [''], resources: ['configmaps'] }] },
    });
    const refused = await made.reads('GitTarget/live', 'GitPathAccepted', 'False UnsupportedContent');
    await made.reads('GitTarget/live', 'Ready', 'False UnsupportedContent');
    await made.reads('GitTarget/sibling', 'Ready', 'True Succeeded');
    const sibling = await made.repository.showFile('main', 'other/misnamed/configmaps/press.yaml');
    const meanwhile = await made.file('configmaps/press.yaml');

    await edit(String.raw`D "live/caf\351.txt"`);
    await made.lands('configmaps/press.yaml', 'a: b');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');

    expect(refused.message).toContain('"caf\ufffd.txt" is refused because of a name that is not UTF-8');
    expect(refused.message).toContain('rename or remove this entry');
    expect([sibling, meanwhile]).toEqual([expect.stringContaining('a: b'), undefined]);
  }, 60_000);

  it('a path that Git takes for its own folder is refused with the reason', async () => {
    const made = await team('shortname');
    made.configMap('press', { a: 'b' });
    made.declare({ target: { path: 'GIT~1' } });

    const refused = await made.reads('GitTarget/live', 'GitPathAccepted', 'False UnsupportedContent');

    expect(refused.message).toContain('"GIT~1" is refused because of a name that some file systems take for .git');
  }, 30_000);

  it('4.2: a template that cannot be used is named, and the target writes nothing', async () => {
    const made = await team('template');
    made.configMap('press', { a: 'b' });
    made.declare({ target: { commit: { message: { liveTemplate: '{{ .Nothing }}' } } } });

    const refused = await made.reads('GitTarget/live', 'Validated', 'False InvalidConfig');

    expect(refused.message).toMatch(/spec\.commit\.message[.:].*liveTemplate/);
    expect(await made.repository.log('main')).toHaveLength(1);
  }, 20_000);

  it('20.8: once settled writes no status any more', async () => {
    const writes = (): readonly string[] =>
      stage.cluster.requests.list({ verb: 'patch', subresource: 'status' }).map(({ url }) => url);
    let before = -1;
    // What the teams before left behind may still settle.
    while (before !== writes().length) {
      before = writes().length;
      await delay(1_500);
    }

    await delay(2_500);

    expect(writes().slice(before)).toEqual([]);
  }, 20_000);

  it('FC-OPS-3: a graceful stop publishes what is in open windows', async () => {
    const made = await team('leaving');
    made.configMap('press', { a: 'one' });
    made.declare({ target: { commit: { window: { idleTimeout: '1h', maxDuration: '1h' } } } });
    await made.lands('configmaps/press.yaml', 'one');
    made.configMap('press', { a: 'two' });
    await delay(500);
    const open = await made.file('configmaps/press.yaml');

    await stage.stop();

    expect(open).toContain('one');
    expect(await made.file('configmaps/press.yaml')).toContain('two');
    expect(stage.cluster.openWatches).toBe(0);
  }, 30_000);

  it('left every repository clean, and no credential in a log, condition or event', async () => {
    for (const { repository } of teams) await repository.fsck();
    const told = JSON.stringify([
      ...kindNames.flatMap((kind) => stage.cluster.list('configbutler.ai/v1alpha3', kind)),
      ...stage.cluster.list('v1', 'Event'),
    ]);

    expect(stage.logger.text() + told).not.toContain('canary');
    expect(stage.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  }, 20_000);
});

describe('VR-4: the CRDs of a start', () => {
  it('is not ready while one is missing, says which, and goes on once it is there', async () => {
    await using stage = await openStage(kindNames.filter((kind) => kind !== 'GitBranch').map(toCrd));
    stage.start();
    let said = '';
    while (!said.includes('gitbranches')) said = await stage.readyz().catch(() => '');

    stage.cluster.apply(toCrd('GitBranch') as never);
    await stage.untilReady();

    expect(said).toMatch(/^503 crds: not installed: gitbranches\.configbutler\.ai; .*print-crds/);
  }, 30_000);

  it('refuses to start over one that lacks a field', async () => {
    const older = JSON.parse(JSON.stringify(toCrd('GitProvider'))) as ReturnType<typeof toCrd>;
    const versions = older.spec['versions'] as unknown as readonly {
      readonly schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } };
    }[];
    for (const { schema } of versions) delete schema.openAPIV3Schema.properties.spec.properties['tls'];
    await using stage = await openStage([...kindNames.filter((kind) => kind !== 'GitProvider').map(toCrd), older]);

    stage.start();

    await expect(stage.ended).rejects.toMatchObject({
      reason: 'CrdOutdated',
      message: expect.stringContaining('GitProvider (CRD gitproviders.configbutler.ai) lacks spec.tls') as string,
    });
  }, 30_000);

  it('stops at once while it still waits', async () => {
    await using stage = await openStage([]);
    stage.start();
    while ((await stage.readyz().catch(() => '')) === '') await delay(20);

    await expect(stage.stop()).resolves.toBeUndefined();
  }, 30_000);
});

const plums = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'plums.late.example.test' },
  spec: {
    group: 'late.example.test',
    names: { kind: 'Plum', listKind: 'PlumList', plural: 'plums', singular: 'plum' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { stones: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
};
