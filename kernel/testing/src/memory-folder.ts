import type { FileMode, FolderFile, FolderView } from '@gitops-reverser/kernel-api';
import { memoryFile, treeId, type MemoryFile, type MemoryTree } from './git-objects.js';

/** A file as a test writes it down. */
export type FileContent = string | Uint8Array | { readonly content: string | Uint8Array; readonly mode: FileMode };
export type FileContents = Readonly<Record<string, FileContent>>;

/** A folder that holds exactly these files. Paths are relative to it; ids are those Git would give. */
export function memoryFolder(files: FileContents, path = '.'): FolderView {
  return viewOf(toTree(files), path);
}

export function toTree(files: FileContents): MemoryTree {
  const tree = new Map<string, MemoryFile>();
  for (const [path, file] of Object.entries(files)) {
    checkPath(path);
    tree.set(
      path,
      typeof file === 'string' || file instanceof Uint8Array ? memoryFile(file) : memoryFile(file.content, file.mode),
    );
  }
  return tree;
}

/** @throws TypeError for a path no Git tree can hold, or that leaves the folder */
export function checkPath(path: string): void {
  const bad =
    path === '' ||
    path.split('/').some((name) => name === '' || name === '.' || name === '..' || name.toLowerCase() === '.git');
  if (bad || path.includes('\0'))
    throw new TypeError(`${JSON.stringify(path)}: expected a relative path without empty parts, ., .. or .git`);
}

/** Files of `tree` below `path`, seen from there. */
export function folderOf(tree: MemoryTree, path: string): FolderView {
  if (path === '.') return viewOf(tree, path);
  checkPath(path);
  const below = new Map<string, MemoryFile>();
  for (const [name, file] of tree) if (name.startsWith(`${path}/`)) below.set(name.slice(path.length + 1), file);
  return viewOf(below, path);
}

function viewOf(tree: MemoryTree, path: string): FolderView {
  const names = [...tree.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const id = tree.size === 0 ? '' : treeId(tree);
  const fileAt = (name: string): FolderFile | undefined => {
    const file = tree.get(name);
    return file === undefined
      ? undefined
      : { path: name, oid: file.oid, mode: file.mode, read: () => file.bytes.slice() };
  };
  return {
    path,
    treeId: id,
    *files() {
      for (const name of names) {
        const file = fileAt(name);
        if (file !== undefined) yield file;
      }
    },
    file: fileAt,
  };
}
