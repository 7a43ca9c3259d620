import type { FileEdits, GitRepository, Kubectl } from '@gitops-reverser/e2e-harness';

import { configMap, declaration, kubeProvider } from './objects.js';
import { applyCrds, CommitReader, openStage, story } from './stage.js';
import type { Stage } from './stage.js';

const MiB = 1024 * 1024;

interface Attack {
  readonly what: string;
  /** Name of namespace and repository. */
  readonly name: string;
  /** Whole repository; the target's folder is `deploy`. */
  readonly files: FileEdits;
  readonly message: RegExp;
}

const document = (namespace: string, name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {a: b}\n`;

const attacks: readonly Attack[] = [
  {
    what: 'a file of 100 MiB',
    name: 'huge',
    files: { 'deploy/huge.yaml': Buffer.alloc(100 * MiB, 'a: b\n') },
    message: /^huge\.yaml: .*104857600 bytes.*5242880/,
  },
  {
    what: 'a hundred thousand documents',
    name: 'many',
    files: { 'deploy/many.yaml': '---\n'.repeat(100_000) },
    message: /^many\.yaml: .*more than 10000 documents/,
  },
  {
    what: 'brackets twenty thousand deep',
    name: 'deep',
    files: { 'deploy/deep.yaml': `a: ${'['.repeat(20_000)}` },
    message: /^deep\.yaml: nested deeper than 100/,
  },
  {
    what: 'text that is not UTF-8',
    name: 'latin',
    files: { 'deploy/latin.yaml': Buffer.from(document('latin', 'caf\xe9'), 'latin1') },
    message: /^latin\.yaml: .*not valid UTF-8/,
  },
  {
    what: 'one object five thousand times',
    name: 'doubled',
    files: { 'deploy/doubled.yaml': Array<string>(5_000).fill(document('doubled', 'one')).join('---\n') },
    message: /^doubled\.yaml.*ConfigMap doubled\/one.* and 4998 more/,
  },
  {
    what: 'a folder that is a link out of the repository',
    name: 'linked',
    files: { deploy: { mode: '120000', content: '/etc' } },
    message: /^the folder deploy cannot be read: "deploy" is refused because of being a symlink/,
  },
  {
    what: 'links in a circle',
    name: 'circle',
    files: { 'deploy/a/b': { mode: '120000', content: '../../deploy' }, 'deploy/c.yaml': document('circle', 'c') },
    message: /^a\/b: symbolic links are not followed/,
  },
];

const bomb = [
  'a0: &a0 [x]',
  ...Array.from({ length: 9 }, (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}]`),
].join('\n');

// One operator serves a quiet team and everybody who means harm.
story('hostile input: refused with the reason, and nobody else notices', () => {
  let stage: Stage;
  let kubectl: Kubectl;
  let provider: string;
  let neighbour: { namespace: string; repository: GitRepository; commits: CommitReader };
  let edits = 0;

  beforeAll(async () => {
    stage = await openStage('hostile');
    kubectl = stage.kubectl;
    await applyCrds(kubectl);
    provider = `hostile${stage.suffix}`;
    await kubectl.apply(kubeProvider(provider, '{namespaces: {selector: {}}}'));
    stage.cleanUpWith('delete', 'kubeprovider', provider);
    await stage.startOperator();
    neighbour = await team('neighbour', {});
    await neighbour.commits.next('the first commit of the quiet team');
  }, 120_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  async function team(name: string, files: FileEdits, extra: Partial<Parameters<typeof declaration>[0]> = {}) {
    const namespace = await stage.createNamespace(name);
    const repository = await stage.host.createRepository(name, { files: { 'README.md': 'Ours.\n', ...files } });
    const commits = new CommitReader(repository, 'main');
    await commits.skip();
    await kubectl.apply(configMap(namespace, 'press', 'a: b'));
    const url = stage.host.urlOf(name);
    await kubectl.apply(declaration({ namespace, kubeProvider: provider, url, path: 'deploy', ...extra }));
    return { namespace, repository, commits };
  }

  /** An edit of the quiet team, until it is in Git. @returns milliseconds */
  async function neighbourEdits(): Promise<number> {
    const { namespace, repository, commits } = neighbour;
    const [began, value] = [Date.now(), `edit ${(edits += 1)}`];
    await kubectl.apply(configMap(namespace, 'press', `a: ${value}`));
    const path = `deploy/${namespace}/configmaps/press.yaml`;
    await commits.readUntil(value, async () => (await repository.showFile('main', path))?.includes(value) === true);
    return Date.now() - began;
  }

  it.each(attacks)('$what', async ({ name, files, message }) => {
    const { namespace, repository, commits } = await team(name, files);
    const [refused, milliseconds] = await Promise.all([
      stage.waitForCondition(namespace, 'gittarget/live', 'Ready', { status: 'False', reason: 'UnsupportedContent' }),
      neighbourEdits(),
    ]);

    expect(refused.message).toMatch(message);
    expect(refused.message.length).toBeLessThan(1_000);
    expect(milliseconds).toBeLessThan(20_000);
    expect(await commits.unread()).toEqual([]);
    await repository.fsck();
  });

  it('aliases that expand to gigabytes stand for themselves: their object is left alone, others are written', async () => {
    const namespace = `bomb${stage.suffix}`;
    const identity = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: press, namespace: ${namespace}}\n`;
    const { commits } = await team('bomb', {
      'deploy/bomb.yaml': `${identity}data:\n${bomb.replaceAll(/^/gm, '  ')}\n`,
    });
    await kubectl.apply(configMap(namespace, 'other', 'a: b'));

    const made = await commits.next('the other object');

    expect(made.flatMap(({ files }) => files.filter(({ path }) => path.endsWith('.yaml')))).toEqual([
      { change: 'A', path: 'deploy/other.yaml' },
    ]);
    expect(await neighbourEdits()).toBeLessThan(20_000);
  });

  const names = [
    ...[
      '.git',
      '.g\u200Cit',
      'git~1',
      'con',
      'CON',
      'nul.txt',
      'com1',
      '...',
      '..x',
      'x.',
      'x ',
      ' x',
      '-rf',
      '~',
      'a:b',
    ],
    ...['a\\..\\..\\b', 'tab\there', 'line\nbreak', 'caf\u00E9', 'cafe\u0301', `long-${'n'.repeat(230)}`],
  ];
  const labels = ['con', 'NUL.x', 'a..b', 'x.git', 'aux', 'COM1'];

  it.each([
    ['in the canonical layout', 'canonical', {}],
    [
      'as folders of a template',
      'template',
      { default: '{label:team}/{name}/{namespace}/{groupPath}/{resource}{sensitiveSuffix}' },
    ],
  ])('names that are paths, devices or folders of Git stay inside on every system, %s', async (_, name, placement) => {
    const { namespace, repository, commits } = await team(name, {}, { path: 'deploy/here', rules: [roles] });
    const spec = JSON.stringify({ spec: { placement } });
    await kubectl.run(['patch', '-n', namespace, 'gittarget/live', '--type=merge', '-p', spec]);
    await stage.waitUntilReady(namespace, 'gittarget/live', 'watchrule/basics');
    const items = names.map((name, nth) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name, namespace, labels: { team: labels[nth % labels.length] } },
      rules: [],
    }));
    await kubectl.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const manifests = async (): Promise<readonly string[]> =>
      (await repository.listFiles('main')).filter((path) => path.endsWith('.yaml'));
    await commits.readUntil('every role', async () => (await manifests()).length >= names.length);

    const paths = await manifests();
    expect(paths).toHaveLength(names.length);
    expect(paths.filter((path) => !path.startsWith('deploy/here/'))).toEqual([]);
    expect(paths.filter((path) => !isPortable(path))).toEqual([]);
    const folders = paths.flatMap((path) =>
      path.split('/').map((_, depth, parts) => parts.slice(0, depth + 1).join('/')),
    );
    const spellings = new Map<string, Set<string>>();
    for (const folder of folders) {
      const folded = folder.normalize('NFC').toLowerCase();
      spellings.set(folded, (spellings.get(folded) ?? new Set()).add(folder));
    }
    expect([...spellings.values()].filter(({ size }) => size > 1)).toEqual([]);
    await repository.fsck();
    await stage.waitUntilReady(namespace, 'gittarget/live', 'watchrule/basics');
  });

  it('is ready to the end, and never held more than a fraction of what it was sent', async () => {
    await stage.waitUntilReady(neighbour.namespace, 'gittarget/live', 'watchrule/basics');

    expect(await stage.operator.peakRssMiB()).toBeLessThan(500);
  });
});

const roles = '{apiGroups: [rbac.authorization.k8s.io], resources: [roles]}';

/** Whether Linux, macOS and Windows can all check the path out, and see the same one. */
function isPortable(path: string): boolean {
  return path.split('/').every((segment) => {
    const stem = segment.replace(/\..*$/, '').toLowerCase();
    const isDevice = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])$/.test(stem);
    const isOfGit = /^(\.git|git~\d)$/.test(
      segment.replaceAll(/[\u200B-\u200F\u202A-\u202E\uFEFF]/g, '').toLowerCase(),
    );
    return (
      !isDevice && !isOfGit && !/[\x00-\x1F\x7F\\:*?"<>|]|[. ]$/.test(segment) && Buffer.byteLength(segment) <= 200
    );
  });
}
