import { unsafePath } from '../errors.js';
import { Breather } from './breather.js';
import type { ObjectStore } from './object-store.js';
import { EMPTY_TREE_OID, hashObject, type Oid } from './oid.js';
import { splitPath } from './paths.js';
import type { TreeCache } from './tree-cache.js';
import {
  compareEntries,
  DIRECTORY_MODE,
  encodeTree,
  FILE_MODE,
  kindOf,
  toNameBytes,
  TreeNode,
  type TreeEntry,
} from './tree.js';

export interface TreeEdit {
  readonly tree: Oid;
  /** Every object made, once, whether or not an equal one was held already. Whoever asked for the edit releases them. */
  readonly made: readonly Oid[];
}

interface Plan {
  /** By the bytes of the name. `undefined` removes. */
  readonly files: Map<string, Uint8Array | undefined>;
  readonly directories: Map<string, Plan>;
}

const emptyPlan = (): Plan => ({ files: new Map(), directories: new Map() });

/**
 * Applies changes to a tree by copying the directories on their paths; everything else keeps its id unread.
 * Modes are kept; directories that become empty go.
 *
 * @throws ReverserError UnsafePath when a path leaves the repository, runs through something that is no directory, or names
 * something that is no file
 */
export async function editTree(
  trees: TreeCache,
  objects: ObjectStore,
  root: Oid,
  changes: ReadonlyMap<string, Uint8Array | undefined>,
): Promise<TreeEdit> {
  const edit = new Edit(trees, objects);
  try {
    const tree = await edit.apply(root, planOf(changes), '');
    return { tree: tree ?? edit.emptyRoot(), made: [...edit.made] };
  } catch (error) {
    objects.release(edit.made);
    throw error;
  }
}

function planOf(changes: ReadonlyMap<string, Uint8Array | undefined>): Plan {
  const root = emptyPlan();
  for (const [path, bytes] of changes) {
    const parts = splitPath(path);
    if ('problem' in parts) throw unsafePath(path, parts.problem, 'the commit was not made');
    const name = parts.at(-1);
    if (name === undefined) throw unsafePath(path, 'being the root folder', 'the commit was not made');
    let plan = root;
    for (const part of parts.slice(0, -1)) {
      const key = toNameBytes(part);
      const below = plan.directories.get(key) ?? emptyPlan();
      plan.directories.set(key, below);
      plan = below;
    }
    plan.files.set(toNameBytes(name), bytes);
  }
  return root;
}

class Edit {
  readonly made = new Set<Oid>();
  readonly #trees: TreeCache;
  readonly #objects: ObjectStore;
  readonly #breather = new Breather();

  constructor(trees: TreeCache, objects: ObjectStore) {
    this.#trees = trees;
    this.#objects = objects;
  }

  emptyRoot(): Oid {
    this.#make('tree', Buffer.alloc(0), EMPTY_TREE_OID);
    return EMPTY_TREE_OID;
  }

  /** @returns the directory after the changes; `undefined` when nothing is left in it */
  async apply(before: Oid | undefined, plan: Plan, path: string): Promise<Oid | undefined> {
    const node = before === undefined ? new TreeNode(EMPTY_TREE_OID, []) : this.#trees.load(before);
    const replaced = new Map<string, TreeEntry | undefined>();
    for (const [name, bytes] of plan.files) {
      const entry = node.find(name);
      const kind = entry === undefined ? undefined : kindOf(entry.mode);
      if (bytes === undefined) {
        // Removing a file twice, or one whose place a directory took, changes nothing.
        if (entry !== undefined && kind !== 'directory') replaced.set(name, undefined);
        continue;
      }
      if (kind === 'symlink' || kind === 'submodule')
        throw this.#refuse(path, name, `being a ${kind} in the repository`);
      if (plan.directories.has(name) && [...filesOf(plan.directories.get(name))].some((below) => below !== undefined))
        throw this.#refuse(path, name, 'being file and folder in one commit');
      const oid = hashObject('blob', bytes);
      if (entry !== undefined && kind !== 'directory' && entry.oid === oid) continue;
      this.#make('blob', bytes, oid);
      replaced.set(name, { mode: entry === undefined || kind === 'directory' ? FILE_MODE : entry.mode, name, oid });
      if (this.#breather.isDue) await this.#breather.breathe();
    }
    for (const [name, below] of plan.directories) {
      const entry = node.find(name);
      const isDirectory = entry !== undefined && kindOf(entry.mode) === 'directory';
      const goes = plan.files.has(name) && plan.files.get(name) === undefined;
      if (entry !== undefined && !isDirectory && !goes) {
        if ([...filesOf(below)].every((bytes) => bytes === undefined)) continue;
        throw this.#refuse(path, name, `being a ${kindOf(entry.mode)} where a folder is needed`);
      }
      const oid = await this.apply(isDirectory ? entry.oid : undefined, below, `${path}${name}/`);
      if (oid !== undefined) {
        if (plan.files.get(name) !== undefined) throw this.#refuse(path, name, 'being a folder in the repository');
        if (!isDirectory || oid !== entry.oid) replaced.set(name, { mode: DIRECTORY_MODE, name, oid });
      } else if (isDirectory && plan.files.get(name) === undefined) replaced.set(name, undefined);
    }
    for (const [name, bytes] of plan.files) {
      const entry = node.find(name);
      const isFolder = entry !== undefined && kindOf(entry.mode) === 'directory';
      if (bytes !== undefined && isFolder && !plan.directories.has(name))
        throw this.#refuse(path, name, 'being a folder in the repository');
    }
    if (replaced.size === 0) return node.entries.length === 0 ? undefined : node.oid;

    const kept = node.entries.filter((entry) => !replaced.has(entry.name));
    for (const entry of replaced.values()) if (entry !== undefined) kept.push(entry);
    if (kept.length === 0) return undefined;
    kept.sort(compareEntries);
    const { oid, data } = encodeTree(kept);
    if (oid === node.oid) return oid;
    this.#make('tree', data, oid);
    this.#trees.add(new TreeNode(oid, kept));
    if (this.#breather.isDue) await this.#breather.breathe();
    return oid;
  }

  #make(type: 'blob' | 'tree', data: Uint8Array, oid: Oid): void {
    if (this.made.has(oid)) return;
    this.made.add(oid);
    this.#objects.make(type, data, oid);
  }

  #refuse(path: string, name: string, found: string): Error {
    return unsafePath(Buffer.from(`${path}${name}`, 'latin1').toString('utf8'), found, 'the commit was not made');
  }
}

function* filesOf(plan: Plan | undefined): Generator<Uint8Array | undefined> {
  if (plan === undefined) return;
  yield* plan.files.values();
  for (const below of plan.directories.values()) yield* filesOf(below);
}
