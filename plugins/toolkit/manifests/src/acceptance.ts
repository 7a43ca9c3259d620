import type { Refusal } from '@gitops-reverser/kernel-api';
import { compareCodePoints } from '@gitops-reverser/toolkit-yaml';

export type IssueCode =
  | 'invalid-yaml'
  | 'non-krm-yaml'
  | 'impure-managed-file'
  | 'mixed-managed-allowlisted'
  | 'duplicate-identity'
  | 'foreign-file'
  | 'foreign-symlink'
  | 'foreign-submodule'
  | 'ignore-shadows-managed'
  | 'too-many-files';

/** Why a folder is not taken on. Every one can be cured in the repository. */
export interface Issue extends Refusal {
  readonly code: IssueCode;
  readonly path: string;
  readonly documentIndex: number;
  readonly solvable: true;
  readonly actor: 'repository-author';
}

/** `what` follows the path in the message. */
export function issue(code: IssueCode, path: string, what: string, documentIndex = 0): Issue {
  const message = path === '' ? what : `${path}: ${what}`;
  return { code, path, documentIndex, message, solvable: true, actor: 'repository-author' };
}

/** By path, document and kind, so that equal folders give equal texts. */
export function sortIssues(issues: readonly Issue[]): readonly Issue[] {
  return [...issues].sort(
    (a, b) =>
      compareCodePoints(a.path, b.path) || a.documentIndex - b.documentIndex || compareCodePoints(a.code, b.code),
  );
}

/** One line for a condition: the first issue and a count. */
export function summarizeIssues(issues: readonly Issue[]): string {
  const [first, ...others] = sortIssues(issues);
  if (first === undefined) return '';
  return others.length === 0 ? first.message : `${first.message} and ${others.length} more`;
}

/** Reason of `GitPathAccepted=False`. */
export function acceptanceReason(issues: readonly Issue[]): 'UnsupportedContent' | 'IgnoreShadowsManagedPath' {
  const isOnlyIgnore = issues.length > 0 && issues.every((each) => each.code === 'ignore-shadows-managed');
  return isOnlyIgnore ? 'IgnoreShadowsManagedPath' : 'UnsupportedContent';
}
