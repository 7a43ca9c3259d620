import type { LoggedCommit } from '@gitops-reverser/e2e-harness';

import type { Palette } from './palette.js';

export interface CommitViewOptions {
  readonly palette: Palette;
  /** Lines of a diff shown before the rest is only counted. */
  readonly maxDiffLines: number;
}

const words: Readonly<Record<string, string>> = { A: 'new', D: 'deleted', M: 'changed', T: 'changed' };

/**
 * A commit as a person reads it: what, who, which files, and the diff.
 *
 * @param diff what `git show --format= --patch` printed, without colours
 */
export function renderCommit(commit: LoggedCommit, diff: string, options: CommitViewOptions): string {
  const { palette, maxDiffLines } = options;
  const lines = [
    `${palette.accent(commit.sha.slice(0, 8))}  ${palette.strong(visible(commit.subject))}`,
    palette.faint(`author    ${visible(commit.author.name)} <${visible(commit.author.email)}>  ${commit.author.date}`),
    ...commit.files.map(({ change, path }) => `${(words[change] ?? change).padEnd(8)}  ${visible(path)}`),
  ];
  const body = renderDiff(diff, palette);
  const shown = body.slice(0, maxDiffLines);
  if (body.length > maxDiffLines) shown.push(palette.faint(`… ${body.length - maxDiffLines} more lines`));
  return `${[...lines, ...shown.map((line) => `  ${line}`)].join('\n')}\n`;
}

/** The lines of a unified diff, coloured, without git's own headers: the files are named already. */
export function renderDiff(diff: string, palette: Palette): readonly string[] {
  const rendered: string[] = [];
  const paths = new Set(diff.split('\n').filter((line) => line.startsWith('diff --git '))).size;
  let isHeader = false;
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('diff --git ')) {
      isHeader = true;
      if (paths > 1) rendered.push(palette.strong(visible(line.replace(/^.* b\//, ''))));
    } else if (line.startsWith('@@')) {
      isHeader = false;
      rendered.push(palette.accent(visible(line)));
    } else if (isHeader || line === '') {
      // File modes, blob ids and the names once more; a file without lines has nothing after them.
      if (line.startsWith('Binary files ')) rendered.push('(binary)');
    } else if (line.startsWith('+')) rendered.push(palette.added(visible(line)));
    else if (line.startsWith('-')) rendered.push(palette.removed(visible(line)));
    else rendered.push(visible(line));
  }
  return rendered;
}

/** Names and content come from whoever may edit the cluster: no control character reaches the terminal. */
function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, '\u{fffd}');
}
