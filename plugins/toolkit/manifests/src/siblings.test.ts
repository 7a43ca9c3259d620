import { memoryFolder, type FileContents } from '@gitops-reverser/kernel-testing';
import fc from 'fast-check';
import { canonicalPlacement, FolderCache, placeAll, readFolder, type Placement } from './index.js';

const kinds = {
  configmaps: ['v1', 'ConfigMap'],
  services: ['v1', 'Service'],
  deployments: ['apps/v1', 'Deployment'],
  gitrepositories: ['source.toolkit.fluxcd.io/v1', 'GitRepository'],
  clusterroles: ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
} as const;
type Resource = keyof typeof kinds;

/** `resource namespace/name`, or `resource name` of a cluster-scoped type. */
function manifest(what: string): string {
  const { kind, apiVersion, namespace, name } = described(what);
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n${namespace === undefined ? '' : `  namespace: ${namespace}\n`}`;
}
function described(what: string) {
  const [resource = '', title = ''] = what.split(' ') as [Resource, string];
  const [apiVersion, kind] = kinds[resource as Resource];
  const [namespace, name] = title.includes('/') ? title.split('/') : [undefined, title];
  return { resource, apiVersion, kind, namespace, name: name ?? '' };
}

function place(store: Readonly<Record<string, string>>, ...fresh: readonly string[]): readonly Placement[] {
  const files: FileContents = Object.fromEntries(
    Object.entries(store).map(([path, what]) => [
      path,
      path === '.gittargetignore' ? what : what.split(' + ').map(manifest).join('---\n'),
    ]),
  );
  const subjects = fresh.map((what) => {
    const { resource, apiVersion, kind, namespace, name } = described(what);
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
    const ref = { group, version: 'v1', resource, kind, name, ...(namespace === undefined ? {} : { namespace }) };
    return { ref, labels: {}, sensitive: false };
  });
  return placeAll(subjects, canonicalPlacement, readFolder(memoryFolder(files), new FolderCache())).map((answer) => {
    if (!answer.ok) throw new Error(answer.error.message);
    return answer.value;
  });
}
const pathOf = (store: Readonly<Record<string, string>>, fresh: string): string => place(store, fresh)[0]?.path ?? '';

describe('20, 7.5: the table', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, string, string])[] = [
    [
      'a: same type, same namespace',
      { 'teams/plum/configmaps/a.yaml': 'configmaps plum/a' },
      'configmaps plum/b',
      'teams/plum/configmaps/b.yaml',
    ],
    [
      'b: the namespace is replaced',
      { 'teams/plum/configmaps/a.yaml': 'configmaps plum/a' },
      'configmaps fig/b',
      'teams/fig/configmaps/b.yaml',
    ],
    [
      'a directory of one other namespace',
      { 'configs/a.yaml': 'configmaps plum/a' },
      'configmaps fig/b',
      'fig/configmaps/b.yaml',
    ],
    [
      'a: with the namespace in the file name',
      { 'configs/plum-a.yaml': 'configmaps plum/a', 'configs/fig-a.yaml': 'configmaps fig/a' },
      'configmaps fig/b',
      'configs/fig-b.yaml',
    ],
    [
      'a misplaced sibling is not followed',
      {
        'plum/gitrepositories/infra.yaml': 'gitrepositories plum/infra',
        'plum/gitrepositories/x.yaml': 'gitrepositories fig/x',
      },
      'gitrepositories fig/infra',
      'fig/source.toolkit.fluxcd.io/gitrepositories/infra.yaml',
    ],
    [
      'c: one directory for several types',
      { 'plum/all/dep.yaml': 'deployments plum/web', 'plum/all/svc.yaml': 'services plum/web' },
      'configmaps plum/c',
      'plum/all/c.yaml',
    ],
    ['a: cluster-scoped', { 'shared/roles/r1.yaml': 'clusterroles r1' }, 'clusterroles r2', 'shared/roles/r2.yaml'],
    [
      'a cluster-scoped object stays out of a namespace',
      { 'plum/x.yaml': 'clusterroles r1', 'plum/y.yaml': 'configmaps plum/why' },
      'clusterroles r2',
      '_cluster/rbac.authorization.k8s.io/clusterroles/r2.yaml',
    ],
    [
      'd: a directory per type',
      { 'apps/deployments/web.yaml': 'deployments plum/web', 'apps/services/web.yaml': 'services plum/web' },
      'configmaps plum/c',
      'apps/configmaps/c.yaml',
    ],
    [
      'd: not when one lies elsewhere',
      { 'apps/deployments/web.yaml': 'deployments plum/web', 'other/svc.yaml': 'services plum/web' },
      'configmaps plum/c',
      'plum/configmaps/c.yaml',
    ],
    [
      'd: canonical places are no convention of their own: the core group first',
      { 'plum/configmaps/a.yaml': 'configmaps plum/a' },
      'deployments plum/web',
      'plum/apps/deployments/web.yaml',
    ],
    [
      'd: canonical places are no convention of their own: another group first',
      { 'plum/apps/deployments/web.yaml': 'deployments plum/web' },
      'configmaps plum/a',
      'plum/configmaps/a.yaml',
    ],
    [
      '{kind}-{name}',
      { 'x/deployment-web.yaml': 'deployments plum/web', 'x/deployment-db.yaml': 'deployments plum/db' },
      'deployments plum/api',
      'x/deployment-api.yaml',
    ],
    [
      '{name}-{resource}',
      { 'x/web-deployments.yaml': 'deployments plum/web' },
      'deployments plum/api',
      'x/api-deployments.yaml',
    ],
    [
      '.yml where all use it',
      { 'x/a.yml': 'configmaps plum/a', 'x/b.yml': 'configmaps plum/b' },
      'configmaps plum/c',
      'x/c.yml',
    ],
    [
      '.yaml where some use it',
      { 'x/a.yml': 'configmaps plum/a', 'x/b.yaml': 'configmaps plum/b' },
      'configmaps plum/c',
      'x/c.yaml',
    ],
    [
      'bundles are no evidence',
      { 'x/all.yaml': 'configmaps plum/a + services plum/a' },
      'configmaps plum/c',
      'plum/configmaps/c.yaml',
    ],
    [
      'an occupied place is not joined',
      { 'x/a.yaml': 'configmaps plum/a', 'x/b.yaml': 'services fig/z' },
      'configmaps plum/b',
      'plum/configmaps/b.yaml',
    ],
    [
      'FC-PLC-4: never under the tenant of a namesake',
      { 'tenants/a/configmaps/infra.yaml': 'configmaps a/infra' },
      'configmaps b/infra',
      'tenants/b/configmaps/infra.yaml',
    ],
    [
      "the root is nobody's",
      { 'web.yaml': 'deployments plum/web', 'fig.yaml': 'deployments fig/f' },
      'deployments plum/api',
      'api.yaml',
    ],
  ];

  it.each<(typeof rows)[number]>([
    [
      'b: one shape, whatever the segments are called',
      { 'plum/fig/a.yaml': 'configmaps plum/a', 'fig/pear/b.yaml': 'configmaps pear/b' },
      'configmaps fig/c',
      'fig/configmaps/c.yaml',
    ],
    [
      'b: a namespace named twice shows no shape',
      { 'plum/plum/a.yaml': 'configmaps plum/a' },
      'configmaps fig/c',
      'fig/configmaps/c.yaml',
    ],
    [
      'b: a namespace that is called like a device',
      { 'teams/plum/a.yaml': 'configmaps plum/a' },
      'configmaps aux/a',
      'teams/%61ux/a.yaml',
    ],
    [
      'a, b: its directory is known again',
      { 'teams/%61ux/a.yaml': 'configmaps aux/a' },
      'configmaps fig/a',
      'teams/fig/a.yaml',
    ],
    [
      'its directory is its own',
      { 'x/%61ux/a.yaml': 'configmaps aux/a', 'x/%61ux/r.yaml': 'clusterroles r' },
      'clusterroles s',
      '_cluster/rbac.authorization.k8s.io/clusterroles/s.yaml',
    ],
    [
      'c: a directory that holds another type beside those of the namespace',
      { 'all/web.yaml': 'deployments plum/web', 'all/r.yaml': 'clusterroles r' },
      'configmaps plum/c',
      'all/c.yaml',
    ],
    [
      'c: not when there is one type alone',
      { 'all/web.yaml': 'deployments plum/web', 'all/db.yaml': 'deployments plum/db' },
      'configmaps plum/c',
      'plum/configmaps/c.yaml',
    ],
    [
      'c, d: what lost its namespace says nothing about cluster-scoped objects',
      { 'all/web.yaml': 'deployments web', 'all/svc.yaml': 'services web' },
      'clusterroles r',
      '_cluster/rbac.authorization.k8s.io/clusterroles/r.yaml',
    ],
    [
      '{namespace}-{name}, {kind} of a cluster-scoped object',
      { 'x/clusterrole-a.yaml': 'clusterroles a', 'x/clusterrole-b.yaml': 'clusterroles b' },
      'clusterroles c',
      'x/clusterrole-c.yaml',
    ],
    [
      'a pattern is seen through encoded names',
      { 'x/clusterrole-a.yaml': 'clusterroles a', 'x/clusterrole-system%3Ab.yaml': 'clusterroles "system:b"' },
      'clusterroles c:d',
      'x/clusterrole-c%3Ad.yaml',
    ],
    [
      'one file that fits no pattern leaves the name alone',
      { 'x/deployment-web.yaml': 'deployments plum/web', 'x/other.yaml': 'deployments plum/db' },
      'deployments plum/api',
      'x/api.yaml',
    ],
    [
      'a directory that we would have to spell in another way is not joined',
      { 'x./a.yaml': 'configmaps plum/a' },
      'configmaps plum/b',
      'plum/configmaps/b.yaml',
    ],
    [
      'an ignored place is not used',
      { 'x/a.yaml': 'configmaps plum/a', '.gittargetignore': 'x/b.yaml' },
      'configmaps plum/b',
      'plum/configmaps/b.yaml',
    ],
    [
      'a namespace named like a resource',
      { 'configmaps/a.yaml': 'configmaps plum/a', 'services/s.yaml': 'services configmaps/s' },
      'configmaps plum/b',
      'plum/configmaps/b.yaml',
    ],
  ])('%s', (_, store, fresh, path) => {
    expect(pathOf(store, fresh)).toBe(path);
  });

  it('a place that differs in case from a file is set apart by a hash', () => {
    expect(pathOf({ 'x/reader.yaml': 'clusterroles reader' }, 'clusterroles Reader')).toMatch(
      /^x\/Reader-[0-9a-f]{8}\.yaml$/,
    );
  });

  it('names that had to be cut do not hide a pattern', () => {
    const long = 'n'.repeat(230);
    const [first] = place({ 'x/deployment-a.yaml': 'deployments plum/a' }, `deployments plum/${long}`);
    const store = { 'x/deployment-a.yaml': 'deployments plum/a', [first?.path ?? '']: `deployments plum/${long}` };

    expect(first?.path).toMatch(/^x\/deployment-n{169}-[0-9a-f]{12}\.yaml$/);
    expect(pathOf(store, 'deployments plum/b')).toBe('x/deployment-b.yaml');
  });

  it('no sibling takes the canonical path of another new object', () => {
    const store = {
      'plum/services/dep.yaml': 'deployments plum/dep',
      'plum/services/svc.yaml': 'gitrepositories plum/g',
    };

    const paths = place(store, 'configmaps plum/web', 'services plum/web').map(({ path }) => path);

    expect(new Set(paths).size).toBe(2);
  });

  it.each(rows)('%s', (_, store, fresh, path) => {
    expect(pathOf(store, fresh)).toBe(path);
  });

  it('is explainable: step, evidence, guard', () => {
    expect(place({ 'x/a.yaml': 'configmaps plum/a' }, 'configmaps plum/b')[0]).toMatchObject({
      source: 'sibling',
      inference: { step: 'a', evidenceCount: 1 },
    });
    expect(
      place({ 'plum/x.yaml': 'clusterroles r1', 'plum/y.yaml': 'configmaps plum/why' }, 'clusterroles r2')[0],
    ).toMatchObject({
      source: 'canonical',
      inference: { step: 'a', guard: 'foreign-directory' },
    });
  });

  it('two new objects that want one place do not share it, whichever comes first', () => {
    const store = { 'all/dep.yaml': 'deployments plum/a', 'all/svc.yaml': 'services plum/a' };
    const fresh = ['configmaps plum/web', 'gitrepositories plum/web'];

    const forward = place(store, ...fresh).map(({ path }) => path);
    expect(
      place(store, ...[...fresh].reverse())
        .map(({ path }) => path)
        .reverse(),
    ).toEqual(forward);
    expect(new Set(forward).size).toBe(2);
  });
});

describe('20, I8: whatever the folder holds', () => {
  const namespaces = ['plum', 'fig', 'apps'];
  const segments = ['plum', 'fig', 'apps', 'x', 'configmaps', 'services'];
  const resources = ['configmaps', 'services', 'deployments'];
  const entries = fc.array(
    fc.record({
      directory: fc.array(fc.constantFrom(...segments), { maxLength: 3 }),
      resource: fc.constantFrom(...resources),
      namespace: fc.constantFrom(...namespaces),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
    }),
    { maxLength: 8 },
  );

  it('a new document is never put into a directory named after another namespace', () => {
    fc.assert(
      fc.property(
        entries,
        fc.constantFrom(...resources),
        fc.constantFrom(...namespaces),
        (existing, resource, namespace) => {
          const store: Record<string, string> = {};
          const taken = new Set<string>();
          for (const { directory, resource: of, namespace: where, name } of existing) {
            const path = [...directory, `${name}.yaml`].join('/');
            const what = `${of} ${where}/${name}`;
            if (path in store || taken.has(what)) continue;
            store[path] = what;
            taken.add(what);
          }
          const [placed] = place(store, `${resource} ${namespace}/new`);
          if (placed?.source !== 'sibling') return;
          const present = new Set(Object.values(store).map((what) => described(what).namespace));
          const strangers = placed.path
            .split('/')
            .slice(0, -1)
            .filter((each) => each !== namespace && present.has(each));
          expect(strangers).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
