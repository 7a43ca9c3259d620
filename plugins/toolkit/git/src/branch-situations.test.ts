import { git } from '@gitops-reverser/e2e-harness';
import type { Base } from '@gitops-reverser/kernel-api';
import { commitOn, openBench, signal, tipOf, type Bench } from './hosted-store.fixture.js';

describe('where a branch starts (chapter 40, 4.7 and 4.8)', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const FILES = { files: { 'a.yaml': 'a: 1\n' } };
  const reasonOf = (error: unknown): string => (error as { reason?: string }).reason ?? String(error);
  const failure = async (looking: Promise<Base>): Promise<string> =>
    looking.then(
      JSON.stringify,
      (error: unknown) => `${reasonOf(error)}: ${(error as Error).message.replace(/^\S+ /, '')}`,
    );

  it('standby: a missing branch starts on the default branch and is created by the first real commit', async () => {
    const repository = await bench.host.createRepository('standby', { ...FILES, defaultBranch: 'trunk' });
    const store = bench.open({ url: bench.host.urlOf('standby'), branch: 'live' });

    const base = await store.observe(signal());
    const idle = await repository.head('live');
    const head = await commitOn(store, tipOf(base), { 'b.yaml': 'b: 1\n' });
    const outcome = await store.publish(base, head, signal());

    expect(base).toEqual({ kind: 'parent', branch: 'trunk', commit: await repository.head('trunk') });
    expect(idle).toBeUndefined();
    expect(outcome).toEqual({ kind: 'published', commit: head });
    expect(await repository.listFiles('live')).toEqual(['a.yaml', 'b.yaml']);
    await repository.fsck();
  });

  it('standby: publishing nothing proves the parent and creates nothing', async () => {
    const repository = await bench.host.createRepository('standby-idle', FILES);
    const store = bench.open({ url: bench.host.urlOf('standby-idle'), branch: 'live' });
    const base = await store.observe(signal());
    if (base.kind !== 'parent') throw new Error('expected a parent');

    const outcome = await store.publish(base, base.commit, signal());

    expect(outcome).toEqual({ kind: 'already-there', commit: base.commit });
    expect(Object.keys(await repository.branches())).toEqual(['main']);
  });

  it('a named parent is used in place of the default branch', async () => {
    const repository = await bench.host.createRepository('named', FILES);
    await repository.commitFiles('stable', { 's.yaml': 's: 1\n' }, { from: 'main' });
    const store = bench.open({ url: bench.host.urlOf('named'), branch: 'live', parentBranch: 'stable' });

    expect(await store.observe(signal())).toEqual({
      kind: 'parent',
      branch: 'stable',
      commit: await repository.head('stable'),
    });
  });

  it('once the branch exists its parent is no longer followed', async () => {
    const repository = await bench.host.createRepository('exists', FILES);
    await repository.commitFiles('live', { 'l.yaml': 'l: 1\n' }, { from: 'main' });
    await repository.commitFiles('main', { 'later.yaml': 'x: 1\n' });
    const store = bench.open({ url: bench.host.urlOf('exists'), branch: 'live' });

    expect(await store.observe(signal())).toEqual({ kind: 'branch', commit: await repository.head('live') });
  });

  it('a changed parent counts from the next look on', async () => {
    const repository = await bench.host.createRepository('changed-parent', FILES);
    await repository.commitFiles('stable', { 's.yaml': 's: 1\n' }, { from: 'main' });
    let parent: string | undefined = undefined as string | undefined;
    const store = bench.open({ url: bench.host.urlOf('changed-parent'), branch: 'live', parentBranch: () => parent });
    const before = await store.observe(signal());
    parent = 'stable';
    store.distrust();

    expect([before, await store.observe(signal())]).toMatchObject([{ branch: 'main' }, { branch: 'stable' }]);
  });

  it.each([
    {
      why: 'its parent is missing',
      branch: 'live',
      parent: 'nowhere',
      says: 'ParentBranchNotFound: branch live cannot start: its parent branch nowhere does not exist; create it, or name another in parentBranch',
    },
    {
      why: 'it is to be its own parent and the repository is not empty',
      branch: 'live',
      parent: 'live',
      says: 'ParentBranchNotFound: branch live cannot start: parentBranch names the branch itself, which is only possible in an empty repository, and this one has refs; name an existing branch',
    },
  ])('a branch cannot start when $why', async ({ branch, parent, says }) => {
    await bench.host.createRepository(`no-start-${parent}`, FILES);
    const store = bench.open({ url: bench.host.urlOf(`no-start-${parent}`), branch, parentBranch: parent });

    expect(await failure(store.observe(signal()))).toBe(says);
  });

  it('a dangling HEAD leaves the default branch unresolved and is named, until it appears', async () => {
    const repository = await bench.host.createRepository('dangling', FILES);
    await repository.git('symbolic-ref', 'HEAD', 'refs/heads/gone');
    const store = bench.open({ url: bench.host.urlOf('dangling'), branch: 'live' });

    const before = await failure(store.observe(signal()));
    await repository.commitFiles('gone', { 'g.yaml': 'g: 1\n' });
    const after = await store.observe(signal());

    expect(before).toBe(
      'DefaultBranchUnresolved: branch live cannot start: the default branch gone does not exist (HEAD is dangling); name a branch in parentBranch, or set the default branch on the host',
    );
    expect(after).toMatchObject({ kind: 'parent', branch: 'gone' });
  });

  it('a detached HEAD leaves it unresolved too, even where one branch is at the same commit', async () => {
    const repository = await bench.host.createRepository('detached', FILES);
    await repository.git('update-ref', '--no-deref', 'HEAD', (await repository.head('main')) ?? '');
    const store = bench.open({ url: bench.host.urlOf('detached'), branch: 'live' });

    expect(await failure(store.observe(signal()))).toMatch(
      /^DefaultBranchUnresolved: branch live cannot start: HEAD is detached and names no branch/,
    );
  });

  it('a tag named like the branch is no branch', async () => {
    const repository = await bench.host.createRepository('tagged', FILES);
    await repository.git('tag', 'live', 'main');
    const store = bench.open({ url: bench.host.urlOf('tagged'), branch: 'live' });

    expect(await store.observe(signal())).toMatchObject({ kind: 'parent', branch: 'main' });
  });

  it('tags alone make a repository non-empty', async () => {
    const repository = await bench.host.createRepository('only-tags', FILES);
    await repository.git('tag', 'v1', 'main');
    await repository.git('update-ref', '-d', 'refs/heads/main');
    const store = bench.open({ url: bench.host.urlOf('only-tags'), branch: 'main' });

    expect(await failure(store.observe(signal()))).toMatch(/^DefaultBranchUnresolved: .*HEAD is dangling/);
  });

  it('an empty repository begins with its unborn default branch, whatever its name', async () => {
    await bench.host.createRepository('unborn', { defaultBranch: 'trunk' });
    const store = bench.open({ url: bench.host.urlOf('unborn'), branch: 'trunk' });

    expect(await store.observe(signal())).toEqual({ kind: 'root' });
  });

  it('in an empty repository another branch waits for the default one, and both ways out are named', async () => {
    const repository = await bench.host.createRepository('unborn-other', { defaultBranch: 'trunk' });
    const store = bench.open({ url: bench.host.urlOf('unborn-other'), branch: 'live' });

    const before = await failure(store.observe(signal()));
    await repository.commitFiles('trunk', { 'a.yaml': '1\n' });

    expect(before).toBe(
      'ParentBranchUnborn: branch live cannot start: the repository is empty and its default branch trunk has no commit; push a first commit to trunk, or write to trunk, or set parentBranch to live for a history of its own',
    );
    expect(await store.observe(signal())).toMatchObject({ kind: 'parent', branch: 'trunk' });
  });

  it('a branch that is its own parent starts a history of its own in an empty repository', async () => {
    const repository = await bench.host.createRepository('own-root');
    const store = bench.open({ url: bench.host.urlOf('own-root'), branch: 'live', parentBranch: 'live' });

    const base = await store.observe(signal());
    const head = await commitOn(store, undefined, { 'a.yaml': '1\n' });
    const outcome = await store.publish(base, head, signal());

    expect(base).toEqual({ kind: 'root' });
    expect(outcome.kind).toBe('published');
    expect(await repository.branches()).toEqual({ live: head });
  });

  it('an empty repository whose named parent is unborn is refused', async () => {
    await bench.host.createRepository('unborn-parent');
    const store = bench.open({ url: bench.host.urlOf('unborn-parent'), branch: 'live', parentBranch: 'base' });

    expect(await failure(store.observe(signal()))).toMatch(
      /^ParentBranchUnborn: .*the repository is empty and base has no commit/,
    );
  });

  it('an empty repository that gains a ref meanwhile is looked at again', async () => {
    const repository = await bench.host.createRepository('gains-ref');
    const store = bench.open({ url: bench.host.urlOf('gains-ref') });
    const base = await store.observe(signal());
    const head = await commitOn(store, undefined, { 'a.yaml': '1\n' });
    await repository.commitFiles('other', { 'o.yaml': '1\n' });

    expect(await store.publish(base, head, signal())).toEqual({ kind: 'moved', what: 'parent' });
  });

  it('4.9: a repository of another object format is refused, with refs and without', async () => {
    const filled = await bench.host.createRepository('sha256', { objectFormat: 'sha256' });
    const tree = (await filled.git('hash-object', '-t', 'tree', '-w', '/dev/null')).trim();
    const commit = (
      await filled.git('-c', 'user.name=A', '-c', 'user.email=a@b.cd', 'commit-tree', '-m', 'x', tree)
    ).trim();
    await filled.git('update-ref', 'refs/heads/main', commit);
    await bench.host.createRepository('sha256-empty', { objectFormat: 'sha256' });

    for (const name of ['sha256', 'sha256-empty']) {
      const store = bench.open({ url: bench.host.urlOf(name) });
      expect(await failure(store.observe(signal()))).toMatch(
        /^UnsupportedObjectFormat: its objects are sha256; only sha1 repositories are supported/,
      );
    }
  });

  it('4.9: among 5 000 refs only those in question travel', async () => {
    const repository = await bench.host.createRepository('many-refs', FILES);
    const tip = (await repository.head('main')) ?? '';
    await git(['--git-dir', repository.dir, 'update-ref', '--stdin'], {
      input: Array.from({ length: 5000 }, (_, nth) => `create refs/heads/topic/${nth} ${tip}\n`).join(''),
    });
    const store = bench.open({ url: bench.host.urlOf('many-refs') });

    const base = await store.observe(signal());
    const looked = bench.host.requests({ repository: 'many-refs' })[0]?.responseBytes;
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    const outcome = await store.publish(base, head, signal());

    expect(looked).toBeLessThan(400);
    expect(outcome.kind).toBe('published');
  });
});
