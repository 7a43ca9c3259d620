import { rm, writeFile } from 'node:fs/promises';
import type { BranchStore } from '@gitops-reverser/kernel-api';
import { poll, type GitRepository } from '@gitops-reverser/e2e-harness';
import { fakeClock } from '@gitops-reverser/kernel-testing';
import type { BranchStoreOptions } from './store/options.js';
import { commitOn, openBench, signal, tipOf, type Bench } from './hosted-store.fixture.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterEach(() => bench.host.clearFaults());
afterAll(() => bench[Symbol.asyncDispose]());

let count = 0;
interface Scene {
  readonly name: string;
  readonly repository: GitRepository;
  readonly store: BranchStore;
}
const stage = async (options: Partial<BranchStoreOptions> = {}): Promise<Scene> => {
  count += 1;
  const name = `fault-${count}`;
  const repository = await bench.host.createRepository(name, { files: { 'a.yaml': 'a: 1\n' } });
  return { name, repository, store: bench.open({ url: bench.host.urlOf(name), ...options }) };
};
const thrown = async (
  acting: Promise<unknown>,
): Promise<{ reason?: string; message?: string; retry?: string; details?: Record<string, unknown> }> =>
  acting.then(
    (value) => ({ message: `did not fail: ${JSON.stringify(value)}` }),
    (error: unknown) => error as { reason?: string },
  );

describe('a push whose connection is cut', () => {
  it('before git saw it: the tip is still ours and it is sent again', async () => {
    const { name, repository, store } = await stage();
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await bench.host.inject({ kind: 'cut', at: 'body', server: 'stops' }, { repository: name, on: 'push' });

    const error = await thrown(store.publish(base, head, signal()));
    const seen = await store.observe(signal());
    const again = await store.publish(seen, head, signal());

    expect(error).toMatchObject({ reason: 'RemoteUnavailable', retry: 'backoff', details: { outcome: 'unknown' } });
    expect(seen).toEqual(base);
    expect(again).toEqual({ kind: 'published', commit: head });
    expect(await repository.head('main')).toBe(head);
  });

  it('after git took it: the next look finds it landed, fetches nothing, and nothing is sent twice', async () => {
    const { name, repository, store } = await stage();
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await bench.host.inject({ kind: 'cut', at: 'answer' }, { repository: name, on: 'push' });
    const error = await thrown(store.publish(base, head, signal()));
    bench.host.clearRequests();

    const seen = await store.observe(signal());

    expect(error).toMatchObject({ reason: 'RemoteUnavailable', details: { outcome: 'unknown' } });
    expect(seen).toEqual({ kind: 'branch', commit: head });
    expect(bench.host.ledger(name)).toEqual(['fetch 200']);
    expect([...store.folder(head, '.').files()].map(({ path }) => path)).toEqual(['a.yaml', 'b.yaml']);
    const next = await commitOn(store, head, { 'c.yaml': '1\n' });
    expect(await store.publish(seen, next, signal())).toEqual({ kind: 'published', commit: next });
    expect(await repository.listFiles('main')).toEqual(['a.yaml', 'b.yaml', 'c.yaml']);
    await repository.fsck();
  });

  it('4.6: it lands after a look that still showed the old tip; the next push settles it and sends only the rest', async () => {
    const { name, repository, store } = await stage();
    const base = await store.observe(signal());
    const first = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await bench.host.inject(
      { kind: 'cut', at: 'body', server: 'goes-on', goOnAfterMs: 400 },
      { repository: name, on: 'push' },
    );

    await thrown(store.publish(base, first, signal()));
    const seen = await store.observe(signal());
    const second = await commitOn(store, first, { 'c.yaml': '1\n' });
    await poll(async () => (await repository.head('main')) === first);
    const outcome = await store.publish(seen, second, signal());

    expect(seen).toEqual(base);
    expect(outcome).toEqual({ kind: 'published', commit: second });
    expect((await repository.log('main', { limit: 2 })).map(({ sha }) => sha)).toEqual([second, first]);
    await repository.fsck();
  });

  it('in the middle of its answer: the next push says that it is there already', async () => {
    const { name, store } = await stage();
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await bench.host.inject({ kind: 'cut', at: 'answer-body', afterBytes: 5 }, { repository: name, on: 'push' });

    const error = await thrown(store.publish(base, head, signal()));
    const again = await store.publish(base, head, signal());

    expect(error.reason).toBe('RemoteUnavailable');
    expect(again).toEqual({ kind: 'already-there', commit: head });
  });

  it('when it went first on a kept connection: the advertisement settles it within the same call', async () => {
    const { name, repository, store } = await stage();
    const base = await store.observe(signal());
    const warm = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await store.publish(base, warm, signal());
    const head = await commitOn(store, warm, { 'c.yaml': '1\n' });
    await bench.host.inject({ kind: 'cut', at: 'answer' }, { repository: name, on: 'push' });
    bench.host.clearRequests();

    const outcome = await store.publish({ kind: 'branch', commit: warm }, head, signal());

    expect(outcome).toEqual({ kind: 'already-there', commit: head });
    expect(bench.host.ledger(name)).toEqual(['push cut', 'push-advertisement 200']);
    await repository.fsck();
  });

  it('a fetch cut in the middle leaves nothing half-taken and is made again', async () => {
    const { name, store } = await stage();
    await bench.host.inject(
      { kind: 'cut', at: 'answer-body', afterBytes: 100 },
      { repository: name, on: 'fetch', skip: 1 },
    );

    const error = await thrown(store.observe(signal()));
    const base = await store.observe(signal());

    expect(error).toMatchObject({ reason: 'RemoteUnavailable', retry: 'backoff' });
    expect([...store.folder(tipOf(base), '.').files()].map(({ path }) => path)).toEqual(['a.yaml']);
  });
});

describe('a remote that says no', () => {
  it("FC-PSH-3: a hook's own words are in the message; once it lets us, the same commit lands", async () => {
    const { repository, store } = await stage();
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await repository.installHook('pre-receive', 'echo "policy: mail domain" >&2; exit 1');

    const error = await thrown(store.publish(base, head, signal()));
    await repository.installHook('pre-receive', 'exit 0');
    const again = await store.publish(base, head, signal());

    expect(error).toMatchObject({
      reason: 'ProtectedBranch',
      retry: 'when-changed',
      message: expect.stringContaining('pre-receive hook declined; policy: mail domain') as unknown,
    });
    expect(again).toEqual({ kind: 'published', commit: head });
  });

  it('4.6: a policy speaks before the old value is compared: a stale push is told the policy', async () => {
    const { repository, store } = await stage();
    const base = await store.observe(signal());
    const warm = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await store.publish(base, warm, signal());
    const head = await commitOn(store, warm, { 'c.yaml': '1\n' });
    await repository.commitFiles('main', { 'theirs.yaml': '1\n' });
    await repository.installHook('pre-receive', 'echo "frozen" >&2; exit 1');

    expect(await thrown(store.publish({ kind: 'branch', commit: warm }, head, signal()))).toMatchObject({
      reason: 'ProtectedBranch',
    });
  });

  it('4.6: a left-over lock is no move: the tip is still ours', async () => {
    const { repository, store } = await stage();
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await writeFile(`${repository.dir}/refs/heads/main.lock`, '');

    const error = await thrown(store.publish(base, head, signal()));
    await rm(`${repository.dir}/refs/heads/main.lock`);

    expect(error).toMatchObject({
      reason: 'RemoteUnavailable',
      retry: 'backoff',
      message: expect.stringContaining('main.lock') as unknown,
    });
    expect(await store.publish(base, head, signal())).toEqual({ kind: 'published', commit: head });
  });

  it('4.6: 413 for many commits is answered with one commit a push', async () => {
    const { name, repository, store } = await stage();
    const base = await store.observe(signal());
    const first = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    const second = await commitOn(store, first, { 'c.yaml': '1\n' });
    await bench.host.inject({ kind: 'answer', status: 413 }, { repository: name, on: 'push' });

    const outcome = await store.publish(base, second, signal());

    expect(outcome).toEqual({ kind: 'published', commit: second });
    expect(bench.host.ledger(name).filter((line) => line.startsWith('push '))).toEqual([
      'push 413',
      'push 200',
      'push 200',
    ]);
    expect((await repository.log('main', { limit: 2 })).map(({ sha }) => sha)).toEqual([second, first]);
  });

  it('4.6: 413 for a single commit is a refusal of its content', async () => {
    const { name, store } = await stage();
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await bench.host.inject({ kind: 'answer', status: 413 }, { repository: name, on: 'push' });

    expect(await thrown(store.publish(base, head, signal()))).toMatchObject({ reason: 'PushRejected' });
  });

  it('4.6: an empty answer is never success', async () => {
    const { name, repository, store } = await stage();
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await bench.host.inject(
      { kind: 'answer', status: 200, headers: { 'content-type': 'application/x-git-receive-pack-result' } },
      { repository: name, on: 'push' },
    );

    expect(await thrown(store.publish(base, head, signal()))).toMatchObject({
      reason: 'RemoteRejectedPack',
      details: { outcome: 'unknown' },
    });
    expect(await repository.head('main')).toBe(tipOf(base));
  });

  it.each([
    {
      status: 503,
      headers: { 'retry-after': '7' },
      expected: { reason: 'RemoteUnavailable', details: { retryAfterMs: 7_000 } },
    },
    {
      status: 429,
      headers: { 'retry-after': '86400' },
      expected: { reason: 'RemoteUnavailable', details: { retryAfterMs: 900_000 } },
    },
    { status: 502, headers: {}, expected: { reason: 'RemoteUnavailable', retry: 'backoff' } },
  ])('$status while looking is a matter of time', async ({ status, headers, expected }) => {
    const { name, store } = await stage();
    await bench.host.inject({ kind: 'answer', status, headers }, { repository: name, times: 2 });

    expect(await thrown(store.observe(signal()))).toMatchObject(expected);
  });

  it('4.9: an object that went away between list and fetch starts the look again, once', async () => {
    const { name, repository, store } = await stage();
    const held = await bench.host.inject({ kind: 'hold', at: 'request' }, { repository: name, on: 'fetch', skip: 1 });

    const looking = store.observe(signal());
    await held.reached;
    const theirs = await repository.commitFiles('main', { 'new.yaml': '1\n' }, { rewrite: {} });
    await repository.git('reflog', 'expire', '--expire=now', '--all');
    await repository.git('gc', '--quiet', '--prune=now');
    held.release();

    expect(await looking).toEqual({ kind: 'branch', commit: theirs });
  });
});

describe('waiting', () => {
  it('an aborted look ends at once, with the reason it was aborted for', async () => {
    const { name, store } = await stage();
    const held = await bench.host.inject({ kind: 'hold', at: 'request' }, { repository: name });
    const controller = new AbortController();

    const looking = store.observe(controller.signal);
    await held.reached;
    controller.abort(new Error('stop'));

    await expect(looking).rejects.toThrow('stop');
  });

  it('closing the store ends what it waits for', async () => {
    const { name, store } = await stage();
    const held = await bench.host.inject({ kind: 'hold', at: 'request' }, { repository: name });
    const looking = thrown(store.observe(signal()));
    await held.reached;

    await store[Symbol.asyncDispose]();

    expect((await looking).message).toBeDefined();
  });

  it('4.5: an operation that takes ten minutes is given up', async () => {
    const clock = fakeClock();
    const { name, store } = await stage({ clock });
    const held = await bench.host.inject({ kind: 'hold', at: 'request' }, { repository: name });
    const looking = thrown(store.observe(signal()));
    await held.reached;

    await clock.advance(600_000);

    expect(await looking).toMatchObject({
      reason: 'RemoteUnavailable',
      message: expect.stringContaining('not finished after 10 minutes') as unknown,
    });
    expect(clock.sleeping).toBe(0);
  });

  it('4.11: an advertisement older than our own push is read once more after a second', async () => {
    const clock = fakeClock();
    const { name, store } = await stage({ clock });
    const base = await store.observe(signal());
    const lag = await bench.host.inject({ kind: 'lag' }, { repository: name, on: 'fetch', skip: 0 });
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await store.publish(base, head, signal());

    const looking = store.observe(signal());
    await poll(() => Promise.resolve(clock.due().some((due) => due.getTime() - clock.now().getTime() === 1_000)));
    lag.remove();
    await clock.advance(1_000);

    expect(await looking).toEqual({ kind: 'branch', commit: head });
    expect(lag.hits).toBe(1);
  });

  it('4.11: if it stays, it was moved back by somebody', async () => {
    const clock = fakeClock();
    const { repository, store } = await stage({ clock });
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await store.publish(base, head, signal());
    await repository.git('update-ref', 'refs/heads/main', tipOf(base) ?? '');

    const looking = store.observe(signal());
    await poll(() => Promise.resolve(clock.due().some((due) => due.getTime() - clock.now().getTime() === 1_000)));
    await clock.advance(1_000);

    expect(await looking).toEqual(base);
  });
});
