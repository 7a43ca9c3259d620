import type { Base, BranchStore, CommitSha } from '@gitops-reverser/kernel-api';
import { commitOn, openBench, signal, tipOf, type Bench } from './hosted-store.fixture.js';

/** Publishes one edit, so that the next push knows the host and goes first, without an advertisement before it. */
async function warmUp(store: BranchStore): Promise<Base & { readonly kind: 'branch' }> {
  const base = await store.observe(signal());
  const head = await commitOn(store, tipOf(base), { 'warm-up.yaml': '1\n' });
  await store.publish(base, head, signal());
  return { kind: 'branch', commit: head };
}

describe.each([
  { form: 'advertisement first', isWarm: false },
  { form: 'push first', isWarm: true },
])('somebody else pushes ($form)', ({ isWarm }) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  let count = 0;
  const start = async (): Promise<{
    repository: Awaited<ReturnType<Bench['host']['createRepository']>>;
    store: BranchStore;
    base: Base & { kind: 'branch' };
    name: string;
  }> => {
    count += 1;
    const name = `race-${count}`;
    const repository = await bench.host.createRepository(name, {
      files: { 'a.yaml': 'a: 1\n', 'ours.yaml': 'o: 1\n' },
    });
    const store = bench.open({ url: bench.host.urlOf(name) });
    const base = isWarm ? await warmUp(store) : await store.observe(signal());
    if (base.kind !== 'branch') throw new Error('expected a branch');
    return { repository, store, base, name };
  };
  /** Looks again, makes the same change on what is there, publishes it. */
  const replay = async (
    store: BranchStore,
    files: Readonly<Record<string, string>>,
  ): Promise<{ base: Base; head: CommitSha; outcome: unknown }> => {
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), files);
    return { base, head, outcome: await store.publish(base, head, signal()) };
  };

  it('FC-PSH-1: a lost race is no error; replayed on their tip, history stays linear and theirs survives', async () => {
    const { repository, store, base } = await start();
    const ours = await commitOn(store, base.commit, { 'ours.yaml': 'o: 2\n' });
    const theirs = await repository.commitFiles('main', { 'theirs.yaml': 't: 1\n' });

    const lost = await store.publish(base, ours, signal());
    const again = await replay(store, { 'ours.yaml': 'o: 2\n' });

    expect(lost).toEqual({ kind: 'moved', what: 'branch' });
    expect(again.base).toEqual({ kind: 'branch', commit: theirs });
    expect(again.outcome).toEqual({ kind: 'published', commit: again.head });
    expect((await repository.log('main', { limit: 1 }))[0]?.parents).toEqual([theirs]);
    expect(await repository.showFile('main', 'theirs.yaml')).toBe('t: 1\n');
    await repository.fsck();
  });

  it('FC-PSH-5: a rewritten branch is the new base; what it dropped is never pushed again', async () => {
    const { repository, store, base } = await start();
    const ours = await commitOn(store, base.commit, { 'ours.yaml': 'o: 2\n' });
    const theirs = await repository.commitFiles('main', { 'a.yaml': 'a: rewritten\n' }, { rewrite: {} });

    const lost = await store.publish(base, ours, signal());
    const again = await replay(store, { 'ours.yaml': 'o: 2\n' });

    expect(lost).toEqual({ kind: 'moved', what: 'branch' });
    expect(again.base).toEqual({ kind: 'branch', commit: theirs });
    expect((await repository.log('main')).map(({ sha }) => sha)).toEqual([again.head, theirs]);
    expect(await repository.listFiles('main')).toEqual(['a.yaml', 'ours.yaml']);
  });

  it('4.7: a deleted branch is started anew on its parent', async () => {
    const { repository, store, base } = await start();
    const trunk = await repository.commitFiles('trunk', { 't.yaml': '1\n' });
    await repository.git('symbolic-ref', 'HEAD', 'refs/heads/trunk');
    const ours = await commitOn(store, base.commit, { 'ours.yaml': 'o: 2\n' });
    await repository.deleteBranch('main');

    const lost = await store.publish(base, ours, signal());
    const again = await replay(store, { 'ours.yaml': 'o: 2\n' });

    expect(lost).toEqual({ kind: 'moved', what: 'deleted' });
    expect(again.base).toEqual({ kind: 'parent', branch: 'trunk', commit: trunk });
    expect(await repository.listFiles('main')).toEqual(['ours.yaml', 't.yaml']);
  });

  it('4.7: a branch deleted and made anew by somebody is theirs', async () => {
    const { repository, store, base } = await start();
    const ours = await commitOn(store, base.commit, { 'ours.yaml': 'o: 2\n' });
    await repository.git('update-ref', '-d', 'refs/heads/main');
    const theirs = await repository.commitFiles('main', { 'new.yaml': '1\n' });

    const lost = await store.publish(base, ours, signal());

    expect(lost).toEqual({ kind: 'moved', what: 'branch' });
    expect(await store.observe(signal())).toEqual({ kind: 'branch', commit: theirs });
  });

  it('FC-PSH-4: what a human pushed already is no commit', async () => {
    const { repository, store, base } = await start();
    const ours = await commitOn(store, base.commit, { 'ours.yaml': 'o: 2\n' });
    await repository.commitFiles('main', { 'ours.yaml': 'o: 2\n' });
    await store.publish(base, ours, signal());
    const seen = await store.observe(signal());

    await expect(commitOn(store, tipOf(seen), { 'ours.yaml': 'o: 2\n' })).rejects.toThrow('nothing changed');
  });

  it('4.7: a repository that was emptied or made anew is started from its beginning', async () => {
    const { store, base, name } = await start();
    const ours = await commitOn(store, base.commit, { 'ours.yaml': 'o: 2\n' });
    await bench.host.removeRepository(name);
    const fresh = await bench.host.createRepository(name);

    const lost = await store.publish(base, ours, signal());
    const again = await replay(store, { 'ours.yaml': 'o: 2\n' });

    expect(lost).toEqual({ kind: 'moved', what: 'deleted' });
    expect(again.base).toEqual({ kind: 'root' });
    expect(await fresh.listFiles('main')).toEqual(['ours.yaml']);
    await fresh.fsck();
  });

  it('FC-PSH-6: only the parent of our commit decides, not the depth of the clone', async () => {
    const { repository, store, base } = await start();
    for (let nth = 0; nth < 3; nth += 1) await repository.commitFiles('main', { 'a.yaml': `a: ${nth}\n` });
    const lost = await store.publish(base, await commitOn(store, base.commit, { 'ours.yaml': 'o: 2\n' }), signal());

    const again = await replay(store, { 'ours.yaml': 'o: 2\n' });

    expect(lost.kind).toBe('moved');
    expect(again.outcome).toMatchObject({ kind: 'published' });
    await repository.fsck();
  });
});

describe('a branch that does not exist yet', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it('4.7: its parent moved before the first push', async () => {
    const repository = await bench.host.createRepository('parent-moved', { files: { 'a.yaml': '1\n' } });
    const store = bench.open({ url: bench.host.urlOf('parent-moved'), branch: 'live' });
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    const parent = await repository.commitFiles('main', { 'a.yaml': '2\n' });

    const outcome = await store.publish(base, head, signal());

    expect(outcome).toEqual({ kind: 'moved', what: 'parent' });
    expect(await store.observe(signal())).toEqual({ kind: 'parent', branch: 'main', commit: parent });
    expect(await repository.head('live')).toBeUndefined();
  });

  it('4.7: somebody made it meanwhile', async () => {
    const repository = await bench.host.createRepository('made-meanwhile', { files: { 'a.yaml': '1\n' } });
    const store = bench.open({ url: bench.host.urlOf('made-meanwhile'), branch: 'live' });
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    const theirs = await repository.commitFiles('live', { 'c.yaml': '1\n' }, { from: 'main' });

    expect(await store.publish(base, head, signal())).toEqual({ kind: 'moved', what: 'branch' });
    expect(await store.observe(signal())).toEqual({ kind: 'branch', commit: theirs });
  });

  it('a name below another branch is a refusal that says so, not a race', async () => {
    await bench.host.createRepository('nested', { files: { 'a.yaml': '1\n' } });
    const store = bench.open({ url: bench.host.urlOf('nested'), branch: 'main/live' });
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });

    await expect(store.publish(base, head, signal())).rejects.toMatchObject({
      reason: 'PushRejected',
      message: expect.stringContaining("'refs/heads/main' exists; cannot create 'refs/heads/main/live'") as unknown,
    });
  });
});

describe('several commits', () => {
  it('travel in one push, each with its own author, message and parent', async () => {
    await using bench = await openBench();
    const repository = await bench.host.createRepository('several', { files: { 'a.yaml': '1\n' } });
    const store = bench.open({ url: bench.host.urlOf('several') });
    const base = await store.observe(signal());
    const first = await commitOn(store, tipOf(base), { 'a.yaml': '2\n' }, 'One\n');
    const second = await commitOn(store, first, { 'b.yaml': '1\n' }, 'Two\n');
    const third = await commitOn(store, second, { 'a.yaml': null }, 'Three\n');

    const outcome = await store.publish(base, third, signal());

    expect(outcome).toEqual({ kind: 'published', commit: third });
    expect(
      (await repository.log('main', { limit: 3 })).map(({ sha, subject, files }) => ({ sha, subject, files })),
    ).toEqual([
      { sha: third, subject: 'Three', files: [{ change: 'D', path: 'a.yaml' }] },
      { sha: second, subject: 'Two', files: [{ change: 'A', path: 'b.yaml' }] },
      { sha: first, subject: 'One', files: [{ change: 'M', path: 'a.yaml' }] },
    ]);
    expect(bench.host.requests({ repository: 'several', step: 'push' })).toHaveLength(1);
  });
});
