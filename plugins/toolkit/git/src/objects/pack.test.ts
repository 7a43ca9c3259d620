import { mkdtempSync, rmSync, writeFileSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git, tryGit } from '@gitops-reverser/e2e-harness';
import { applyDelta } from './delta.js';
import { ObjectStore } from './object-store.js';
import { FileBytes, MemoryBytes } from './pack-bytes.js';
import { encodeEntry, parseEntryHeader } from './pack-entry.js';
import { ObjectCache } from './pack-file.js';
import { PackIndex } from './pack-index.js';
import { indexPack } from './pack-indexing.js';
import { buildPack } from './pack-writer.js';

let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'toolkit-git-pack-'));
  await git(['init', '--quiet', '--bare', join(dir, 'repo.git')]);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const nothing = (): undefined => undefined;

describe('a pack made here', () => {
  it('is one that git verifies, with an index byte for byte as git makes it', async () => {
    const store = new ObjectStore({ cacheBytes: 1_000_000 });
    const sizes = [0, 1, 15, 16, 17, 2047, 2048, 2049, 70_000, 300_000];
    const oids = sizes.map((size) => store.make('blob', Buffer.alloc(size, `content of ${size} `)));
    const { bytes, pack } = buildPack(oids.map((oid) => store.encoded(oid)));
    const path = join(dir, 'made.pack');
    writeFileSync(path, bytes);

    await git(['index-pack', '--strict', '-o', join(dir, 'made.idx'), path]);
    const listed = await git(['verify-pack', '-v', join(dir, 'made.idx')]);

    expect(pack.index.encode(bytes.subarray(-20))).toEqual(readFileSync(join(dir, 'made.idx')));
    for (const [nth, oid] of oids.entries()) expect(listed).toMatch(new RegExp(`^${oid} blob +${sizes[nth]} `, 'm'));
  });
});

describe('a pack made by git', () => {
  /** A history with files that differ little, so that git makes long chains of deltas. */
  const makeHistory = async (): Promise<string> => {
    const repo = join(dir, 'repo.git');
    const lines = Array.from({ length: 400 }, (_, nth) => `line ${nth} ${'x'.repeat(nth % 50)}`);
    let stream = '';
    for (let nth = 0; nth < 40; nth += 1) {
      lines[nth * 7] = `changed in commit ${nth}`;
      const content = `${lines.join('\n')}\n`;
      stream += `commit refs/heads/main\ncommitter A <a@b.cd> ${1_700_000_000 + nth} +0000\ndata 2\nm\nM 100644 inline dir${nth % 3}/file\ndata ${Buffer.byteLength(content)}\n${content}\n`;
    }
    await git(['--git-dir', repo, 'fast-import', '--quiet'], { input: stream });
    await git(['--git-dir', repo, 'repack', '-a', '-d', '-f', '--depth=50', '--window=50', '-q']);
    return repo;
  };

  it.each(['ofs-delta', 'ref-delta'] as const)('with %s chains is read as git reads it', async (form) => {
    const repo = await makeHistory();
    const listing = (await git(['--git-dir', repo, 'cat-file', '--batch-all-objects', '--batch-check']))
      .trim()
      .split('\n');
    const oids = listing.map((line) => line.split(' ')[0] ?? '');
    const { stdout } = await tryGit(
      ['--git-dir', repo, 'pack-objects', '--stdout', '-q', ...(form === 'ofs-delta' ? ['--delta-base-offset'] : [])],
      { input: `${oids.join('\n')}\n` },
    );

    const pack = await indexPack(new MemoryBytes(stdout), nothing);

    expect([...pack.index.entries()].map(({ oid }) => oid)).toEqual([...oids].sort());
    // A cache of nothing: every read walks its whole chain.
    const cache = new ObjectCache(0);
    for (const line of listing) {
      const [oid = '', type, size] = line.split(' ');
      const object = pack.read(oid, cache, nothing);
      expect({ type: object?.type, size: object?.data.length }).toEqual({ type, size: Number(size) });
    }
  });

  it('is indexed as git indexes it, from a file too', async () => {
    const repo = await makeHistory();
    const [name = ''] = readdirSync(join(repo, 'objects/pack')).filter((file) => file.endsWith('.pack'));
    const path = join(repo, 'objects/pack', name);
    const file = FileBytes.open(path, readFileSync(path).length);

    const pack = await indexPack(file, nothing);
    const made = pack.index.encode(Buffer.from(pack.name, 'hex'));

    expect(made).toEqual(readFileSync(path.replace(/pack$/, 'idx')));
    expect([...PackIndex.parse(made, Buffer.from(pack.name, 'hex')).entries()]).toEqual([...pack.index.entries()]);
    file.close();
  });

  it('thin is completed so that git takes it without its base', async () => {
    const repo = await makeHistory();
    const [tip = '', before = ''] = (await git(['--git-dir', repo, 'rev-list', 'main'])).split('\n');
    const whole = await tryGit(['--git-dir', repo, 'pack-objects', '--stdout', '-q', '--revs'], {
      input: `${before}\n`,
    });
    const thin = await tryGit(['--git-dir', repo, 'pack-objects', '--stdout', '-q', '--revs', '--thin'], {
      input: `${tip}\n^${before}\n`,
    });
    const store = new ObjectStore({ cacheBytes: 1_000_000 });
    store.addPack(await indexPack(new MemoryBytes(whole.stdout), nothing));

    const pack = await indexPack(new MemoryBytes(Buffer.from(thin.stdout)), (oid) => store.find(oid));
    const path = join(dir, 'completed.pack');
    writeFileSync(path, pack.bytes.slice(0, pack.bytes.length));

    await git(['index-pack', '-o', join(dir, 'completed.idx'), path]);
    expect(pack.index.encode(Buffer.from(pack.name, 'hex'))).toEqual(readFileSync(join(dir, 'completed.idx')));
    expect(pack.index.count).toBeGreaterThan(3);
  });

  it.each([
    { why: 'one byte is wrong', spoil: (bytes: Buffer) => ((bytes[40]! ^= 1), bytes), says: /checksum/ },
    { why: 'it was cut', spoil: (bytes: Buffer) => bytes.subarray(0, bytes.length / 2), says: /checksum/ },
    {
      why: 'it is no pack',
      spoil: () => Buffer.from('<html>this is no pack at all</html>'),
      says: /does not begin with PACK/,
    },
    { why: 'it is too short for a header', spoil: () => Buffer.from('PACK'), says: /does not begin with PACK/ },
  ])('is refused when $why', async ({ spoil, says }) => {
    const { bytes } = buildPack([{ oid: 'a'.repeat(40), entry: encodeEntry('blob', Buffer.from('hello')) }]);

    await expect(indexPack(new MemoryBytes(spoil(Buffer.from(bytes))), nothing)).rejects.toThrow(says);
  });
});

describe('objects too large to be held', () => {
  const MiB = 1024 * 1024;

  it('are named and indexed as git does it, in a fraction of their size', async () => {
    const repo = join(dir, 'large.git');
    await git(['init', '--quiet', '--bare', repo]);
    const add = async (input: Buffer): Promise<string> =>
      (await tryGit(['--git-dir', repo, 'hash-object', '-w', '--stdin'], { input })).stdout.toString().trim();
    const large = await add(Buffer.alloc(64 * MiB));
    const small = await add(Buffer.from('small'));
    const { stdout } = await tryGit(['--git-dir', repo, 'pack-objects', '--stdout', '-q'], {
      input: `${small}\n${large}\n`,
    });
    const path = join(dir, 'large.pack');
    writeFileSync(path, stdout);
    await git(['index-pack', '-o', join(dir, 'large.idx'), path]);
    const before = process.memoryUsage().rss;

    const pack = await indexPack(FileBytes.open(path, stdout.length), nothing);
    const grown = process.memoryUsage().rss - before;

    expect(pack.index.encode(Buffer.from(pack.name, 'hex'))).toEqual(readFileSync(join(dir, 'large.idx')));
    expect(grown).toBeLessThan(32 * MiB);
    expect(pack.read(small, new ObjectCache(0), nothing)?.data.toString()).toBe('small');
    expect(() => pack.read(large, new ObjectCache(0), nothing, 32 * MiB)).toThrow('an object has 67108864 bytes');
    pack.close();
  }, 60_000);

  it.each([
    { why: 'hold less than they state', entry: [20 * MiB, 19 * MiB], says: 'gave 19922944 bytes of 20971520' },
    { why: 'hold more than they state', entry: [20 * MiB, 21 * MiB], says: /gave \d+ bytes of 20971520/ },
  ])('are refused when they $why', async ({ entry: [stated = 0, held = 0], says }) => {
    const [header, body] = [encodeEntry('blob', Buffer.alloc(stated)), encodeEntry('blob', Buffer.alloc(held))];
    const lie = Buffer.concat([
      header.subarray(0, parseEntryHeader(header).headerBytes),
      body.subarray(parseEntryHeader(body).headerBytes),
    ]);
    const { bytes } = buildPack([{ oid: 'a'.repeat(40), entry: lie }]);

    await expect(indexPack(new MemoryBytes(Buffer.from(bytes)), nothing)).rejects.toThrow(says);
  });

  it('are refused when a delta makes one, before it is made', () => {
    const delta = Buffer.from([10, 0x80, 0x80, 0x80, 0x80, 0x03, 1, 65]);

    expect(() => applyDelta(Buffer.from('0123456789'), delta)).toThrow('an object has 805306368 bytes');
  });
});

describe('applyDelta', () => {
  const base = Buffer.from('0123456789');

  it.each([
    { why: 'made for another base', delta: [9, 1, 1, 65], says: 'a delta is for 9 bytes, its base has 10' },
    { why: 'copying past its base', delta: [10, 5, 0x91, 8, 5], says: 'a delta copies from outside its base' },
    { why: 'giving less than it says', delta: [10, 5, 1, 65], says: 'a delta gave 1 bytes of 5' },
    { why: 'ending inside an instruction', delta: [10, 5, 0x91, 1], says: 'a delta ends early' },
    { why: 'with the reserved instruction', delta: [10, 5, 0], says: 'a delta has the reserved instruction 0' },
  ])('refuses a delta $why', ({ delta, says }) => {
    expect(() => applyDelta(base, Buffer.from(delta))).toThrow(says);
  });
});

describe('parseEntryHeader', () => {
  it.each([0, 15, 16, 4095, 4096, 70_000])('reads back a size of %d', (size) => {
    expect(parseEntryHeader(encodeEntry('tree', Buffer.alloc(size)))).toMatchObject({
      kind: 'whole',
      type: 'tree',
      size,
    });
  });
});

describe('the cache of inflated objects', () => {
  it('stays within its bytes and forgets what was not asked for longest', () => {
    const cache = new ObjectCache(1000);
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, { type: 'blob', data: Buffer.alloc(250) });
    cache.get('a');
    cache.set('e', { type: 'blob', data: Buffer.alloc(250) });
    cache.set('too large', { type: 'blob', data: Buffer.alloc(900) });

    expect(['a', 'b', 'c', 'd', 'e', 'too large'].filter((key) => cache.get(key) !== undefined)).toEqual([
      'a',
      'c',
      'd',
      'e',
    ]);
  });
});
