/** What HFS+ ignores inside a name, so that `.g<U+200C>it` opens `.git` there. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Why a name must not be read or written, or `undefined` when it is harmless (field case FC-SEC-2; `git fsck --strict`). */
export function unsafeName(name: string): string | undefined {
  if (name === '') return 'an empty name';
  if (name === '.' || name === '..') return `the name ${name}`;
  if (name.includes('/')) return 'a slash inside a name';
  if (name.includes('\\')) return 'a backslash';
  if (name.includes('\0')) return 'a NUL';
  if (!/^[.gG]|[^\0-\x7f]/.test(name)) return undefined;
  if (isDotGit(name)) return 'a name that some file systems take for .git';
  return undefined;
}

/** `.git` as HFS+ or NTFS read it: case, ignorable characters, trailing dots and blanks, streams, the 8.3 name. */
function isDotGit(name: string): boolean {
  const plain = name
    .replace(HFS_IGNORED, '')
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
  return plain === '.git' || plain === 'git~1';
}

/**
 * The parts of a path within a repository.
 *
 * @returns parts, none for `.`; or what is wrong with it
 */
export function splitPath(path: string): readonly string[] | { readonly problem: string } {
  if (path === '.') return [];
  if (path.startsWith('/')) return { problem: 'a leading slash' };
  const parts = path.split('/');
  for (const part of parts) {
    const problem = unsafeName(part);
    if (problem !== undefined) return { problem };
  }
  return parts;
}
