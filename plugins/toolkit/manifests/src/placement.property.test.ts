import { memoryFolder, type FileContents } from '@gitops-reverser/kernel-testing';
import fc from 'fast-check';
import {
  canonicalPlacement,
  FolderCache,
  placeAll,
  readFolder,
  validatePlacement,
  type PlacementPolicy,
  type PlacementSubject,
} from './index.js';
import { foldPath } from './path-safety.js';

const kinds = {
  configmaps: ['v1', 'ConfigMap'],
  secrets: ['v1', 'Secret'],
  services: ['v1', 'Service'],
  deployments: ['apps/v1', 'Deployment'],
  clusterroles: ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
} as const;
type Resource = keyof typeof kinds;
const resources = Object.keys(kinds) as Resource[];
const namespaces = ['plum', 'fig', 'apps', 'aux', 'configmaps'];
const names = ['a', 'b', 'A', 'plum-a', 'aux', 'db.sops', '.git', 'team.', 'sys:x', 'é', 'e\u0301', 'n'.repeat(240)];
const segments = ['plum', 'fig', 'apps', 'x', 'configmaps', 'services', 'Plum', '%61ux', 'a.yaml'];

interface Described {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
}
const described: fc.Arbitrary<Described> = fc
  .record({
    resource: fc.constantFrom(...resources),
    namespace: fc.constantFrom(...namespaces),
    name: fc.constantFrom(...names),
  })
  .map((each) => (each.resource === 'clusterroles' ? { ...each, namespace: undefined } : each));
const idOf = ({ resource, namespace, name }: Described): string => `${resource} ${namespace ?? ''}/${name}`;

const fileNames = fc.constantFrom<((of: Described) => string)[]>(
  ({ name }) => name,
  ({ name, resource }) => `${resource}-${name}`,
  ({ name, namespace }) => `${namespace ?? 'all'}-${name}`,
);
const stores = fc
  .array(
    fc.record({
      what: described,
      directory: fc.array(fc.constantFrom(...segments), { maxLength: 3 }),
      fileName: fileNames,
      extension: fc.constantFrom('.yaml', '.yml'),
    }),
    { maxLength: 8 },
  )
  .map((entries) => {
    const files = new Map<string, Described>();
    const ids = new Set<string>();
    const directories = new Set<string>();
    for (const { what, directory, fileName, extension } of entries) {
      const suffix = what.resource === 'secrets' ? `.sops${extension}` : extension;
      const path = [...directory, `${fileName(what).replace(/[^\w.-]/g, '_')}${suffix}`].join('/');
      const above = parentsOf(path);
      if (files.has(path) || ids.has(idOf(what)) || directories.has(path)) continue;
      if (above.some((each) => files.has(each))) continue;
      files.set(path, what);
      ids.add(idOf(what));
      for (const each of above) directories.add(each);
    }
    return files;
  });

/** Every directory above, the root left out, the nearest first. */
function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('/'));
}

function manifest({ resource, namespace, name }: Described): string {
  const [apiVersion, kind] = kinds[resource];
  const where = namespace === undefined ? '' : `, namespace: ${namespace}`;
  const sops = resource === 'secrets' ? 'sops: {mac: x}\n' : '';
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: "${name}"${where}}\n${sops}`;
}

function toSubject({ resource, namespace, name }: Described): PlacementSubject {
  const [apiVersion, kind] = kinds[resource];
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const ref = { group, version: 'v1', resource, kind, name, ...(namespace === undefined ? {} : { namespace }) };
  return { ref, labels: { team: name }, sensitive: resource === 'secrets' };
}

const policies = fc
  .constantFrom(
    {},
    { byType: { 'v1/configmaps': '{namespace}/services/{name}.yaml' } },
    { byType: { 'v1/configmaps': '{namespace}.yaml', 'apps/v1/deployments': '{label:team}/{name}.yml' } },
    { default: '{label:team|none}/{namespace|}/{groupPath}/{resource}/{name}{sensitiveSuffix}' },
    { byType: { 'v1/secrets': '{namespace}-{name}{sensitiveSuffix}' }, default: 'all/{name}{sensitiveSuffix}' },
  )
  .map((spec): PlacementPolicy => {
    const checked = validatePlacement(spec);
    return checked.ok ? checked.value : canonicalPlacement;
  });

const place = (store: ReadonlyMap<string, Described>, batch: readonly Described[], policy = canonicalPlacement) => {
  const files: FileContents = Object.fromEntries([...store].map(([path, what]) => [path, manifest(what)]));
  return placeAll(batch.map(toSubject), policy, readFolder(memoryFolder(files), new FolderCache()));
};
const batches = (store: ReadonlyMap<string, Described>, wanted: readonly Described[]): readonly Described[] => {
  const known = new Set([...store.values()].map(idOf));
  return wanted.filter((each) => !known.has(idOf(each)));
};
const wanted = fc.uniqueArray(described, { maxLength: 8, selector: idOf });

describe('20, 7: random stores and batches', () => {
  it('I8: nothing that we choose ourselves lands in a directory of another namespace', () => {
    let followed = 0;
    fc.assert(
      fc.property(stores, wanted, (store, all) => {
        const batch = batches(store, all);
        const present = new Set([...store.values()].flatMap(({ namespace }) => namespace ?? []));
        place(store, batch).forEach((answer, at) => {
          if (!answer.ok) return;
          const { namespace } = batch[at] ?? {};
          const { path, source, inference } = answer.value;
          if (source === 'canonical') {
            const own = namespace === 'aux' ? '%61ux' : (namespace ?? '_cluster');
            expect(path.startsWith(`${own}/`)).toBe(true);
            return;
          }
          followed += 1;
          const isOwn = (segment: string | undefined): boolean =>
            namespace !== undefined && decodeURIComponent(segment ?? '') === namespace;
          const directories = parentsOf(path);
          const firstOwn = inference?.step === 'b' ? directories.findLastIndex((each) => isOwn(lastOf(each))) : -1;
          directories.forEach((directory, depth) => {
            const name = decodeURIComponent(lastOf(directory));
            expect(!isOwn(lastOf(directory)) && present.has(name)).toBe(false);
            // Above the directory that got this namespace's name lie those of all.
            if (firstOwn !== -1 && depth > firstOwn) return;
            const owners = new Set(
              [...store].filter(([each]) => each.startsWith(`${directory}/`)).flatMap(([, of]) => of.namespace ?? []),
            );
            expect(owners.size === 1 && !owners.has(namespace ?? '')).toBe(false);
          });
        });
      }),
      { numRuns: 400 },
    );
    expect(followed).toBeGreaterThan(20);
  });

  it('I10: neither the order of a batch nor a second look changes a place', () => {
    fc.assert(
      fc.property(stores, wanted, policies, fc.integer(), (store, all, policy, seed) => {
        const batch = batches(store, all);
        const shuffled = [...batch].sort((a, b) => hash(idOf(a), seed) - hash(idOf(b), seed));
        const byId = (of: readonly Described[]) => {
          const answers = place(store, of, policy);
          return Object.fromEntries(of.map((each, at) => [idOf(each), answers[at]]));
        };

        expect(byId(shuffled)).toEqual(byId(batch));
      }),
      { numRuns: 200 },
    );
  });

  it('7.3, 7.6: paths are new, valid on every system, and shared by nobody who did not declare it', () => {
    fc.assert(
      fc.property(stores, wanted, policies, (store, all, policy) => {
        const batch = batches(store, all);
        const taken = new Map([...store.keys()].map((path) => [foldPath(path), path]));
        const answers = place(store, batch, policy);
        const shared = new Map<string, boolean>();
        answers.forEach((answer, at) => {
          if (!answer.ok) return;
          const { path, source, disposition } = answer.value;
          const isOurs = source === 'sibling' || source === 'canonical';
          expect(isOurs && disposition === 'appended').toBe(false);
          expect([disposition, store.has(path)]).toEqual([disposition, disposition === 'appended']);
          const other = taken.get(foldPath(path));
          expect(other === undefined || other === path).toBe(true);
          taken.set(foldPath(path), path);
          const { resource } = batch[at] ?? {};
          if (shared.has(path)) expect(isOurs || resource === 'secrets' || shared.get(path)).toBe(false);
          shared.set(path, isOurs || resource === 'secrets');
          const known = new Set([...store.keys()].flatMap(parentsOf));
          for (const segment of path
            .split('/')
            .filter((_, depth, parts) => !known.has(parts.slice(0, depth + 1).join('/'))))
            expect(segment).not.toMatch(
              /[\\:*?"<>|\x00-\x1f]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|^\.git(?:\.|$)/i,
            );
          expect(/\.sops\.ya?ml$/.test(path) && resource !== 'secrets').toBe(false);
        });
      }),
      { numRuns: 200 },
    );
  });
});

const lastOf = (directory: string): string => directory.slice(directory.lastIndexOf('/') + 1);

function hash(text: string, seed: number): number {
  let sum = seed | 0;
  for (const char of text) sum = (Math.imul(sum, 31) + (char.codePointAt(0) ?? 0)) | 0;
  return sum;
}
