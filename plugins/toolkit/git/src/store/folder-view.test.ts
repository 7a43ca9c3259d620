import { hasReason } from '@gitops-reverser/kernel-api';
import { ObjectStore } from '../objects/object-store.js';
import { EMPTY_TREE_OID, type Oid } from '../objects/oid.js';
import { buildPack } from '../objects/pack-writer.js';
import { TreeCache } from '../objects/tree-cache.js';
import { editTree } from '../objects/tree-edit.js';
import { compareEntries, encodeTree, toNameBytes, type TreeEntry } from '../objects/tree.js';
import { Folders } from './folder-view.js';

const open = () => {
  const objects = new ObjectStore({ cacheBytes: 1_000_000 });
  const trees = new TreeCache(objects);
  return {
    objects,
    folders: new Folders(objects, trees),
    tree: async (files: Readonly<Record<string, string>>, root: Oid = EMPTY_TREE_OID): Promise<Oid> =>
      (
        await editTree(
          trees,
          objects,
          root,
          new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)])),
        )
      ).tree,
    raw: (entries: readonly (Omit<TreeEntry, 'oid'> & { readonly oid?: Oid })[]): Oid => {
      const blob = objects.make('blob', Buffer.from('x'));
      const { oid, data } = encodeTree(entries.map((entry) => ({ oid: blob, ...entry })).sort(compareEntries));
      return objects.make('tree', data, oid);
    },
  };
};
const reasonOf = (act: () => unknown): string => {
  try {
    return `no error: ${JSON.stringify(act())}`;
  } catch (error) {
    return hasReason(error, 'UnsafePath') ? error.message : String(error);
  }
};

describe('a folder of a commit', () => {
  it('lists every entry below it in byte order of whole paths', async () => {
    const { folders, tree } = open();
    const paths = ['a', 'a-b/x', 'a.b', 'a/z', 'a0', 'é/ü', 'b/c/d', 'b/c.d', 'b-', '日本/本'].filter(
      (path) => path !== 'a',
    );
    const root = await tree(Object.fromEntries(paths.map((path) => [path, '1'])));

    const listed = [...folders.open(root, '.').files()].map(({ path }) => path);

    expect(listed).toEqual([...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  });

  it('shows paths relative to itself, ids of content, and reads on demand', async () => {
    const { folders, tree } = open();
    const root = await tree({
      'clusters/prod/a.yaml': 'a: 1\n',
      'clusters/prod/deep/b.yaml': 'a: 1\n',
      'other/c.yaml': '1',
    });

    const folder = folders.open(root, 'clusters/prod');
    const files = [...folder.files()];

    expect(files.map(({ path, mode }) => `${mode} ${path}`)).toEqual(['file a.yaml', 'file deep/b.yaml']);
    expect(files[0]?.oid).toBe(files[1]?.oid);
    expect(Buffer.from(folder.file('deep/b.yaml')?.read() ?? []).toString()).toBe('a: 1\n');
    expect([folder.file('deep'), folder.file('deep/none'), folder.file('a.yaml/x')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('that is not there is empty, and so is the folder of no commit', async () => {
    const { folders, tree } = open();
    const root = await tree({ 'a.yaml': '1' });

    for (const folder of [
      folders.open(root, 'not/there'),
      folders.open(undefined, 'x'),
      folders.open(undefined, '.'),
      folders.open(EMPTY_TREE_OID, '.'),
    ]) {
      expect([folder.treeId, [...folder.files()], folder.file('x')]).toEqual(['', [], undefined]);
    }
  });

  it('is the same list as long as it has the same tree', async () => {
    const { folders, tree } = open();
    const before = await tree({ 'apps/a.yaml': '1', 'docs/b.md': '1' });
    const after = await tree({ 'docs/b.md': '2' }, before);

    const [one, two] = [folders.open(before, 'apps'), folders.open(after, 'apps')];

    expect(one.treeId).toBe(two.treeId);
    expect(one.files()).toBe(two.files());
  });

  it('FC-SEC-1: a file larger than any reader takes is refused by name, before it is inflated', () => {
    const { objects, folders, raw } = open();
    const oid = 'd'.repeat(40);
    // A header that states a blob of 1.6 GiB; what follows is never looked at.
    const entry = Buffer.from([0xb0, 0x80, 0x80, 0x80, 0x32, 0]);
    const { pack } = buildPack([{ oid, entry }]);
    objects.addPack(pack);
    const [file] = folders.open(raw([{ mode: '100644', name: 'huge.yaml', oid }]), '.').files();

    expect(reasonOf(() => file?.read())).toBe(
      'huge.yaml has 1677721600 bytes, and files above 134217728 are never read; remove it, or keep it out of the folder',
    );
  });

  it('FC-SEC-2: links and submodules are entries with their mode; nothing is followed', () => {
    const { folders, raw } = open();
    const root = raw([
      { mode: '120000', name: 'x' },
      { mode: '160000', name: 'module', oid: 'c'.repeat(40) },
      { mode: '100755', name: 'run.sh' },
    ]);

    const files = [...folders.open(root, '.').files()];

    expect(files.map(({ path, mode }) => `${mode} ${path}`)).toEqual([
      'submodule module',
      'executable run.sh',
      'symlink x',
    ]);
    expect(() => files[0]?.read()).toThrow('module is a submodule: it has no content here');
    expect(reasonOf(() => folders.open(root, 'x/passwd'))).toContain(
      'the folder x/passwd cannot be read: "x" is refused because of being a symlink where a folder is needed',
    );
  });

  it.each([
    { name: '..', found: 'the name ..' },
    { name: '.', found: 'the name .' },
    { name: '.git', found: 'a name that some file systems take for .git' },
    { name: '.GIT', found: 'a name that some file systems take for .git' },
    { name: 'git~1', found: 'a name that some file systems take for .git' },
    { name: '..\\t', found: 'a backslash' },
    { name: '', found: 'an empty name' },
    { name: 'caf\u00e9', found: 'a name that is not UTF-8', isBytes: true },
  ])(
    'FC-SEC-2: refuses a tree with the entry $name by its name, inside the folder alone',
    ({ name, found, isBytes }) => {
      const { folders, raw } = open();
      const bad = raw([{ mode: '100644', name: isBytes === true ? name : toNameBytes(name) }]);
      const good = raw([{ mode: '100644', name: 'a.yaml' }]);
      const root = raw([
        { mode: '40000', name: 'bad', oid: bad },
        { mode: '40000', name: 'good', oid: good },
      ]);

      expect(reasonOf(() => [...folders.open(root, 'bad').files()])).toContain(
        `the folder bad cannot be read: ${JSON.stringify(isBytes === true ? 'caf\ufffd' : name)} is refused because of ${found};`,
      );
      expect(reasonOf(() => [...folders.open(root, '.').files()])).toContain('the folder . cannot be read: "bad/');
      expect([...folders.open(root, 'good').files()]).toHaveLength(1);
    },
  );

  it.each(['../x', '/etc', 'a//b', 'a/../b', 'a/.git/b', ''])('refuses to look at %j', (path) => {
    expect(reasonOf(() => open().folders.open(undefined, path))).toContain('the folder cannot be read');
  });

  it('says which object is missing', () => {
    const { folders, raw } = open();
    const root = raw([{ mode: '100644', name: 'a', oid: 'd'.repeat(40) }]);

    expect(() => [...folders.open(root, '.').files()][0]?.read()).toThrow(
      `blob ${'d'.repeat(40)} is not in the cache; it is fetched again`,
    );
  });
});
