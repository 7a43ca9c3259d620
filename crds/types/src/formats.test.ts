import { isBranchName, isDnsLabel, isDnsSubdomain, isFolderPath } from './formats.js';

describe('formats', () => {
  it.each(['.', 'a', 'environments/prod', '.github', 'a/..b', 'with blank/ümläut'])('%s is a folder', (path) => {
    expect(isFolderPath(path)).toBe(true);
  });
  it.each(['', '/a', 'a/', 'a//b', '..', 'a/..', './a', 'a/./b', '.git', 'a/.GIT/b', 'a\\b', 'a\0b', 'a'.repeat(513)])(
    '%j is no folder',
    (path) => {
      expect(isFolderPath(path)).toBe(false);
    },
  );
  it.each(['main', 'feature/plums-2.0', 'a@b', 'x.locked'])('%s is a branch', (name) => {
    expect(isBranchName(name)).toBe(true);
  });
  it.each([
    '',
    '-x',
    '/x',
    'refs/heads/x',
    'x/',
    'x.',
    'a..b',
    'a//b',
    'a@{b',
    '@',
    'HEAD',
    '.x',
    'a/.x',
    'a.lock',
    'a.lock/b',
    'a b',
    'a^',
    'ä'.repeat(256),
  ])('%j is no branch', (name) => {
    expect(isBranchName(name)).toBe(false);
  });
  it('tells names of Kubernetes objects', () => {
    expect([isDnsLabel('team-a'), isDnsLabel('team.a'), isDnsLabel('*'), isDnsLabel('a'.repeat(64))]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([isDnsSubdomain('team.a'), isDnsSubdomain('team..a'), isDnsSubdomain('Team')]).toEqual([true, false, false]);
  });
});
