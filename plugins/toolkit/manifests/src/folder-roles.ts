import type { FileMode } from '@gitops-reverser/kernel-api';
import { ignoreFileName, type IgnoreRules } from './ignore-file.js';

/** What an entry of a folder is to us (chapter 20, 10.2). */
export type EntryRole =
  | 'skipped'
  | 'ignored'
  | 'ignore-file'
  | 'kustomization'
  | 'sops-config'
  | 'readme'
  | 'manifest'
  | 'passenger'
  | 'foreign-symlink'
  | 'foreign-submodule'
  | 'foreign-file'
  /** No tool may check this path out, or it would leave the folder. */
  | 'unsafe-path';

const kustomizationNames = new Set(['kustomization.yaml', 'kustomization.yml', 'Kustomization']);
const sopsConfigNames = new Set(['.sops.yaml', '.sops.yml']);
const passengerNames = new Set([
  ...['LICENSE', 'LICENCE', 'COPYING', 'NOTICE'].flatMap((name) => [name, `${name}.txt`]),
  ...['.gitignore', '.gitattributes', '.gitkeep', '.keep'],
]);

/** Names that are never manifests, whatever they hold. */
export function isArtifactName(fileName: string): boolean {
  return (
    kustomizationNames.has(fileName) ||
    sopsConfigNames.has(fileName) ||
    fileName === 'README.md' ||
    fileName === ignoreFileName
  );
}

export function isKustomizationPath(path: string): boolean {
  return kustomizationNames.has(path.slice(path.lastIndexOf('/') + 1));
}

/** The first row that matches, in the order of the table. */
export function roleOf(path: string, mode: FileMode, rules: IgnoreRules): EntryRole {
  // Whoever walks down never gets below these two.
  if (path.startsWith('.git/') || path.includes('/.git/')) return 'skipped';
  if (isUnsafe(path)) return 'unsafe-path';
  if (rules.ignoresDirectoryOf(path)) return 'skipped';
  if (mode === 'symlink') return rules.ignores(path) ? 'ignored' : 'foreign-symlink';
  if (mode === 'submodule') return 'foreign-submodule';
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === ignoreFileName) return name === path ? 'ignore-file' : 'foreign-file';
  if (name === 'README.md') return 'readme';
  if (sopsConfigNames.has(name)) return 'sops-config';
  if (kustomizationNames.has(name)) return 'kustomization';
  if (rules.ignores(path)) return 'ignored';
  if (name.endsWith('.yaml') || name.endsWith('.yml')) return 'manifest';
  if (name.endsWith('.md') || name.endsWith('.markdown') || passengerNames.has(name)) return 'passenger';
  return 'foreign-file';
}

const unsafe = /\\|(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)/i;

function isUnsafe(path: string): boolean {
  return unsafe.test(path);
}
