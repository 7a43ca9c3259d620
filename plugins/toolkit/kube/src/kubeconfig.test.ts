import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '@gitops-reverser/kernel-api';
import { fakeClock } from '@gitops-reverser/kernel-testing';
import { loadTrustedKubeconfig, parseKubeconfig, type KubeconfigPolicy } from './kubeconfig.js';
import { selfSigned } from './testing/certificates.js';

const SECRET = 'sw0rdf1sh-t0ken';
const pem = Buffer.from(selfSigned().cert).toString('base64');

interface Parts {
  readonly cluster?: string;
  readonly user?: string;
  readonly server?: string;
}

function kubeconfig({
  cluster = '',
  user = `token: ${SECRET}`,
  server = 'https://api.example.test:6443',
}: Parts = {}): string {
  const indented = (text: string): string =>
    text
      .split('\n')
      .map((each) => `    ${each}`)
      .join('\n');
  return `apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: c, user: u, namespace: shop}
- name: other
  context: {cluster: elsewhere, user: runner}
clusters:
- name: c
  cluster:
    server: ${server}
${indented(cluster)}
- name: elsewhere
  cluster: {server: 'http://other.example.test', insecure-skip-tls-verify: true}
users:
- name: u
  user:
${indented(user)}
- name: runner
  user: {exec: {command: touch, args: [/tmp/never]}}
`;
}

function refusal(text: string, policy: KubeconfigPolicy = {}): { reason: string; message: string } {
  try {
    parseKubeconfig(text, 'KubeProvider "prod"', policy);
  } catch (thrown) {
    return { reason: reasonOf(thrown), message: (thrown as Error).message };
  }
  return { reason: 'accepted', message: '' };
}

describe('10, 11.5: what a kubeconfig may hold', () => {
  it.each([
    { name: 'token', parts: {} },
    { name: 'client certificate', parts: { user: `client-certificate-data: ${pem}\nclient-key-data: ${pem}` } },
    { name: 'basic', parts: { user: 'username: ann\npassword: p:w' } },
    { name: 'impersonation', parts: { user: `token: ${SECRET}\nas: bob\nas-groups: [dev, ops]` } },
    {
      name: 'certificate authority and server name',
      parts: { cluster: `certificate-authority-data: ${pem}\ntls-server-name: kube` },
    },
    { name: 'extensions of other tools', parts: { cluster: 'extensions: [{name: minikube, extension: {a: b}}]' } },
    { name: 'fields set to nothing', parts: { user: `token: ${SECRET}\nclient-certificate: ""\nexec: null` } },
  ])('accepts: $name', ({ parts }) => {
    expect(refusal(kubeconfig(parts)).reason).toBe('accepted');
  });

  it('checks the current context alone: others may hold what they like', () => {
    expect(refusal(kubeconfig()).reason).toBe('accepted');
    expect(refusal(kubeconfig().replace('current-context: here', 'current-context: other')).reason).toBe(
      'KubeConfigExecNotAllowed',
    );
  });

  it('FC-KCP-1: keeps the path prefix of the server', () => {
    const { server } = parseKubeconfig(kubeconfig({ server: 'https://kcp.example.test/clusters/root:org:team/' }), 'x');

    expect(server).toBe('https://kcp.example.test/clusters/root:org:team');
  });
});

describe('FC-SEC-3: refused before any dial, with a reason per field', () => {
  it.each([
    { user: 'exec: {command: touch}', reason: 'KubeConfigExecNotAllowed', field: 'user.exec' },
    { user: 'auth-provider: {name: gcp, config: {}}', reason: 'KubeConfigExecNotAllowed', field: 'user.auth-provider' },
    {
      cluster: 'insecure-skip-tls-verify: true',
      reason: 'KubeConfigInsecureTLSNotAllowed',
      field: 'cluster.insecure-skip-tls-verify',
    },
    { server: 'http://api.example.test', reason: 'KubeConfigInsecureTLSNotAllowed', field: 'cluster.server' },
    {
      cluster: 'proxy-url: http://proxy.example.test',
      reason: 'KubeConfigProxyNotAllowed',
      field: 'cluster.proxy-url',
    },
    {
      cluster: 'certificate-authority: /etc/passwd',
      reason: 'KubeConfigFileReferenceNotAllowed',
      field: 'cluster.certificate-authority',
    },
    {
      user: `client-certificate: /a\nclient-key: /b`,
      reason: 'KubeConfigFileReferenceNotAllowed',
      field: 'user.client-certificate',
    },
    { user: 'tokenFile: /var/run/secrets/token', reason: 'KubeConfigFileReferenceNotAllowed', field: 'user.tokenFile' },
    { user: `token: ${SECRET}\ntoken-file: /etc/passwd`, reason: 'KubeConfigInvalid', field: 'user.token-file' },
    { user: `token: ${SECRET}\nas-uid: "7"`, reason: 'KubeConfigInvalid', field: 'user.as-uid' },
    { user: `token: ${SECRET}\nbearer: ${SECRET}`, reason: 'KubeConfigInvalid', field: 'user.bearer' },
    { user: `token: ${SECRET}\nas-groups: [x]`, reason: 'KubeConfigInvalid', field: 'user.as-groups' },
    { user: `client-certificate-data: ${pem}`, reason: 'KubeConfigInvalid', field: 'user.client-certificate-data' },
    { user: `token: "${SECRET}\\nX-Evil: 1"`, reason: 'KubeConfigInvalid', field: 'user.token' },
    { user: 'as: root', reason: 'KubeConfigInvalid', field: 'no credential' },
    {
      cluster: `certificate-authority-data: ${SECRET}`,
      reason: 'KubeConfigInvalid',
      field: 'cluster.certificate-authority-data',
    },
    { server: 'api.example.test:6443', reason: 'KubeConfigInvalid', field: 'cluster.server' },
    { server: `https://ann:${SECRET}@api.example.test`, reason: 'KubeConfigInvalid', field: 'cluster.server' },
    { server: 'https://kcp.example.test/clusters/*', reason: 'KubeConfigInvalid', field: '/clusters/*' },
    { server: 'https://kcp.example.test/clusters/%2A/', reason: 'KubeConfigInvalid', field: '/clusters/*' },
  ])('$reason: $field', ({ reason, field, ...parts }) => {
    const refused = refusal(kubeconfig(parts));

    expect(refused.reason).toBe(reason);
    expect(refused.message).toContain('KubeProvider "prod"');
    expect(refused.message).toContain(field);
    expect(refused.message).not.toContain(SECRET);
  });

  it.each([
    { name: 'no YAML', text: `token: [${SECRET}` },
    { name: 'a list', text: '- a' },
    { name: 'empty', text: '# nothing\n' },
    { name: 'two documents', text: `${kubeconfig()}---\n${kubeconfig()}` },
    { name: 'no current context', text: kubeconfig().replace('current-context: here', '') },
    { name: 'dangling context', text: kubeconfig().replace('current-context: here', 'current-context: nowhere') },
    { name: 'dangling cluster', text: kubeconfig().replace('cluster: c,', 'cluster: gone,') },
    { name: 'dangling user', text: kubeconfig().replace('user: u,', 'user: gone,') },
    { name: 'two users of one name', text: kubeconfig().replace('- name: runner', '- name: u') },
    { name: 'another kind', text: kubeconfig().replace('kind: Config', 'kind: Secret') },
    { name: 'an anchor', text: kubeconfig({ user: `token: &t ${SECRET}\nas: *t` }) },
  ])('KubeConfigInvalid: $name', ({ text }) => {
    const refused = refusal(text);

    expect(refused.reason).toBe('KubeConfigInvalid');
    expect(refused.message).not.toContain(SECRET);
  });

  it('names every offending field at once, the first reason of the table first', () => {
    const refused = refusal(
      kubeconfig({ cluster: 'insecure-skip-tls-verify: true\nproxy-url: http://p', user: 'exec: {command: x}' }),
    );

    expect(refused.reason).toBe('KubeConfigExecNotAllowed');
    expect(refused.message).toMatch(/user\.exec.*cluster\.insecure-skip-tls-verify.*cluster\.proxy-url/);
  });

  it.each([
    { name: 'exec', policy: { allowExec: true }, parts: { user: 'exec: {command: x}' } },
    { name: 'TLS', policy: { allowInsecureTls: true }, parts: { cluster: 'insecure-skip-tls-verify: true' } },
    { name: 'http', policy: { allowInsecureTls: true }, parts: { server: 'http://api.example.test' } },
    { name: 'proxy', policy: { allowProxy: true }, parts: { cluster: 'proxy-url: https://proxy.example.test' } },
  ])('a flag opts in: $name', ({ policy, parts }) => {
    expect(refusal(kubeconfig(parts), policy).reason).toBe('accepted');
  });

  it('no flag opens files or socks proxies', () => {
    const all = { allowExec: true, allowInsecureTls: true, allowProxy: true };

    expect(refusal(kubeconfig({ user: 'tokenFile: /x' }), all).reason).toBe('KubeConfigFileReferenceNotAllowed');
    expect(refusal(kubeconfig({ user: 'auth-provider: {name: x, config: {tokenFile: /x}}' }), all).reason).toBe(
      'KubeConfigFileReferenceNotAllowed',
    );
    expect(refusal(kubeconfig({ cluster: 'proxy-url: socks5://p:1080' }), all).reason).toBe(
      'KubeConfigProxyNotAllowed',
    );
  });
});

describe('the file of --kubeconfig', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('may refer to files beside it, and skip TLS verification', async () => {
    await writeFile(join(folder, 'token'), 'from-file\n');
    await writeFile(
      join(folder, 'config'),
      kubeconfig({ cluster: 'insecure-skip-tls-verify: true', user: 'tokenFile: token' }),
    );

    const credentials = await loadTrustedKubeconfig(join(folder, 'config'), { clock: fakeClock() });

    expect(credentials).toMatchObject({ server: 'https://api.example.test:6443', namespace: 'shop' });
    expect(await credentials.material()).toEqual({
      headers: { authorization: 'Bearer from-file' },
      tls: { rejectUnauthorized: false },
    });
  });

  it('runs programs only when told so', async () => {
    await writeFile(join(folder, 'config'), kubeconfig({ user: 'exec: {command: node}' }));
    const path = join(folder, 'config');

    await expect(loadTrustedKubeconfig(path, { clock: fakeClock() })).rejects.toMatchObject({
      reason: 'KubeConfigExecNotAllowed',
    });
    await expect(loadTrustedKubeconfig(path, { clock: fakeClock(), allowExec: true })).resolves.toMatchObject({
      namespace: 'shop',
    });
  });

  it('says which file cannot be read', async () => {
    await expect(loadTrustedKubeconfig(join(folder, 'none'), { clock: fakeClock() })).rejects.toMatchObject({
      reason: 'KubeConfigInvalid',
      message: expect.stringContaining(`${join(folder, 'none')}: cannot be read (ENOENT)`),
    });
  });
});
