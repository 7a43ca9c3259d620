import { conditionTable } from '../testing/condition-table.fixture.js';
import { CANARY, type World } from '../testing/world.fixture.js';

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const creds = (world: World, values: Readonly<Record<string, string>>): void =>
  world.cluster.secret('shop', 'git-creds', values);
const malformed = (why: string, values: Readonly<Record<string, string>>, ...says: readonly string[]) => ({
  row: 'CredentialsResolved False SecretMalformed',
  why,
  level: 'stalled' as const,
  says: ['spec.secretRef: Secret shop/git-creds', ...says],
  given: (world: World) => creds(world, values),
});
const fails = (reason: string, level: 'stalled' | 'progress') => ({
  row: `RemoteReachable False ${reason}`,
  why: 'the first look at the remote ended so',
  level,
  says: [`the host says ${reason}`],
  given: (world: World) => void (world.repositories.failure = { reason, message: `the host says ${reason}` }),
});

conditionTable(
  'GitProvider',
  [
    { row: 'Validated True Succeeded', why: 'the quick start', level: 'ok', says: ['can be used'] },
    {
      row: 'Validated False InvalidSpec',
      why: 'stored before the rule existed (VA-1)',
      level: 'stalled',
      says: ['spec.url', 'https'],
      given: (world) => world.amend('GitProvider', { url: 'file:///etc/state' }),
    },
    {
      row: 'Validated False UserInfoInURL',
      why: 'a password in the address, stored before the rule existed',
      level: 'stalled',
      says: ['spec.url', 'spec.secretRef'],
      given: (world) => world.amend('GitProvider', { url: `https://bot:${CANARY}@git.example.test/shop/state.git` }),
    },
    {
      row: 'Validated False RetiredField',
      why: 'push settings of an earlier release',
      level: 'stalled',
      says: ['spec.push', 'retired', 'GitTarget.spec.commit.window'],
      given: (world) => world.amend('GitProvider', { push: { interval: '1m' } }),
    },
    {
      row: 'Validated False InsecureTransport',
      why: 'plain http without the flag',
      level: 'stalled',
      says: ['spec.url', 'https', '--insecure-allow-git-http'],
      given: (world) => world.amend('GitProvider', { url: 'http://git.example.test/shop/state.git' }),
    },
    {
      row: 'Validated True Succeeded',
      why: 'plain http with the flag',
      level: 'ok',
      says: [],
      given: (world) => {
        world.options = { allowGitHttp: true };
        world.amend('GitProvider', { url: 'http://git.example.test/shop/state.git' });
      },
    },
    {
      row: 'Validated False PluginUnavailable',
      why: 'an SSH URL',
      level: 'stalled',
      says: ['spec.url', 'SSH', 'https URL'],
      given: (world) => world.amend('GitProvider', { url: 'ssh://git@git.example.test/shop/state.git' }),
    },
    {
      row: 'Validated False PluginUnavailable',
      why: 'an scp-like address',
      level: 'stalled',
      says: ['spec.url', 'SSH'],
      given: (world) => world.amend('GitProvider', { url: 'git@git.example.test:shop/state.git' }),
    },
    {
      row: 'Validated False PluginUnavailable',
      why: 'a proxy of its own',
      level: 'stalled',
      says: ['spec.proxy', 'remove it'],
      given: (world) => world.amend('GitProvider', { proxy: { url: 'http://proxy.example.test:3128' } }),
    },
    { row: 'CredentialsResolved True Succeeded', why: 'a basic credential', level: 'ok', says: ['was read'] },
    {
      row: 'CredentialsResolved True Succeeded',
      why: 'a bearer token',
      level: 'ok',
      says: [],
      given: (world) => creds(world, { bearerToken: `${CANARY}-token` }),
    },
    {
      row: 'CredentialsResolved True Anonymous',
      why: 'no Secret named',
      level: 'ok',
      says: ['anonymous'],
      given: (world) => world.amend('GitProvider', { secretRef: undefined }),
    },
    {
      row: 'CredentialsResolved False SecretNotFound',
      why: 'a Secret that is not there',
      level: 'stalled',
      says: ['spec.secretRef: Secret shop/git-creds', 'does not exist', 'create it'],
      given: (world) => world.cluster.remove('Secret', 'shop/git-creds'),
    },
    malformed('an empty password counts as none', { username: 'bot', password: '' }, 'add password'),
    malformed('nothing known', { token: CANARY }, 'password', 'bearerToken', 'ssh-privatekey', 'githubAppID'),
    malformed('an SSH key for an https URL', { identity: CANARY }, 'identity', 'password or bearerToken'),
    malformed('a GitHub App', { githubAppID: CANARY }, 'GitHub App', 'password or bearerToken'),
    malformed('a client certificate', { 'tls.crt': CANARY, password: CANARY }, 'tls.crt', 'password or bearerToken'),
    {
      row: 'CredentialsResolved Unknown Progressing',
      why: 'whether the Secret is there cannot be told (ST-8)',
      level: 'progress',
      says: ['spec.secretRef: Secret shop/git-creds', 'cannot be read', 'tried again'],
      given: (world) => void (world.cluster.secretTrouble = 403),
    },
    {
      row: 'CredentialsResolved True Succeeded',
      why: 'it was read before, and cannot be read now',
      level: 'ok',
      says: ['stays in use', 'Secret shop/git-creds cannot be read'],
      when: (world) => {
        world.cluster.secretTrouble = 500;
        world.annotate('GitProvider', 'again');
      },
    },
    {
      row: 'CredentialsResolved False TrustNotFound',
      why: 'trust material that is not there',
      level: 'stalled',
      says: ['spec.tls.caRef: ConfigMap shop/corp-ca', 'does not exist'],
      given: (world) => world.amend('GitProvider', { tls: { caRef: { name: 'corp-ca' } } }),
    },
    {
      row: 'CredentialsResolved False TrustMalformed',
      why: 'no certificate in it',
      level: 'stalled',
      says: ['spec.tls.caRef: Secret shop/corp-ca', 'ca.crt or caFile', 'PEM'],
      given: (world) => {
        world.cluster.secret('shop', 'corp-ca', { 'ca.crt': 'no certificate' });
        world.amend('GitProvider', { tls: { caRef: { kind: 'Secret', name: 'corp-ca' } } });
      },
    },
    {
      row: 'CredentialsResolved True Succeeded',
      why: 'with trust material',
      level: 'ok',
      says: [],
      given: (world) => {
        world.cluster.configMap('shop', 'corp-ca', { caFile: PEM });
        world.amend('GitProvider', { tls: { caRef: { name: 'corp-ca' } } });
      },
    },
    {
      row: 'SigningConfigured False CommitConfigInvalid',
      why: 'signing is not part of this version',
      level: 'stalled',
      says: ['spec.commit.signing', 'GitProvider shop/home', 'remove the block'],
      given: (world) => world.amend('GitProvider', { commit: { signing: { secretRef: { name: 'signing' } } } }),
    },
    { row: 'RemoteReachable True Succeeded', why: 'the remote answered', level: 'ok', says: ['answered'] },
    {
      row: 'RemoteReachable Unknown Progressing',
      why: 'no look without a credential',
      level: 'stalled',
      decidedBy: 'SecretNotFound',
      says: ['not evaluated'],
      given: (world) => world.cluster.remove('Secret', 'shop/git-creds'),
    },
    fails('RemoteUnavailable', 'progress'),
    fails('AuthenticationFailed', 'stalled'),
    fails('AccessDenied', 'stalled'),
    fails('RepositoryNotFound', 'stalled'),
    fails('HostKeyUntrusted', 'stalled'),
    fails('TLSVerificationFailed', 'stalled'),
    fails('UnsupportedObjectFormat', 'stalled'),
    {
      row: 'RemoteReachable True Succeeded',
      why: 'one lost packet pages nobody (10, 2.3)',
      level: 'ok',
      says: ['the last look failed: a lost packet'],
      when: async (world) => {
        await world.clock.advance(3_600_000);
        world.repositories.failure = { reason: 'RemoteUnavailable', message: 'a lost packet' };
        world.annotate('GitProvider', 'look');
      },
    },
    {
      row: 'RemoteReachable False RemoteUnavailable',
      why: 'five minutes of lost packets are an outage (10, 2.3)',
      level: 'progress',
      says: ['a lost packet'],
      when: async (world) => {
        world.repositories.failure = { reason: 'RemoteUnavailable', message: 'a lost packet' };
        world.annotate('GitProvider', 'look');
        await world.clock.advance(640_000);
      },
    },
  ],
  {
    'CredentialsResolved HostKeysMissing': 'host keys belong to SSH, which this version does not speak',
    'SigningConfigured Succeeded': 'this version cannot sign',
    'SigningConfigured Generated': 'this version cannot sign',
    'SigningConfigured SecretNotFound': 'this version cannot sign, whatever the Secret',
    'SigningConfigured SecretMalformed': 'this version cannot sign, whatever the Secret',
  },
);
