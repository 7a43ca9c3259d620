import type { FolderFile, FolderView } from '@gitops-reverser/kernel-api';
import fc from 'fast-check';
import { memoryFolder } from '@gitops-reverser/kernel-testing';
import { acceptanceReason, FolderCache, readFolder, summarizeIssues, type FolderContents } from './index.js';

const brief = (contents: FolderContents): unknown => ({
  issues: contents.issues,
  documents: contents.documents,
  found: contents.documents.map(({ identity }) => contents.find(identity)),
  entries: contents.entries,
  kustomizations: contents.kustomizations,
  existing: contents.entries.map(({ path }) => contents.existing(path)),
  clashes: ['A.yaml', 'a', 'A/b.yaml', 'n'].map((path) => contents.paths.clashes(path)),
  ignored: contents.ignores('a/new.yaml'),
});
type Files = Parameters<typeof memoryFolder>[0];
const read = (files: Files): FolderContents => readFolder(memoryFolder(files), new FolderCache());
const aManifest = (kind: string, name: string, namespace?: string, apiVersion = 'v1'): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n${namespace === undefined ? '' : `  namespace: ${namespace}\n`}`;
const settings = aManifest('ConfigMap', 'settings', 'shop');
const codes = (files: Files): string[] =>
  read(files).issues.map(({ code, path, documentIndex }) => `${path}#${documentIndex} ${code}`);

describe('a folder that is taken on', () => {
  it('holds manifests, what every repository holds, and what is ignored', () => {
    const contents = read({
      'a.yaml': `${settings}---\n${aManifest('Namespace', 'shop')}`,
      'b/c.yml': '# licence\n---\n'.concat(aManifest('Deployment', 'web', 'shop', 'apps/v1')),
      'comments.yaml': '# nothing yet\n',
      'empty.yaml': '',
      'README.md': 'hello',
      'docs/guide.md': 'hello',
      LICENSE: 'x',
      'NOTICE.txt': 'x',
      'x/.gitkeep': '',
      '.gitattributes': '',
      '.sops.yaml': 'creation_rules: []\n',
      '.gittargetignore': 'scratch/\n*.txt\nlinks\n',
      'scratch/broken.yaml': '[',
      'notes.txt': 'x',
      links: { content: '/etc/passwd', mode: 'symlink' },
      'kustomize/kustomization.yaml': 'resources: []\n',
    });

    expect(contents.issues).toEqual([]);
    expect(contents.documents.map(({ path, index, identity }) => [path, index, identity])).toEqual([
      ['a.yaml', 0, { group: '', version: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' }],
      ['a.yaml', 1, { group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
      ['b/c.yml', 0, { group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'shop', name: 'web' }],
    ]);
    expect(contents.kustomizations).toEqual(['kustomize/kustomization.yaml']);
    expect(contents.ignores('scratch/x.yaml')).toBe(true);
  });

  it('finds a document by what it is, whatever its version', () => {
    const contents = read({ 'b/c.yaml': aManifest('Deployment', 'web', 'shop', 'apps/v1beta1') });

    expect(contents.find({ group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' })).toMatchObject({
      path: 'b/c.yaml',
      index: 0,
      nature: 'manifest',
      siblings: 1,
    });
    expect(contents.find({ group: 'apps', kind: 'Deployment', name: 'web' })).toBeUndefined();
  });

  it('knows a document that cannot be edited by what it claims to be', () => {
    const contents = read({ 'a.yaml': `${settings}data: &d {}\n` });

    expect(contents.issues).toEqual([]);
    expect(contents.find({ group: '', kind: 'ConfigMap', namespace: 'shop', name: 'settings' })).toMatchObject({
      nature: 'non-editable',
      construct: 'anchor',
    });
  });

  it('one sops map encrypts every document of the file', () => {
    const contents = read({ 'a.enc.yaml': `${aManifest('Secret', 'db', 'shop')}sops:\n  mac: x\n---\n${settings}` });

    expect(contents.documents.map(({ nature }) => nature)).toEqual(['encrypted', 'encrypted']);
  });

  it('an encrypted document with encrypted metadata has no identity and refuses nothing', () => {
    const contents = read({
      'a.yaml': 'apiVersion: ENC[AES256_GCM,data:x]\nkind: Secret\nmetadata:\n  name: ENC[x]\nsops:\n  mac: x\n',
    });

    expect([contents.documents, contents.issues]).toEqual([[], []]);
  });

  it.each<[string, Files]>([
    ['that is a link', { a: { content: '../b', mode: 'symlink' }, '.gittargetignore': 'a\n' }],
    ['below a hidden directory: links', { 'v/a': { content: 'b', mode: 'symlink' }, '.gittargetignore': 'v/\n' }],
    ['below a hidden directory: submodules', { 'v/a': { content: '', mode: 'submodule' }, '.gittargetignore': '/v\n' }],
    ['below a hidden directory: an ignore file', { 'v/.gittargetignore': '', '.gittargetignore': 'v\n' }],
    ['below a hidden directory: artifacts', { 'v/kustomization.yaml': settings, '.gittargetignore': 'v\n' }],
    ['that a negation does not bring back', { 'x.txt': '', '.gittargetignore': '!y.txt\n*.txt\n!y.*\n' }],
  ])('looks at nothing %s', (_, files) => {
    expect(codes({ 'a.yaml': settings, ...files })).toEqual([]);
  });

  it('takes a README that quotes manifests for prose', () => {
    const quoted = `# Shop\n\n\`\`\`yaml\n${settings}---\n${settings}---\n${settings}\`\`\`\n`;

    expect(codes({ 'README.md': quoted, 'sub/README.md': '---\ntitle: Shop\n---\n' })).toEqual([]);
  });

  it('knows artifacts by their names in every directory', () => {
    const files = { 'a/.sops.yaml': 'creation_rules: []\n', 'a/b/.sops.yml': '', 'a/README.md': 'x', 'a/.keep': '' };

    expect(codes({ ...files, '.gittargetignore': '.sops.*\nREADME.md\n' })).toEqual([]);
  });
});

describe('a folder that is refused', () => {
  it.each<[string, Files, string[]]>([
    ['text that does not parse', { 'a.yaml': 'a: [\n' }, ['a.yaml#0 invalid-yaml']],
    ['bytes that are no text', { 'a.yaml': Uint8Array.of(0xff, 0xfe, 0) }, ['a.yaml#0 invalid-yaml']],
    ['YAML that is no manifest', { 'values.yaml': 'replicas: 3\n' }, ['values.yaml#0 non-krm-yaml']],
    ['anchors in YAML that is no manifest', { 'values.yaml': 'a: &x 1\nb: *x\n' }, ['values.yaml#0 non-krm-yaml']],
    [
      'a List',
      { 'a.yaml': 'apiVersion: v1\nkind: List\nmetadata:\n  name: x\nitems: []\n' },
      ['a.yaml#0 non-krm-yaml'],
    ],
    [
      'a typed list without a name',
      { 'a.yaml': 'apiVersion: v1\nkind: ConfigMapList\nitems: []\n' },
      ['a.yaml#0 non-krm-yaml'],
    ],
    [
      'a generated name',
      { 'a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: x-\n' },
      ['a.yaml#0 non-krm-yaml'],
    ],
    ['a manifest beside something else', { 'a.yaml': `${settings}---\nx: 1\n` }, ['a.yaml#1 impure-managed-file']],
    [
      'a manifest beside an empty document',
      { 'a.yaml': `${settings}---\n# x\n---\n${aManifest('Namespace', 'n')}` },
      ['a.yaml#1 impure-managed-file'],
    ],
    ['a manifest beside a broken one', { 'a.yaml': `${settings}---\na: [\n` }, ['a.yaml#1 impure-managed-file']],
    [
      'a manifest in a file that is none',
      { '.sops.yaml': settings, 'kustomization.yaml': `resources: []\n---\n${settings}` },
      ['.sops.yaml#0 mixed-managed-allowlisted', 'kustomization.yaml#1 mixed-managed-allowlisted'],
    ],
    [
      'a README that is a manifest, also an ignored one',
      { 'README.md': `# x\n---\n${settings}`, '.gittargetignore': 'README.md\n' },
      ['README.md#0 mixed-managed-allowlisted'],
    ],
    [
      'an artifact that is a manifest, also an ignored one',
      { 'a/.sops.yml': settings, '.gittargetignore': '*.sops.yml\n.sops.yml\n' },
      ['a/.sops.yml#0 mixed-managed-allowlisted'],
    ],
    [
      'encrypted YAML that is no manifest',
      { 'values.enc.yaml': 'password: ENC[x]\nsops:\n  mac: x\n' },
      ['values.enc.yaml#0 non-krm-yaml'],
    ],
    [
      'a List of any group',
      { 'a.yaml': 'apiVersion: meta.example.com/v1\nkind: List\nmetadata:\n  name: x\nitems: []\n' },
      ['a.yaml#0 non-krm-yaml'],
    ],
    [
      'a List beside a manifest',
      { 'a.yaml': `${settings}---\napiVersion: v1\nkind: List\nitems: []\n` },
      ['a.yaml#1 impure-managed-file'],
    ],
    [
      'a kustomization without a name in a file of another name',
      { 'k.yaml': 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n' },
      ['k.yaml#0 non-krm-yaml'],
    ],
    [
      'a name that is a number',
      { 'a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: 1}\n' },
      ['a.yaml#0 non-krm-yaml'],
    ],
    [
      'names that only look like those of passengers',
      { license: '', 'LICENSE.md.txt': '', 'a/.gitkeep.yaml': 'x: 1', 'notes.MD': '' },
      [
        'LICENSE.md.txt#0 foreign-file',
        'a/.gitkeep.yaml#0 non-krm-yaml',
        'license#0 foreign-file',
        'notes.MD#0 foreign-file',
      ],
    ],
    [
      'a submodule, though a pattern brings back what is below',
      { 'v/a': { content: '', mode: 'submodule' }, '.gittargetignore': 'v/*\n!v/a\n' },
      ['v/a#0 foreign-submodule'],
    ],
    ['JSON', { 'a.json': '{}' }, ['a.json#0 foreign-file']],
    ['an ignore file that is not at the top', { 'x/.gittargetignore': 'a\n' }, ['x/.gittargetignore#0 foreign-file']],
    [
      'FC-SEC-2: links',
      { cfg: { content: '../../other', mode: 'symlink' }, 'a/x.yaml': { content: '/etc/passwd', mode: 'symlink' } },
      ['a/x.yaml#0 foreign-symlink', 'cfg#0 foreign-symlink'],
    ],
    [
      'FC-SEC-2: a submodule, also an ignored one',
      { lib: { content: '', mode: 'submodule' }, '.gittargetignore': 'lib\n' },
      ['lib#0 foreign-submodule'],
    ],
    [
      'a pattern that hides all',
      { '.gittargetignore': '# x\n*.yaml\n', 'a.txt': '' },
      ['.gittargetignore#0 ignore-shadows-managed', 'a.txt#0 foreign-file'],
    ],
    [
      'FC-PLC-5: the same resource twice',
      { 'a.yaml': settings, 'b/c.yaml': settings },
      ['b/c.yaml#0 duplicate-identity'],
    ],
    [
      'FC-PLC-5: in two versions',
      {
        'a.yaml': aManifest('Deployment', 'web', 'shop', 'apps/v1'),
        'b.yaml': aManifest('Deployment', 'web', 'shop', 'apps/v1beta1'),
      },
      ['b.yaml#0 duplicate-identity'],
    ],
    ['twice in one file', { 'a.yaml': `${settings}---\n${settings}` }, ['a.yaml#1 duplicate-identity']],
    [
      'twice, once encrypted',
      {
        'a.yaml': aManifest('Secret', 'db', 'shop'),
        'b.yaml': `${aManifest('Secret', 'db', 'shop')}sops:\n  mac: x\n`,
      },
      ['b.yaml#0 duplicate-identity'],
    ],
  ])('%s', (_, files, expected) => {
    expect(codes(files)).toEqual(expected);
  });

  it.each<[string, string]>([
    ['bytes', `# ${'x'.repeat(64 * 1024)}\n`],
    ['patterns', Array.from({ length: 1_001 }, (_, at) => `d${at}/`).join('\n')],
    ['time for one path', `${'*a*b*c'.repeat(6)}*x\n`.repeat(900)],
  ])('an ignore file that asks for too many %s hides nothing and says so', (_, text) => {
    const [shadow, foreign] = read({ '.gittargetignore': text, [`${'abc'.repeat(60)}.txt`]: '' }).issues;

    expect(shadow).toMatchObject({ code: 'ignore-shadows-managed', path: '.gittargetignore', solvable: true });
    expect(shadow?.message).toMatch(/bytes, the limit is|patterns, the limit is|take too long to apply/);
    expect(foreign?.code).toBe('foreign-file');
  });

  it('only the ignore file at the top counts, and the message says where its patterns belong', () => {
    const [only] = read({ 'x/.gittargetignore': 'a\n', '.gittargetignore': 'x/.gittargetignore\n' }).issues;

    expect(only?.message).toBe(
      'x/.gittargetignore: only the .gittargetignore at the top of the folder counts; move its patterns there',
    );
  });

  it('FC-SEC-2: paths that no tool may check out are refused by name', () => {
    const paths = ['.GIT/config', 'a/../b.yaml', 'a//b.yaml', '..\\t.yaml', '/abs.yaml', './x.yaml'];
    const files = paths.map((path): FolderFile => ({ path, oid: path, mode: 'file', read: () => new Uint8Array() }));
    const folder: FolderView = { path: '.', treeId: 'x', files: () => files, file: () => undefined };

    const { issues } = readFolder(folder, new FolderCache());

    expect(issues.map((each) => each.path)).toEqual([...paths].sort());
  });

  it('the message names both files, the first issue and how many more', () => {
    const { issues } = read({ 'a.yaml': settings, 'b/c.yaml': settings, 'x.sh': '', 'y.sh': '' });

    expect(summarizeIssues(issues)).toBe(
      'b/c.yaml: ConfigMap shop/settings is also in a.yaml; keep one of them and 2 more',
    );
    expect(summarizeIssues(issues.slice(1, 2))).toBe(
      'x.sh: foreign file is not a managed manifest; remove it or name it in .gittargetignore',
    );
    expect(summarizeIssues([])).toBe('');
  });

  it('the reason tells an ignore file from the rest', () => {
    expect(acceptanceReason(read({ '.gittargetignore': '*\n' }).issues)).toBe('IgnoreShadowsManagedPath');
    expect(acceptanceReason(read({ '.gittargetignore': '*\n!a\n', a: '' }).issues)).toBe('UnsupportedContent');
  });

  it('too many files', () => {
    const files = Array.from({ length: 50_001 }, (_, at): FolderFile => ({
      path: `${at}.md`,
      oid: 'x',
      mode: 'file',
      read: () => new Uint8Array(),
    }));
    const folder: FolderView = { path: '.', treeId: 'x', files: () => files, file: () => undefined };

    expect(readFolder(folder, new FolderCache()).issues).toMatchObject([
      { code: 'too-many-files', message: 'too many files: 50001, the limit is 50000' },
    ]);
  });

  it('a blob that cannot be read fails the reading: a partial view is never planned on', () => {
    const unreadable: FolderFile = {
      path: 'a.yaml',
      oid: 'x',
      mode: 'file',
      read: () => {
        throw new Error('missing blob');
      },
    };
    const folder: FolderView = { path: '.', treeId: 'x', files: () => [unreadable], file: () => undefined };

    expect(() => readFolder(folder, new FolderCache())).toThrow('missing blob');
  });
});

describe('the cache', () => {
  function aCountingFolder(count: number, changed = -1): { readonly folder: FolderView; reads: number } {
    const state = { reads: 0 };
    const files = Array.from({ length: count }, (_, at): FolderFile => {
      const oid = at === changed ? `changed-${at}` : `oid-${at}`;
      return {
        path: `ns-${at % 50}/configmaps/cm-${at}.yaml`,
        oid,
        mode: 'file',
        read: () => {
          state.reads += 1;
          return Buffer.from(`${aManifest('ConfigMap', `cm-${at}`, `ns-${at % 50}`)}data:\n  a: ${oid}\n`);
        },
      };
    });
    return Object.assign(state, {
      folder: { path: '.', treeId: `tree-${count}-${changed}`, files: () => files, file: () => undefined },
    });
  }

  it('reads each blob once, and a folder that did not change not at all', () => {
    const cache = new FolderCache();
    const first = aCountingFolder(100);
    const second = aCountingFolder(100, 7);

    const contents = readFolder(first.folder, cache);
    const again = readFolder(first.folder, cache);
    readFolder(second.folder, cache);

    expect([first.reads, second.reads, again === contents]).toEqual([100, 1, true]);
  });

  it('reads the difference to the tree before it as it would read the whole', () => {
    const path = fc.constantFrom(
      'a.yaml',
      'a/b.yaml',
      'a/c.yaml',
      'b.yaml',
      'kustomization.yaml',
      'x.txt',
      '.gittargetignore',
      'z.sops.yaml',
      'values.yaml',
      'README.md',
    );
    const content = fc.constantFrom(
      settings,
      aManifest('ConfigMap', 'other', 'shop'),
      `${aManifest('ConfigMap', 'two', 'shop')}---\n${aManifest('ConfigMap', 'three')}`,
      `${settings}data: &d {}\n`,
      `${aManifest('Secret', 'db')}sops:\n  mac: x\n`,
      '',
      'a/\n',
      'x: 1\n',
      'a: [\n',
    );
    const filler = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`m/${at}.yaml`, aManifest('Pod', `p${at}`)]),
    );
    const edit = fc.tuple(path, fc.option(content));
    fc.assert(
      fc.property(fc.array(fc.array(edit, { maxLength: 3 }), { minLength: 2, maxLength: 8 }), (commits) => {
        const cache = new FolderCache();
        let files: Files = filler;
        for (const edits of commits) {
          for (const [at, text] of edits) {
            const { [at]: _, ...others } = files;
            files = text === null ? others : { ...others, [at]: text };
          }
          const folder = memoryFolder(files);
          const derived = readFolder(folder, cache);
          const whole = readFolder(folder, new FolderCache());

          expect(JSON.stringify(brief(derived))).toBe(JSON.stringify(brief(whole)));
        }
      }),
      {
        numRuns: 150,
        examples: [
          [
            [
              [
                ['a/c.yaml', `${settings}data: &d {}\n`],
                ['z.sops.yaml', settings],
              ],
              [['a/c.yaml', null]],
            ],
          ],
        ],
      },
    );
  });

  it('a folder with an issue that one file settles is read by its difference as well', () => {
    const cache = new FolderCache();
    const first = aCountingFolder(100);
    const odd: FolderFile = { path: 'values.yaml', oid: 'v', mode: 'file', read: () => Buffer.from('x: 1\n') };
    const withOdd = ({ folder }: { readonly folder: FolderView }): FolderView => {
      const files = [...folder.files(), odd];
      return { ...folder, treeId: `${folder.treeId}+v`, files: () => files };
    };
    readFolder(withOdd(first), cache);
    const second = withOdd(aCountingFolder(100, 7));
    let listed = 0;
    const again = readFolder(second, cache);

    for (const { path } of again.entries) listed += Number(path === 'values.yaml');
    expect([listed, again.issues.map(({ code }) => code), again.documents.length]).toEqual([1, ['non-krm-yaml'], 100]);
    // Only a folder that was derived shares entries with the one before.
    expect(again.entries.at(-1)).toBe(readFolder(withOdd(first), cache).entries.at(-1));
  });

  it('stays within its bound and goes on answering', () => {
    const cache = new FolderCache(20_000);
    const { folder } = aCountingFolder(1000);

    const contents = readFolder(folder, cache);

    expect(contents.documents.length).toBe(1000);
    expect(cache.bytes).toBeLessThanOrEqual(20_000);
  });

  it('makes a plan over ten thousand files with one changed file cheap', () => {
    const cache = new FolderCache();
    readFolder(aCountingFolder(10_000).folder, cache);
    const changed = aCountingFolder(10_000, 5).folder;
    const started = process.cpuUsage();

    readFolder(changed, cache);

    expect(process.cpuUsage(started).user / 1000).toBeLessThan(300);
  });
});
