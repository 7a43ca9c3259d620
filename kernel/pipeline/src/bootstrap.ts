import type { BootstrapFile, FolderView, Layout, Placed } from '@gitops-reverser/kernel-api';
import { jailOf } from './jail.js';
import type { FileChanges } from './write.js';

export interface Bootstrap {
  /** What joins the commit. */
  readonly files: FileChanges;
  /** What a plugin named and nobody may write, with the reason. */
  readonly rejected: readonly { readonly path: string; readonly found: string }[];
}

/**
 * The files that a folder should have and has not. Whoever names a path first gives its content; what the commit writes or
 * removes anyway is left to it, and so is a path that differs from a taken one in its case alone.
 */
export function bootstrapFiles(
  layout: Layout,
  writers: readonly Placed<'writer'>[],
  folder: FolderView,
  root: FolderView,
  changes: FileChanges,
): Bootstrap {
  const wanted = new Map<string, Uint8Array>();
  const add = ({ path, bytes }: BootstrapFile): void => {
    if (!wanted.has(path) && !changes.has(path) && folder.file(path) === undefined) wanted.set(path, bytes);
  };
  for (const file of layout.bootstrap?.(folder) ?? []) add(file);
  for (const { instance } of writers) for (const file of instance.bootstrap?.(folder) ?? []) add(file);
  const files = new Map<string, Uint8Array | undefined>();
  const rejected: { readonly path: string; readonly found: string }[] = [];
  if (wanted.size === 0) return { files, rejected };

  const jail = jailOf(folder, root);
  const taken = takenNames(folder, changes);
  for (const [path, bytes] of wanted) {
    const found = jail(path);
    if (found !== undefined) rejected.push({ path, found });
    else if (!taken.has(folded(path))) {
      files.set(path, bytes);
      taken.add(folded(path));
    }
  }
  return { files, rejected };
}

const folded = (path: string): string => path.normalize('NFC').toLowerCase();

/** Files and folders there will be, as a file system that ignores case tells them apart. */
function takenNames(folder: FolderView, changes: FileChanges): Set<string> {
  const taken = new Set<string>();
  const add = (path: string): void => {
    for (let cut = path.indexOf('/'); cut >= 0; cut = path.indexOf('/', cut + 1)) taken.add(folded(path.slice(0, cut)));
    taken.add(folded(path));
  };
  for (const { path } of folder.files()) if (!changes.has(path)) add(path);
  for (const [path, bytes] of changes) if (bytes !== undefined) add(path);
  return taken;
}
