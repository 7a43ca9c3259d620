import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git, tryGit } from '@gitops-reverser/e2e-harness';
import { hasReason } from '@gitops-reverser/kernel-api';
import { EMPTY_TREE_OID, type Oid } from './oid.js';
import { ObjectStore } from './object-store.js';
import { editTree } from './tree-edit.js';
import { TreeCache } from './tree-cache.js';
import { encodeTree, parseTree, type TreeEntry } from './tree.js';

let dir: string;
let repo: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'toolkit-git-tree-'));
  repo = join(dir, 'repo.git');
  await git(['init', '--quiet', '--bare', repo]);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const open = (): {
  objects: ObjectStore;
  trees: TreeCache;
  edit(root: Oid, changes: Readonly<Record<string, string | null>>): Promise<Oid>;
} => {
  const objects = new ObjectStore({ cacheBytes: 1_000_000 });
  const trees = new TreeCache(objects);
  return {
    objects,
    trees,
    edit: async (root, changes) =>
      (
        await editTree(
          trees,
          objects,
          root,
          new Map(
            Object.entries(changes).map(([path, content]) => [
              path,
              content === null ? undefined : Buffer.from(content),
            ]),
          ),
        )
      ).tree,
  };
};

/** Small and seeded: a failure can be repeated. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Names that sort differently as file and as directory, and names outside ASCII. */
const NAMES = ['a', 'a-b', 'a.b', 'a0', 'ab', 'b', 'é', '日本', 'z z', '-x'];

describe('editTree', () => {
  it.each([1, 2, 3])('gives the same tree as the git CLI after random edits (seed %d)', async (seed) => {
    const roll = dice(seed);
    const { edit } = open();
    const files = new Map<string, string>();
    let root: Oid = EMPTY_TREE_OID;
    let script = '';
    const trees: Oid[] = [];
    for (let round = 0; round < 60; round += 1) {
      const changes: Record<string, string | null> = {};
      for (let nth = roll(4); nth >= 0; nth -= 1) {
        const path = Array.from({ length: 1 + roll(3) }, () => NAMES[roll(NAMES.length)] ?? 'a').join('/');
        const clashes = [...files.keys(), ...Object.keys(changes)].some(
          (other) => other !== path && (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)),
        );
        if (clashes) continue;
        changes[path] = roll(3) === 0 ? null : `content ${round} ${nth}\n`;
      }
      root = await edit(root, changes);
      script += `commit refs/heads/seed-${seed}\ncommitter A <a@b.cd> 1700000000 +0000\ndata 0\n`;
      for (const [path, content] of Object.entries(changes)) {
        if (content === null) files.delete(path);
        else files.set(path, content);
        script +=
          content === null
            ? `D "${path}"\n`
            : `M 100644 inline "${path}"\ndata ${Buffer.byteLength(content)}\n${content}\n`;
      }
      trees.push(root);
    }
    await git(['--git-dir', repo, 'fast-import', '--quiet'], { input: script });

    const expected = (await git(['--git-dir', repo, 'log', '--reverse', '--format=%T', `seed-${seed}`]))
      .trim()
      .split('\n');

    expect(trees).toEqual(expected);
  });

  it('reads and makes only the directories on the path, whatever is beside them', async () => {
    const { objects, trees, edit } = open();
    const root = await edit(EMPTY_TREE_OID, { 'a/b/c.yaml': '1', 'a/d/e.yaml': '1', 'f/g.yaml': '1' });

    const { made } = await editTree(trees, objects, root, new Map([['a/b/c.yaml', Buffer.from('2')]]));

    // FC-PSH-7: one blob, three trees.
    expect(made).toHaveLength(4);
  });

  it('makes nothing when no byte changes', async () => {
    const { objects, trees, edit } = open();
    const root = await edit(EMPTY_TREE_OID, { 'a/b.yaml': '1' });

    expect(await editTree(trees, objects, root, new Map([['a/b.yaml', Buffer.from('1')]]))).toEqual({
      tree: root,
      made: [],
    });
  });

  it('removes directories that become empty, up to the root', async () => {
    const { edit } = open();
    const root = await edit(EMPTY_TREE_OID, { 'a/b/c/d.yaml': '1', 'x.yaml': '1' });

    expect(await edit(root, { 'a/b/c/d.yaml': null })).toBe(await edit(EMPTY_TREE_OID, { 'x.yaml': '1' }));
    expect(await edit(root, { 'a/b/c/d.yaml': null, 'x.yaml': null })).toBe(EMPTY_TREE_OID);
  });

  it('lets a file become a folder and a folder a file when one commit says both', async () => {
    const { edit } = open();
    const asFile = await edit(EMPTY_TREE_OID, { thing: '1' });
    const asFolder = await edit(EMPTY_TREE_OID, { 'thing/inside': '1' });

    expect(await edit(asFile, { thing: null, 'thing/inside': '1' })).toBe(asFolder);
    expect(await edit(asFolder, { thing: '1', 'thing/inside': null })).toBe(asFile);
  });

  it('carries every mode unchanged: executables, links, submodules, and what older writers left', async () => {
    const { objects, trees } = open();
    const blob = objects.make('blob', Buffer.from('1'));
    const entries: TreeEntry[] = [
      { mode: '100664', name: 'group.txt', oid: blob },
      { mode: '120000', name: 'link', oid: blob },
      { mode: '160000', name: 'module', oid: 'c'.repeat(40) },
      { mode: '100755', name: 'run.sh', oid: blob },
    ];
    const { oid, data } = encodeTree(entries);
    objects.make('tree', data, oid);

    const { tree } = await editTree(
      trees,
      objects,
      oid,
      new Map([
        ['run.sh', Buffer.from('2')],
        ['group.txt', Buffer.from('2')],
        ['new.txt', Buffer.from('2')],
      ]),
    );

    expect(parseTree(tree, objects.read(tree, 'tree')).entries.map(({ mode, name }) => `${mode} ${name}`)).toEqual([
      '100664 group.txt',
      '120000 link',
      '160000 module',
      '100644 new.txt',
      '100755 run.sh',
    ]);
  });

  it.each([
    { path: '../x', found: 'the name ..' },
    { path: 'a/../x', found: 'the name ..' },
    { path: 'a//x', found: 'an empty name' },
    { path: '/etc/passwd', found: 'a leading slash' },
    { path: './x', found: 'the name .' },
    { path: '.git/config', found: 'a name that some file systems take for .git' },
    { path: 'a/.GIT/config', found: 'a name that some file systems take for .git' },
    { path: 'a/.gi\u200ct/config', found: 'a name that some file systems take for .git' },
    { path: 'GIT~1/config', found: 'a name that some file systems take for .git' },
    { path: '.git . /config', found: 'a name that some file systems take for .git' },
    { path: 'a\\b', found: 'a backslash' },
    { path: 'a\0b', found: 'a NUL' },
    { path: '.', found: 'being the root folder' },
    { path: 'link', found: 'being a symlink in the repository' },
    { path: 'link/x', found: 'being a symlink where a folder is needed' },
    { path: 'module', found: 'being a submodule in the repository' },
    { path: 'module/x', found: 'being a submodule where a folder is needed' },
    { path: 'file/x', found: 'being a file where a folder is needed' },
    { path: 'folder', found: 'being a folder in the repository' },
  ])('FC-SEC-2: refuses to write $path', async ({ path, found }) => {
    const { objects, trees } = open();
    const blob = objects.make('blob', Buffer.from('1'));
    const below = encodeTree([{ mode: '100644', name: 'y', oid: blob }]);
    objects.make('tree', below.data, below.oid);
    const { oid, data } = encodeTree([
      { mode: '100644', name: 'file', oid: blob },
      { mode: '40000', name: 'folder', oid: below.oid },
      { mode: '120000', name: 'link', oid: blob },
      { mode: '160000', name: 'module', oid: 'c'.repeat(40) },
    ]);
    objects.make('tree', data, oid);

    const error: unknown = await editTree(trees, objects, oid, new Map([[path, Buffer.from('2')]])).catch(
      (thrown: unknown) => thrown,
    );

    expect(hasReason(error, 'UnsafePath') && error.message).toContain(`is refused because of ${found};`);
  });

  it('reads an unsorted tree, as servers accept them, in git order', async () => {
    const { stdout } = await tryGit(['hash-object', '-t', 'blob', '--stdin'], { input: '1' });
    const blob = stdout.toString().trim();
    const { oid, data } = encodeTree([
      { mode: '100644', name: 'b', oid: blob },
      { mode: '100644', name: 'a', oid: blob },
    ]);

    expect(parseTree(oid, data).find('a')?.name).toBe('a');
  });
});
