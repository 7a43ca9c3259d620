import { readFile } from 'node:fs/promises';

import { startControlPlane } from './control-plane.js';
import type { ControlPlane } from './control-plane.js';
import { tempDir } from './processes.js';
import type { TempDir } from './processes.js';
import { resolveServerBinaries } from './server-binaries.js';

// Run with the end-to-end stories: a unit run starts no servers.
const binaries = await resolveServerBinaries({ build: false });
const real = binaries.status === 'available' ? describe : describe.skip;

real(`a real control plane${binaries.status === 'available' ? '' : ` (${binaries.reason})`}`, () => {
  let dir: TempDir;
  let plane: ControlPlane;
  beforeAll(async () => {
    dir = await tempDir('control-plane');
    plane = await startControlPlane({
      dir: dir.path,
      binaries: binaries.status === 'available' ? binaries.paths : {},
      users: [{ name: 'carol' }],
    });
  }, 90_000);
  afterAll(async () => {
    await plane.stop();
    await dir[Symbol.asyncDispose]();
  });

  it('is ready, with its version and the namespace default', async () => {
    const { body } = await plane.request('/version');

    expect(JSON.parse(body)).toMatchObject({ gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/) as string });
    expect(await plane.kubectl().run(['get', 'namespace', 'default', '-o', 'name'])).toBe('namespace/default\n');
  }, 30_000);

  it('knows its users by their kubeconfigs and refuses what they may not do', async () => {
    const whoami = await plane
      .kubectl('alice')
      .run(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username} {.status.userInfo.groups}']);
    const refused = await plane.kubectl('bob').try(['get', 'secrets']);

    expect(whoami).toBe('alice ["developers","system:authenticated"]');
    expect(refused.stderr).toContain('User "bob" cannot list resource "secrets"');
    expect(() => plane.kubeconfigFile('mallory')).toThrow(
      'this control plane has no user mallory; it has admin, alice, bob, carol',
    );
  }, 30_000);

  it('keeps objects over a restart of the API server, and expires older versions of a watch', async () => {
    await plane.kubectl().run(['create', 'configmap', 'kept', '--from-literal=a=b']);
    const { metadata } = await plane.kubectl().get<{ metadata: { resourceVersion: string } }>('configmap', 'kept');
    await plane.kubectl().run(['label', 'configmap', 'kept', 'is=newer']);

    await plane.restartApiServer();

    const { body } = await plane.request(
      `/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=2&resourceVersion=${metadata.resourceVersion}`,
    );
    expect(JSON.parse(body)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(await plane.kubectl().get('configmap', 'kept')).toMatchObject({
      data: { a: 'b' },
      metadata: { labels: { is: 'newer' } },
    });
  }, 60_000);

  it('gives kubectl errors in the words of kubectl', async () => {
    await expect(plane.kubectl().run(['get', 'configmap', 'nothing'])).rejects.toThrow(
      'kubectl get configmap nothing failed (1): Error from server (NotFound): configmaps "nothing" not found',
    );
  }, 30_000);

  it('serves many small requests through a proxy', async () => {
    await using proxy = await plane.kubectl('alice').proxy();

    const answer = await fetch(`${proxy.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
    });

    expect(await answer.json()).toMatchObject({ status: { userInfo: { username: 'alice' } } });
  }, 30_000);

  it('writes what its servers say into files', async () => {
    const log = await readFile(`${dir.path}/logs/kube-apiserver.log`, 'utf8');

    expect(log).toContain('Serving securely on 127.0.0.1');
  });
});

it('says which binary is missing', async () => {
  await using dir = await tempDir('control-plane');

  await expect(startControlPlane({ dir: dir.path, binaries: {} })).rejects.toThrow(
    'the control plane needs etcd: ask resolveServerBinaries for it',
  );
});
