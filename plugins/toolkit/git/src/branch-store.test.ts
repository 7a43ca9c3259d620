import { author, commitOn, committer, openBench, signal, text, tipOf, type Bench } from './hosted-store.fixture.js';

describe('a branch store over git http-backend', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it('makes the first commit of an empty repository', async () => {
    const repository = await bench.host.createRepository('first');
    const store = bench.open({ url: bench.host.urlOf('first'), cacheDir: bench.dir });

    const base = await store.observe(signal());
    const head = await commitOn(
      store,
      tipOf(base),
      { 'apps/web/config.yaml': 'a: 1\n', 'README.md': '# hello\n' },
      'Start\n',
    );
    const outcome = await store.publish(base, head, signal());

    expect(base).toEqual({ kind: 'root' });
    expect(outcome).toEqual({ kind: 'published', commit: head });
    expect(await repository.head('main')).toBe(head);
    expect(Object.fromEntries(await repository.readTree('main'))).toEqual({
      'apps/web/config.yaml': 'a: 1\n',
      'README.md': '# hello\n',
    });
    expect(await repository.log('main')).toEqual([
      {
        sha: head,
        parents: [],
        author: { name: author.name, email: author.email, date: '2026-03-01T10:00:00+00:00' },
        committer: { name: committer.name, email: committer.email, date: '2026-03-01T10:00:05+00:00' },
        subject: 'Start',
        body: '',
        files: [
          { change: 'A', path: 'README.md' },
          { change: 'A', path: 'apps/web/config.yaml' },
        ],
      },
    ]);
    await repository.fsck();
  });

  it('builds on a branch somebody else filled, reads it, and publishes on it', async () => {
    const repository = await bench.host.createRepository('filled', {
      files: { 'a.yaml': 'a: 1\n', 'apps/x.yaml': 'x: 1\n', 'apps/run.sh': { mode: '100755', content: '#!/bin/sh\n' } },
    });
    const store = bench.open({ url: bench.host.urlOf('filled') });

    const base = await store.observe(signal());
    const before = [...store.folder(tipOf(base), 'apps').files()].map(({ path, mode, read }) => ({ path, mode, read }));
    const head = await commitOn(store, tipOf(base), {
      'apps/x.yaml': 'x: 2\n',
      'apps/run.sh': '#!/bin/sh\nexit 1\n',
      'apps/deep/new.yaml': 'n: 1\n',
    });
    const outcome = await store.publish(base, head, signal());

    expect(base).toEqual({ kind: 'branch', commit: await repository.resolve(`${head}^`) });
    expect(before.map(({ path, mode }) => ({ path, mode }))).toEqual([
      { path: 'run.sh', mode: 'executable' },
      { path: 'x.yaml', mode: 'file' },
    ]);
    expect(outcome.kind).toBe('published');
    expect(await repository.showFile('main', 'apps/x.yaml')).toBe('x: 2\n');
    expect(
      (await repository.git('ls-tree', '-r', 'main')).split('\n').filter((line) => line.includes('run.sh'))[0],
    ).toMatch(/^100755 /);
    await repository.fsck();
  });

  it('shows an empty folder where there is no commit, before it was ever used', () => {
    const store = bench.open({ url: bench.host.urlOf('unused') });

    expect([...store.folder(undefined, 'apps').files()]).toEqual([]);
    expect(bench.host.requests({ repository: 'unused' })).toEqual([]);
  });

  it('3.4: dates a commit no earlier than its parent', async () => {
    const repository = await bench.host.createRepository('clock-behind', { files: { 'a.yaml': 'a: 1\n' } });
    await repository.commitFiles('main', { 'b.yaml': '1\n' }, { date: new Date('2031-01-01T00:00:00Z') });
    const store = bench.open({ url: bench.host.urlOf('clock-behind') });
    const base = await store.observe(signal());

    await store.publish(base, await commitOn(store, tipOf(base), { 'a.yaml': 'a: 2\n' }), signal());

    const [ours] = await repository.log('main', { limit: 1 });
    expect([ours?.author.date, ours?.committer.date]).toEqual([
      '2026-03-01T10:00:00+00:00',
      '2031-01-01T00:00:00+00:00',
    ]);
  });

  it('makes a commit without a change when it is asked to', async () => {
    const repository = await bench.host.createRepository('empty-commit', { files: { 'a.yaml': 'a: 1\n' } });
    const store = bench.open({ url: bench.host.urlOf('empty-commit') });
    const base = await store.observe(signal());

    const result = await store.commit({
      parent: tipOf(base),
      changes: new Map(),
      author,
      committer,
      message: 'Touch\n',
      allowEmpty: true,
    });
    if (result.kind !== 'committed') throw new Error('no commit');
    await store.publish(base, result.commit, signal());

    expect(await repository.log('main', { limit: 1 })).toMatchObject([
      { sha: result.commit, subject: 'Touch', files: [] },
    ]);
    await repository.fsck();
  });

  it('says that nothing changed when no byte did', async () => {
    await bench.host.createRepository('same', { files: { 'a.yaml': 'a: 1\n' } });
    const store = bench.open({ url: bench.host.urlOf('same') });
    const base = await store.observe(signal());
    const changes = new Map([
      ['a.yaml', text('a: 1\n')],
      ['never-was.yaml', undefined],
    ]);

    const result = await store.commit({ parent: tipOf(base), changes, author, committer, message: 'x\n' });

    expect(result).toEqual({ kind: 'unchanged' });
  });
});
