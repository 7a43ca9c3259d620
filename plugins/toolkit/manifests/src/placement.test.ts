import { createHash } from 'node:crypto';
import { type ObjectRef, type Refusal, type Result } from '@gitops-reverser/kernel-api';
import { memoryFolder } from '@gitops-reverser/kernel-testing';
import {
  canonicalPlacement,
  FolderCache,
  key,
  placeAll,
  readFolder,
  validatePlacement,
  type Placement,
  type PlacementPolicy,
  type PlacementSpec,
  type PlacementSubject,
} from './index.js';

const aRef = (overrides: Partial<ObjectRef> = {}): ObjectRef => ({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespace: 'orchard',
  name: 'press',
  ...overrides,
});
const clusterRole = (name: string): ObjectRef => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  name,
});
const aSubject = (ref: ObjectRef, labels: Record<string, string> = {}): PlacementSubject => ({
  ref,
  labels,
  sensitive: ref.resource === 'secrets',
});
const aSecret = (name: string): ObjectRef => aRef({ resource: 'secrets', kind: 'Secret', name });
const aManifest = (kind: string, name: string, namespace = 'orchard'): string =>
  `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n`;

function policyOf(spec: PlacementSpec): PlacementPolicy {
  const policy = validatePlacement(spec);
  if (!policy.ok) throw new Error(JSON.stringify(policy.error));
  return policy.value;
}
const secretsRoute = { 'v1/secrets': 'secrets/{namespace}/{name}{sensitiveSuffix}' };

function place(
  subjects: readonly PlacementSubject[],
  policy: PlacementPolicy = canonicalPlacement,
  files: Parameters<typeof memoryFolder>[0] = {},
): readonly Result<Placement, Refusal>[] {
  return placeAll(subjects, policy, readFolder(memoryFolder(files), new FolderCache()));
}
const pathOf = (...args: Parameters<typeof place>): string | undefined => {
  const [only] = place(...args);
  return only?.ok === true ? only.value.path : only?.error.code;
};
const codesOf = (...args: Parameters<typeof place>): string[] =>
  place(...args).map((answer) => (answer.ok ? `${answer.value.path} ${answer.value.disposition}` : answer.error.code));
const hex = (ref: ObjectRef, digits: number): string =>
  createHash('sha256').update(key(ref)).digest('hex').slice(0, digits);

describe('the canonical path', () => {
  it.each([
    ['a core object has no group segment', aRef(), 'orchard/configmaps/press.yaml'],
    [
      'a group is part of it',
      aRef({ group: 'apps', resource: 'deployments', kind: 'Deployment', name: 'api' }),
      'orchard/apps/deployments/api.yaml',
    ],
    ['a sensitive object is named as encrypted', aSecret('db'), 'orchard/secrets/db.sops.yaml'],
    [
      'a cluster-scoped object has its own top folder',
      clusterRole('reader'),
      '_cluster/rbac.authorization.k8s.io/clusterroles/reader.yaml',
    ],
  ])('%s', (_, ref, path) => {
    expect(place([aSubject(ref)])).toEqual([
      { ok: true, value: { path, source: 'canonical', disposition: 'new_file' } },
    ]);
  });

  it('FC-PLC-3: the same kind and name in two groups are two files', () => {
    const inGroup = (group: string): PlacementSubject =>
      aSubject(aRef({ group, resource: 'clusters', kind: 'Cluster', name: 'main' }));

    expect(codesOf([inGroup('db.example.test'), inGroup('fleet.example.test')])).toEqual([
      'orchard/db.example.test/clusters/main.yaml new_file',
      'orchard/fleet.example.test/clusters/main.yaml new_file',
    ]);
  });

  it('FC-PLC-4: lies in the directory of its own namespace, whatever a same-named object does', () => {
    const files = { 'tenants/a/configmaps/infra.yaml': aManifest('ConfigMap', 'infra', 'a') };

    expect(pathOf([aSubject(aRef({ namespace: 'b', name: 'infra' }))], canonicalPlacement, files)).toBe(
      'tenants/b/configmaps/infra.yaml',
    );
  });

  it.each([
    ['system:node-proxier', 'system%3Anode-proxier.yaml'],
    ['aux', '%61ux.yaml'],
    ['AUX.v2', '%41UX.v2.yaml'],
    ['com7', '%63om7.yaml'],
    ['com10', 'com10.yaml'],
    ['auxiliary', 'auxiliary.yaml'],
    ['team.', 'team..yaml'],
    ['a b', 'a b.yaml'],
    ['qu"ote', 'qu%22ote.yaml'],
    ['naïve', 'naïve.yaml'],
    ['50%', '50%25.yaml'],
    ['a/b\\c', 'a%2Fb%5Cc.yaml'],
    ['a*b?c<d>e|f', 'a%2Ab%3Fc%3Cd%3Ee%7Cf.yaml'],
    ['tab\tnul\u0000\u007f\u0085', 'tab%09nul%00%7F%C2%85.yaml'],
    ['kustomization', '%6Bustomization.yaml'],
    ['..', '...yaml'],
    ['con .x', '%63on .x.yaml'],
    ['LPT\u00b2', '%4CPT\u00b2.yaml'],
    ['.git', '%2Egit.yaml'],
    ['.GIT.old', '%2EGIT.old.yaml'],
    ['.gitops', '.gitops.yaml'],
    ['db.sops', 'db%2Esops.yaml'],
  ])('FC-PLC-1: the name %j becomes the file %s', (name, file) => {
    expect(pathOf([aSubject(clusterRole(name))])).toBe(`_cluster/rbac.authorization.k8s.io/clusterroles/${file}`);
  });

  it('FC-PLC-2: a name longer than file systems allow is cut and told apart by a hash', () => {
    const start = 'n'.repeat(252);
    const subjects = [
      aSecret(`${start}a`),
      aSecret(`${start}b`),
      aRef({ name: `${start}a` }),
      aRef({ name: `${'é'.repeat(120)}` }),
    ];

    const cut = 'n'.repeat(180);
    expect(codesOf(subjects.map((ref) => aSubject(ref)))).toEqual([
      `orchard/secrets/${cut}-${hex(subjects[0] as ObjectRef, 12)}.sops.yaml new_file`,
      `orchard/secrets/${cut}-${hex(subjects[1] as ObjectRef, 12)}.sops.yaml new_file`,
      `orchard/configmaps/${cut}-${hex(subjects[2] as ObjectRef, 12)}.yaml new_file`,
      `orchard/configmaps/${'é'.repeat(90)}-${hex(subjects[3] as ObjectRef, 12)}.yaml new_file`,
    ]);
  });

  it('sets names apart that differ in case or composition only', () => {
    const upper = clusterRole('Reader');
    const composed = clusterRole('caf\u00e9');
    const decomposed = clusterRole('cafe\u0301');
    const files = {
      '_cluster/rbac.authorization.k8s.io/clusterroles/reader.yaml':
        'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: reader\n',
    };

    const codes = codesOf(
      [composed, decomposed, upper].map((ref) => aSubject(ref)),
      canonicalPlacement,
      files,
    );

    const folder = '_cluster/rbac.authorization.k8s.io/clusterroles';
    expect(codes).toEqual([
      `${folder}/caf\u00e9-${hex(composed, 8)}.yaml new_file`,
      `${folder}/cafe\u0301.yaml new_file`,
      `${folder}/Reader-${hex(upper, 8)}.yaml new_file`,
    ]);
  });

  it('7.3: a directory of the same spelling, or of one in another case, sets the file apart', () => {
    const folder = '_cluster/rbac.authorization.k8s.io/clusterroles';
    const inside = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\n';

    for (const directory of ['reader.yaml', 'Reader.YAML']) {
      const files = { [`${folder}/${directory}/x.yaml`]: inside };
      expect(pathOf([aSubject(clusterRole('reader'))], canonicalPlacement, files)).toBe(
        `${folder}/reader-${hex(clusterRole('reader'), 8)}.yaml`,
      );
    }
  });

  it('1.2: one object in two versions has one place', () => {
    const subjects = ['v1', 'v1beta1'].map((version) =>
      aSubject(aRef({ group: 'apps', version, resource: 'deployments', kind: 'Deployment' })),
    );
    const policy = policyOf({ byType: secretsRoute, default: '{version}/{name}.yaml' });

    expect(codesOf(subjects, policy)).toEqual(['v1/press.yaml new_file', 'v1/press.yaml new_file']);
    expect(codesOf([...subjects].reverse())).toEqual([
      'orchard/apps/deployments/press.yaml new_file',
      'orchard/apps/deployments/press.yaml new_file',
    ]);
  });

  it('does not depend on the order within a batch', () => {
    const subjects = ['b', 'B', 'a', 'A'].map((name) => aSubject(clusterRole(name)));

    const forward = codesOf(subjects);
    const backward = codesOf([...subjects].reverse());

    expect([...backward].reverse()).toEqual(forward);
  });

  it('is fast enough for a snapshot of ten thousand objects', () => {
    const subjects = Array.from({ length: 10_000 }, (_, at) =>
      aSubject(aRef({ namespace: `ns-${at % 50}`, name: `cm-${at}` })),
    );
    const started = process.cpuUsage();

    const answers = place(subjects);

    expect(answers.every((answer) => answer.ok)).toBe(true);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(1500);
  });
});

describe('declared templates', () => {
  it.each<[string, PlacementSpec, PlacementSubject, string, string]>([
    [
      'byType beats default',
      {
        byType: { ...secretsRoute, 'v1/configmaps': 'cm/{namespace}-{name}.yaml' },
        default: 'x/{resource}/{name}.yaml',
      },
      aSubject(aRef()),
      'cm/orchard-press.yaml',
      'by_type',
    ],
    [
      'default is used for every other type',
      { byType: secretsRoute, default: 'all/{namespace}/{groupPath}/{name}.yaml' },
      aSubject(aRef()),
      'all/orchard/press.yaml',
      'default',
    ],
    [
      'a type is named with its group',
      { byType: { 'apps/v1/deployments': '{name}.yml' } },
      aSubject(aRef({ group: 'apps', resource: 'deployments' })),
      'press.yml',
      'by_type',
    ],
    [
      'a namespace is missing from a cluster-scoped object',
      { byType: secretsRoute, default: '{scope}/{namespace}/{name}.yaml' },
      aSubject(clusterRole('r')),
      'cluster/_cluster/r.yaml',
      'default',
    ],
    [
      'its fallback may collapse the segment',
      { byType: secretsRoute, default: 'x/{namespace|}/{name}.yaml' },
      aSubject(clusterRole('r')),
      'x/r.yaml',
      'default',
    ],
    [
      'a label',
      { byType: secretsRoute, default: '{label:app.kubernetes.io/part-of}/{name}.yaml' },
      aSubject(aRef(), { 'app.kubernetes.io/part-of': 'shop/x' }),
      'shop%2Fx/press.yaml',
      'default',
    ],
    [
      'a missing label',
      { byType: secretsRoute, default: '{label:team}/{name}.yaml' },
      aSubject(aRef()),
      '_unlabeled/press.yaml',
      'default',
    ],
    [
      'an empty label with a fallback',
      { byType: secretsRoute, default: '{label:team|unassigned}/{name}.yaml' },
      aSubject(aRef(), { team: '' }),
      'unassigned/press.yaml',
      'default',
    ],
    [
      'a label named as a built-in of JavaScript is just missing',
      { byType: secretsRoute, default: '{label:constructor}/{name}.yaml' },
      aSubject(aRef()),
      '_unlabeled/press.yaml',
      'default',
    ],
    [
      'apiVersion is one segment',
      { byType: secretsRoute, default: '{apiVersion}/{kind}/{version}/{name}.yaml' },
      aSubject(clusterRole('r')),
      'rbac.authorization.k8s.io%2Fv1/ClusterRole/v1/r.yaml',
      'default',
    ],
    [
      'a value may not leave the folder',
      { byType: secretsRoute, default: '{label:team}/{name}.yaml' },
      aSubject(aRef(), { team: '..' }),
      '.%2E/press.yaml',
      'default',
    ],
    [
      'nor be taken for the repository',
      { byType: secretsRoute, default: '{label:team}/{name}.yaml' },
      aSubject(aRef(), { team: '.Git' }),
      '%2EGit/press.yaml',
      'default',
    ],
    [
      'nor end in a dot',
      { byType: secretsRoute, default: '{label:team}/{name}.yaml' },
      aSubject(aRef(), { team: 'a.' }),
      'a%2E/press.yaml',
      'default',
    ],
    [
      'empty segments collapse',
      { byType: secretsRoute, default: 'a//{group}/{name}.yaml' },
      aSubject(aRef()),
      'a/press.yaml',
      'default',
    ],
    [
      'literals are not encoded',
      { byType: secretsRoute, default: 'a b@%/{name}.yaml' },
      aSubject(aRef()),
      'a b@%/press.yaml',
      'default',
    ],
  ])('%s', (_, spec, subject, path, source) => {
    expect(place([subject], policyOf(spec))).toEqual([{ ok: true, value: { path, source, disposition: 'new_file' } }]);
  });

  it('objects that share a path go into one file together', () => {
    const policy = policyOf({ byType: secretsRoute, default: '{namespace}.yaml' });

    expect(codesOf([aSubject(aRef()), aSubject(aRef({ name: 'other' }))], policy)).toEqual([
      'orchard.yaml new_file',
      'orchard.yaml new_file',
    ]);
  });
});

describe('refused placements', () => {
  const bundle = policyOf({ byType: { ...secretsRoute, 'v1/configmaps': '{namespace}.yaml' } });
  const encrypted = `${aManifest('Secret', 'x')}sops:\n  mac: x\n`;

  it.each<[string, readonly ObjectRef[], PlacementPolicy, Parameters<typeof memoryFolder>[0], string[]]>([
    [
      'a plain object joins a plain file',
      [aRef()],
      bundle,
      { 'orchard.yaml': aManifest('ConfigMap', 'a') },
      ['orchard.yaml appended'],
    ],
    ['or one of comments alone', [aRef()], bundle, { 'orchard.yaml': '# later\n' }, ['orchard.yaml appended']],
    [
      'a sensitive object never joins a file',
      [aSecret('db')],
      canonicalPlacement,
      { 'orchard/secrets/db.sops.yaml': aManifest('Secret', 'other') },
      ['sensitive_append'],
    ],
    [
      'a plain object never joins an encrypted file',
      [aRef()],
      bundle,
      { 'orchard.yaml': encrypted },
      ['plaintext_onto_encrypted'],
    ],
    [
      'nor one named as encrypted',
      [aRef()],
      policyOf({ byType: { 'v1/configmaps': '{name}.sops.yaml' } }),
      { 'press.sops.yaml': aManifest('Secret', 'x') },
      ['plaintext_onto_encrypted'],
    ],
    [
      'nor a file with a document that cannot be edited',
      [aRef()],
      bundle,
      { 'orchard.yaml': `${aManifest('ConfigMap', 'a')}data: &x {}\n` },
      ['multi_document_target'],
    ],
    [
      'nor one with foreign documents',
      [aRef()],
      bundle,
      { 'orchard.yaml': `${aManifest('ConfigMap', 'a')}---\nx: 1\n` },
      ['multi_document_target'],
    ],
    [
      'two sensitive objects do not share a new file',
      [aSecret('a'), aSecret('b')],
      policyOf({ default: '{namespace}/{groupPath}/{resource}/{name}.yaml' }),
      {},
      ['orchard/secrets/a.yaml new_file', 'orchard/secrets/b.yaml new_file'],
    ],
    [
      'the canonical path is not shared with another object',
      [aRef()],
      canonicalPlacement,
      { 'orchard/configmaps/press.yaml': aManifest('ConfigMap', 'other') },
      ['unclassified'],
    ],
    [
      'a path through a file',
      [aRef()],
      policyOf({ byType: { 'v1/configmaps': 'a.yaml/{name}.yaml' } }),
      { 'A.yaml': aManifest('ConfigMap', 'a') },
      ['invalid_path'],
    ],
    [
      'a path through a symbolic link',
      [aRef()],
      canonicalPlacement,
      { orchard: { content: '../x', mode: 'symlink' } },
      ['invalid_path'],
    ],
    [
      'a path onto a symbolic link',
      [aRef()],
      bundle,
      { 'orchard.yaml': { content: '../x', mode: 'symlink' } },
      ['multi_document_target'],
    ],
    [
      'an ignored path',
      [aRef()],
      canonicalPlacement,
      { '.gittargetignore': 'orchard/configmaps/\n' },
      ['ignore-shadows-managed'],
    ],
  ])('%s', (_, refs, policy, files, codes) => {
    expect(
      codesOf(
        refs.map((ref) => aSubject(ref)),
        policy,
        files,
      ),
    ).toEqual(codes);
  });

  it('sensitive and plain objects do not share a new path', () => {
    const policy = policyOf({
      byType: { 'v1/configmaps': '{namespace}/{name}.yaml', 'v1/secrets': '{namespace}/{name}.yaml' },
    });

    expect(codesOf([aSubject(aRef({ name: 'db' })), aSubject(aSecret('db'))], policy)).toEqual([
      'mixed_sensitivity_new_file',
      'mixed_sensitivity_new_file',
    ]);
  });

  it('a plain object does not go where files are named as encrypted', () => {
    const policy = policyOf({ byType: { ...secretsRoute, 'v1/configmaps': '{name}.sops.yaml' } });
    const ended = policyOf({ byType: { ...secretsRoute, 'v1/configmaps': '{namespace}/{name}{sensitiveSuffix}' } });

    expect(place([aSubject(aRef())], policy)).toMatchObject([
      { ok: false, error: { code: 'invalid_path', message: expect.stringContaining('{sensitiveSuffix}') as string } },
    ]);
    expect(pathOf([aSubject(aRef({ name: 'db.sops' }))], ended)).toBe('orchard/db%2Esops.yaml');
  });

  it('7.6: where a declared path is the canonical one of another new object, the declared one goes there alone', () => {
    const policy = policyOf({ byType: { 'v1/configmaps': '{namespace}/services/{name}.yaml' } });
    const service = aSubject(aRef({ resource: 'services', kind: 'Service' }));

    expect(codesOf([aSubject(aRef()), service], policy)).toEqual([
      'orchard/services/press.yaml new_file',
      'unclassified',
    ]);
    expect(codesOf([service, aSubject(aRef())], policy)).toEqual([
      'unclassified',
      'orchard/services/press.yaml new_file',
    ]);
  });

  it('an ambiguous template does not merge two sensitive objects', () => {
    const policy = policyOf({ byType: { 'v1/secrets': '{namespace}-{name}{sensitiveSuffix}' } });
    const [one, two] = [aSecret('b-c'), aSecret('c')];

    expect(codesOf([aSubject({ ...one, namespace: 'a' }), aSubject({ ...two, namespace: 'a-b' })], policy)).toEqual([
      'sensitive_append',
      'sensitive_append',
    ]);
  });

  it('an additional sensitive type needs a template that tells its objects apart', () => {
    const policy = policyOf({ byType: secretsRoute, default: '{namespace}.yaml' });
    const token = {
      ref: aRef({ group: 'example.org', resource: 'tokens', kind: 'Token' }),
      labels: {},
      sensitive: true,
    };

    expect(place([token], policy)).toMatchObject([
      {
        ok: false,
        error: {
          code: 'invalid_path',
          message: expect.stringContaining('it needs {namespace}, {name}, {groupPath} and {resource}') as string,
        },
      },
    ]);
  });

  it('a path of more than 900 bytes', () => {
    const policy = policyOf({ byType: { 'v1/configmaps': `${'{label:a}/'.repeat(6)}{name}.yaml` } });

    expect(codesOf([aSubject(aRef(), { a: 'x'.repeat(199) })], policy)).toEqual(['invalid_path']);
  });

  it('names the object, what was found and what to do', () => {
    const [answer] = place([aSubject(aRef())], bundle, { 'orchard.yaml': encrypted });

    expect(answer).toEqual({
      ok: false,
      error: {
        code: 'plaintext_onto_encrypted',
        path: 'orchard.yaml',
        ref: aRef(),
        message: 'cannot place ConfigMap orchard/press: orchard.yaml is encrypted; a plain object needs another file',
      },
    });
  });
});
