import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { echoOf, type JsonObject, type KubeObject } from '@gitops-reverser/kernel-api';
import { openChain, type Chain } from './default-chain.fixture.js';
import { BUILT_IN } from './plugins.js';

let chain: Chain;
beforeAll(async () => {
  chain = await openChain();
});
afterAll(() => chain[Symbol.asyncDispose]());

const anObject = (metadata: JsonObject, more: JsonObject = {}): KubeObject =>
  ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', ...metadata }, ...more }) as KubeObject;
function kept(object: KubeObject): KubeObject {
  const sanitized = chain.sanitize(object);
  if (sanitized.kind !== 'keep') throw new Error(`dropped: ${sanitized.reason}`);
  return sanitized.object;
}

describe('10, PL-3: the default set', () => {
  it('is named in the order in which it runs', () => {
    expect(Object.keys(BUILT_IN).map((name) => name.replace('@gitops-reverser/plugin-', ''))).toEqual([
      'kubernetes',
      'kcp',
      'plain',
      'flux',
      'argocd',
    ]);
  });

  it.each(Object.entries(BUILT_IN))('%s says of itself what its package says', (name, { manifest }) => {
    const folder = join(import.meta.dirname, '../../../plugins', name.replace('@gitops-reverser/plugin-', ''));
    const { gitopsReverser } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;

    expect(gitopsReverser).toEqual(manifest);
  });

  it('begins with the provenance gate, which needs the live object, wherever the list names it', async () => {
    await using turned = await openChain({
      plugins: ['flux', 'kubernetes', 'plain'].map((id) => ({ use: `@gitops-reverser/plugin-${id}` })),
    });
    const object = anObject({ labels: { 'helm.toolkit.fluxcd.io/name': 'shop' } });

    expect(turned.sanitize(object, { include: [], exclude: ['release-owned'] })).toEqual({
      kind: 'drop',
      reason: 'release-owned',
    });
    expect(turned.sanitize(object)).toMatchObject({ kind: 'keep', object: { metadata: { name: 'web' } } });
    expect(turned.sanitize(object)).not.toHaveProperty('object.metadata.labels');
  });
});

describe('20, 3.3 and 3.4: what the whole chain leaves', () => {
  it('FC-SAN-7: bookkeeping keys go, intent keys stay', () => {
    const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-05-05T10:00:00Z' } } };
    const object = anObject(
      {
        labels: {
          'app.kubernetes.io/instance': 'web',
          'app.kubernetes.io/managed-by': 'kustomize-v5',
          'kustomize.toolkit.fluxcd.io/name': 'apps',
          'helm.toolkit.fluxcd.io/name': 'shop',
          'resourceset.fluxcd.controlplane.io/namespace': 'flux-system',
          'kro.run/owned': 'true',
        },
        annotations: {
          'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/web',
          'argocd.argoproj.io/sync-wave': '3',
          'argocd.argoproj.io/sync-options': 'Prune=false',
          'kubectl.kubernetes.io/default-container': 'main',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          'deployment.kubernetes.io/revision': '12',
          'kcp.io/cluster': 'ab12',
          'kcp.io/path': 'root:x',
          'kustomize.toolkit.fluxcd.io/checksum': '9',
          'kustomize.toolkit.fluxcd.io/prune': 'disabled',
        },
      },
      { spec: { template } },
    );

    expect(Object.fromEntries(Object.entries(kept(object)))).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        labels: { 'app.kubernetes.io/instance': 'web' },
        annotations: {
          'argocd.argoproj.io/sync-wave': '3',
          'argocd.argoproj.io/sync-options': 'Prune=false',
          'kubectl.kubernetes.io/default-container': 'main',
          'kcp.io/path': 'root:x',
          'kustomize.toolkit.fluxcd.io/prune': 'disabled',
        },
      },
      spec: { template },
    });
  });

  it.each<{ what: string; metadata: JsonObject; more: JsonObject; kind: string }>([
    { what: 'as its namespace was given it', metadata: {}, more: {}, kind: 'drop' },
    {
      what: 'that only bookkeeping was added to',
      metadata: {
        labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' },
        annotations: { 'argocd.argoproj.io/tracking-id': 'x', 'kcp.io/cluster': 'ab12' },
      },
      more: { secrets: [{ name: 'default-token-x7z' }] },
      kind: 'drop',
    },
    {
      what: 'with a key of its own',
      metadata: { annotations: { 'argocd.argoproj.io/sync-wave': '1' } },
      more: {},
      kind: 'keep',
    },
    { what: 'with a pull secret', metadata: {}, more: { imagePullSecrets: [{ name: 'registry' }] }, kind: 'keep' },
  ])('20, 2.2: a default service account $what', ({ metadata, more, kind }) => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', ...metadata }, ...more };

    expect(chain.sanitize(account as KubeObject).kind).toBe(kind);
  });

  it('20, 3.6: what is echoed passes every sanitizer', () => {
    const object = anObject({ finalizers: ['a.test/f'], labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } });

    expect(echoOf(kept(object))).toEqual({ finalizers: ['a.test/f'] });
  });

  it('20, 7.2: a placement template may read no label that one of the plugins strips', () => {
    const { stripRules } = chain.kernel.registry;

    for (const key of [
      'kustomize.toolkit.fluxcd.io/name',
      'helm.toolkit.fluxcd.io/name',
      'applyset.kubernetes.io/id',
      'kro.run/x',
    ])
      expect(stripRules.strippedBy('labels', key)).toBeDefined();
    for (const key of ['app.kubernetes.io/instance', 'app.kubernetes.io/managed-by', 'helm.sh/chart', 'team'])
      expect(stripRules.strippedBy('labels', key)).toBeUndefined();
  });
});
