import type { FileMode, FolderFile, FolderView } from '@gitops-reverser/kernel-api';
import { gitError, unsafePath } from '../errors.js';
import { TooLarge } from '../objects/delta.js';
import type { ObjectStore } from '../objects/object-store.js';
import type { Oid } from '../objects/oid.js';
import { splitPath, unsafeName } from '../objects/paths.js';
import type { TreeCache } from '../objects/tree-cache.js';
import { kindOf, toNameBytes, toNameText, type EntryKind, type TreeEntry, type TreeNode } from '../objects/tree.js';

class File implements FolderFile {
  readonly path: string;
  readonly oid: Oid;
  readonly mode: FileMode;
  readonly #objects: ObjectStore;

  constructor(path: string, oid: Oid, mode: FileMode, objects: ObjectStore) {
    this.path = path;
    this.oid = oid;
    this.mode = mode;
    this.#objects = objects;
  }

  read(): Uint8Array {
    if (this.mode === 'submodule')
      throw gitError('ObjectMissing', `${this.path} is a submodule: it has no content here`, { path: this.path });
    try {
      return this.#objects.read(this.oid, 'blob', MAX_FILE_BYTES);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      throw gitError(
        'UnsafePath',
        `${this.path} has ${error.size} bytes, and files above ${MAX_FILE_BYTES} are never read; remove it, or keep it out of the folder`,
        { path: this.path },
      );
    }
  }
}

/** Far above what any reader takes, so that readers state their own limits; far below what hurts. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;

interface Listed {
  readonly name: string;
  readonly kind: EntryKind;
  readonly oid: Oid;
}

/** All files below a directory, where it was found. */
interface Subtree {
  readonly prefix: string;
  readonly files: readonly FolderFile[];
}

/** Folders by tree id; a list of files is kept as long as somebody holds its directory, and shared by all that contain it. */
export class Folders {
  readonly #objects: ObjectStore;
  readonly #trees: TreeCache;
  readonly #subtreeByNode = new WeakMap<TreeNode, Subtree>();
  readonly #listingByNode = new WeakMap<TreeNode, readonly Listed[]>();

  constructor(objects: ObjectStore, trees: TreeCache) {
    this.#objects = objects;
    this.#trees = trees;
  }

  /**
   * @param root tree of the commit; `undefined` when there is none
   * @throws ReverserError UnsafePath when the path is unclean or runs through something that is no directory
   */
  open(root: Oid | undefined, path: string): FolderView {
    const parts = cleanParts(path);
    let node: TreeNode | undefined = root === undefined ? undefined : this.#trees.load(root);
    let walked = '';
    for (const part of parts) {
      walked = walked === '' ? part : `${walked}/${part}`;
      const entry: TreeEntry | undefined = node?.find(toNameBytes(part));
      if (entry === undefined) return emptyFolder(path);
      const kind = kindOf(entry.mode);
      if (kind !== 'directory')
        throw unsafePath(walked, `being a ${kind} where a folder is needed`, `the folder ${path} cannot be read`);
      node = this.#trees.load(entry.oid);
    }
    if (node === undefined || node.entries.length === 0) return emptyFolder(path);
    const found = node;
    return {
      path,
      treeId: found.oid,
      files: () => this.#filesOf(found, path),
      file: (name) => this.#fileAt(found, path, name),
    };
  }

  /**
   * Git's order of a tree, walked down, is the byte order of whole paths. Of a folder that differs in one file only the directories
   * above that file are listed anew.
   */
  #filesOf(node: TreeNode, folder: string, prefix = ''): readonly FolderFile[] {
    const known = this.#subtreeByNode.get(node);
    if (known?.prefix === prefix) return known.files;
    const files: FolderFile[] = [];
    for (const { name, kind, oid } of this.#list(node, prefix, folder)) {
      if (kind !== 'directory') files.push(new File(prefix + name, oid, kind, this.#objects));
      else for (const file of this.#filesOf(this.#trees.load(oid), folder, `${prefix}${name}/`)) files.push(file);
    }
    this.#subtreeByNode.set(node, { prefix, files });
    return files;
  }

  /** Names are decoded and checked once per directory, however often its folder changes around it. */
  #list(node: TreeNode, prefix: string, folder: string): readonly Listed[] {
    const known = this.#listingByNode.get(node);
    if (known !== undefined) return known;
    const listing = node.entries.map((entry) => ({
      name: safeName(entry, prefix, folder),
      kind: kindOf(entry.mode),
      oid: entry.oid,
    }));
    this.#listingByNode.set(node, listing);
    return listing;
  }

  #fileAt(from: TreeNode, folder: string, path: string): FolderFile | undefined {
    const parts = splitPath(path);
    if ('problem' in parts)
      throw unsafePath(path, parts.problem, `the file cannot be looked for in the folder ${folder}`);
    let node = from;
    for (const [nth, part] of parts.entries()) {
      const entry = node.find(toNameBytes(part));
      if (entry === undefined) return undefined;
      const kind = kindOf(entry.mode);
      const isLast = nth === parts.length - 1;
      if (kind !== 'directory') return isLast ? new File(path, entry.oid, kind, this.#objects) : undefined;
      if (isLast) return undefined;
      node = this.#trees.load(entry.oid);
    }
    return undefined;
  }
}

/**
 * A folder that does not exist.
 *
 * @throws ReverserError UnsafePath when the path is unclean
 */
export function emptyFolder(path: string): FolderView {
  cleanParts(path);
  return { path, treeId: '', files: () => [], file: () => undefined };
}

function cleanParts(path: string): readonly string[] {
  const parts = splitPath(path);
  if ('problem' in parts) throw unsafePath(path, parts.problem, 'the folder cannot be read');
  return parts;
}

function safeName(entry: TreeEntry, prefix: string, folder: string): string {
  const name = toNameText(entry.name);
  const problem = name === undefined ? 'a name that is not UTF-8' : unsafeName(name);
  if (name !== undefined && problem === undefined) return name;
  throw unsafePath(
    `${prefix}${name ?? Buffer.from(entry.name, 'latin1').toString('utf8')}`,
    problem ?? '',
    `the folder ${folder} cannot be read`,
  );
}
