import { canonicalRepository, isSameRepository, mayBeSameRepository, parseRepositoryUrl, repositoryKey } from './repository-url.js';

describe('parseRepositoryUrl', () => {
  it.each([
    { url: 'https://git.test/a/b.git', expected: { scheme: 'https', isScp: false, host: 'git.test', path: '/a/b.git' } },
    { url: 'https://h:8443/a', expected: { scheme: 'https', isScp: false, host: 'h', port: 8443, path: '/a' } },
    { url: 'HTTP://Git.Test./a', expected: { scheme: 'http', isScp: false, host: 'git.test', path: '/a' } },
    { url: 'ssh://h/a', expected: { scheme: 'ssh', isScp: false, host: 'h', path: '/a' } },
    { url: 'ssh://u@h:22/a', expected: { scheme: 'ssh', isScp: false, user: 'u', host: 'h', port: 22, path: '/a' } },
    { url: 'git@h:a/b.git', expected: { scheme: 'ssh', isScp: true, user: 'git', host: 'h', path: 'a/b.git' } },
    { url: 'user@h:v3/o/p/r', expected: { scheme: 'ssh', isScp: true, user: 'user', host: 'h', path: 'v3/o/p/r' } },
    { url: 'h:a/b', expected: { scheme: 'ssh', isScp: true, host: 'h', path: 'a/b' } },
    { url: 'https://[2001:DB8::1]:8443/a', expected: { scheme: 'https', isScp: false, host: '2001:db8::1', port: 8443, path: '/a' } },
    { url: 'ssh://git@[::1]/a', expected: { scheme: 'ssh', isScp: false, user: 'git', host: '::1', path: '/a' } },
    { url: 'git@[::1]:a/b', expected: { scheme: 'ssh', isScp: true, user: 'git', host: '::1', path: 'a/b' } },
    { url: 'https://bücher.example/a', expected: { scheme: 'https', isScp: false, host: 'xn--bcher-kva.example', path: '/a' } },
  ])('FC-NET-4: $url', ({ url, expected }) => {
    expect(parseRepositoryUrl(url)).toEqual(expected);
  });

  it.each([
    'https://u:pw@h/a',
    'https://token-in-user@h/a',
    'http://:hunter2@h/a',
    'ssh://git:hunter2@h/a',
    'git:hunter2@h:a/b',
  ])('FC-NET-4: %s carries credentials, and the message does not', (url) => {
    const act = (): unknown => parseRepositoryUrl(url);

    expect(act).toThrow(expect.objectContaining({ reason: 'UserInfoInURL' }) as Error);
    expect(act).not.toThrow(/hunter2|pw|token-in-user/);
  });

  it.each([
    { url: 'file:///srv/git', found: 'it begins with file://' },
    { url: 'git://h/a', found: 'it begins with git://' },
    { url: 'ext::sh -c whoami', found: 'it contains a blank' },
    { url: 'ext::sh', found: 'it asks for the transport helper ext' },
    { url: '/srv/git/a', found: 'it is a local path' },
    { url: './a', found: 'it is a local path' },
    { url: 'C:\\repo', found: 'it is a local path' },
    { url: 'nothing', found: 'it has no scheme and no host' },
    { url: 'https://h', found: 'its path is empty' },
    { url: 'https://h/', found: 'its path is empty' },
    { url: 'https://h/.git', found: 'its path is empty' },
    { url: 'https:///a', found: 'it names no host' },
    { url: 'https://-oProxyCommand/a', found: 'it names no host' },
    { url: 'git@h:-a', found: 'its path begins with a dash' },
    { url: 'https://h/a/../b', found: 'its path contains . or ..' },
    { url: 'https://h/a/%2e%2e/b', found: 'its path contains . or ..' },
    { url: 'https://h/a?x=1', found: 'it has a query or a fragment' },
    { url: 'https://h/a#x', found: 'it has a query or a fragment' },
    { url: 'https://h:99999/a', found: 'its port is 99999' },
    { url: 'https://h/a\nb', found: 'it contains a blank or a control character' },
    { url: '', found: 'it has no scheme and no host' },
  ])('6.1: refuses $url', ({ url, found }) => {
    const act = (): unknown => parseRepositoryUrl(url);

    expect(act).toThrow(`the repository address is refused: ${found}`);
    expect(act).toThrow(expect.objectContaining({ reason: 'InvalidSpec' }) as Error);
  });
});

describe('canonicalRepository (chapter 40, 9.4)', () => {
  it.each([
    ['git@github.com:Acme/Infra.git', 'https://github.com/acme/infra'],
    ['ssh://git@git.example.com:2222/t/r.git', 'https://git.example.com/t/r'],
    ['https://user@host/t/r/', 'https://host/t/r.git'],
    ['https://host:443//t/r', 'https://host/t/r'],
    ['https://host/t/r?x=1#y', 'https://host/t/r'],
    ['https://host/t/%72', 'https://host/t/r'],
    ['https://HOST./t/r', 'https://host/t/r'],
    ['ssh://git@ssh.github.com:443/acme/infra', 'https://github.com/Acme/Infra.git'],
    ['git@altssh.gitlab.com:a/b.git', 'https://gitlab.com/a/b'],
    ['git@altssh.bitbucket.org:a/b.git', 'https://bitbucket.org/a/b'],
    ['git@ssh.dev.azure.com:v3/org/proj/repo', 'https://org@dev.azure.com/org/proj/_git/repo'],
    ['org@vs-ssh.visualstudio.com:v3/org/proj/repo', 'https://org.visualstudio.com/DefaultCollection/proj/_git/repo'],
    ['https://org.visualstudio.com/proj/_git/repo', 'https://dev.azure.com/org/proj/_git/repo'],
    ['https://dev.azure.com/org/_git/repo', 'https://dev.azure.com/org/repo/_git/repo'],
    ['https://bitbucket.corp/scm/PROJ/repo.git', 'ssh://git@bitbucket.corp:7999/PROJ/repo.git'],
    ['https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/x', 'ssh://git-codecommit.eu-west-1.amazonaws.com/v1/repos/x'],
  ])('%s is %s', (one, other) => {
    const [a, b] = [canonicalRepository(one), canonicalRepository(other)];

    expect(isSameRepository(a, b)).toBe(true);
    expect(repositoryKey(a)).toBe(repositoryKey(b));
  });

  it.each([
    ['https://git.example.com/Acme/x', 'https://git.example.com/acme/x'],
    ['https://h:8443/t/r', 'https://h/t/r'],
    ['https://h/t/r.git.git', 'https://h/t/r'],
    ['https://h/t/r', 'https://other/t/r'],
    ['ssh://h:2222/t/r', 'ssh://h:2223/t/r'],
  ])('%s is not %s', (one, other) => {
    expect(isSameRepository(canonicalRepository(one), canonicalRepository(other))).toBe(false);
  });

  it('folds path case for waking, where a false match costs one advertisement', () => {
    expect(mayBeSameRepository(canonicalRepository('https://git.example.com/Acme/x'), canonicalRepository('https://git.example.com/acme/x'))).toBe(true);
  });

  it('FC-PSH-8: https and ssh of one repository have one key', () => {
    expect(repositoryKey(canonicalRepository('https://git.test/a/b'))).toBe(repositoryKey(canonicalRepository('ssh://git@git.test/a/b.git')));
  });
});
