import { freePort, startGitHost } from '@gitops-reverser/e2e-harness';
import type { GitRepository, Kubectl } from '@gitops-reverser/e2e-harness';

import { configMap, credentials, customResourceDefinition, declaration, kubeProvider } from './objects.js';
import type { Declaration } from './objects.js';
import { applyCrds, CommitReader, openStage, story } from './stage.js';
import type { Stage } from './stage.js';

const bot = { user: 'reverser-bot', password: 'canary-password', may: 'write' } as const;

// Every case has a namespace and a repository of its own, ends well, and needs no restart of the operator. Most of its time is a
// retry that is waited for, so cases run beside each other, as teams do.
story('bad days: a condition says what was found and what to do, and recovery needs no restart', () => {
  let stage: Stage;
  let kubectl: Kubectl;
  let provider: string;
  const repositories: GitRepository[] = [];

  beforeAll(async () => {
    stage = await openStage('bad-days');
    kubectl = stage.kubectl;
    await applyCrds(kubectl);
    provider = `bad-days${stage.suffix}`;
    await kubectl.apply(kubeProvider(provider, '{namespaces: {selector: {}}}'));
    stage.cleanUpWith('delete', 'kubeprovider', provider);
    await stage.startOperator();
  }, 120_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  async function team(name: string, options: Parameters<typeof stage.host.createRepository>[1] = {}) {
    const namespace = await stage.createNamespace(name);
    const repository = await stage.host.createRepository(name, { files: { 'README.md': 'Ours.\n' }, ...options });
    repositories.push(repository);
    const commits = new CommitReader(repository, 'main');
    await commits.skip();
    const declare = (extra: Partial<Declaration> = {}): Promise<string> =>
      kubectl.apply(declaration({ namespace, kubeProvider: provider, url: stage.host.urlOf(name), ...extra }));
    const file = (path: string, branch = 'main') => repository.showFile(branch, `live-cluster/${namespace}/${path}`);
    const lands = (path: string, deadlineMs = 45_000) =>
      commits.readUntil(path, async (unread) => unread.length > 0 && (await file(path)) !== undefined, deadlineMs);
    await kubectl.apply(configMap(namespace, 'press', 'a: b'));
    return { namespace, repository, commits, declare, file, lands };
  }
  const everything = ['gitprovider/home', 'gitbranch/main', 'gittarget/live', 'watchrule/basics'];

  it.concurrent(
    'a day on which nothing happens: no status is written, no request reaches the Git host',
    async () => {
      const { namespace, declare, lands } = await team('calm');
      await declare();
      await lands('configmaps/press.yaml');
      await stage.waitUntilReady(namespace, ...everything);
      const versions = async (): Promise<readonly string[]> => {
        const found = await kubectl.get<{ items: { metadata: { name: string; resourceVersion: string } }[] }>(
          ...['-n', namespace, 'gitproviders,gitbranches,gittargets,watchrules'],
        );
        return found.items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
      };
      const requests = (): number => stage.host.requests({ repository: 'calm' }).length;
      // What belongs to the first commit settles: the state of the branch may be written up to 30 s after it.
      await new Promise((resolve) => setTimeout(resolve, 32_000));
      const before = { versions: await versions(), requests: requests() };

      await new Promise((resolve) => setTimeout(resolve, 40_000));

      expect({ versions: await versions(), requests: requests() }).toEqual(before);
    },
    150_000,
  );

  it.concurrent('a Secret that is missing, then wrong, then right', async () => {
    const { namespace, declare, lands } = await team('credentials', { access: { anonymous: 'none', accounts: [bot] } });
    await declare({ secretRef: 'git-creds' });
    const missing = await stage.waitForCondition(namespace, 'gitprovider/home', 'CredentialsResolved', {
      status: 'False',
      reason: 'SecretNotFound',
    });

    await kubectl.apply(credentials(namespace, { ...bot, password: 'canary-wrong' }));
    const wrong = await stage.waitForCondition(namespace, 'gitprovider/home', 'RemoteReachable', {
      status: 'False',
      reason: 'AuthenticationFailed',
    });
    const stalled = await stage.waitForCondition(namespace, 'gitprovider/home', 'Stalled', {
      status: 'True',
      reason: 'AuthenticationFailed',
    });
    await kubectl.apply(credentials(namespace, bot));
    await lands('configmaps/press.yaml');

    expect(missing.message).toContain('git-creds');
    expect(`${wrong.message} ${stalled.message}`).not.toContain('canary');
    await stage.waitUntilReady(namespace, ...everything);
  });

  it.concurrent(
    'a Git host that is not there yet',
    async () => {
      const { namespace, declare } = await team('unreachable');
      const port = await freePort();
      await declare({ url: `http://127.0.0.1:${port}/late.git` });
      const found = await stage.waitForCondition(namespace, 'gitprovider/home', 'RemoteReachable', {
        status: 'False',
        reason: 'RemoteUnavailable',
      });
      const reconciling = await stage.waitForCondition(namespace, 'gitprovider/home', 'Reconciling', {
        status: 'True',
      });

      await using late = await startGitHost({ dir: `${stage.dir}/late`, port });
      const repository = await late.createRepository('late', { files: { 'README.md': 'Late.\n' } });
      const commits = new CommitReader(repository, 'main');
      await commits.skip();
      await commits.readUntil('the snapshot', (unread) => unread.length > 0, 60_000);

      expect(found.message).toContain(`127.0.0.1:${port}`);
      expect(reconciling.reason).toBe('RemoteUnavailable');
      await repository.fsck();
    },
    120_000,
  );

  it.concurrent('a repository that does not exist', async () => {
    const { namespace, declare } = await team('nowhere');
    await declare({ url: stage.host.urlOf('nowhere/at-all') });

    const found = await stage.waitForCondition(namespace, 'gitprovider/home', 'RemoteReachable', {
      status: 'False',
      reason: 'RepositoryNotFound',
    });

    expect(found.message).toContain('nowhere/at-all');
  });

  it.concurrent('a grant that is missing, then given', async () => {
    const { namespace, repository, declare, lands } = await team('ungranted');
    await declare({ grant: undefined });
    const denied = await stage.waitForCondition(namespace, 'gitbranch/main', 'BranchAllowed', {
      status: 'False',
      reason: 'NotAllowed',
    });
    await stage.waitForCondition(namespace, 'gitbranch/main', 'Stalled', { status: 'True', reason: 'NotAllowed' });
    const untouched = await repository.log('main');

    await declare({ grant: '{branches: [main]}' });
    await lands('configmaps/press.yaml');

    expect(denied.message).toMatch(/home[^]*allowedGitBranches/);
    expect(untouched).toHaveLength(1);
    await stage.waitUntilReady(namespace, ...everything);
  });

  it.concurrent('a folder with content that is not ours', async () => {
    const { namespace, repository, commits, declare, lands } = await team('occupied', {
      files: { 'live-cluster/app.bin': 'binary' },
    });
    await declare();
    const refused = await stage.waitForCondition(namespace, 'gittarget/live', 'GitPathAccepted', {
      status: 'False',
      reason: 'UnsupportedContent',
    });
    const untouched = await repository.log('main');

    await repository.commitFiles('main', { 'live-cluster/app.bin': null, 'live-cluster/README.md': 'Mirror.\n' });
    await commits.skip();
    await kubectl.run(['annotate', '-n', namespace, 'gittarget/live', 'reconcile.configbutler.ai/requestedAt=1']);
    await lands('configmaps/press.yaml');

    expect(refused.message).toMatch(/app\.bin[^]*\.gittargetignore/);
    expect(untouched).toHaveLength(1);
    expect(await repository.showFile('main', 'live-cluster/README.md')).toBe('Mirror.\n');
    await stage.waitUntilReady(namespace, ...everything);
  });

  it.concurrent(
    'a rule for a kind that is not served, until its CRD arrives',
    async () => {
      const { namespace, declare, lands } = await team('unknown-kind');
      await declare({ rules: ['{apiGroups: [late.example.com], resources: [plums]}'] });
      const unknown = await stage.waitForCondition(namespace, 'watchrule/basics', 'ResourcesResolved', {
        status: 'False',
        reason: 'ResourcesNotServed',
      });

      await kubectl.apply(customResourceDefinition('plums', 'Plum', 'late.example.com'));
      stage.cleanUpWith('delete', 'crd', 'plums.late.example.com');
      await kubectl.run(['wait', '--for=condition=Established', '--timeout=30s', 'crd/plums.late.example.com']);
      await kubectl.apply(
        `{apiVersion: late.example.com/v1, kind: Plum, metadata: {name: ripe, namespace: ${namespace}}, spec: {n: 1}}`,
      );
      await lands('late.example.com/plums/ripe.yaml', 60_000);

      expect(unknown.message).toContain('plums');
      await stage.waitUntilReady(namespace, ...everything);
    },
    120_000,
  );

  it.concurrent('a rule that names a kind instead of its plural', async () => {
    const { namespace, declare } = await team('singular');
    await declare({ rules: ['{apiGroups: [""], resources: [configmap]}'] });

    const found = await stage.waitForCondition(namespace, 'watchrule/basics', 'ResourcesResolved', { status: 'False' });

    expect(found.message).toContain('configmaps');
  });

  it.concurrent('a path that climbs out of its folder never gets in', async () => {
    const { namespace, declare } = await team('climber');

    await expect(declare({ path: '../elsewhere' })).rejects.toThrow(/spec\.path/);
    await expect(kubectl.run(['get', '-n', namespace, 'gittarget/live'])).rejects.toThrow('NotFound');
  });

  it.concurrent(
    'a branch whose parent is missing, until somebody creates the parent',
    async () => {
      const { namespace, repository, declare } = await team('orphan');
      await declare({ branch: 'editor/live', parentBranch: 'base' });
      const found = await stage.waitForCondition(namespace, 'gitbranch/main', 'ParentBranchResolved', {
        status: 'False',
        reason: 'ParentBranchNotFound',
      });

      const base = await repository.commitFiles('base', { 'base.md': 'Base.\n' }, { from: 'main' });
      const editor = new CommitReader(repository, 'editor/live');
      const path = `live-cluster/${namespace}/configmaps/press.yaml`;
      const commits = await editor.readUntil(
        'the branch',
        async () => (await repository.showFile('editor/live', path)) !== undefined,
        60_000,
      );

      expect(found.message).toContain('base');
      expect(commits.map(({ sha }) => sha)).toContain(base);
      expect(await repository.head('main')).not.toBe(await repository.head('editor/live'));
    },
    120_000,
  );

  it.concurrent('an empty repository gets its first commit', async () => {
    const namespace = await stage.createNamespace('empty');
    const repository = await stage.host.createRepository('empty');
    repositories.push(repository);
    await kubectl.apply(configMap(namespace, 'press', 'a: b'));
    await kubectl.apply(declaration({ namespace, kubeProvider: provider, url: stage.host.urlOf('empty') }));

    const [first] = await new CommitReader(repository, 'main').next('the first commit');

    expect(first?.parents).toEqual([]);
    await stage.waitUntilReady(namespace, ...everything);
  });

  it.concurrent(
    'a protected branch, until the protection is lifted',
    async () => {
      const { namespace, repository, declare, lands } = await team('protected');
      await repository.installHook('pre-receive', 'echo "main is protected: open a pull request" >&2; exit 1');
      await declare();
      const refused = await stage.waitForCondition(namespace, 'gitbranch/main', 'Writable', {
        status: 'False',
        reason: 'ProtectedBranch',
      });
      const target = await stage.waitForCondition(namespace, 'gittarget/live', 'GitBranchReady', {
        status: 'False',
        reason: 'BranchNotWritable',
      });

      await repository.installHook('pre-receive', 'exit 0');
      await lands('configmaps/press.yaml', 60_000);

      expect(refused.message).toContain('main is protected: open a pull request');
      expect(target.message).not.toBe('');
      await stage.waitForCondition(namespace, 'gitbranch/main', 'Writable', { status: 'True', reason: 'Succeeded' });
      await stage.waitUntilReady(namespace, ...everything);
    },
    120_000,
  );

  it.concurrent(
    'a reader whose push is forbidden, until it may write',
    async () => {
      const { namespace, declare, lands } = await team('reader', {
        access: { anonymous: 'none', accounts: [{ ...bot, may: 'read' }] },
      });
      await kubectl.apply(credentials(namespace, bot));
      await declare({ secretRef: 'git-creds' });
      await stage.waitForCondition(namespace, 'gitbranch/main', 'Writable', {
        status: 'False',
        reason: 'PushForbidden',
      });

      stage.host.setAccess('reader', { anonymous: 'none', accounts: [bot] });
      await lands('configmaps/press.yaml', 60_000);

      await stage.waitUntilReady(namespace, ...everything);
    },
    120_000,
  );

  it.concurrent(
    'a host that answers 503 and cuts connections for a while',
    async () => {
      const { namespace, declare, lands, commits, repository } = await team('flaky');
      await declare();
      await lands('configmaps/press.yaml');
      await stage.host.inject(
        { kind: 'answer', status: 503, headers: { 'retry-after': '1' } },
        { repository: 'flaky', times: 1 },
      );
      await stage.host.inject(
        { kind: 'cut', at: 'body', server: 'goes-on', goOnAfterMs: 300 },
        { repository: 'flaky', on: 'push' },
      );

      await kubectl.apply(configMap(namespace, 'second', 'a: b'));
      const landed = await lands('configmaps/second.yaml', 60_000);
      await kubectl.apply(configMap(namespace, 'third', 'a: b'));
      const third = await commits.readUntil(
        'third',
        async () =>
          (await repository.showFile('main', `live-cluster/${namespace}/configmaps/third.yaml`)) !== undefined,
        60_000,
      );

      const added = [...landed, ...third].flatMap(({ files }) =>
        files.map(({ change, path }) => `${change} ${path.split('/').at(-1)}`),
      );
      expect(added.sort()).toEqual(['A second.yaml', 'A third.yaml']);
    },
    180_000,
  );

  it.concurrent('a Secret never reaches Git in clear text', async () => {
    const { namespace, repository, declare, lands } = await team('sensitive');
    await kubectl.apply(credentials(namespace, { user: 'canary-user', password: 'canary-plain' }, 'db'));
    await declare({ rules: ['{apiGroups: [""], resources: [configmaps, secrets]}'] });
    await lands('configmaps/press.yaml');

    const paths = await repository.listFiles('main');
    const objects = await repository.git('cat-file', '--batch-all-objects', '--batch', '--buffer', '--unordered');

    expect(paths.filter((path) => path.includes('/secrets/'))).toEqual([]);
    for (const canary of ['canary-plain', 'canary-user', Buffer.from('canary-plain').toString('base64')])
      expect(objects).not.toContain(canary);
  });

  it('an operator that starts before its API server becomes ready once it is there', async () => {
    const { plane } = stage.cluster;
    if (plane === undefined) return;
    await stage.operator.stop();
    await plane.stopApiServer();
    const operator = await stage.startOperator({ readyWithinMs: 0 });
    const early = await operator.process.waitFor(
      'an answer of /readyz',
      async () => (await fetch(`${operator.healthUrl}/readyz`)).status,
    );

    await plane.startApiServer();
    await operator.waitUntilReady(60_000);

    expect(early).toBe(503);
  }, 120_000);

  it('a kubeconfig that is not there ends the operator with a message that names it', async () => {
    await stage.operator.stop();

    const start = stage.startOperator({ kubeconfigFile: '/nonexistent/kubeconfig' });

    await expect(start).rejects.toThrow(/it ended before that \(exit code [12]\)[^]*\/nonexistent\/kubeconfig/);
  });

  it('left every repository clean, and no credential in a log', async () => {
    for (const repository of repositories) await repository.fsck();
    expect(await stage.operatorLog()).not.toContain('canary');
  });
});
