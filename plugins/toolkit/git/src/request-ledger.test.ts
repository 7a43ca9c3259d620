import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '@gitops-reverser/e2e-harness';
import type { BranchStore } from '@gitops-reverser/kernel-api';
import { commitOn, openBench, signal, tipOf, type Bench } from './hosted-store.fixture.js';

const GOLDEN = join(import.meta.dirname, '..', 'fixtures', 'request-ledger.json');

interface Scene {
  readonly repository: GitRepository;
  readonly store: BranchStore;
  /** Starts counting. */
  count(): void;
}

/** What the contract allows at most (chapter 40, 4.12), and how to get there. */
const OPERATIONS: Readonly<
  Record<string, { readonly atMost: number; readonly branch?: string; run(scene: Scene): Promise<void> }>
> = {
  'first base, branch exists': {
    atMost: 2,
    run: async ({ store }) => void (await store.observe(signal())),
  },
  'observe, not moved': {
    atMost: 1,
    run: async ({ store, count }) => {
      await store.observe(signal());
      count();
      await store.observe(signal());
    },
  },
  'observe, moved': {
    atMost: 2,
    run: async ({ store, repository, count }) => {
      await store.observe(signal());
      await repository.commitFiles('main', { 'x.yaml': '1\n' });
      count();
      await store.observe(signal());
    },
  },
  'healthy publication, three commits, host not known yet': {
    atMost: 2,
    run: async ({ store, count }) => {
      const base = await store.observe(signal());
      let head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
      for (const content of ['2\n', '3\n']) head = await commitOn(store, head, { 'b.yaml': content });
      count();
      await store.publish(base, head, signal());
    },
  },
  'healthy publication, single-POST form': {
    atMost: 1,
    run: async ({ store, count }) => {
      const base = await store.observe(signal());
      const first = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
      await store.publish(base, first, signal());
      const second = await commitOn(store, first, { 'b.yaml': '2\n' });
      count();
      await store.publish({ kind: 'branch', commit: first }, second, signal());
    },
  },
  'publication that turns out a no-op': {
    atMost: 1,
    run: async ({ store, count }) => {
      const base = await store.observe(signal());
      count();
      await store.publish(base, tipOf(base)!, signal());
    },
  },
  'rejected at the advertisement once, then accepted': { atMost: 5, run: (scene) => lose(scene, 1, false) },
  'rejected at the advertisement twice, then accepted': { atMost: 8, run: (scene) => lose(scene, 2, false) },
  'rejected at the push once, then accepted': { atMost: 5, run: (scene) => lose(scene, 1, true) },
  'rejected at the push twice, then accepted': { atMost: 8, run: (scene) => lose(scene, 2, true) },
  'refused by the server after upload, then accepted': {
    atMost: 6,
    run: async ({ store, repository, count }) => {
      const base = await store.observe(signal());
      const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
      await repository.installHook('pre-receive', 'exit 1');
      count();
      await store.publish(base, head, signal()).catch(() => undefined);
      await repository.installHook('pre-receive', 'exit 0');
      await store.publish(await store.observe(signal()), head, signal());
    },
  },
  'standby, first commit, parent unmoved': {
    atMost: 2,
    branch: 'live',
    run: async ({ store, count }) => {
      const base = await store.observe(signal());
      const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
      count();
      await store.publish(base, head, signal());
    },
  },
  'unanswered push that landed': {
    atMost: 3,
    run: async ({ store, count, repository }) => {
      const base = await store.observe(signal());
      const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
      count();
      await bench.host.inject({ kind: 'cut', at: 'answer' }, { repository: repository.name, on: 'push' });
      await store.publish(base, head, signal()).catch(() => undefined);
      await store.observe(signal());
    },
  },
};

/** Loses `times` races and wins the next. */
async function lose({ store, repository, count }: Scene, times: number, isWarm: boolean): Promise<void> {
  let base = await store.observe(signal());
  if (isWarm) {
    const head = await commitOn(store, tipOf(base), { 'warm.yaml': '1\n' });
    await store.publish(base, head, signal());
    base = { kind: 'branch', commit: head };
  }
  count();
  for (let nth = 0; nth < times; nth += 1) {
    const head = await commitOn(store, tipOf(base), { 'ours.yaml': '1\n' });
    await repository.commitFiles('main', { [`theirs-${nth}.yaml`]: '1\n' });
    const outcome = await store.publish(base, head, signal());
    if (outcome.kind !== 'moved') throw new Error(`expected a lost race, found ${outcome.kind}`);
    base = await store.observe(signal());
  }
  const outcome = await store.publish(base, await commitOn(store, tipOf(base), { 'ours.yaml': '1\n' }), signal());
  if (outcome.kind !== 'published') throw new Error(`expected a publication, found ${outcome.kind}`);
}

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

describe('the request ledger (chapter 40, 4.12)', () => {
  const measured: Record<string, readonly string[]> = {};

  it.each(Object.entries(OPERATIONS).map(([operation, rest], nth) => ({ operation, nth, ...rest })))(
    '$operation: at most $atMost',
    async ({ operation, nth, atMost, branch, run }) => {
      const name = `ledger-${nth}`;
      const repository = await bench.host.createRepository(name, { files: { 'a.yaml': '1\n' } });
      const store = bench.open({ url: bench.host.urlOf(name), branch: branch ?? 'main' });

      await run({ repository, store, count: () => bench.host.clearRequests() });

      measured[operation] = bench.host.ledger(name);
      expect(measured[operation].length).toBeLessThanOrEqual(atMost);
    },
  );

  it('is what was reviewed', () => {
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, `${JSON.stringify(measured, undefined, 2)}\n`);

    expect(measured).toEqual(JSON.parse(readFileSync(GOLDEN, 'utf8')));
  });

  it('1.10: a store that has nothing to do asks nothing', async () => {
    await bench.host.createRepository('idle', { files: { 'a.yaml': '1\n' } });
    const store = bench.open({ url: bench.host.urlOf('idle') });
    const base = await store.observe(signal());
    bench.host.clearRequests();

    for (let nth = 0; nth < 3; nth += 1) await commitOn(store, tipOf(base), { 'b.yaml': `${nth}\n` });

    expect(bench.host.ledger('idle')).toEqual([]);
  });

  it('4.9: three foreign commits on 200 files cost what changed in them', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, nth) => [
        `f-${nth}.yaml`,
        `n: ${nth}\n${'padding '.repeat(20)}${Math.random()}\n`,
      ]),
    );
    const repository = await bench.host.createRepository('thin', { files });
    const store = bench.open({ url: bench.host.urlOf('thin') });
    await store.observe(signal());
    for (let nth = 0; nth < 3; nth += 1) await repository.commitFiles('main', { 'f-7.yaml': `n: changed ${nth}\n` });
    bench.host.clearRequests();

    const base = await store.observe(signal());

    const [, fetched] = bench.host.requests({ repository: 'thin' });
    expect(fetched?.responseBytes).toBeLessThan(1_000);
    expect([...store.folder(tipOf(base), '.').files()]).toHaveLength(200);
  });

  it('FC-PSH-7: one document sends one blob, the trees on its path and one commit', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, nth) => [`ns-${nth % 30}/f-${nth}.yaml`, `n: ${nth}\n`]),
    );
    await bench.host.createRepository('small-push', { files });
    const store = bench.open({ url: bench.host.urlOf('small-push') });
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'ns-7/f-7.yaml': 'n: changed\n' });

    await store.publish(base, head, signal());

    const [push] = bench.host.requests({ repository: 'small-push', step: 'push' });
    // 100 entries of one namespace and 30 of the root: ids do not compress.
    expect(push?.requestBytes).toBeLessThan(6_000);
  });
});
