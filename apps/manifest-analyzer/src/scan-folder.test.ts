import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FolderReport } from './report.js';
import { scanFolder } from './scan-folder.js';
import { configMap, temporaryFolder } from './temporary-folder.fixture.js';

const found = ({ status }: FolderReport): readonly string[] => status.issues.map(({ kind, path }) => `${kind} ${path}`);

describe('one folder', () => {
  it('is accepted when it holds manifests and their passengers alone', async () => {
    using folder = temporaryFolder({
      'a.yaml': configMap('a'),
      'README.md': '#',
      LICENSE: '',
      '.sops.yaml': 'creation_rules: []',
    });

    const report = await scanFolder(folder.root);

    expect(report.status).toMatchObject({ accepted: true, issues: [], retained: [] });
    expect(report.spec).toEqual({ mode: 'scan-folder', root: folder.root });
  });

  it('names everything it is refused for, and who can clear it', async () => {
    using folder = temporaryFolder({
      'a.yaml': configMap('a'),
      'b.yaml': configMap('a'),
      'c.yaml': 'a: [',
      'd.yaml': 'replicas: 2',
      'e.txt': '',
      f: { link: '/etc/passwd' },
    });

    const report = await scanFolder(folder.root);

    expect(found(report)).toEqual([
      'duplicate-identity b.yaml',
      'invalid-yaml c.yaml',
      'non-krm-yaml d.yaml',
      'foreign-file e.txt',
      'foreign-symlink f',
    ]);
    expect(report.status.issues.every(({ actor, solvable }) => solvable && actor === 'repository-author')).toBe(true);
  });

  it('honours its ignore file, and refuses one that hides everything', async () => {
    using tidy = temporaryFolder({ 'a.yaml': configMap('a'), 'notes.txt': '', '.gittargetignore': '*.txt\n' });
    using blind = temporaryFolder({ 'a.yaml': configMap('a'), '.gittargetignore': '*\n' });

    expect(found(await scanFolder(tidy.root))).toEqual([]);
    expect(found(await scanFolder(blind.root))).toEqual(['ignore-shadows-managed .gittargetignore']);
  });

  it('retains the values file an Application names, alone and within a repository', async () => {
    const application =
      'apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {helm: {valueFiles: [$v/platform/cm/values.yaml]}}}\n';
    using folder = temporaryFolder({
      '.git/HEAD': '',
      'platform/cm/app.yaml': application,
      'platform/cm/values.yaml': 'x: 1',
    });

    const report = await scanFolder(join(folder.root, 'platform/cm'));

    expect(report.status).toMatchObject({ accepted: true, retained: [{ path: 'values.yaml', documentIndex: 0 }] });
  });

  it('reads the base of an overlay above it, within its working copy', async () => {
    const files = {
      'base/kustomization.yaml': 'resources: [cm.yaml]',
      'base/cm.yaml': configMap('cm'),
      'base/notes.txt': 'not looked at',
      'overlay/kustomization.yaml': 'resources: [../base]',
    };
    using copy = temporaryFolder({ '.git/HEAD': '', ...files });
    using loose = temporaryFolder(files);

    expect(found(await scanFolder(join(copy.root, 'overlay')))).toEqual([]);
    expect(found(await scanFolder(join(loose.root, 'overlay')))).toEqual(['unsupported-kustomize kustomization.yaml']);
  });

  it('FC-SEC-2: a base behind a link is not there', async () => {
    using copy = temporaryFolder({
      '.git/HEAD': '',
      'real/kustomization.yaml': 'resources: []',
      base: { link: 'real' },
      'overlay/kustomization.yaml': 'resources: [../base]',
    });

    const report = await scanFolder(join(copy.root, 'overlay'));

    expect(found(report)).toEqual(['unsupported-kustomize kustomization.yaml']);
  });

  it('takes submodules for what they are, checked out or not', async () => {
    using folder = temporaryFolder({
      '.git/HEAD': '',
      '.gitmodules': '[submodule "a"]\n\tpath = app/absent\n\turl = x\n',
      'app/a.yaml': configMap('a'),
      'app/present/.git': 'gitdir: ../../.git/modules/present\n',
      'app/present/b.yaml': configMap('a'),
      'app/absent': { directory: true },
    });

    const report = await scanFolder(join(folder.root, 'app'));

    expect(found(report)).toEqual(['foreign-submodule absent', 'foreign-submodule present']);
  });

  it('counts neither .git nor what Git cannot hold', async () => {
    using folder = temporaryFolder({ '.git/config.yaml': 'not: a manifest', 'a.yaml': configMap('a') });
    execFileSync('mkfifo', [join(folder.root, 'pipe.yaml')]);

    expect((await scanFolder(folder.root)).status.accepted).toBe(true);
  });

  it('fails for a root that is no directory', async () => {
    using folder = temporaryFolder({ 'a.yaml': '' });

    await expect(scanFolder(join(folder.root, 'a.yaml'))).rejects.toThrow(/expected a directory, found a file/);
    await expect(scanFolder(join(folder.root, 'nowhere'))).rejects.toThrow(/nowhere: cannot be read \(ENOENT\)/);
  });

  (process.getuid?.() === 0 ? it.skip : it)(
    'fails for a folder it may not list, rather than judge a part',
    async () => {
      using folder = temporaryFolder({});
      mkdirSync(join(folder.root, 'closed'));
      writeFileSync(join(folder.root, 'closed/a.yaml'), '');
      chmodSync(join(folder.root, 'closed'), 0);

      await expect(scanFolder(folder.root)).rejects.toThrow(/closed: cannot be listed/);
      chmodSync(join(folder.root, 'closed'), 0o700);
    },
  );

  it('ends when it is asked to', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`${index}.yaml`, configMap(`${index}`)]),
    );
    using folder = temporaryFolder(files);
    const stop = new AbortController();
    stop.abort(new Error('enough'));

    await expect(scanFolder(folder.root, { signal: stop.signal })).rejects.toThrow('enough');
  });
});
