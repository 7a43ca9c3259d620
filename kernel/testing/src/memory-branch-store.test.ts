import { commitSha, type CommitDraft } from '@gitops-reverser/kernel-api';
import { describeBranchStore, memoryBranchStore, memoryRemote, type MemoryBranchStoreOptions } from './index.js';

describeBranchStore('in memory', ({ branch, parent, files, executables = [] }) => {
  const entries =
    files === undefined
      ? undefined
      : Object.entries(files).map(
          ([path, content]) =>
            [path, executables.includes(path) ? ({ content, mode: 'executable' } as const) : content] as const,
        );
  const remote = memoryRemote(entries === undefined ? {} : { files: Object.fromEntries(entries) });
  const options: MemoryBranchStoreOptions = parent === undefined ? { branch } : { branch, parent };
  return Promise.resolve({
    store: memoryBranchStore(remote, options),
    foreignPush: (changes, onto = 'main') => Promise.resolve(remote.foreignPush(changes, { branch: onto })),
    deleteBranch: (name) => Promise.resolve(remote.deleteBranch(name)),
    tip: (name) => Promise.resolve(remote.tip(name)),
    files: (name) => Promise.resolve(remote.files(name)),
    log: (name) =>
      Promise.resolve(
        remote.log(name).map(({ commit, parent: onto, author, committer, message }) => ({
          commit,
          parents: onto === undefined ? [] : [onto],
          author,
          committer,
          message,
        })),
      ),
    cutNextPublishAfterLanding: () => remote.cutNextPublishAfterLanding(),
    cutNextPublishBeforeLanding: () => remote.failNext('publish', { reason: 'RemoteUnavailable' }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});

describe('memoryBranchStore', () => {
  const never = new AbortController().signal;
  const draft = (overrides: Partial<CommitDraft> = {}): CommitDraft => ({
    parent: undefined,
    changes: new Map([
      ['a/x.yaml', new TextEncoder().encode('one\n')],
      ['a.b', new Uint8Array()],
    ]),
    author: { name: 'Alice', email: 'alice@example.test', at: new Date(1_767_225_600_000) },
    committer: { name: 'Bot', email: 'bot@example.test', at: new Date(1_767_225_601_000) },
    message: 'hello\n',
    ...overrides,
  });

  it('makes the commit ids that Git makes', async () => {
    const store = memoryBranchStore(memoryRemote(), { branch: 'main' });

    // made with git 2.39 from the same files, names, times and message
    expect(await store.commit(draft())).toEqual({
      kind: 'committed',
      commit: '8c47fe8dc511c60f0a76cb488b018d048bb26828',
    });
  });

  it('fails as often as told, with the reason it was told', async () => {
    const remote = memoryRemote({ files: { a: '1' } });
    const store = memoryBranchStore(remote, { branch: 'main' });
    remote.failNext('observe', { reason: 'AuthenticationFailed' });

    await expect(store.observe(never)).rejects.toMatchObject({ reason: 'AuthenticationFailed', retry: 'when-changed' });
    await expect(store.observe(never)).resolves.toMatchObject({ kind: 'branch' });
  });

  it('lets somebody else win a race inside a publish', async () => {
    const remote = memoryRemote();
    const store = memoryBranchStore(remote, { branch: 'main' });
    const base = await store.observe(never);
    const made = await store.commit(draft());
    remote.beforeNextPublish(() => remote.foreignPush({ theirs: '1' }));

    const outcome = made.kind === 'committed' ? await store.publish(base, made.commit, never) : undefined;

    expect(outcome).toEqual({ kind: 'moved', what: 'branch' });
  });

  it('waits while paused, and gives up waiting when aborted', async () => {
    const remote = memoryRemote({ files: { a: '1' } });
    const store = memoryBranchStore(remote, { branch: 'main' });
    const resume = remote.pause('observe');
    const stop = new AbortController();
    const [aborted, later] = [store.observe(stop.signal), store.observe(never)];

    stop.abort();
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    resume();

    await expect(later).resolves.toMatchObject({ kind: 'branch' });
  });

  it.each([
    {
      name: 'a commit it never saw',
      act: (store: ReturnType<typeof memoryBranchStore>) => store.folder(commitSha('e'.repeat(40)), '.'),
      message: 'neither fetched nor made',
    },
  ])('refuses $name', ({ act, message }) => {
    expect(() => act(memoryBranchStore(memoryRemote(), { branch: 'main' }))).toThrow(message);
  });

  it('refuses a path that leaves the repository, and a file where a folder is', async () => {
    const store = memoryBranchStore(memoryRemote(), { branch: 'main' });
    const file = (...paths: string[]): CommitDraft =>
      draft({ changes: new Map(paths.map((path) => [path, new Uint8Array([1])])) });

    await expect(store.commit(file('../out'))).rejects.toThrow('expected a relative path');
    await expect(store.commit(file('a', 'a/b'))).rejects.toThrow('it is a folder');
  });

  it('is used no more once it is disposed', async () => {
    const store = memoryBranchStore(memoryRemote(), { branch: 'main' });
    await store[Symbol.asyncDispose]();

    await expect(store.observe(never)).rejects.toThrow('after it was disposed');
    expect(store.calls).toEqual(['dispose']);
  });
});
