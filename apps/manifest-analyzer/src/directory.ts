import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { limits } from '@gitops-reverser/toolkit-yaml';
import type { RepositoryEntry } from './repository.js';
import { ScanFailed } from './source.js';

/**
 * Every entry of a directory on disk, by its names. Follows no link, skips `.git`, and takes a directory with a `.git` of its own
 * for the submodule it is. What Git cannot hold, such as a socket, is not there.
 *
 * @throws ScanFailed when the root is no directory, or anything cannot be listed
 */
export function* listDirectory(root: string, submodules = submodulesOf(root)): Generator<RepositoryEntry> {
  checkRoot(root);
  const pending: { readonly path: string; readonly location: Buffer }[] = [{ path: '', location: Buffer.from(root) }];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const dirent of listing(directory.location, directory.path)) {
      const name = dirent.name.toString('utf8');
      if (name === '.git') continue;
      const path = directory.path === '' ? name : `${directory.path}/${name}`;
      if (dirent.isFile()) {
        yield { path, mode: 'file', read: readerOf(directory.location, dirent.name, name, path) };
        continue;
      }
      const location = below(directory.location, dirent.name);
      if (dirent.isSymbolicLink()) yield { path, mode: 'symlink', read: () => refuseToRead(path) };
      else if (dirent.isDirectory()) {
        if (submodules.has(path) || isRepository(location))
          yield { path, mode: 'submodule', read: () => refuseToRead(path) };
        else pending.push({ path, location });
      }
    }
  }
}

const separator = Buffer.from(sep);
const below = (directory: Buffer, name: Buffer): Buffer => Buffer.concat([directory, separator, name]);

/** Fifty thousand of these wait for their turn: only a name that text cannot hold is kept as bytes. */
function readerOf(directory: Buffer, bytes: Buffer, name: string, path: string): () => Uint8Array {
  return isUtf8(bytes)
    ? () => readRegularFile(below(directory, Buffer.from(name)), path)
    : () => readRegularFile(below(directory, bytes), path);
}

export function checkRoot(root: string): void {
  let isDirectory: boolean;
  try {
    isDirectory = statSync(root).isDirectory();
  } catch (error) {
    throw new ScanFailed(`${root}: cannot be read (${codeOf(error)}); name a directory`, { cause: error });
  }
  if (!isDirectory) throw new ScanFailed(`${root}: expected a directory, found a file; name the folder it is in`);
}

function listing(location: Buffer, path: string) {
  try {
    // As bytes: a name that is no UTF-8 can be opened by its bytes alone.
    return readdirSync(location, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    throw new ScanFailed(`${path === '' ? '.' : path}: cannot be listed (${codeOf(error)}); check its permissions`, {
      cause: error,
    });
  }
}

/** A checked-out submodule has a file `.git`, a nested clone a directory. */
function isRepository(location: Buffer): boolean {
  return lstatSync(Buffer.concat([location, Buffer.from(`${sep}.git`)]), { throwIfNoEntry: false }) !== undefined;
}

/** Paths named in `.gitmodules`: a submodule that was not checked out is an empty directory. */
export function submodulesOf(root: string): ReadonlySet<string> {
  const path = join(root, '.gitmodules');
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > 1024 * 1024) return new Set();
  const paths = readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => /^\s*path\s*=\s*(\S.*)$/.exec(line)?.[1]?.trim() ?? []);
  return new Set(paths);
}

const refuseToRead = (path: string): never => {
  throw new ScanFailed(`${path}: is no regular file and is never read`);
};

/**
 * A file as bytes; one that is too large to be judged as that many zeros, which are never touched and so cost no memory: whoever
 * reads them looks at the size first.
 */
function readRegularFile(location: Buffer, path: string): Uint8Array {
  let descriptor: number;
  try {
    // It may have become a link or a pipe since it was listed.
    descriptor = openSync(location, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw new ScanFailed(`${path}: cannot be read (${codeOf(error)}); check its permissions`, { cause: error });
  }
  try {
    const { size } = fstatSync(descriptor);
    if (size > limits.maxFileBytes) return new Uint8Array(Math.min(size, 2 ** 31));
    const bytes = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      const count = readSync(descriptor, bytes, filled, size - filled, filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } catch (error) {
    throw new ScanFailed(`${path}: cannot be read (${codeOf(error)}); check its permissions`, { cause: error });
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Files above a folder, looked up one by one: what a graph in the folder may name. No walk, no link on the way, nothing outside the
 * repository.
 */
export function fileLookup(root: string): (path: string) => RepositoryEntry | undefined {
  const known = new Map<string, RepositoryEntry | undefined>();
  return (path) => {
    if (!known.has(path)) known.set(path, lookUp(root, path));
    return known.get(path);
  };
}

function lookUp(root: string, path: string): RepositoryEntry | undefined {
  let at = root;
  const parts = path.split('/');
  for (const [index, part] of parts.entries()) {
    if (part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git') return undefined;
    at = join(at, part);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    const isLast = index === parts.length - 1;
    if (isLast ? stat?.isFile() !== true : stat?.isDirectory() !== true) return undefined;
    if (!isLast && isRepository(Buffer.from(at))) return undefined;
  }
  return { path, mode: 'file', read: () => readRegularFile(Buffer.from(at), path) };
}

/** The working copy a folder lies in, and where; the folder itself when it is in none. */
export function enclosingRepository(folder: string): { readonly root: string; readonly path: string } {
  const start = resolve(folder);
  for (let root = start; ; root = dirname(root)) {
    if (lstatSync(join(root, '.git'), { throwIfNoEntry: false }) !== undefined)
      return { root, path: relative(root, start).split(sep).join('/') || '.' };
    if (dirname(root) === root) return { root: start, path: '.' };
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';
