import { createBareRepository, tempDir } from '@gitops-reverser/e2e-harness';
import type { GitRepository, TempDir } from '@gitops-reverser/e2e-harness';

import { followCommits } from './commit-feed.js';

let dir: TempDir;
let repository: GitRepository;
let stop: AbortController;

beforeEach(async () => {
  dir = await tempDir('feed');
  repository = await createBareRepository('repo', `${dir.path}/repo.git`);
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await dir[Symbol.asyncDispose]();
});

it('gives commits in the order they landed, those of one push too, from an empty repository on', async () => {
  const feed = followCommits(repository, 'main', { intervalMs: 5 }, stop.signal);

  const first = feed.next();
  await repository.commitFiles('main', { 'a.yaml': 'a' }, { message: 'one' });
  const seen = [(await first).value?.subject];
  await repository.commitFiles('side', { 'b.yaml': 'b' }, { message: 'two', from: 'main' });
  await repository.commitFiles('side', { 'c.yaml': 'c' }, { message: 'three' });
  await repository.git('update-ref', 'refs/heads/main', 'refs/heads/side');
  seen.push((await feed.next()).value?.subject, (await feed.next()).value?.subject);

  expect(seen).toEqual(['one', 'two', 'three']);
});

it('leaves out what was known', async () => {
  const since = await repository.commitFiles('main', { 'a.yaml': 'a' }, { message: 'old' });
  await repository.commitFiles('main', { 'a.yaml': 'b' }, { message: 'new' });
  const feed = followCommits(repository, 'main', { intervalMs: 5, since }, stop.signal);

  const seen = await feed.next();

  expect(seen.value?.subject).toBe('new');
});

it('a branch that was rewritten goes on with what is new', async () => {
  const since = await repository.commitFiles('main', { 'a.yaml': 'a' }, { message: 'old' });
  await repository.commitFiles('main', { 'a.yaml': 'b' }, { message: 'rewritten', rewrite: {} });
  const feed = followCommits(repository, 'main', { intervalMs: 5, since }, stop.signal);

  const seen = await feed.next();

  expect(seen.value?.subject).toBe('rewritten');
});

it('ends when asked to stop', async () => {
  const feed = followCommits(repository, 'main', { intervalMs: 5 }, stop.signal);

  const next = feed.next();
  stop.abort();

  expect(await next).toEqual({ done: true, value: undefined });
});
