import type { LoggedCommit } from '@gitops-reverser/e2e-harness';

import { renderCommit, renderDiff } from './commit-view.js';
import { coloured, plain } from './palette.js';

const commit: LoggedCommit = {
  sha: '0123456789abcdef0123456789abcdef01234567',
  parents: [],
  author: { name: 'Alice', email: 'alice@example.com', date: '2026-01-01T00:00:00Z' },
  committer: { name: 'GitOps Reverser', email: 'noreply@configbutler.ai', date: '2026-01-01T00:00:00Z' },
  subject: 'update configmaps/hello',
  body: '',
  files: [{ change: 'M', path: 'live-cluster/demo/configmaps/hello.yaml' }],
};
const diff = `diff --git a/live-cluster/demo/configmaps/hello.yaml b/live-cluster/demo/configmaps/hello.yaml
index 1111111..2222222 100644
--- a/live-cluster/demo/configmaps/hello.yaml
+++ b/live-cluster/demo/configmaps/hello.yaml
@@ -1,4 +1,4 @@
 apiVersion: v1
 data:
-  a: b
+  a: c
`;

it('shows what, who, which files, and the diff', () => {
  const text = renderCommit(commit, diff, { palette: plain, maxDiffLines: 50 });

  expect(text).toBe(
    [
      '01234567  update configmaps/hello',
      'author    Alice <alice@example.com>  2026-01-01T00:00:00Z',
      'changed   live-cluster/demo/configmaps/hello.yaml',
      '  @@ -1,4 +1,4 @@',
      '   apiVersion: v1',
      '   data:',
      '  -  a: b',
      '  +  a: c',
      '',
    ].join('\n'),
  );
});

it('colours added and removed lines, hunks and names', () => {
  const lines = renderDiff(diff, coloured);

  expect(lines).toEqual([
    '\u001b[36m@@ -1,4 +1,4 @@\u001b[0m',
    ' apiVersion: v1',
    ' data:',
    '\u001b[31m-  a: b\u001b[0m',
    '\u001b[32m+  a: c\u001b[0m',
  ]);
});

it('names the files between the diffs when there are several', () => {
  const lines = renderDiff(`${diff}${diff.replaceAll('hello', 'other')}`, plain);

  expect(lines.filter((line) => line.endsWith('.yaml'))).toEqual([
    'live-cluster/demo/configmaps/hello.yaml',
    'live-cluster/demo/configmaps/other.yaml',
  ]);
});

it('a removed line that begins with dashes is content, not a header', () => {
  const lines = renderDiff(diff.replace('-  a: b', '--- a: b'), plain);

  expect(lines).toContain('--- a: b');
});

it('counts the rest of a long diff', () => {
  const text = renderCommit(commit, diff, { palette: plain, maxDiffLines: 2 });

  expect(text.split('\n').slice(-3)).toEqual(['   apiVersion: v1', '  … 3 more lines', '']);
});

it('a deletion and an empty diff', () => {
  const text = renderCommit({ ...commit, files: [{ change: 'D', path: 'a.yaml' }] }, '', {
    palette: plain,
    maxDiffLines: 9,
  });

  expect(text.split('\n').slice(2)).toEqual(['deleted   a.yaml', '']);
});

it('control characters from the cluster do not reach the terminal', () => {
  const text = renderCommit({ ...commit, subject: 'a\u001b[2Jb' }, diff.replace('a: c', 'a: "\u009b2J"'), {
    palette: plain,
    maxDiffLines: 50,
  });

  expect(text).not.toMatch(/[\u001b\u009b]/);
});
