import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Collection, ResourceType } from '@gitops-reverser/kernel-api';
import { apiStub, endMark, inOrder } from './api-stub.fixture.js';
import { follow, shopMaps } from './following.fixture.js';

/** As kube-apiserver 1.36 said it. */
const recorded = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, '..', '..', 'fixtures', 'watch', `${name}.jsonl`), 'utf8');
const of = (kind: string, resource: string, group = ''): Collection => {
  const type: ResourceType = { group, version: 'v1', resource, kind, namespaced: kind !== 'Namespace' };
  return { target: shopMaps.target, type };
};

describe('recorded watches', () => {
  it('a WatchList and the life of four ConfigMaps', async () => {
    const lines = await recorded('watchlist-configmaps');
    await using stub = await apiStub(inOrder((reply) => void reply.say(lines)));
    await using following = follow(stub.url);

    const told = [...(await following.until('progress@32135')), await following.next()];

    expect(told).toEqual([
      'snapshot-begin',
      'upsert one@32121 snapshot',
      'snapshot-end@32121',
      'streaming',
      'upsert two@32122 live',
      'upsert two@32123 live',
      'upsert two@32124 live',
      'upsert two@32125 live',
      'upsert three@32126 live',
      'upsert three@32127 live',
      'upsert four@32129 live',
      'deletion two@32130',
      'upsert one@32131 live',
      'deletion one@32132',
      'progress@32133',
      'deletion four@32134',
      'deletion three@32135',
      'progress@32135',
      'progress@32135',
    ]);
  });

  it.each([
    ['f-dep', of('Deployment', 'deployments', 'apps'), ['upsert d@1747 live', 'deletion d@1749'], '1761'],
    ['f-pod', of('Pod', 'pods'), [expect.stringMatching(/^upsert d-/), expect.stringMatching(/^deletion d-/)], '1754'],
  ])('EV-2: a foreground deletion is one removal: %s', async (name, collection, expected, last) => {
    const lines = await recorded(name);
    await using stub = await apiStub(inOrder((reply) => void reply.say(endMark('1'), lines)));
    await using following = follow(stub.url, { collection });
    await following.until('streaming');

    const told = await following.until(`progress@${last}`);

    expect(told.filter((line) => !line.startsWith('progress'))).toEqual(expected);
  });

  it('a namespace that was terminating when it was listed is no member; what is seen of its end is one removal', async () => {
    const lines = (await recorded('f-ns')).split('\n').filter((line) => line !== '');
    const initial = lines.filter((line) => line.startsWith('{"type":"ADDED"'));
    const later = lines.slice(initial.length);
    await using stub = await apiStub(
      inOrder((reply) => void reply.say(`${initial.join('\n')}\n`, endMark('1763'), `${later.join('\n')}\n`)),
    );
    await using following = follow(stub.url, { collection: of('Namespace', 'namespaces') });

    const told = await following.until('progress@1771');

    expect(told.filter((line) => /\bf@/.test(line))).toEqual(['deletion f@1770']);
    expect(told.filter((line) => line.endsWith('snapshot'))).toHaveLength(7);
  });

  it.each([
    ['error-expired', /^trouble ExpiredResourceVersion/],
    ['error-too-large', /^trouble WatchError: .*Too large resource version/],
  ])('%s', async (name, trouble) => {
    const line = await recorded(name);
    await using stub = await apiStub(inOrder((reply) => reply.say(endMark('1'), line).end()));
    await using following = follow(stub.url);

    expect((await following.until(/^trouble/)).at(-1)).toMatch(trouble);
  });
});
