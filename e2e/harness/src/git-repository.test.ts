import { git } from './git-command.js';
import { createBareRepository } from './git-repository.js';
import type { GitRepository } from './git-repository.js';
import { tempDir } from './processes.js';
import type { TempDir } from './processes.js';

let dir: TempDir;
let repository: GitRepository;
beforeEach(async () => {
  dir = await tempDir('git-repository');
  repository = await createBareRepository('app', `${dir.path}/app.git`);
});
afterEach(() => dir[Symbol.asyncDispose]());

const ann = { name: 'Ann Ött', email: 'ann@example.com' };

it('is empty, with its default branch unborn, until somebody commits', async () => {
  expect(await repository.branches()).toEqual({});
  expect(await repository.head('main')).toBeUndefined();
  expect(await repository.log('main')).toEqual([]);
  expect(await repository.showFile('main', 'a')).toBeUndefined();
  expect((await git(['--git-dir', repository.dir, 'symbolic-ref', 'HEAD'])).trim()).toBe('refs/heads/main');
});

it('shows the lines that differ between two commits and no other, however a path or a line looks', async () => {
  const first = await repository.commitFiles('main', {
    'a b.yaml': 'one\r\ntwo\r\n',
    'gone.yaml': '--- x\n',
    'same.yaml': 'same\n',
  });
  const second = await repository.commitFiles('main', {
    'a b.yaml': 'one\r\n@@ 2\r\n',
    'gone.yaml': null,
    'ü.yaml': '++ new',
  });

  expect(await repository.diff(second)).toBe(
    'a b.yaml\n-two\r\n+@@ 2\r\ngone.yaml\n---- x\nü.yaml\n+++ new\n\\ No newline at end of file\n',
  );
  expect(await repository.diff(second, first)).toBe(await repository.diff(second));
  expect(await repository.diff(first, second)).toContain('gone.yaml\n+--- x\n');
});

it('tells author, committer, message and touched files of each commit, newest first', async () => {
  const date = new Date('2026-03-01T10:00:00Z');
  await repository.commitFiles(
    'main',
    { 'a b/c.yaml': 'one\n', 'gone.yaml': 'x' },
    { author: ann, message: 'First', date },
  );
  const second = await repository.commitFiles(
    'main',
    { 'a b/c.yaml': 'two\n', 'gone.yaml': null, 'ü"\\.yaml': 'new\n' },
    {
      author: ann,
      committer: { name: 'Bot', email: 'bot@example.com' },
      message: 'Second\n\nWhy: because\nand more',
      date,
    },
  );

  const log = await repository.log('main');

  expect(log.map(({ subject }) => subject)).toEqual(['Second', 'First']);
  expect(log[0]).toEqual({
    sha: second,
    parents: [log[1]?.sha],
    author: { ...ann, date: '2026-03-01T10:00:00+00:00' },
    committer: { name: 'Bot', email: 'bot@example.com', date: '2026-03-01T10:00:00+00:00' },
    subject: 'Second',
    body: 'Why: because\nand more',
    files: [
      { change: 'M', path: 'a b/c.yaml' },
      { change: 'D', path: 'gone.yaml' },
      { change: 'A', path: 'ü"\\.yaml' },
    ],
  });
  expect(log[1]?.files.map(({ change }) => change)).toEqual(['A', 'A']);
});

it('reads files, lists and whole trees', async () => {
  await repository.commitFiles('main', {
    'b/x.yaml': 'x: 1\n',
    a: '',
    'run.sh': { mode: '100755', content: '#!/bin/sh\n' },
  });

  expect(await repository.listFiles('main')).toEqual(['a', 'b/x.yaml', 'run.sh']);
  expect(await repository.showFile('main', 'b/x.yaml')).toBe('x: 1\n');
  expect([...(await repository.readTree('main'))]).toEqual([
    ['a', ''],
    ['b/x.yaml', 'x: 1\n'],
    ['run.sh', '#!/bin/sh\n'],
  ]);
  expect(await repository.git('ls-tree', 'main', 'run.sh')).toMatch(/^100755/);
});

it('branches off, rewrites and deletes as a stranger would', async () => {
  const first = await repository.commitFiles('main', { a: '1' });
  const side = await repository.commitFiles('side', { b: '1' }, { from: 'main' });
  const rewritten = await repository.commitFiles('main', { a: '2' }, { rewrite: {} });
  await repository.deleteBranch('side');

  const [log] = await repository.log('main');

  expect(side).not.toBe(first);
  expect(await repository.branches()).toEqual({ main: rewritten });
  expect(log?.parents).toEqual([]);
});

it('stamps each accepted ref update with the time the remote saw it', async () => {
  await repository.stampRefs();
  const before = BigInt(Date.now()) * 1_000_000n;

  const first = await repository.commitFiles('main', { a: '1' });
  const second = await repository.commitFiles('main', { a: '2' });

  const stamps = await repository.refStamps();
  expect(stamps.map(({ oldOid, newOid, ref }) => [oldOid, newOid, ref])).toEqual([
    ['0'.repeat(40), first, 'refs/heads/main'],
    [first, second, 'refs/heads/main'],
  ]);
  expect(stamps.every(({ at }) => at >= before)).toBe(true);
});

it('calls a repository with a malformed tree unclean', async () => {
  await repository.commitFiles('main', { a: '1' });
  await repository.fsck();
  const blob = (await repository.git('rev-parse', 'main:a')).trim();
  const entry = Buffer.concat([Buffer.from('100644 a\0'), Buffer.from(blob, 'hex')]);
  const tree = (
    await git(['--git-dir', repository.dir, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
      input: Buffer.concat([entry, entry]),
    })
  ).trim();
  const commit = (
    await git([
      '--git-dir',
      repository.dir,
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@example.com',
      'commit-tree',
      tree,
      '-m',
      'bad',
    ])
  ).trim();
  await repository.git('update-ref', 'refs/heads/main', commit);

  await expect(repository.fsck()).rejects.toThrow('contains duplicate file entries');
});

it('seeds ten thousand files in one commit', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, i) => [`ns-${i % 50}/cm-${i}.yaml`, `data:\n  n: "${i}"\n`]),
  );

  await repository.commitFiles('main', files);

  expect((await repository.readTree('main')).get('ns-7/cm-9957.yaml')).toBe('data:\n  n: "9957"\n');
});
