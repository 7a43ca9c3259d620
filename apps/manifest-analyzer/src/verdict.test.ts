import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import type { FileMode } from '@gitops-reverser/kernel-api';
import { corpusFolder, memoryFolder } from '@gitops-reverser/kernel-testing';
import { createPlainLayout } from '@gitops-reverser/plugin-plain';
import { FolderCache } from '@gitops-reverser/toolkit-manifests';
import { analyze } from './analyze.js';

import { scanFolder } from './scan-folder.js';
import { scanRepo } from './scan-repo.js';
import type { Source } from './source.js';

type Tree = ReadonlyMap<string, { readonly content: string | Uint8Array; readonly mode: FileMode }>;

/** Every file below a directory; what Git cannot hold is not there. */
function readTree(root: string): Tree {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    lstatSync(join(root, name)).isFile(),
  );
  return new Map(names.map((name) => [name, { content: readFileSync(join(root, name)), mode: 'file' }]));
}

function below(tree: Tree, folder: string): Tree {
  if (folder === '.') return tree;
  return new Map(
    [...tree].flatMap(([path, file]) =>
      path.startsWith(`${folder}/`) ? [[path.slice(folder.length + 1), file] as const] : [],
    ),
  );
}

function foldersOf(tree: Tree): readonly string[] {
  const folders = new Set(['.']);
  for (const path of tree.keys())
    for (let at = path.lastIndexOf('/'); at !== -1; at = path.lastIndexOf('/', at - 1)) folders.add(path.slice(0, at));
  return [...folders].sort();
}

function sourceOf(tree: Tree, order: (paths: readonly string[]) => readonly string[] = (paths) => paths): Source {
  return {
    async *list() {
      await Promise.resolve();
      for (const path of order([...tree.keys()])) yield { path, mode: tree.get(path)?.mode ?? 'file' };
    },
    read: (path) => Promise.resolve(Buffer.from(tree.get(path)?.content ?? '')),
  };
}

/** What the writer's own layout says of the folder, as it sees it in a commit; undefined: not for it. */
function writersVerdict(tree: Tree, folder: string): readonly string[] | undefined {
  const view = memoryFolder(Object.fromEntries(below(tree, folder)), folder);
  const settings = { placement: { byType: {}, useKustomize: true } };
  const answer = createPlainLayout({ settings, cache: new FolderCache() }).recognise(view);
  if (answer.kind === 'not-mine') return undefined;
  return answer.kind === 'refused' ? answer.refusals.map(({ code, message }) => `${code} ${message}`) : [];
}

/** Folder by folder: on its own, and where it lies. */
async function expectOneVerdict(tree: Tree): Promise<number> {
  const { candidates } = (await scanRepo(sourceOf(tree))).status;
  let compared = 0;
  for (const folder of foldersOf(tree)) {
    const alone = writersVerdict(below(tree, folder), '.');
    if (alone === undefined) continue;
    compared += 1;
    const { status } = await scanFolder(sourceOf(below(tree, folder)));
    expect(status.issues.map(({ kind, message }) => `${kind} ${message}`)).toEqual(alone);
    expect(status.accepted).toBe(alone.length === 0);
    const candidate = candidates.find(({ path }) => path === folder);
    if (candidate === undefined) continue;
    const { layout, acceptedByOperator, refusalReasons = [] } = candidate;
    const inPlace = writersVerdict(tree, folder) ?? [];
    expect({ layout, reasons: refusalReasons.map(({ code, detail }) => `${code} ${detail}`) }).toEqual({
      layout: 'plain',
      reasons: inPlace,
    });
    expect(acceptedByOperator).toBe(inPlace.length === 0);
  }
  return compared;
}

const fixtures = resolve(import.meta.dirname, '../fixtures');

describe("the analyzer's verdict is the writer's", () => {
  it('on every folder of the golden folders', async () => {
    let compared = 0;
    for (const name of readdirSync(fixtures))
      compared += await expectOneVerdict(readTree(join(fixtures, name, 'input')));

    expect(compared).toBeGreaterThan(40);
  });

  (existsSync(corpusFolder()) ? it : it.skip)(
    'on every folder of the corpus',
    async () => {
      const roots = readdirSync(corpusFolder(), { recursive: true, encoding: 'utf8' }).filter(
        (name) => /(?:^|\/)(?:input|before|git)$/.test(name) && lstatSync(join(corpusFolder(), name)).isDirectory(),
      );
      let compared = 0;
      for (const root of roots) compared += await expectOneVerdict(readTree(join(corpusFolder(), root)));

      expect(compared).toBeGreaterThan(roots.length / 2);
    },
    120_000,
  );

  it('on random trees', async () => {
    await fc.assert(
      fc.asyncProperty(trees, async (tree) => {
        await expectOneVerdict(tree);
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});

const object = (apiVersion: string, kind: string, name: string, more = ''): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n${more}`;
const named = fc.constantFrom('a', 'b', 'values.yaml');
const content = fc.oneof(
  { arbitrary: named.map((name) => object('v1', 'ConfigMap', name, '  namespace: shop\n')), weight: 4 },
  { arbitrary: named.map((name) => object('v1', 'Secret', name, 'sops: {mac: x}\n')), weight: 1 },
  {
    arbitrary: named.map((name) =>
      object(
        'argoproj.io/v1alpha1',
        'Application',
        name,
        'spec: {source: {helm: {valueFiles: [b/values.yaml, $r/a/x.yaml]}}}\n',
      ),
    ),
    weight: 2,
  },
  { arbitrary: named.map((name) => object('v1', 'ConfigMap', name, 'data: &d {}\n')), weight: 1 },
  {
    arbitrary: fc.constantFrom(
      'x: 1\n',
      'a: [\n',
      '',
      '# c\n',
      '- a\n',
      '---\n---\n',
      'a\n*.txt\n!b.txt\n',
      '*\n',
      'sops: {}\n',
    ),
    weight: 3,
  },
);
const documents = fc.array(content, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('---\n'));
const fileName = fc.constantFrom(
  ...['a.yaml', 'x.yaml', 'values.yaml', 'c.yml', 's.sops.yaml', 'n.txt', 'b.txt', 'README.md', 'LICENSE', '.keep'],
  ...['.gittargetignore', '.sops.yaml', 'd.json', 'kustomization.yaml'],
);
const path = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }), fileName)
  .map(([directories, name]) => [...directories, name].join('/'));
const mode = fc.oneof(
  { arbitrary: fc.constant<FileMode>('file'), weight: 12 },
  fc.constantFrom<FileMode>('executable', 'symlink', 'submodule'),
);
const trees: fc.Arbitrary<Tree> = fc
  .uniqueArray(fc.record({ path, content: documents, mode }), { selector: (file) => file.path, maxLength: 12 })
  .map((files) => new Map(files.map(({ path: name, ...file }) => [name, file])));

describe('a report', () => {
  it('does not depend on the order in which entries come', async () => {
    const shuffled = trees.chain((tree) =>
      fc.tuple(fc.constant(tree), fc.shuffledSubarray([...tree.keys()], { minLength: tree.size })),
    );
    await fc.assert(
      fc.asyncProperty(shuffled, async ([tree, order]) => {
        const other = sourceOf(tree, () => order);

        expect(await scanRepo(other)).toEqual(await scanRepo(sourceOf(tree)));
        expect(await scanFolder(other)).toEqual(await scanFolder(sourceOf(tree)));
        expect(await analyze(other)).toEqual(await analyze(sourceOf(tree)));
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
