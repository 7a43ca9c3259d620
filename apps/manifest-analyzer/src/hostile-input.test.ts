import { closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scanFolder } from './scan-folder.js';
import { scanRepo } from './scan-repo.js';
import { configMap, temporaryFolder, type Files } from './temporary-folder.fixture.js';

/** Far more than any of it takes; far less than what has no bound. */
const soonMs = 5_000;

const bomb = [
  'a0: &a0 [x]',
  ...Array.from({ length: 8 }, (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}]`),
].join('\n');

describe('hostile input', () => {
  it.each<{ why: string; content: string | Uint8Array; message: RegExp }>([
    { why: 'FC-SEC-1: 100,000 documents', content: '---\n'.repeat(100_000), message: /more than 10000 documents/ },
    { why: 'FC-SEC-1: brackets 20,000 deep', content: `a: ${'['.repeat(20_000)}`, message: /nested deeper than 100/ },
    {
      why: 'FC-SEC-1: maps 5,000 deep',
      content: Array.from({ length: 5_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      message: /nested deeper than 100|bytes, the limit/,
    },
    {
      why: 'FC-SEC-1: a scalar of 10 MiB',
      content: `a: ${'x'.repeat(10 * 1024 * 1024)}`,
      message: /bytes, the limit is 5242880/,
    },
    { why: 'not UTF-8', content: Uint8Array.of(0x61, 0x3a, 0x20, 0xff, 0xfe), message: /not valid UTF-8/ },
  ])('$why: refused in bounded time with the reason', async ({ content, message }) => {
    using folder = temporaryFolder({ 'a.yaml': configMap('a'), 'bad.yaml': content });
    const started = performance.now();

    const { status } = await scanFolder(folder.root);

    expect(performance.now() - started).toBeLessThan(soonMs);
    expect(status.issues.map(({ path, message: text }) => ({ path, text }))).toEqual([
      { path: 'bad.yaml', text: expect.stringMatching(message) as string },
    ]);
  });

  it('FC-SEC-1: aliases that expand to gigabytes are never expanded', async () => {
    using folder = temporaryFolder({ 'bad.yaml': `${configMap('a')}data:\n${bomb.replaceAll(/^/gm, '  ')}\n` });

    const { status } = await scanFolder(folder.root);

    expect(status.accepted).toBe(true);
  });

  it('a file of 100 MiB costs neither time nor memory', async () => {
    using folder = temporaryFolder({ 'a.yaml': configMap('a') });
    const descriptor = openSync(join(folder.root, 'huge.yaml'), 'w');
    ftruncateSync(descriptor, 100 * 1024 * 1024);
    closeSync(descriptor);
    const [before, started] = [process.memoryUsage().rss, performance.now()];

    const { status } = await scanFolder(folder.root);

    expect(status.issues.map(({ message }) => message)).toEqual([
      'huge.yaml: the file has 104857600 bytes, the limit is 5242880; repair the file, remove it or name it in .gittargetignore',
    ]);
    expect(performance.now() - started).toBeLessThan(soonMs);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('FC-SEC-2: links in circles and out of the folder are named and never followed', async () => {
    using folder = temporaryFolder({
      'a.yaml': configMap('a'),
      loop: { link: '.' },
      out: { link: '/etc' },
      'passwd.yaml': { link: '/etc/passwd' },
    });

    const { status } = await scanFolder(folder.root);

    expect(status.issues.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'foreign-symlink loop',
      'foreign-symlink out',
      'foreign-symlink passwd.yaml',
    ]);
  });

  it('FC-SEC-2: names no system can hold are refused by name', async () => {
    using folder = temporaryFolder({ 'a.yaml': configMap('a'), '..\\t': '', '.GIT/config': '' });

    const { status } = await scanFolder(folder.root);

    expect(status.issues.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'foreign-file ..\\t',
      'foreign-file .GIT/config',
    ]);
  });

  it('a name that is no UTF-8 is read by its bytes', async () => {
    using folder = temporaryFolder({ 'a.yaml': configMap('a') });
    const path = Buffer.concat([Buffer.from(`${folder.root}/b`), Buffer.of(0xff), Buffer.from('.yaml')]);
    writeFileSync(path, 'x: 1');

    const { status } = await scanFolder(folder.root);

    expect(status.issues.map(({ kind, path: at }) => `${kind} ${at}`)).toEqual(['non-krm-yaml b\ufffd.yaml']);
  });

  it('a folder nested 150 levels deep is walked without recursion', async () => {
    const deep = Array.from({ length: 150 }, () => 'd').join('/');
    using folder = temporaryFolder({ [`${deep}/a.yaml`]: configMap('a') });

    expect((await scanRepo(folder.root)).status.candidates.map(({ path }) => path)).toEqual([deep]);
  });

  it('chains of kustomizations without end end', async () => {
    const files: Record<string, Files[string]> = {};
    for (let index = 0; index < 300; index += 1)
      files[`d${index}/kustomization.yaml`] = `resources: [../d${(index + 1) % 300}, ../d${(index + 7) % 300}]`;
    using folder = temporaryFolder(files);
    const started = performance.now();

    const { candidates } = (await scanRepo(folder.root)).status;

    expect(candidates.map(({ layout }) => layout)).toEqual(['refused-structural']);
    expect(performance.now() - started).toBeLessThan(soonMs);
  });
});
