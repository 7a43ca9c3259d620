import { randomBytes } from 'node:crypto';
import fs, { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import isomorphic from 'isomorphic-git';
import { git, poll, tryGit } from '@gitops-reverser/e2e-harness';
import type { BranchStore } from '@gitops-reverser/kernel-api';
import { fakeLogger } from '@gitops-reverser/kernel-testing';
import { author, commitOn, committer, openBench, signal, text, tipOf, type Bench } from './hosted-store.fixture.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

let count = 0;
const scene = async (files: Readonly<Record<string, string>> = { 'a.yaml': 'a: 1\n', 'apps/b.yaml': 'b: 1\n' }) => {
  count += 1;
  const name = `cached-${count}`;
  const repository = await bench.host.createRepository(name, { files });
  const cacheDir = join(bench.dir, `cache-${count}`);
  return { name, repository, cacheDir, options: { url: bench.host.urlOf(name), cacheDir } };
};
const bareOf = (cacheDir: string): string => join(cacheDir, readdirSync(cacheDir)[0] ?? '');
const fsck = async (cacheDir: string): Promise<string> => {
  const { exit, stdout, stderr } = await tryGit([
    '--git-dir',
    bareOf(cacheDir),
    'fsck',
    '--strict',
    '--full',
    '--no-dangling',
    '--no-progress',
  ]);
  return `${exit.code}${stdout.toString()}${stderr}`.replace(/notice:.*\n/g, '').trim();
};
const publish = async (store: BranchStore, files: Readonly<Record<string, string | null>>): Promise<void> => {
  const base = await store.observe(signal());
  const outcome = await store.publish(base, await commitOn(store, tipOf(base), files), signal());
  if (outcome.kind !== 'published') throw new Error(outcome.kind);
};

describe('the cache on disk', () => {
  it('is a bare repository that a stock git finds clean, after fetches and after pushes', async () => {
    const { repository, cacheDir, options } = await scene();
    const store = bench.open(options);
    await publish(store, { 'apps/b.yaml': 'b: 2\n' });
    await repository.commitFiles('main', { 'apps/b.yaml': 'b: 3\n', 'n.yaml': '1\n' });
    await publish(store, { 'apps/b.yaml': 'b: 4\n' });
    await store[Symbol.asyncDispose]();

    expect(await fsck(cacheDir)).toBe('0');
    expect((await git(['--git-dir', bareOf(cacheDir), 'rev-parse', 'main'])).trim()).toBe(
      await repository.head('main'),
    );
    expect(await git(['--git-dir', bareOf(cacheDir), 'show', 'main:apps/b.yaml'])).toBe('b: 4\n');
    expect(readdirSync(join(bareOf(cacheDir), 'objects/pack')).filter((name) => /tmp|new/.test(name))).toEqual([]);
  });

  it('lets a restart prove its base with one request', async () => {
    const { name, cacheDir, options } = await scene();
    const store = bench.open(options);
    await publish(store, { 'apps/b.yaml': 'b: 2\n' });
    await store[Symbol.asyncDispose]();
    bench.host.clearRequests();

    const again = bench.open({ ...options, cacheDir });
    const base = await again.observe(signal());

    expect(bench.host.ledger(name)).toEqual(['fetch 200']);
    expect(Buffer.from(again.folder(tipOf(base), 'apps').file('b.yaml')?.read() ?? []).toString()).toBe('b: 2\n');
  });

  it('that is damaged is thrown away and fetched again', async () => {
    const { cacheDir, options } = await scene();
    const store = bench.open(options);
    await publish(store, { 'apps/b.yaml': 'b: 2\n' });
    await store[Symbol.asyncDispose]();
    const packs = join(bareOf(cacheDir), 'objects/pack');
    for (const name of readdirSync(packs).filter((file) => file.endsWith('.idx')))
      writeFileSync(join(packs, name), readFileSync(join(packs, name)).subarray(0, 500));
    const logger = fakeLogger();

    const again = bench.open({ ...options, logger });
    const base = await again.observe(signal());

    expect([...again.folder(tipOf(base), '.').files()].map(({ path }) => path)).toEqual(['a.yaml', 'apps/b.yaml']);
    await again[Symbol.asyncDispose]();
    expect(await fsck(cacheDir)).toBe('0');
  });

  it('that lost a pack is not believed to be whole', async () => {
    const { cacheDir, options } = await scene();
    const store = bench.open(options);
    const base = await store.observe(signal());
    await store.publish(base, await commitOn(store, tipOf(base), { 'apps/b.yaml': 'b: 2\n' }), signal());
    await store[Symbol.asyncDispose]();
    const packs = join(bareOf(cacheDir), 'objects/pack');
    const [largest = ''] = readdirSync(packs)
      .filter((file) => file.endsWith('.pack'))
      .sort((a, b) => readFileSync(join(packs, b)).length - readFileSync(join(packs, a)).length);
    rmSync(join(packs, largest));

    const again = bench.open(options);
    const seen = await again.observe(signal());

    expect([...again.folder(tipOf(seen), '.').files()].map(({ read, path }) => `${path} ${read.length}`)).toHaveLength(
      2,
    );
    for (const file of again.folder(tipOf(seen), '.').files()) expect(file.read().length).toBeGreaterThan(0);
  });

  it('that turns out damaged while it is read is fetched again at the next look', async () => {
    const { repository, cacheDir, options } = await scene();
    const store = bench.open(options);
    const first = await store.observe(signal());
    await store[Symbol.asyncDispose]();
    const [pack = ''] = readdirSync(join(bareOf(cacheDir), 'objects/pack')).filter((file) => file.endsWith('.pack'));
    const path = join(bareOf(cacheDir), 'objects/pack', pack);
    const bytes = readFileSync(path);
    // The header of every object stays; only content is spoiled, which a look at the index cannot tell.
    const blob = (await repository.git('rev-parse', 'main:a.yaml')).trim();
    const offset = Number(
      (await git(['--git-dir', bareOf(cacheDir), 'verify-pack', '-v', path]))
        .split('\n')
        .find((line) => line.startsWith(blob))
        ?.split(/ +/)[4],
    );
    bytes.fill(0xff, offset + 1, offset + 8);
    writeFileSync(path, bytes);

    const again = bench.open(options);
    const seen = await again.observe(signal());
    const read = (): string => Buffer.from(again.folder(tipOf(seen), '.').file('a.yaml')?.read() ?? []).toString();

    expect(seen).toEqual(first);
    expect(read).toThrow(expect.objectContaining({ reason: 'ObjectMissing', retry: 'backoff' }) as Error);
    await again.observe(signal());
    expect(read()).toBe('a: 1\n');
  });

  it('is read by isomorphic-git as by git', async () => {
    const { repository, cacheDir, options } = await scene();
    const store = bench.open(options);
    await publish(store, { 'apps/b.yaml': 'b: 2\n', 'apps/c/d.yaml': 'd: 1\n' });
    await store[Symbol.asyncDispose]();
    const gitdir = bareOf(cacheDir);
    const oid = await isomorphic.resolveRef({ fs, gitdir, ref: 'refs/heads/main' });

    const read = new Map<string, string>();
    for (const path of await repository.listFiles('main'))
      read.set(path, Buffer.from((await isomorphic.readBlob({ fs, gitdir, oid, filepath: path })).blob).toString());

    expect(read).toEqual(await repository.readTree('main'));
  });

  it('has one owner: a second store of the same branch is refused by name', async () => {
    const { options } = await scene();
    const first = bench.open(options);
    await first.observe(signal());
    const second = bench.open(options);

    await expect(second.observe(signal())).rejects.toMatchObject({
      reason: 'CacheUnavailable',
      message: expect.stringContaining('is held by another branch store of this process') as unknown,
    });

    await first[Symbol.asyncDispose]();
    expect((await second.observe(signal())).kind).toBe('branch');
  });

  it('keeps two branches of one repository apart', async () => {
    const { repository, options, cacheDir } = await scene();
    await repository.commitFiles('live', { 'l.yaml': '1\n' }, { from: 'main' });
    const [main, live] = [bench.open(options), bench.open({ ...options, branch: 'live' })];

    await Promise.all([main.observe(signal()), live.observe(signal())]);

    expect(readdirSync(cacheDir)).toHaveLength(2);
  });

  it('stays small and whole over many pushes', async () => {
    const { repository, cacheDir, options } = await scene(
      Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [`f-${nth}.yaml`, `n: ${nth}\n`])),
    );
    const store = bench.open(options);
    let base = await store.observe(signal());
    for (let nth = 0; nth < 45; nth += 1) {
      const head = await commitOn(store, tipOf(base), {
        [`f-${nth % 5}.yaml`]: `n: changed ${nth}\n`,
        [`new/${nth}.yaml`]: `${nth}\n`,
      });
      await store.publish(base, head, signal());
      base = { kind: 'branch', commit: head };
    }
    const packs = join(bareOf(cacheDir), 'objects/pack');
    await poll(() => readdirSync(packs).filter((name) => name.endsWith('.pack')).length < 30);

    const read = new Map(
      [...store.folder(tipOf(base), '.').files()].map((file) => [file.path, Buffer.from(file.read()).toString()]),
    );
    await store[Symbol.asyncDispose]();

    expect(read).toEqual(await repository.readTree('main'));
    expect(await fsck(cacheDir)).toBe('0');
    bench.host.clearRequests();
    expect(await bench.open(options).observe(signal())).toEqual(base);
    expect(bench.host.ledger(repository.name)).toEqual(['fetch 200']);
  });

  it('a folder that cannot be made is named with what to check', async () => {
    const { options } = await scene();
    writeFileSync(join(bench.dir, 'a-file'), '');

    await expect(
      bench.open({ ...options, cacheDir: join(bench.dir, 'a-file') }).observe(signal()),
    ).rejects.toMatchObject({
      reason: 'CacheUnavailable',
      message: expect.stringContaining('check --git-cache-dir') as unknown,
    });
  });

  it('holds a large tree and a large file, read from disk where memory would not do', async () => {
    const { repository, cacheDir, options } = await scene();
    const store = bench.open(options);
    const base = await store.observe(signal());
    // More than a pack may have in memory, and incompressible.
    const large = randomBytes(40 * 1024 * 1024);
    const changes = new Map<string, Uint8Array>([
      ['large.bin', large],
      ...Array.from(
        { length: 10_000 },
        (_, nth) => [`ns-${nth % 50}/f-${nth}.yaml`, text(`n: ${nth}\n`)] as [string, Uint8Array],
      ),
    ]);
    const made = await store.commit({ parent: tipOf(base), changes, author, committer, message: 'Large\n' });
    if (made.kind !== 'committed') throw new Error('nothing changed');
    const outcome = await store.publish(base, made.commit, signal());
    await store[Symbol.asyncDispose]();

    const other = bench.open({ ...options, cacheDir: `${cacheDir}-2` });
    const seen = await other.observe(signal());

    expect(outcome.kind).toBe('published');
    expect([...other.folder(tipOf(seen), '.').files()]).toHaveLength(10_003);
    expect(Buffer.from(other.folder(tipOf(seen), '.').file('large.bin')?.read() ?? []).equals(large)).toBe(true);
    expect(existsSync(bareOf(`${cacheDir}-2`))).toBe(true);
    await repository.fsck();
  });
});
