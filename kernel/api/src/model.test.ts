import { branchId, clusterId, commitSha, targetId } from './ids.js';
import { collectionKey, refKey, refOf, type Collection, type ResourceType } from './model.js';
import { summarize } from './refusal.js';

const deployments: ResourceType = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
const target = targetId('demo', 'app');

describe('identities', () => {
  it.each<{ collection: Collection; key: string }>([
    { collection: { target, type: deployments }, key: 'demo/app:apps/deployments:*' },
    { collection: { target, type: deployments, namespace: 'prod' }, key: 'demo/app:apps/deployments:prod' },
    {
      collection: { target, type: { ...deployments, version: 'v2' }, namespace: 'prod', labelSelector: 'a=b' },
      key: 'demo/app:apps/deployments:prod?a=b',
    },
  ])('a collection is $key, whatever version is served', ({ collection, key }) => {
    expect(collectionKey(collection)).toBe(key);
  });

  it('an object is its group, resource, namespace and name', () => {
    const ref = refOf(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'prod' },
    });
    const global = refOf(
      { ...deployments, namespaced: false },
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
    );

    expect([refKey(ref), refKey(global), 'namespace' in global]).toEqual([
      'apps/deployments/prod/web',
      'apps/deployments//web',
      false,
    ]);
  });

  it('configuration objects are named by namespace and name', () => {
    expect([clusterId('prod'), branchId('demo', 'main'), target]).toEqual(['prod', 'demo/main', 'demo/app']);
  });

  it.each(['', 'abc', 'G'.repeat(40), 'A'.repeat(40), 'a'.repeat(41), 'a'.repeat(64)])(
    '%j is no commit id, and is not repeated in the error',
    (text) => {
      expect(() => commitSha(text)).toThrow('40 lower-case hex digits');
    },
  );
});

describe('summarize', () => {
  const refusals = ['b', 'a', 'c'].map((path) => ({ code: 'duplicate', path, message: `${path}: twice` }));

  it('gives equal texts for equal problems in any order', () => {
    expect([summarize(refusals), summarize([...refusals].reverse())]).toEqual([
      'a: twice and 2 more',
      'a: twice and 2 more',
    ]);
  });

  it('says one problem as it is, and nothing for none', () => {
    expect([summarize(refusals.slice(0, 1)), summarize([])]).toEqual(['b: twice', '']);
  });
});
