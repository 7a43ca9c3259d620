import type { KubeObject } from '@gitops-reverser/kernel-api';
import { aConfigMap, aDeployment, aSecret, memoryFolder } from '@gitops-reverser/kernel-testing';
import { FolderCache } from '@gitops-reverser/toolkit-manifests';
import { applied, isValidOnWindows, removal, upsert, type Files } from './applied.fixture.js';
import { createPlainLayout } from './layout.js';

const none = (changes: readonly unknown[]): undefined[] => changes.map(() => undefined);
const pathsOf = (files: Files): readonly string[] => Object.keys(files).sort();

async function write(before: Files, objects: readonly KubeObject[]): Promise<Files> {
  const { files, refusals } = await applied(before, objects.map(upsert));
  expect(refusals).toEqual(none(objects));
  return files;
}
async function remove(before: Files, object: KubeObject): Promise<Files> {
  const { files, refusals } = await applied(before, [removal(object)]);
  expect(refusals).toEqual([undefined]);
  return files;
}

describe('FC-PLC-1: a name is not a file name', () => {
  const aRole = (name: string, verb = 'get'): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: [verb] }],
  });
  const names = ['system:node-proxier', 'aux', 'team.', 'a b', 'qu"ote', 'naïve'];

  it('gives six files with paths valid on Windows', async () => {
    const files = await write(
      {},
      names.map((name) => aRole(name)),
    );

    expect(pathsOf(files)).toHaveLength(6);
    expect(pathsOf(files).filter((path) => !isValidOnWindows(path))).toEqual([]);
  });

  it('finds all six again after a restart: nothing changes, each is edited in place, each deletion hits its own', async () => {
    const files = await write(
      {},
      names.map((name) => aRole(name)),
    );

    expect(
      await write(
        files,
        names.map((name) => aRole(name)),
      ),
    ).toEqual(files);
    const edited = await write(
      files,
      names.map((name) => aRole(name, 'list')),
    );
    expect(pathsOf(edited)).toEqual(pathsOf(files));
    for (const path of pathsOf(files)) expect(edited[path]).toBe(files[path]?.replace('- get', '- list'));
    for (const name of names) {
      const left = await remove(files, aRole(name));
      expect(pathsOf(left)).toHaveLength(5);
      expect(await write(left, [aRole(name)])).toEqual(files);
    }
  });

  it('a file that stands at the raw name already is found there and edited there', async () => {
    const path = '_cluster/rbac.authorization.k8s.io/clusterroles/system:node-proxier.yaml';
    const made = await write({}, [aRole('system:node-proxier')]);
    const before = { [path]: Object.values(made)[0] ?? '' };

    expect(await write(before, [aRole('system:node-proxier', 'list')])).toEqual({
      [path]: before[path]?.replace('- get', '- list'),
    });
  });

  it('names that differ in case or composition only, or look like an encoded one, never share a file', async () => {
    const alike = ['Reader', 'reader', 'caf\u00e9', 'cafe\u0301', 'a:b', 'A:b', '.git', '.GIT', 'db.sops'];
    const files = await write(
      {},
      alike.map((name) => aRole(name)),
    );

    const folded = pathsOf(files).map((path) => path.normalize('NFC').toLowerCase());
    expect(new Set(folded).size).toBe(alike.length);
    expect(
      await write(
        files,
        alike.map((name) => aRole(name)),
      ),
    ).toEqual(files);
  });
});

describe('FC-PLC-2: names longer than a file system allows', () => {
  const long = 'n'.repeat(252);

  it('two Secrets that differ in the last character get two files, cut the same way after a restart', async () => {
    const both = [aSecret(`${long}a`), aSecret(`${long}b`)].map(upsert);

    const { sealed } = await applied({}, both);
    const again = await applied({}, both);

    expect(new Set(sealed).size).toBe(2);
    for (const path of sealed) {
      expect(path).toMatch(/^demo\/secrets\/n{180}-[0-9a-f]{12}\.sops\.yaml$/);
      expect(isValidOnWindows(path)).toBe(true);
    }
    expect(again.sealed).toEqual(sealed);
  });

  it('both are found again: encrypted, at their paths, whichever goes', async () => {
    const objects = [aSecret(`${long}a`), aSecret(`${long}b`)];
    const { sealed } = await applied({}, objects.map(upsert));
    const files: Files = Object.fromEntries(
      objects.map(({ metadata: { name } }, at) => [
        sealed[at] ?? '',
        `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${name}\n  namespace: demo\ndata:\n  a: ENC[x]\nsops:\n  mac: x\n`,
      ]),
    );

    expect((await applied(files, objects.map(upsert))).sealed).toEqual(sealed);
    for (const [at, object] of objects.entries())
      expect(pathsOf(await remove(files, object))).toEqual([sealed[1 - at]]);
  });

  it('a ConfigMap with a 253-character name is cut, found again and removed', async () => {
    const object = aConfigMap(`${long}c`);
    const files = await write({}, [object]);

    expect(pathsOf(files)).toEqual([expect.stringMatching(/^demo\/configmaps\/n{180}-[0-9a-f]{12}\.yaml$/)]);
    expect(await write(files, [object])).toEqual(files);
    expect(await remove(files, object)).toEqual({});
  });
});

it('FC-PLC-3: the same kind and name in two API groups are two files, and a deletion hits the right one', async () => {
  const inGroup = (group: string): KubeObject => ({
    apiVersion: `${group}/v1`,
    kind: 'Cluster',
    metadata: { name: 'main', namespace: 'demo' },
  });
  const both = [inGroup('db.example.test'), inGroup('fleet.example.test')];

  const files = await write({}, both);

  expect(pathsOf(files)).toEqual([
    'demo/db.example.test/clusters/main.yaml',
    'demo/fleet.example.test/clusters/main.yaml',
  ]);
  expect(pathsOf(await remove(files, inGroup('db.example.test')))).toEqual([
    'demo/fleet.example.test/clusters/main.yaml',
  ]);
  const bundled = { 'all.yaml': Object.values(files).join('---\n') };
  expect(await remove(bundled, inGroup('db.example.test'))).toEqual({
    'all.yaml': files['demo/fleet.example.test/clusters/main.yaml'],
  });
});

describe('FC-PLC-4: two namespaces, one name', () => {
  const infra = (namespace: string, colour = 'blue'): KubeObject =>
    aConfigMap({ name: 'infra', namespace, data: { colour } });
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: infra\n  namespace: a\n';

  it.each<[string, Files]>([
    ['the tenant has one type', { 'tenants/a/configmaps/infra.yaml': text }],
    [
      'a document of b was put there by mistake',
      {
        'tenants/a/configmaps/infra.yaml': text,
        'tenants/a/configmaps/other.yaml': text
          .replace('name: infra', 'name: other')
          .replace('namespace: a', 'namespace: b'),
      },
    ],
    ['its directory is not named after it', { 'team-one/infra.yaml': text }],
    [
      'everything of it is in one directory',
      {
        'tenants/a/infra.yaml': text,
        'tenants/a/web.yaml': 'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: a\n',
      },
    ],
  ])('a new object of b changes nothing below the tenant a, and is kept apart ever after: %s', async (_, before) => {
    const files = await write(before, [infra('b')]);

    const added = pathsOf(files).filter((path) => !(path in before));
    expect(added).toEqual([expect.stringMatching(/(?:^|\/)b\//)]);
    expect(files).toMatchObject(before);
    const edited = await write(files, [infra('b', 'red')]);
    expect(edited).toEqual({ ...files, [added[0] ?? '']: files[added[0] ?? '']?.replace('blue', 'red') });
    expect(await remove(files, infra('b'))).toEqual(before);
  });
});

describe('FC-PLC-5: the same resource twice in the folder', () => {
  const settings = (version: string): string =>
    `apiVersion: ${version}\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n`;
  const web = (version: string): string =>
    `apiVersion: apps/${version}\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n`;

  it.each<[string, Files, string, RegExp]>([
    ['a ConfigMap', { 'a.yaml': settings('v1'), 'b/c.yaml': settings('v1') }, 'b/c.yaml', /b\/c\.yaml.*a\.yaml/],
    [
      'a Deployment in two versions',
      { 'a.yaml': web('v1'), 'b/c.yaml': web('v1beta1') },
      'b/c.yaml',
      /b\/c\.yaml.*a\.yaml/,
    ],
    [
      'twice in one file',
      { 'a.yaml': `${web('v1')}---\n${web('v1beta1')}` },
      'a.yaml',
      /a\.yaml.*document 0 of the same file/,
    ],
    [
      'one of them encrypted',
      { 'a.yaml': settings('v1'), 'b/c.sops.yaml': `${settings('v1')}sops: {mac: x}\n` },
      'b/c.sops.yaml',
      /b\/c\.sops\.yaml.*a\.yaml/,
    ],
  ])('refuses the folder and names both files: %s', (_, files, path, message) => {
    const layout = createPlainLayout({
      cache: new FolderCache(),
      settings: { placement: { byType: {}, useKustomize: false } },
    });

    expect(layout.recognise(memoryFolder(files))).toMatchObject({
      kind: 'refused',
      refusals: [{ code: 'duplicate-identity', path, message: expect.stringMatching(message) as string }],
    });
  });
});

describe('7.7, FC-PLC-5: where documents without a namespace stand for one', () => {
  const head = 'apiVersion: v1\nkind: ConfigMap\n';
  const bare = `${head}metadata: {name: app}\n`;
  const named = (namespace: string): string => `${head}metadata: {name: app, namespace: ${namespace}}\n`;
  const recognise = (files: Files) =>
    createPlainLayout({
      cache: new FolderCache(),
      settings: {
        placement: { byType: {}, useKustomize: false },
        serializeNamespace: false,
        sourceNamespaces: [{ name: 'demo', namedBy: ['GitTarget demo/live'] }],
      },
    }).recognise(memoryFolder(files));

  it.each<[Files, string, string]>([
    [{ 'a.yaml': bare, 'b/c.yaml': named('demo') }, 'b/c.yaml', 'ConfigMap demo/app is also in a.yaml'],
    [{ 'a.yaml': named('demo'), 'b/c.yaml': bare }, 'b/c.yaml', 'ConfigMap demo/app is also in a.yaml'],
    [{ 'a.yaml': `${bare}---\n${named('demo')}` }, 'a.yaml', 'is also in document 0 of the same file'],
  ])('the same object with and without it refuses the folder: %j', (files, path, message) => {
    expect(recognise(files)).toMatchObject({
      kind: 'refused',
      refusals: [{ code: 'duplicate-identity', path, message: expect.stringContaining(message) as string }],
    });
  });

  it('another namespace is another object', () => {
    expect(recognise({ 'a.yaml': bare, 'b.yaml': named('other') }).kind).toBe('mine');
  });
});

it('1.2: another version of the same resource is a match, and its apiVersion a value like any other', async () => {
  const { name, namespace } = aDeployment('web').metadata;
  const before = {
    'a.yaml': `apiVersion: apps/v1beta1 # soon v1\nkind: Deployment\nmetadata: {name: ${name}, namespace: ${namespace ?? ''}}\n`,
  };
  const object: KubeObject = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: aDeployment('web').metadata };

  const files = await write(before, [object]);

  expect(pathsOf(files)).toEqual(['a.yaml']);
  expect(files['a.yaml']).toContain('apiVersion: apps/v1 # soon v1\n');
});

it('20, 7.8: a new document that kustomization.yaml should list is refused, and one that is there is edited', async () => {
  const settings = { placement: { byType: {}, useKustomize: true } };
  const before = await write({}, [aConfigMap({ name: 'old', data: { colour: 'blue' } })]);

  const { files, refusals } = await applied(
    before,
    [aConfigMap({ name: 'old', data: { colour: 'red' } }), aConfigMap('new')].map(upsert),
    settings,
  );

  expect(refusals).toMatchObject([
    undefined,
    { code: 'unrendered-placement', message: expect.stringContaining('spec.placement.useKustomize') as string },
  ]);
  expect(pathsOf(files)).toEqual(pathsOf(before));
  expect(Object.values(files)[0]).toContain('red');
});
