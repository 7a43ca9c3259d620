/** What a tree entry is. Only `file` and `executable` are ever written. */
export type FileMode = 'file' | 'executable' | 'symlink' | 'submodule';

export interface FolderFile {
  /** Relative to the folder, `/` separated, never with `..`. */
  readonly path: string;
  /** Identity of the content: equal ids mean equal bytes. */
  readonly oid: string;
  readonly mode: FileMode;
  /** @throws ReverserError when the content cannot be read */
  read(): Uint8Array;
}

/** One folder of one commit. Immutable, lazily loaded, synchronous. */
export interface FolderView {
  /** Within the repository; `.` is the root. */
  readonly path: string;
  /** Equal ids mean equal folders. Empty for a folder that does not exist. */
  readonly treeId: string;
  /** Every entry below the folder, in path order; directories are not entries. */
  files(): Iterable<FolderFile>;
  file(path: string): FolderFile | undefined;
}
