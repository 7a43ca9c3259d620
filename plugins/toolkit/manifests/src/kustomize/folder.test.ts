import { memoryFolder, type FileContents } from '@gitops-reverser/kernel-testing';
import { FolderCache, readFolder } from '../folder-reader.js';
import { judgePlainFolder } from '../folder-verdict.js';
import { describeFeatures } from './features.js';
import { readKustomizeFolder, type KustomizeFolder } from './folder.js';
import { KustomizeTree } from './tree.js';

/** A folder of a repository, as a layout would read it. */
function read(files: FileContents, path = '.'): KustomizeFolder {
  const cache = new FolderCache();
  const below = Object.entries(files).flatMap(([name, content]) =>
    path === '.'
      ? [[name, content] as const]
      : name.startsWith(`${path}/`)
        ? [[name.slice(path.length + 1), content] as const]
        : [],
  );
  const folder = memoryFolder(Object.fromEntries(below), path);
  const contents = readFolder(folder, cache);
  const { retained } = judgePlainFolder(folder, contents);
  return readKustomizeFolder(new KustomizeTree(memoryFolder(files), cache.file), path, contents, retained);
}

const manifest = (kind: string, name: string, more = ''): string =>
  `apiVersion: ${kind === 'Deployment' ? 'apps/v1' : 'v1'}\nkind: ${kind}\nmetadata:\n  name: ${name}\n${more}`;
const configMap = (name: string, more = ''): string => manifest('ConfigMap', name, more);
const codes = ({ features }: KustomizeFolder): readonly string[] => features.map(({ code }) => code);
const objectsOf = ({ builds }: KustomizeFolder): readonly string[] =>
  builds.flatMap(({ objects }) =>
    objects.map(({ identity: { kind, namespace = '', name } }) => `${kind} ${namespace}/${name}`),
  );

describe('what a render root yields', () => {
  it('moves objects into the namespace, but not those of a type without one', () => {
    const folder = read({
      'kustomization.yaml': 'namespace: shop\nresources: [a.yaml, b.yaml, c.yaml]',
      'a.yaml': configMap('a'),
      'b.yaml': manifest('PersistentVolume', 'b'),
      'c.yaml': manifest('Namespace', 'other'),
    });

    expect(objectsOf(folder)).toEqual(['ConfigMap shop/a', 'PersistentVolume /b', 'Namespace /shop']);
    expect(folder.issues).toEqual([]);
  });

  it('takes an object out that a patch deletes', () => {
    const folder = read({
      'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: delete-a.yaml}]',
      'a.yaml': `${configMap('a')}---\n${configMap('b')}`,
      'delete-a.yaml': configMap('a', '$patch: delete\n'),
    });

    expect(objectsOf(folder)).toEqual(['ConfigMap /b']);
    expect(folder.issues).toEqual([]);
    expect(folder.retained).toEqual([{ path: 'delete-a.yaml' }]);
  });

  it('adds what a generator without a hash makes, and retains its inputs', () => {
    const folder = read({
      'kustomization.yaml':
        'configMapGenerator: [{name: press, envs: [press.env], files: [motd], options: {disableNameSuffixHash: true}}]',
      'press.env': '# note\nSPEED=3\n',
      motd: 'hello',
    });

    expect(objectsOf(folder)).toEqual(['ConfigMap /press']);
    expect(folder.issues).toEqual([]);
    expect(folder.retained.map(({ path }) => path)).toEqual(['motd', 'press.env']);
  });

  it('takes out whatever the pattern of a target matches, and nothing else', () => {
    const folder = read({
      'kustomization.yaml':
        'resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: Config.*, name: ^(shop|till)-.+$}}]',
      'a.yaml': ['shop-a', 'till-b', 'shop-', 'a-shop-c'].map((name) => configMap(name)).join('---\n'),
      'p.yaml': configMap('any', '$patch: delete\n'),
    });

    expect(objectsOf(folder)).toEqual(['ConfigMap /shop-', 'ConfigMap /a-shop-c']);
    expect(folder.issues).toEqual([]);
  });

  it('applies old merge patches before new ones, as kustomize does', () => {
    const folder = read({
      'kustomization.yaml':
        'resources: [a.yaml]\npatches: [{path: p.yaml, target: {name: a}}]\npatchesStrategicMerge: [old.yaml]',
      'a.yaml': configMap('a'),
      'p.yaml': configMap('a', '$patch: delete\n'),
      'old.yaml': configMap('a', 'data: {k: v}\n'),
    });

    expect(codes(folder)).toEqual(['patchesStrategicMerge']);
    expect(objectsOf(folder)).toEqual([]);
  });

  it('does not take a patch for a second document of the object it patches', () => {
    const folder = read({
      'kustomization.yaml': 'resources: [web.yaml]\npatches: [{path: a-patch.yaml}]',
      'web.yaml': manifest('Deployment', 'web'),
      'a-patch.yaml': manifest('Deployment', 'web', 'spec:\n  replicas: 2\n'),
    });

    expect(folder.issues).toEqual([]);
    expect(folder.documents.map(({ document }) => document.path)).toEqual(['web.yaml']);
  });

  it('takes a list apart as kustomize does, though the gate wants its documents one by one (5.3)', () => {
    const inner = '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}';
    const folder = read({
      'kustomization.yaml': 'namespace: shop\nresources: [list.yaml]',
      'list.yaml': `apiVersion: v1\nkind: List\nitems:\n- ${inner}\n- {apiVersion: v1, kind: ConfigMapList, items: [${inner.replace('a}', 'b}')}]}\n`,
    });

    expect(objectsOf(folder)).toEqual(['ConfigMap shop/a', 'ConfigMap shop/b']);
    expect(folder.issues.map(({ code }) => code)).toEqual(['non-krm-yaml']);
  });

  it('leaves out what is marked as local to tools, as kustomize does', () => {
    const marked = (name: string, value: string): string =>
      configMap(name, `  annotations: {config.kubernetes.io/local-config: ${value}}\n`);
    const folder = read({
      'kustomization.yaml': 'resources: [a.yaml]',
      'a.yaml': [marked('a', '"true"'), marked('b', '"false"'), marked('c', '""'), configMap('d')].join('---\n'),
    });

    expect(objectsOf(folder)).toEqual(['ConfigMap /b', 'ConfigMap /d']);
    expect(folder.issues).toEqual([]);
    expect(folder.documents).toHaveLength(4);
  });

  it('keeps objects of one name apart that end up in two namespaces', () => {
    const folder = read({
      'a/kustomization.yaml': 'namespace: a\nresources: [cm.yaml]',
      'a/cm.yaml': configMap('cm'),
      'b/kustomization.yaml': 'namespace: b\nresources: [cm.yaml]',
      'b/cm.yaml': configMap('cm'),
    });

    expect(folder.issues).toEqual([]);
  });

  it('takes two documents for one object that end up in one namespace', () => {
    const folder = read({
      'kustomization.yaml': 'namespace: a\nresources: [one.yaml]',
      'one.yaml': configMap('cm'),
      'two.yaml': configMap('cm', '  namespace: a\n'),
    });

    expect(folder.issues.map(({ code, path }) => `${code} ${path}`)).toEqual(['duplicate-identity two.yaml']);
  });
});

describe('what is held against a folder', () => {
  it.each<{ why: string; code: string; files: FileContents }>([
    {
      code: 'render-failed',
      why: 'a base reached twice makes every object twice',
      files: {
        'kustomization.yaml': 'resources: [a, b]',
        'a/kustomization.yaml': 'resources: [../base]',
        'b/kustomization.yaml': 'resources: [../base]',
        'base/kustomization.yaml': 'resources: [cm.yaml]',
        'base/cm.yaml': configMap('cm'),
      },
    },
    {
      code: 'render-failed',
      why: 'a circle has no end',
      files: { 'a/kustomization.yaml': 'resources: [../b]', 'b/kustomization.yaml': 'resources: [../a]' },
    },
    { code: 'render-failed', why: 'a file that is not there', files: { 'kustomization.yaml': 'resources: [a.yaml]' } },
    {
      code: 'render-failed',
      why: 'FC-SEC-2: a resource above the repository is never opened',
      files: { 'kustomization.yaml': 'resources: [../../../../etc/hosts]' },
    },
    {
      code: 'render-failed',
      why: 'FC-SEC-2: an absolute path is never opened',
      files: { 'kustomization.yaml': 'resources: [/etc/hosts]' },
    },
    {
      code: 'render-failed',
      why: 'FC-SEC-2: a link is never followed',
      files: { 'kustomization.yaml': 'resources: [a.yaml]', 'a.yaml': { content: '/etc/hosts', mode: 'symlink' } },
    },
    {
      code: 'render-failed',
      why: 'two files of the same role',
      files: { 'kustomization.yaml': 'resources: []', 'kustomization.yml': 'resources: []' },
    },
    {
      code: 'render-failed',
      why: 'a patch for nothing',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: p.yaml}]',
        'a.yaml': configMap('a'),
        'p.yaml': configMap('b'),
      },
    },
    {
      code: 'patches-outside-tree',
      why: 'a patch that is not there',
      files: { 'kustomization.yaml': 'resources: []\npatches: [{path: p.yaml}]' },
    },
    {
      code: 'patches-json6902',
      why: 'a list of operations',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]',
        'a.yaml': configMap('a'),
        'p.yaml': '- op: remove\n  path: /data\n',
      },
    },
    {
      code: 'patches',
      why: 'no foreign pattern is ever run',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {name: "a{1,9}"}}]',
        'a.yaml': configMap('a'),
        'p.yaml': configMap('a'),
      },
    },
    {
      code: 'render-failed',
      why: 'a list of what is no object',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]',
        'a.yaml': 'apiVersion: v1\nkind: List\nitems: [{kind: ConfigMap}]\n',
      },
    },
    {
      code: 'render-failed',
      why: 'an object that kustomize takes for a list',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]',
        'a.yaml': 'apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\nitems: []\n',
      },
    },
    {
      code: 'render-failed',
      why: 'a star of a shell is no pattern',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {name: "*"}}]',
        'a.yaml': configMap('a'),
        'p.yaml': configMap('a'),
      },
    },
    {
      code: 'render-failed',
      why: 'a target takes one document',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {name: a}}]',
        'a.yaml': configMap('a'),
        'p.yaml': `${configMap('a')}---\n${configMap('b')}`,
      },
    },
    {
      code: 'render-failed',
      why: 'a patch of comments',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {name: a}}]',
        'a.yaml': configMap('a'),
        'p.yaml': '# later\n',
      },
    },
    {
      code: 'render-failed',
      why: 'a patch that names nothing, whatever its target selects',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {name: a}}]',
        'a.yaml': configMap('a'),
        'p.yaml': 'data: {k: v}\n',
      },
    },
    {
      code: 'render-failed',
      why: 'replicas of nothing, as kustomize has it',
      files: {
        'kustomization.yaml': 'resources: [a.yaml]\nreplicas: [{name: a, count: 2}]',
        'a.yaml': configMap('a'),
      },
    },
    {
      code: 'render-failed',
      why: 'ids are compared before a patch removes one of the two',
      files: {
        'base/kustomization.yaml': 'resources: [a.yaml, b.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]',
        'base/a.yaml': configMap('a'),
        'base/b.yaml': configMap('a'),
        'base/p.yaml': configMap('a', '$patch: delete\n'),
        'app/kustomization.yaml': 'resources: [../base]',
      },
    },
    {
      code: 'configMapGenerator',
      why: 'FC-SEC-5: an env line without = reads the environment of the process',
      files: {
        'kustomization.yaml': 'configMapGenerator: [{name: a, envs: [a.env], options: {disableNameSuffixHash: true}}]',
        'a.env': 'HOME\n',
      },
    },
    {
      code: 'configMapGenerator',
      why: 'FC-SEC-5: an input outside the repository is never opened',
      files: {
        'kustomization.yaml':
          'configMapGenerator: [{name: a, files: [/proc/self/environ], options: {disableNameSuffixHash: true}}]',
      },
    },
    {
      code: 'configMapGenerator',
      why: 'a key from two sources',
      files: {
        'kustomization.yaml':
          'configMapGenerator: [{name: a, literals: [k=1, k=2], options: {disableNameSuffixHash: true}}]',
      },
    },
    {
      code: 'components',
      why: 'a component is refused where it stands and where it is named',
      files: {
        'kustomization.yaml': 'components: [comp]',
        'comp/kustomization.yaml': 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n',
      },
    },
  ])('$code: $why', ({ code, files }) => {
    const folder = read(files);

    expect(codes(folder)).toEqual([code]);
    expect(folder.issues.filter((issue) => issue.code === 'unsupported-kustomize')).not.toEqual([]);
  });

  it('does not tell how a render ends that nobody would start', () => {
    const folder = read({ 'kustomization.yaml': 'namePrefix: a-\nresources: [missing.yaml]' });

    expect(codes(folder)).toEqual(['namePrefix']);
  });

  it.each([
    ['a remote base', 'resources: [a.yaml, https://example.com/all.yaml]\n', 'remote-base'],
    ['a chart', 'resources: [a.yaml]\nhelmCharts: [{name: web}]\n', 'helmCharts'],
    ['a generator', 'resources: [a.yaml]\ngenerators: [g.yaml]\n', 'generators'],
    ['a component', 'kind: Component\nresources: [a.yaml]\n', 'components'],
  ])('tells the objects it has beside those of %s, which a patch may be for', (_, text, code) => {
    const folder = read({
      'kustomization.yaml': `${text}patches: [{path: p.yaml}]\nreplicas: [{name: web, count: 2}]\n`,
      'a.yaml': configMap('a'),
      'p.yaml': configMap('theirs'),
    });

    expect(codes(folder)).toEqual([code]);
    expect(objectsOf(folder)).toEqual(['ConfigMap /a']);
  });

  it('names a base outside the folder at the root that reaches it', () => {
    const folder = read(
      {
        'base/kustomization.yaml': 'namePrefix: x-\nresources: [cm.yaml]',
        'base/cm.yaml': configMap('cm'),
        'app/kustomization.yaml': 'resources: [../base]',
      },
      'app',
    );

    expect(folder.issues.map(({ path, solvable }) => ({ path, solvable }))).toEqual([
      { path: 'kustomization.yaml', solvable: false },
    ]);
  });

  it('render-limit: more objects than one render may have', () => {
    const many = Array.from({ length: 9_000 }, (_, index) => configMap(`cm-${index}`)).join('---\n');
    const folder = read({
      'kustomization.yaml': 'resources: [a.yaml, b.yaml, c.yaml]',
      'a.yaml': many,
      'b.yaml': many.replaceAll('cm-', 'b-'),
      'c.yaml': many.replaceAll('cm-', 'c-'),
    });

    expect(codes(folder)).toEqual(['render-limit']);
  });

  it('render-limit: a chain that never seems to end', () => {
    const files: Record<string, string> = {};
    for (let depth = 0; depth < 100; depth += 1)
      files[`d${depth}/kustomization.yaml`] = depth === 99 ? 'resources: []' : `resources: [../d${depth + 1}]`;

    expect(codes(read(files))).toEqual(['render-limit']);
  });

  it('says first what cannot be cleared', () => {
    const features = [
      { code: 'render-failed', solvable: true, cause: 'x' },
      { code: 'vars', solvable: false },
    ];

    expect(describeFeatures(features)).toBe('kustomization uses unsupported feature(s): render-failed (x), vars');
    expect(describeFeatures(features.slice(0, 1))).toBe(
      'kustomization has a fault that can be fixed in the repository: render-failed (x)',
    );
  });
});

describe('the context of a document', () => {
  it('is ambiguous when two roots override it in different ways', () => {
    const folder = read({
      'base/kustomization.yaml': 'resources: [web.yaml]',
      'base/web.yaml': manifest('Deployment', 'web', '  namespace: shop\n'),
      'a/kustomization.yaml': 'resources: [../base]\nimages: [{name: web, newTag: "1"}]',
      'b/kustomization.yaml': 'resources: [../base]\nimages: [{name: web, newTag: "2"}]',
    });

    expect(folder.documents.map(({ diagnostics, namespaceSource }) => ({ diagnostics, namespaceSource }))).toEqual([
      { diagnostics: ['ambiguous-kustomize-overrides'], namespaceSource: 'Explicit' },
    ]);
  });
});
