import {
  canonicalRepository,
  hasPassword,
  isRepositoryUrl,
  repositoryText,
  sameRepository,
  wakesRepository,
  withoutUser,
} from './repository-url.js';

const same = (a: string, b: string): boolean => sameRepository(canonicalRepository(a), canonicalRepository(b));

describe('repository addresses', () => {
  it.each([
    ['git@github.com:Acme/Infra.git', 'https://github.com/acme/infra', 'scp form, and a host that folds case'],
    [
      'ssh://git@git.example.com:2222/t/r.git',
      'https://git.example.com/t/r',
      'ports of different schemes never compare',
    ],
    ['https://user@host.example/t/r/', 'https://host.example/t/r.git', 'user, slash and suffix'],
    ['https://HOST.example.:443/t//r', 'http://host.example:80/t/r', 'case, dot, default ports and double slashes'],
    ['https://h.example/t/%72epo', 'https://h.example/t/repo', 'an encoded letter is that letter'],
    ['https://bücher.example/t/r', 'https://xn--bcher-kva.example/t/r', 'international names'],
    ['ssh://git@ssh.github.com:443/acme/infra.git', 'https://github.com/acme/infra', 'SSH over port 443'],
    ['ssh://git@altssh.gitlab.com:443/acme/infra', 'git@gitlab.com:acme/infra', 'SSH over port 443'],
    ['ssh://git@altssh.bitbucket.org:443/acme/infra', 'git@bitbucket.org:acme/infra.git', 'SSH over port 443'],
    ['git@ssh.dev.azure.com:v3/o/p/r', 'https://o@dev.azure.com/o/p/_git/r', 'Azure DevOps, SSH and HTTPS'],
    [
      'https://o.visualstudio.com/DefaultCollection/p/_git/r',
      'https://dev.azure.com/o/p/_git/r',
      'Azure DevOps, old host',
    ],
    ['o@vs-ssh.visualstudio.com:v3/o/p/r', 'https://o.visualstudio.com/p/_git/r', 'Azure DevOps, old SSH host'],
    [
      'https://dev.azure.com/o/_git/r',
      'https://dev.azure.com/o/r/_git/r',
      'Azure DevOps, repository named as the project',
    ],
    [
      'https://bb.example.com/scm/proj/repo.git',
      'ssh://git@bb.example.com:7999/proj/repo.git',
      'Bitbucket Data Center',
    ],
    [
      'https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/r',
      'ssh://git-codecommit.eu-west-1.amazonaws.com/v1/repos/r',
      'CodeCommit',
    ],
  ])('%s is %s: %s', (a, b) => {
    expect(same(a, b)).toBe(true);
  });

  it.each([
    [
      'https://git.example.com/Acme/x',
      'https://git.example.com/acme/x',
      'letter case counts where the host says nothing',
    ],
    ['https://h.example:8443/t/r', 'https://h.example/t/r', 'another port of the same scheme'],
    ['https://h.example/t/r.git.git', 'https://h.example/t/r', 'one suffix is dropped, not two'],
    ['https://h.example/t/r%2Fs', 'https://h.example/t/r/s', 'an encoded slash is no slash'],
    ['https://a.example/t/r', 'https://b.example/t/r', 'another host'],
  ])('%s is not %s: %s', (a, b) => {
    expect(same(a, b)).toBe(false);
  });

  it('wakes whatever differs by letter case only', () => {
    expect(
      wakesRepository(
        canonicalRepository('https://git.example.com/Acme/x'),
        canonicalRepository('https://git.example.com/acme/x'),
      ),
    ).toBe(true);
  });

  it('is one line that reads back as itself', () => {
    const text = repositoryText(canonicalRepository('https://user@git.example.com/t/r.git'));

    expect(text).toBe('git.example.com/t/r');
    expect(repositoryText(canonicalRepository('https://git.example.com:8443/t/r'))).toBe(
      'http://git.example.com:8443/t/r',
    );
  });

  it.each([
    ['file:///srv/repo.git', 'found neither'],
    ['ftp://h.example/r', 'found scheme ftp'],
    ['/srv/repo.git', 'found neither'],
    ['https://h.example/', 'found no path'],
    ['https://h.example/a/../b', 'found a segment'],
    ['https://bot:hunter2@/b', 'found neither'],
  ])('%s has no identity', (text, found) => {
    let message = '';
    try {
      canonicalRepository(text);
    } catch (error) {
      message = (error as Error).message;
    }

    expect(message).toContain(found);
    expect(message).not.toContain('hunter2');
  });

  it('tells addresses with a password, and hides the user part', () => {
    expect(hasPassword('https://bot:hunter2@h.example/r')).toBe(true);
    expect(hasPassword('git@h.example:r')).toBe(false);
    expect(isRepositoryUrl('git@h.example:r')).toBe(true);
    expect(withoutUser('https://bot:hunter2@h.example/r')).toBe('https://h.example/r');
  });
});
