import { parseRepositoryUrl } from './repository-url.js';

describe('parseRepositoryUrl', () => {
  it.each([
    {
      url: 'https://git.test/a/b.git',
      expected: { scheme: 'https', isScp: false, host: 'git.test', path: '/a/b.git' },
    },
    { url: 'https://h:8443/a', expected: { scheme: 'https', isScp: false, host: 'h', port: 8443, path: '/a' } },
    { url: 'HTTP://Git.Test./a', expected: { scheme: 'http', isScp: false, host: 'git.test', path: '/a' } },
    { url: 'ssh://h/a', expected: { scheme: 'ssh', isScp: false, host: 'h', path: '/a' } },
    { url: 'ssh://u@h:22/a', expected: { scheme: 'ssh', isScp: false, user: 'u', host: 'h', port: 22, path: '/a' } },
    { url: 'git@h:a/b.git', expected: { scheme: 'ssh', isScp: true, user: 'git', host: 'h', path: 'a/b.git' } },
    { url: 'user@h:v3/o/p/r', expected: { scheme: 'ssh', isScp: true, user: 'user', host: 'h', path: 'v3/o/p/r' } },
    { url: 'h:a/b', expected: { scheme: 'ssh', isScp: true, host: 'h', path: 'a/b' } },
    {
      url: 'https://[2001:DB8::1]:8443/a',
      expected: { scheme: 'https', isScp: false, host: '2001:db8::1', port: 8443, path: '/a' },
    },
    { url: 'ssh://git@[::1]/a', expected: { scheme: 'ssh', isScp: false, user: 'git', host: '::1', path: '/a' } },
    { url: 'git@[::1]:a/b', expected: { scheme: 'ssh', isScp: true, user: 'git', host: '::1', path: 'a/b' } },
    {
      url: 'https://bücher.example/a',
      expected: { scheme: 'https', isScp: false, host: 'xn--bcher-kva.example', path: '/a' },
    },
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
