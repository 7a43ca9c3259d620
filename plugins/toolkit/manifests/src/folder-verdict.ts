import type { FolderView, Refusal } from '@gitops-reverser/kernel-api';
import { compareCodePoints } from '@gitops-reverser/toolkit-yaml';
import type { FolderContents } from './folder-contents.js';
import type { FolderCache } from './folder-reader.js';
import { namedValuesFiles, type RetainedFile } from './values-context.js';

/** Why a folder is not taken on, by whatever layout. */
export interface FolderIssue extends Refusal {
  readonly path: string;
  readonly documentIndex: number;
  /** Somebody can clear it with the present version. */
  readonly solvable: boolean;
  readonly actor: 'repository-author' | '';
}

export interface FolderVerdict {
  /** Empty means accepted. Sorted. */
  readonly issues: readonly FolderIssue[];
  readonly retained: readonly RetainedFile[];
}

/** Structure-only acceptance of a plain folder. Costs nothing beyond reading it unless a file is no manifest. */
export function judgePlainFolder(folder: FolderView, contents: FolderContents, cache?: FolderCache): FolderVerdict {
  const retained = namedValuesFiles(folder, contents, cache);
  if (retained.length === 0) return { issues: contents.issues, retained };
  const paths = new Set(retained.map(({ path }) => path));
  return { issues: contents.issues.filter(({ path }) => !paths.has(path)), retained };
}

/** By path, document and kind, so that equal folders give equal texts. */
export function sortFolderIssues(issues: readonly FolderIssue[]): readonly FolderIssue[] {
  return [...issues].sort(
    (a, b) =>
      compareCodePoints(a.path, b.path) || a.documentIndex - b.documentIndex || compareCodePoints(a.code, b.code),
  );
}
