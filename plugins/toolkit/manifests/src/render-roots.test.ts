import type { FileContents } from '@gitops-reverser/kernel-testing';
import { placeAll, validatePlacement, type Placement, type PlacementSpec, type PlacementSubject } from './index.js';
import { siteOf } from './placement-site.fixture.js';

function placeIn(files: FileContents, subjects: readonly PlacementSubject[], spec: PlacementSpec = {}) {
  const policy = validatePlacement(spec);
  if (!policy.ok) throw new Error(policy.error.map(({ message }) => message).join());
  return placeAll(subjects, policy.value, siteOf(files)).map((answer) =>
    answer.ok ? brief(answer.value) : answer.error.code,
  );
}
const brief = ({ path, source, disposition, registersIn, isNamespaceSupplied }: Placement): string =>
  [source, path, disposition, registersIn, isNamespaceSupplied === true ? 'namespace supplied' : ''].join(' ').trim();

const subject = (kind: string, name: string, namespace?: string, sensitive = false): PlacementSubject => ({
  ref: {
    ...{ group: '', version: 'v1', resource: `${kind.toLowerCase()}s`, kind, name },
    ...(namespace === undefined ? {} : { namespace }),
  },
  labels: {},
  sensitive,
});
const map = (name: string, namespace?: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${namespace === undefined ? '' : `, namespace: ${namespace}`}}\n`;
const kustomization = (resources: readonly string[], more = ''): string =>
  `${more}resources:\n${resources.map((entry) => `- ${entry}\n`).join('')}`;

const supplying = { 'kustomization.yaml': kustomization(['web.yaml'], 'namespace: plum\n'), 'web.yaml': map('web') };
const bare = { 'kustomization.yaml': kustomization(['web.yaml']), 'web.yaml': map('web', 'plum') };
const below = { 'apps/kustomization.yaml': kustomization(['web.yaml']), 'apps/web.yaml': map('web', 'plum') };

it.each<{ why: string; files: FileContents; of: PlacementSubject; spec?: PlacementSpec; to: string }>([
  {
    why: 'the one root takes it, and supplies its namespace',
    files: supplying,
    of: subject('Service', 'b', 'plum'),
    to: 'kustomize_root b.yaml new_file kustomization.yaml namespace supplied',
  },
  {
    why: 'a root without a namespace supplies none',
    files: bare,
    of: subject('Service', 'b', 'fig'),
    to: 'kustomize_root b.yaml new_file kustomization.yaml',
  },
  {
    why: 'a cluster-scoped object has no namespace to supply',
    files: supplying,
    of: subject('Namespace', 'b'),
    to: 'kustomize_root b.yaml new_file kustomization.yaml',
  },
  {
    why: 'a root in a directory of another namespace gives it a directory of its own',
    files: below,
    of: subject('Service', 'b', 'fig'),
    to: 'kustomize_root apps/fig/b.yaml new_file apps/kustomization.yaml',
  },
  {
    why: 'of its own namespace it stands beside the others',
    files: below,
    of: subject('Service', 'b', 'plum'),
    to: 'kustomize_root apps/b.yaml new_file apps/kustomization.yaml',
  },
  {
    why: 'a plain file of that name takes it in',
    files: bare,
    of: subject('Service', 'web', 'plum'),
    to: 'kustomize_root web.yaml appended kustomization.yaml',
  },
  {
    why: 'a sensitive object gets a file of its own',
    files: bare,
    of: subject('Secret', 'web', 'plum', true),
    to: 'kustomize_root web.sops.yaml new_file kustomization.yaml',
  },
  {
    why: 'a sensitive path that is taken says the type as well',
    files: { ...bare, 'web.sops.yaml': `${map('web', 'plum').replace('ConfigMap', 'Secret')}sops: {mac: x}\n` },
    of: { ...subject('Vault', 'web', 'plum', true) },
    to: 'kustomize_root web-vaults.sops.yaml new_file kustomization.yaml',
  },
  {
    why: 'a declared path is listed by the kustomization nearest above it',
    files: {
      ...bare,
      'kustomization.yaml': kustomization(['web.yaml', 'more']),
      'more/kustomization.yaml': kustomization(['x.yaml']),
      'more/x.yaml': map('x', 'plum'),
    },
    of: subject('Service', 'b', 'plum'),
    spec: { byType: { 'v1/services': 'more/{resource}/{name}.yaml' } },
    to: 'by_type more/services/b.yaml new_file more/kustomization.yaml',
  },
  {
    why: 'the root would move it to another namespace',
    files: supplying,
    of: subject('Service', 'b', 'fig'),
    to: 'namespace_mismatch',
  },
  {
    why: 'the root would move what a template puts there as well',
    files: supplying,
    of: subject('Service', 'b', 'fig'),
    spec: { byType: { 'v1/services': '{namespace}/{name}.yaml' } },
    to: 'namespace_mismatch',
  },
  {
    why: 'nothing builds what lies beside the root',
    files: below,
    of: subject('Service', 'b', 'plum'),
    spec: { byType: { 'v1/services': '{namespace}/{name}.yaml' } },
    to: 'unrendered-placement',
  },
  {
    why: 'nobody chooses between two roots',
    files: { ...below, 'b/kustomization.yaml': kustomization(['x.yaml']), 'b/x.yaml': map('x', 'plum') },
    of: subject('Service', 'b', 'plum'),
    to: 'ambiguous-layout',
  },
  {
    why: 'a template does',
    files: { ...below, 'b/kustomization.yaml': kustomization(['x.yaml']), 'b/x.yaml': map('x', 'plum') },
    of: subject('Service', 'b', 'plum'),
    spec: { byType: { 'v1/services': 'b/{name}.yaml' } },
    to: 'by_type b/b.yaml new_file b/kustomization.yaml',
  },
  {
    why: 'with useKustomize and no kustomization one is asked for',
    files: { 'web.yaml': map('web', 'plum') },
    of: subject('Service', 'b', 'plum'),
    spec: { useKustomize: true },
    to: 'kustomize_root b.yaml new_file kustomization.yaml',
  },
])('20, 7.1 rung 3: $why', ({ files, of, spec, to }) => {
  expect(placeIn(files, [of], spec)).toEqual([to]);
});

it('20, 7.6: new objects of one name share a file, sensitive ones never', () => {
  const subjects = [
    subject('Service', 'b', 'plum'),
    subject('ConfigMap', 'b', 'plum'),
    subject('Secret', 'b', 'plum', true),
    subject('Vault', 'b', 'plum', true),
  ];

  const placed = placeIn(bare, subjects);

  expect(placed).toEqual([
    'kustomize_root b.yaml new_file kustomization.yaml',
    'kustomize_root b.yaml new_file kustomization.yaml',
    'kustomize_root b.sops.yaml new_file kustomization.yaml',
    'kustomize_root b-vaults.sops.yaml new_file kustomization.yaml',
  ]);
  expect(placeIn(bare, [...subjects].reverse())).toEqual([...placed].reverse());
});
