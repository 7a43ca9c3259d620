import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPackage } from './package-lookup.js';

let root: string;
beforeEach(() => void (root = realpathSync(mkdtempSync(join(tmpdir(), 'gitops-reverser-lookup-')))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, content: unknown): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

/** The file that would be imported, or what is wrong. */
function entryOf(use: string, from = root): string {
  const found = findPackage(use, from);
  if (!found.ok) return `${found.error.reason}: ${found.error.message}`;
  const { entry } = found.value;
  return entry.ok ? fileURLToPath(entry.value).slice(root.length + 1) : `${entry.error.reason}: ${entry.error.message}`;
}

describe('findPackage', () => {
  it.each([
    { why: 'exports is the target itself', exports: './main.js', expected: 'main.js' },
    { why: 'exports has a root', exports: { '.': './main.js', './other': './other.js' }, expected: 'main.js' },
    { why: 'exports is conditions', exports: { require: './main.cjs', import: './main.js' }, expected: 'main.js' },
    {
      why: 'conditions count in their order',
      exports: { '.': { default: './main.js', import: './other.js' } },
      expected: 'main.js',
    },
    {
      why: 'conditions nest',
      exports: { '.': { types: './main.d.ts', node: { require: './main.cjs', default: './main.js' } } },
      expected: 'main.js',
    },
    {
      why: 'the first target that fits wins',
      exports: { '.': [{ browser: './other.js' }, './main.js'] },
      expected: 'main.js',
    },
    {
      why: 'our own packages are their sources in a checkout',
      exports: { '.': { '@gitops-reverser/source': './main.ts', default: './main.js' } },
      expected: 'main.ts',
    },
    {
      why: 'a published package left its sources at home',
      exports: { '.': { '@gitops-reverser/source': './gone.ts', default: './main.js' } },
      expected: 'main.js',
    },
    { why: 'no exports, but a main', main: 'main.js', expected: 'main.js' },
    { why: 'neither', expected: 'index.js' },
  ])('finds what an import by name would load: $why', ({ exports, main, expected }) => {
    write('node_modules/p/package.json', { name: 'p', version: '1.0.0', exports, main });
    for (const file of ['main.js', 'main.cjs', 'main.ts', 'main.d.ts', 'other.js', 'index.js'])
      write(`node_modules/p/${file}`, '');

    expect(entryOf('p')).toBe(`node_modules/p/${expected}`);
  });

  it('looks in the folder itself first, then in every folder above', () => {
    write('node_modules/p/package.json', { name: 'p', main: 'far.js' });
    write('node_modules/p/far.js', '');
    write('node_modules/q/package.json', { name: 'q' });
    write('node_modules/q/index.js', '');
    write('etc/operator/node_modules/p/package.json', { name: 'p', main: 'near.js' });
    write('etc/operator/node_modules/p/near.js', '');

    const from = join(root, 'etc/operator');

    expect([entryOf('p', from), entryOf('q', from)]).toEqual([
      'etc/operator/node_modules/p/near.js',
      'node_modules/q/index.js',
    ]);
  });

  it('does not leave the package', () => {
    write('node_modules/p/package.json', { name: 'p', exports: { '.': './../q/index.js' } });
    write('node_modules/q/index.js', '');

    expect(entryOf('p')).toContain('./../q/index.js lies outside the package');
  });

  it.each([
    {
      what: 'a package without its build',
      manifest: { name: 'p', exports: './dist/plugin.js' },
      says: 'PluginManifestInvalid: p: PACKAGE: ./dist/plugin.js does not exist; the package was published without its build',
    },
    {
      what: 'exports for others only',
      manifest: { name: 'p', exports: { '.': { browser: './b.js' } } },
      says: '"exports" offers nothing for "."',
    },
    { what: 'a package.json that is no JSON', manifest: '{', says: 'PluginManifestInvalid: p: PACKAGE cannot be read' },
    { what: 'a package.json that is no object', manifest: '7', says: 'expected an object' },
  ])('says what is wrong with $what', ({ manifest, says }) => {
    write('node_modules/p/package.json', manifest);

    expect(entryOf('p')).toContain(says.replace('PACKAGE', join(root, 'node_modules/p/package.json')));
  });

  it.each(['/etc/passwd', '../p', 'file:///p', 'node:fs', '', 'p/../../q', '@acme'])(
    'refuses %j, which is no package name',
    (use) => {
      expect(entryOf(use)).toContain('expected the name of an npm package');
    },
  );
});
