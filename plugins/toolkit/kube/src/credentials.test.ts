import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeClock } from '@gitops-reverser/kernel-testing';
import { inClusterCredentials, kubeconfigCredentials } from './credentials.js';
import type { CheckedKubeconfig } from './kubeconfig.js';

const checked = (
  user: Partial<CheckedKubeconfig['user']>,
  cluster: Partial<CheckedKubeconfig> = {},
): CheckedKubeconfig => ({
  server: 'https://api.example.test',
  insecureSkipTlsVerify: false,
  readsFiles: false,
  ...cluster,
  user: { asGroups: [], ...user },
});

it.each([
  { name: 'token', user: { token: 't0ken' }, headers: { authorization: 'Bearer t0ken' } },
  { name: 'basic', user: { username: 'ann', password: 'a:b' }, headers: { authorization: 'Basic YW5uOmE6Yg==' } },
  {
    name: 'impersonation with its groups, which client-node leaves out',
    user: { token: 't', as: 'bob', asGroups: ['dev', 'ops'] },
    headers: { authorization: 'Bearer t', 'impersonate-user': 'bob', 'impersonate-group': ['dev', 'ops'] },
  },
])('authenticates by $name', async ({ user, headers }) => {
  const material = await kubeconfigCredentials(checked(user), fakeClock()).material();

  expect(material.headers).toEqual(headers);
});

it('keeps the certificate authority when there is no user', async () => {
  const credentials = kubeconfigCredentials(
    checked({}, { caData: Buffer.from('ca').toString('base64'), tlsServerName: 'kube' }),
    fakeClock(),
  );

  expect((await credentials.material()).tls).toEqual({ ca: Buffer.from('ca'), servername: 'kube' });
});

it('an exec program that fails is a named error without its output', async () => {
  const exec = { command: process.execPath, args: ['-e', 'console.error("s3cret"); process.exit(1)'] };

  await expect(kubeconfigCredentials(checked({ exec }), fakeClock()).material()).rejects.toMatchObject({
    reason: 'CredentialUnavailable',
    message: expect.not.stringContaining('s3cret'),
  });
});

describe('in a pod', () => {
  let root: string;
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'pod-'));
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, 'token'), 'pod-token\n');
    await writeFile(join(root, folder, 'ca.crt'), 'ca');
    await writeFile(join(root, folder, 'namespace'), 'gitops-reverser\n');
  });
  afterEach(async () => {
    delete process.env['KUBERNETES_SERVICE_HOST'];
    delete process.env['KUBERNETES_SERVICE_PORT'];
    await rm(root, { recursive: true });
  });

  it('uses the service account', async () => {
    process.env['KUBERNETES_SERVICE_HOST'] = '10.96.0.1';
    process.env['KUBERNETES_SERVICE_PORT'] = '443';

    const credentials = inClusterCredentials({ clock: fakeClock(), root });

    expect(credentials).toMatchObject({ server: 'https://10.96.0.1:443', namespace: 'gitops-reverser' });
    expect(await credentials.material()).toMatchObject({
      headers: { authorization: 'Bearer pod-token' },
      tls: { ca: Buffer.from('ca') },
    });
  });

  it('outside one says what to do', () => {
    expect(() => inClusterCredentials({ clock: fakeClock(), root })).toThrow(/run inside a pod, or name a kubeconfig/);
  });
});
