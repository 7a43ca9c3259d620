import type { KubeObject } from '@gitops-reverser/kernel-api';
import { FolderCache, readFolder } from '@gitops-reverser/toolkit-manifests';
import { memoryFolder } from '@gitops-reverser/kernel-testing';
import fc from 'fast-check';
import { applied, isValidOnWindows, refTo, removal, upsert, type Files } from './applied.fixture.js';

const kinds = [
  ['v1', 'ConfigMap'],
  ['v1', 'Service'],
  ['apps/v1', 'Deployment'],
  ['db.example.test/v1', 'Cluster'],
  ['fleet.example.test/v1', 'Cluster'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
] as const;
const names = ['a', 'b', 'A', 'aux', 'db.sops', '.git', 'team.', 'sys:x', 'é', 'e\u0301', 'a b', '"', 'n'.repeat(253)];
const namespaces = ['plum', 'fig', 'con', 'configmaps'];

const objects = fc
  .record({
    type: fc.constantFrom(...kinds),
    namespace: fc.constantFrom(...namespaces),
    name: fc.constantFrom(...names),
    team: fc.constantFrom(undefined, '', 'red', 'blue.'),
    value: fc.constantFrom('one', 'two', 'yes', '3'),
  })
  .map(({ type: [apiVersion, kind], namespace, name, team, value }): KubeObject => {
    const labels = team === undefined ? {} : { labels: { team } };
    const where = kind === 'ClusterRole' ? {} : { namespace };
    return { apiVersion, kind, metadata: { name, ...where, ...labels }, data: { value } };
  });
const idOf = (object: KubeObject): string => {
  const { group, kind, namespace, name } = refTo(object);
  return [group, kind, namespace, name].join('/');
};
const batches = fc.array(fc.uniqueArray(objects, { selector: idOf, maxLength: 8 }), { minLength: 1, maxLength: 4 });
const placements = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  { 'v1/configmaps': '{namespace}.yaml' },
  {
    'apps/v1/deployments': '{label:team|none}/{namespace}/{name}.yml',
    'v1/services': '{namespace}/configmaps/{name}.yaml',
  },
);
const seeds = fc.constantFrom<Files>(
  {},
  { 'README.md': '# ours\n' },
  { 'teams/plum/cm-x.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: plum}\n' },
  {
    'plum/all/service-x.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: x, namespace: plum}\n',
    'plum/all/deployment-x.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, namespace: plum}\n',
  },
  { 'fig.yaml': '# only a comment\n' },
);

/** Each object of the folder, and the file that holds it. */
function inventory(files: Files): ReadonlyMap<string, readonly string[]> {
  const held = new Map<string, string[]>();
  for (const { identity, path } of readFolder(memoryFolder(files), new FolderCache()).documents) {
    const id = [identity.group, identity.kind, identity.namespace, identity.name].join('/');
    held.set(id, [...(held.get(id) ?? []), path]);
  }
  return held;
}

it('20, 7: batch after batch, every object is found exactly once where it was put, and a second run changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(seeds, placements, batches, async (seed, byType, rounds) => {
      const settings = { placement: { byType, useKustomize: false } };
      let files: Files = seed;
      const live = new Map<string, KubeObject>();
      const homes = new Map<string, string>();
      for (const round of rounds) {
        const { files: after, refusals } = await applied(files, round.map(upsert), settings);
        round.forEach((object, at) => {
          const refusal = refusals[at];
          if (refusal === undefined) live.set(idOf(object), object);
          // The one thing that can go wrong here: a declared path took the canonical place of another object.
          else expect([refusal.code, byType['v1/services']]).toEqual(['unclassified', expect.any(String)]);
        });
        const held = inventory(after);
        for (const id of live.keys()) {
          const paths = held.get(id);
          expect([id, paths]).toEqual([id, [homes.get(id) ?? paths?.[0]]]);
          homes.set(id, paths?.[0] ?? '');
        }
        expect(Object.keys(after).filter((path) => !(path in seed) && !isValidOnWindows(path))).toEqual([]);
        const folded = Object.keys(after).map((path) => path.normalize('NFC').toLowerCase());
        expect(new Set(folded).size).toBe(folded.length);
        const again = await applied(after, [...live.values()].map(upsert), settings);
        expect(again.files).toEqual(after);
        files = after;
      }
      const emptied = await applied(files, [...live.values()].map(removal), settings);
      expect(emptied.refusals.filter((each) => each !== undefined)).toEqual([]);
      expect([...inventory(emptied.files).keys()].filter((id) => live.has(id))).toEqual([]);
    }),
    { numRuns: 80 },
  );
}, 60_000);
