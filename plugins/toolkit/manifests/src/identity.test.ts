import { describeDocument, documentKey, key, parseApiVersion } from './index.js';

describe('identities', () => {
  it.each([
    [
      { group: 'apps', version: 'v1', resource: 'deployments', namespace: 'orchard', name: 'api' },
      'apps/v1/deployments/orchard/api',
    ],
    [{ group: '', version: 'v1', resource: 'secrets', namespace: 'orchard', name: 'db' }, '/v1/secrets/orchard/db'],
    [
      { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles', name: 'reader' },
      'rbac.authorization.k8s.io/v1/clusterroles/reader',
    ],
    [{ group: '', version: 'v1', resource: 'nodes', name: 'n1' }, '/v1/nodes/n1'],
  ])('key of %o', (ref, expected) => {
    expect(key(ref)).toBe(expected);
  });

  it('a document has no version and no namespace it does not state', () => {
    const web = { ...parseApiVersion('apps/v1'), kind: 'Deployment', name: 'web' };

    expect(documentKey(web)).toBe(documentKey({ ...web, ...parseApiVersion('apps/v1beta1') }));
    expect(documentKey(web)).not.toBe(documentKey({ ...web, namespace: 'shop' }));
    expect([describeDocument(web), describeDocument({ ...web, namespace: 'shop' })]).toEqual([
      'Deployment web',
      'Deployment shop/web',
    ]);
  });
});
