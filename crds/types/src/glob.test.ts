import { isGlob, matchesFolderPattern, matchesGlob } from './glob.js';

describe('globs', () => {
  it.each([
    { glob: 'main', text: 'main', matches: true, why: 'literal text is itself' },
    { glob: 'main', text: 'maintenance', matches: false, why: 'both ends are anchored' },
    { glob: 'main', text: 'Main', matches: false, why: 'letter case counts' },
    { glob: 'try/*', text: 'try/a', matches: true, why: '* is a run' },
    { glob: 'try/*', text: 'try/', matches: true, why: 'a run may be empty' },
    { glob: 'try/*', text: 'try/a/b', matches: false, why: '* stops at /' },
    { glob: 'try/**', text: 'try/a/b', matches: true, why: '** does not' },
    { glob: '**', text: 'anything/at/all', matches: true, why: '** is any branch' },
    { glob: '*-x*', text: 'a-x-x', matches: true, why: 'a run may end in more than one place' },
    { glob: 'a.c', text: 'abc', matches: false, why: 'nothing else is special' },
    { glob: 'a+', text: 'aa', matches: false, why: 'nothing else is special' },
    { glob: 'tenants/{namespace}', text: 'tenants/plum', matches: true, why: "the borrower's namespace" },
    { glob: 'tenants/{namespace}', text: 'tenants/fig', matches: false, why: 'only the own namespace' },
    { glob: '{namespace}-{namespace}', text: 'plum-plum', matches: true, why: 'every occurrence' },
    { glob: '*/{namespace}/*', text: 'a/plum/b', matches: true, why: 'together with runs' },
  ])('$glob on $text is $matches: $why', ({ glob, text, matches }) => {
    expect(matchesGlob(glob, text, 'plum')).toBe(matches);
  });

  it('takes no time to speak of on a hostile glob', () => {
    expect(matchesGlob('*a'.repeat(120), 'a'.repeat(250) + 'b', 'plum')).toBe(false);
  });

  it.each(['a?', 'a[b]', 'a\\b', '', 'x'.repeat(256)])('%s is no glob', (glob) => {
    expect(isGlob(glob)).toBe(false);
  });
});

describe('folder patterns', () => {
  it.each([
    { pattern: 'teams/{namespace}', path: 'teams/plum', matches: true, why: 'itself' },
    { pattern: 'teams/{namespace}', path: 'teams/plum/prod', matches: true, why: 'everything below' },
    { pattern: 'teams/{namespace}', path: 'teams/plums', matches: false, why: 'not what only starts alike' },
    { pattern: 'teams/{namespace}', path: 'teams', matches: false, why: 'not what is above' },
    { pattern: 'teams', path: '.', matches: false, why: 'the root is above' },
    { pattern: '.', path: 'anything/at/all', matches: true, why: '. is every folder' },
    { pattern: '.', path: '.', matches: true, why: 'and the root' },
    { pattern: 'a*', path: 'ab', matches: false, why: '* is itself in a folder pattern' },
  ])('$pattern on $path is $matches: $why', ({ pattern, path, matches }) => {
    expect(matchesFolderPattern(pattern, path, 'plum')).toBe(matches);
  });
});
