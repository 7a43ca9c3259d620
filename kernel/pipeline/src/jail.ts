import type { FolderView } from '@gitops-reverser/kernel-api';

/**
 * The write jail, checked whatever a plugin says: no byte outside the folder, none through a symlink or into a submodule, none
 * in Git's own folder.
 * @returns what is wrong with a path, as half a sentence; undefined when it may be written
 */
export function jailOf(folder: FolderView, root: FolderView): (path: string) => string | undefined {
  const outer = throughLink(root, folder.path === '.' ? '' : folder.path);
  const linkByParent = new Map<string, string | undefined>();
  return (path) => {
    if (outer !== undefined) return `folder ${folder.path} is reached through ${outer}`;
    const names = path.split('/');
    const bad = names.find((name) => name === '' || name === '.' || name === '..' || name.toLowerCase() === '.git');
    if (bad !== undefined || /[\u0000-\u001f\u007f\\]/.test(path))
      return 'the path leaves the folder or cannot be a file of a Git tree';
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (!linkByParent.has(parent)) linkByParent.set(parent, parent === '' ? undefined : throughLink(folder, parent));
    const link = linkByParent.get(parent);
    if (link !== undefined) return `the path goes through ${link}`;
    const there = folder.file(path);
    if (there !== undefined && there.mode !== 'file' && there.mode !== 'executable')
      return `the path is a ${there.mode}`;
    return undefined;
  };
}

/** The first part of `path` that is an entry of its own: a symlink, a submodule, or a file where a folder is needed. */
function throughLink(view: FolderView, path: string): string | undefined {
  for (let cut = path.indexOf('/'); path !== ''; cut = path.indexOf('/', cut + 1)) {
    const part = cut < 0 ? path : path.slice(0, cut);
    const entry = view.file(part);
    if (entry !== undefined) return `${part}, a ${entry.mode}`;
    if (cut < 0) return undefined;
  }
  return undefined;
}
