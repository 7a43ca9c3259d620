import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseIgnoreFile } from './index.js';

describe('.gittargetignore', () => {
  it.each([
    ['a name matches at any depth', 'notes.txt', ['notes.txt', 'a/notes.txt'], ['notes.txt.yaml']],
    ['a leading slash anchors', '/notes.txt', ['notes.txt'], ['a/notes.txt']],
    ['a slash inside anchors', 'a/b.yaml', ['a/b.yaml'], ['x/a/b.yaml']],
    ['a star stays in its segment', 'a/*.yaml', ['a/b.yaml'], ['a/b/c.yaml']],
    ['two stars cross segments', '**/x/**', ['x/a', 'b/x/c/d'], ['x']],
    ['two stars in the middle stand for nothing as well', 'a/**/b', ['a/b', 'a/c/d/b'], ['a/bb']],
    ['a final slash means a directory', 'docs/', ['docs/a.yaml', 'x/docs/b/c'], ['docs']],
    ['a later negation wins', '*.txt\n!keep.txt', ['a.txt'], ['keep.txt']],
    ['nothing comes back from a hidden directory', 'docs/\n!docs/keep.yaml', ['docs/keep.yaml'], []],
    ['comments and blanks do not count', '# a\n\n   \n', [], ['a', '# a']],
    ['escapes', '\\#a\n\\!b\nc\\ \nd\\*', ['#a', '!b', 'c ', 'd*'], ['a', 'b', 'c', 'dx']],
    ['sets', '[a-c]?.y[!x]ml\n[[:digit:]]', ['b1.yaml', '7'], ['d1.yaml', 'b1.yxml', 'x']],
    ['line ends of either kind', 'a.txt\r\nb.txt\r\n', ['a.txt', 'b.txt'], ['a.txt\r']],
    ['a byte order mark', '\ufeffa.txt', ['a.txt'], []],
  ])('%s', (_, text, hidden, shown) => {
    const rules = parseIgnoreFile(text);

    expect(hidden.filter((path) => !rules.ignores(path))).toEqual([]);
    expect(shown.filter((path) => rules.ignores(path))).toEqual([]);
  });

  it.each(['*', '**', '/', '*.yaml', '*.yml', '**/*', '**/*.yaml', '**/*.yml', '/*'])(
    'reports %s, which hides all',
    (pattern) => {
      expect(parseIgnoreFile(`# x\n${pattern}\n!a.yaml\n`).hideAll).toEqual([{ pattern, line: 2 }]);
    },
  );

  it.each(['***', '?*', '*.*', '*.y*ml', '**/**', '/**/*.yml', '*.[y]aml', '**/*.ya?l'])(
    'reports %s, which hides all in other words',
    (pattern) => {
      expect(parseIgnoreFile(pattern).hideAll).toEqual([{ pattern, line: 1 }]);
    },
  );

  it.each(['!*', '!*.yaml', '*.yaml.bak', 'a*.yaml', '*-generated.yaml', '*/', '*/*.yaml', '/*.yaml', '[a-z]*', '# *'])(
    'takes %s, which leaves something',
    (pattern) => {
      expect(parseIgnoreFile(pattern).hideAll).toEqual([]);
    },
  );

  it('no pattern makes it slow', () => {
    const rules = parseIgnoreFile(`${'*a'.repeat(60)}b\n${'**/'.repeat(60)}x/y\n${'[a-z]*'.repeat(50)}!\n`);
    const started = process.cpuUsage();

    rules.ignores(`${'a/'.repeat(120)}${'a'.repeat(250)}`);

    expect(process.cpuUsage(started).user / 1000).toBeLessThan(500);
  });

  it('agrees with git', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ignore-'));
    try {
      spawnSync('git', ['init', '-q', folder]);
      const part = fc.constantFrom('a', 'b', 'ab', '*', '?', '**', '[ab]', '[!a]', '/', '/', '.yaml', '\\*', ' ', '!');
      const pattern = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
      const path = fc
        .array(fc.constantFrom('a', 'b', 'ab', 'a.yaml', 'b*', 'ba'), { minLength: 1, maxLength: 4 })
        .map((parts) => parts.join('/'));
      const cases = fc.sample(
        fc.tuple(
          fc.array(pattern, { minLength: 1, maxLength: 4 }),
          fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
        ),
        {
          seed: 20261130,
          numRuns: 150,
        },
      );

      const disagreements = cases.flatMap(([patterns, paths]) => {
        const text = `${patterns.join('\n')}\n`;
        writeFileSync(join(folder, '.gitignore'), text);
        const run = spawnSync('git', ['-c', 'core.quotePath=false', 'check-ignore', '--no-index', '--stdin', '-z'], {
          cwd: folder,
          input: paths.join('\0'),
          encoding: 'utf8',
        });
        const hidden = new Set(run.stdout.split('\0'));
        const rules = parseIgnoreFile(text);
        return paths
          .filter((each) => rules.ignores(each) !== hidden.has(each))
          .map((each) => ({ text, path: each, git: hidden.has(each) }));
      });

      expect(disagreements).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
