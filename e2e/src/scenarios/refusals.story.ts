import type { FileEdits, GitRepository, Kubectl } from '@gitops-reverser/e2e-harness';

import { cloneInto, refusalsOf } from './analyzer.js';
import { configMap, declaration, kubeProvider } from './objects.js';
import { applyCrds, CommitReader, openStage, story } from './stage.js';
import type { Stage } from './stage.js';

interface Trouble {
  readonly why: string;
  /** Name of namespace and repository. */
  readonly name: string;
  /** Relative to the folder, put there beside a good manifest. */
  readonly files: FileEdits;
  /** Relative to the repository. */
  readonly beside?: FileEdits;
  readonly issues: readonly string[];
  readonly reason?: string;
  readonly message: RegExp;
  readonly repair: FileEdits;
}

const document = (name: string, data = 'a: b'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: team\ndata:\n  ${data}\n`;

const troubles: readonly Trouble[] = [
  {
    why: 'a script',
    name: 'foreign',
    files: { 'deploy.sh': '#!/bin/sh\n' },
    issues: ['foreign-file deploy.sh'],
    message: /^deploy\.sh: .*; remove it or name it in \.gittargetignore$/,
    repair: { '.gittargetignore': '*.sh\n' },
  },
  {
    why: 'a link out of the folder',
    name: 'linked',
    files: { 'shared/base.yaml': { mode: '120000', content: '../../../etc/passwd' } },
    issues: ['foreign-symlink shared/base.yaml'],
    message: /^shared\/base\.yaml: symbolic links are not followed; remove it/,
    repair: { 'shared/base.yaml': null },
  },
  {
    why: 'a submodule',
    name: 'submodule',
    files: { lib: { mode: '160000', commit: '1'.repeat(40) } },
    // In a clone without its submodules it is an empty folder, and this file alone tells what it is.
    beside: { '.gitmodules': '[submodule "lib"]\n\tpath = deploy/lib\n\turl = https://git.example.com/lib.git\n' },
    issues: ['foreign-submodule lib'],
    message: /^lib: submodules are not read; remove it$/,
    repair: { lib: null },
  },
  {
    why: 'one object in two documents',
    name: 'doubled',
    files: { 'copy/press.yaml': document('press', 'a: old') },
    issues: ['duplicate-identity press.yaml'],
    message: /^press\.yaml: ConfigMap .*\/press is also in copy\/press\.yaml; keep one of them$/,
    repair: { 'copy/press.yaml': null },
  },
  {
    why: 'a template of a chart',
    name: 'template',
    files: { 'chart.yaml': `${document('chart')}{{- if .Values.more }}\n  b: c\n{{- end }}\n` },
    issues: ['invalid-yaml chart.yaml'],
    message: /^chart\.yaml: .* 8:1/,
    repair: { '.gittargetignore': 'chart.yaml\n' },
  },
  {
    why: 'values that nobody names, and one more thing',
    name: 'values',
    files: { 'values.yaml': 'replicas: 2\n', 'zip.bin': 'PK' },
    issues: ['non-krm-yaml values.yaml', 'foreign-file zip.bin'],
    message: /^values\.yaml: .*; remove it or name it in \.gittargetignore and 1 more$/,
    repair: { '.gittargetignore': 'values.yaml\n*.bin\n' },
  },
  {
    why: 'a List',
    name: 'list',
    files: {
      'all.yaml': 'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n',
    },
    issues: ['non-krm-yaml all.yaml'],
    message: /^all\.yaml: .*List must be split into documents/,
    repair: { 'all.yaml': null },
  },
  {
    why: 'a manifest and something else in one file',
    name: 'mixed',
    files: { 'two.yaml': `${document('two')}---\nnotes: [1, 2]\n` },
    issues: ['impure-managed-file two.yaml'],
    message: /^two\.yaml: document 1 \(line 8\) is not a Kubernetes manifest/,
    repair: { 'two.yaml': document('two') },
  },
  {
    why: 'a manifest where a setting belongs',
    name: 'artifact',
    files: { '.sops.yaml': document('hidden') },
    issues: ['mixed-managed-allowlisted .sops.yaml'],
    message: /^\.sops\.yaml: ConfigMap .*\/hidden .*; move it to a file of its own$/,
    repair: { '.sops.yaml': null },
  },
  {
    why: 'a folder that Kustomize builds',
    name: 'kustomized',
    files: { 'kustomization.yaml': 'resources: [press.yaml]\n' },
    // Its structure is understood; no layout of this operator takes it on.
    issues: [],
    message: /kustomization\.yaml is built with Kustomize; clean the folder, choose another/,
    repair: { 'kustomization.yaml': null },
  },
  {
    why: 'an ignore file that hides every manifest',
    name: 'ignored',
    files: { '.gittargetignore': '*.yaml\n' },
    issues: ['ignore-shadows-managed .gittargetignore'],
    reason: 'IgnoreShadowsManagedPath',
    message: /^\.gittargetignore: pattern "\*\.yaml" in line 1 hides every manifest; name what is to be ignored$/,
    repair: { '.gittargetignore': '*.bin\n' },
  },
];

// Every folder has a namespace, a repository and a target of its own, and they are refused beside each other, as teams are.
story('a folder that cannot be written safely: nothing is written, everybody says why, and Git cures it', () => {
  let stage: Stage;
  let kubectl: Kubectl;
  let provider: string;
  const repositories: GitRepository[] = [];

  beforeAll(async () => {
    stage = await openStage('refusals');
    kubectl = stage.kubectl;
    await applyCrds(kubectl);
    provider = `refusals${stage.suffix}`;
    await kubectl.apply(kubeProvider(provider, '{namespaces: {selector: {}}}'));
    stage.cleanUpWith('delete', 'kubeprovider', provider);
    await stage.startOperator();
  }, 120_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  async function team(name: string, files: FileEdits, beside: FileEdits = {}) {
    const namespace = await stage.createNamespace(name);
    const own = (text: string): string => text.replaceAll('namespace: team', `namespace: ${namespace}`);
    const inFolder = (edits: FileEdits): FileEdits =>
      Object.fromEntries(
        Object.entries(edits).map(([path, edit]) => [`deploy/${path}`, typeof edit === 'string' ? own(edit) : edit]),
      );
    const repository = await stage.host.createRepository(name, {
      files: { ...beside, ...inFolder({ 'press.yaml': `# By hand.\n${document('press')}`, ...files }) },
    });
    repositories.push(repository);
    const commits = new CommitReader(repository, 'main');
    await commits.skip();
    await kubectl.apply(configMap(namespace, 'press', 'a: b'));
    const url = stage.host.urlOf(name);
    const declare = (rules?: readonly string[]): Promise<string> =>
      kubectl.apply(
        declaration({
          namespace,
          kubeProvider: provider,
          url,
          path: 'deploy',
          ...(rules === undefined ? {} : { rules }),
        }),
      );
    const push = async (edits: FileEdits): Promise<void> => {
      await repository.commitFiles('main', inFolder(edits));
      await commits.skip();
    };
    return { namespace, repository, commits, declare, push };
  }

  it.concurrent.each(troubles)(
    '$why',
    async ({ name, files, beside, issues, reason = 'UnsupportedContent', message, repair }) => {
      const { namespace, repository, commits, declare, push } = await team(name, files, beside);
      await declare();
      const refused = await stage.waitForCondition(namespace, 'gittarget/live', 'GitPathAccepted', {
        status: 'False',
        reason,
      });
      for (const [type, status] of [
        ['Ready', 'False'],
        ['Stalled', 'True'],
      ] as const)
        await stage.waitForCondition(namespace, 'gittarget/live', type, { status, reason });
      await kubectl.apply(configMap(namespace, 'press', 'a: edited while refused'));
      const row = await kubectl.run(['get', 'gittargets', 'live', '-n', namespace, '--no-headers']);
      const described = await kubectl.run(['describe', 'gittarget', 'live', '-n', namespace]);
      const clone = await cloneInto(`${stage.dir}/clones/${name}`, repository);
      const said = await refusalsOf(`${clone}/deploy`);
      const written = await commits.unread();

      await push(repair);
      const recovery = await commits.next('the edit that was missed');

      expect(refused.message).toMatch(message);
      expect(row).toMatch(new RegExp(`^live +False +${reason} `));
      expect(described.split('Events:')[1]).toContain(refused.message);
      expect(said).toEqual({ code: issues.length === 0 ? 0 : 1, issues });
      expect(written).toEqual([]);
      expect(recovery.flatMap((commit) => commit.files).filter(({ path }) => /press|two|copy/.test(path))).toEqual([
        { change: 'M', path: 'deploy/press.yaml' },
      ]);
      expect(await repository.showFile('main', 'deploy/press.yaml')).toBe(
        `# By hand.\n${document('press', 'a: edited while refused').replace('namespace: team', `namespace: ${namespace}`)}`,
      );
      await stage.waitUntilReady(namespace, 'gittarget/live', 'watchrule/basics');
    },
    150_000,
  );

  it.concurrent('a document with anchors is left alone, visibly; its neighbours are written', async () => {
    const { namespace, repository, commits, declare, push } = await team('anchors', {
      'anchored.yaml': `${document('anchored', 'a: &a b')}  c: *a\n`,
      'README.md': 'Ours.\n',
      '.gittargetignore': '# Nothing.\n',
    });
    for (const name of ['anchored', 'press']) await kubectl.apply(configMap(namespace, name, 'a: edited'));
    await declare();
    const [snapshot] = await commits.next('the neighbour');
    const leftAlone = /one document is left as found: ConfigMap .*\/anchored: .*anchored\.yaml holds an anchor/;
    const accepted = await stage.waitForCondition(namespace, 'gittarget/live', 'GitPathAccepted', {
      status: 'True',
      message: leftAlone,
    });
    await stage.waitUntilReady(namespace, 'gittarget/live', 'watchrule/basics');
    for (const name of ['anchored', 'press']) await kubectl.apply(configMap(namespace, name, 'a: again'));
    const [edit] = await commits.next('the neighbour, edited beside it');
    const described = await kubectl.run(['describe', 'gittarget', 'live', '-n', namespace]);
    const said = await refusalsOf(`${await cloneInto(`${stage.dir}/clones/anchors`, repository)}/deploy`);
    await push({ 'anchored.yaml': `# Without now.\n${document('anchored', 'a: b')}` });
    await kubectl.apply(configMap(namespace, 'anchored', 'a: once more'));
    const [repaired] = await commits.next('the document, once it can be edited');

    expect(accepted.message).toMatch(leftAlone);
    expect(await repository.diff(snapshot?.sha ?? '')).toBe('deploy/press.yaml\n-  a: b\n+  a: edited\n');
    expect(await repository.diff(edit?.sha ?? '')).toBe('deploy/press.yaml\n-  a: edited\n+  a: again\n');
    expect(described).toMatch(/Warning +DocumentSkipped .*anchored\.yaml, document 0: non-editable: /);
    expect(said).toEqual({ code: 0, issues: [] });
    expect(await repository.diff(repaired?.sha ?? '')).toBe('deploy/anchored.yaml\n-  a: b\n+  a: once more\n');
  });

  it.concurrent('a Secret without encryption is refused by name, and nothing else waits for it', async () => {
    const { namespace, repository, commits, declare } = await team('secrets', {
      'README.md': 'Ours.\n',
      '.gittargetignore': '# Nothing.\n',
    });
    const value = 'canary-in-clear';
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'db', namespace },
      stringData: { key: value },
    };
    await kubectl.apply(JSON.stringify(secret));
    await kubectl.apply(configMap(namespace, 'press', 'a: edited'));
    await declare(['{apiGroups: [""], resources: [configmaps]}', '{apiGroups: [""], resources: [secrets]}']);
    const refused = await stage.waitForCondition(namespace, 'watchrule/basics', 'ResourcesResolved', {
      status: 'False',
      reason: 'ResourceRefused',
    });
    const [commit] = await commits.next('the ConfigMap');
    await stage.waitUntilReady(namespace, 'gittarget/live');
    const objects = await repository.git('cat-file', '--batch-all-objects', '--batch', '--buffer', '--unordered');

    expect(refused.message).toMatch(/^spec\.rules\[1\]: secrets is sensitive and the GitTarget declares no encryption/);
    expect(await repository.diff(commit?.sha ?? '')).toBe('deploy/press.yaml\n-  a: b\n+  a: edited\n');
    for (const clear of [value, Buffer.from(value).toString('base64')]) expect(objects).not.toContain(clear);
  });

  it('left every repository clean, and no secret in a log', async () => {
    for (const repository of repositories) await repository.fsck();
    expect(await stage.operatorLog()).not.toContain('canary');
  });
});
