import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { memoryFolder } from '@gitops-reverser/kernel-testing';
import { identifyDocuments } from '@gitops-reverser/toolkit-yaml';
import { FolderCache } from '../folder-reader.js';
import { buildStructure, type KustomizeBuild } from './build.js';
import { KustomizeTree } from './tree.js';

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
if (!hasKubectl) process.stderr.write('SKIPPED: no kubectl on the path; builds are compared with nothing\n');

const clusterTypes = [
  'v1 PersistentVolume',
  'rbac.authorization.k8s.io/v1 ClusterRole',
  'storage.k8s.io/v1 StorageClass',
];
const types = [
  'v1 ConfigMap',
  'apps/v1 Deployment',
  'v1 Service',
  'example.com/v1 Widget',
  'v1 Namespace',
  ...clusterTypes,
];
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const namespace = fc.constantFrom('n1', 'n2', 'default');

const manifest = fc
  .record({ type: fc.constantFrom(...types), name, namespace: fc.option(namespace, { freq: 4 }) })
  .map(({ type, name: own, namespace: stated }) => {
    const [apiVersion = '', kind = ''] = type.split(' ');
    const isNamespaced = kind !== 'Namespace' && !clusterTypes.includes(type);
    const where = isNamespaced && stated !== null ? `\n  namespace: ${stated}` : '';
    return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${own}${where}\n`;
  });
const patch = fc.record({
  text: manifest,
  change: fc.constantFrom('$patch: delete\n', 'extra: 1\n'),
  target: fc.option(
    fc.constantFrom(
      ...['{kind: ConfigMap, name: a}', '{kind: Deployment}', '{namespace: n1}', '{namespace: default}'],
      ...['{kind: Config.*}', '{name: a|b}', '{kind: .*Map|Dep.+, name: "^(p-)?(b|c)$"}', '{name: "^(?:a|p-b|c)$"}'],
      ...['{group: apps}', '{version: v1, kind: .*}', '{namespace: .*, name: a}', '{namespace: "n.?", kind: (W|S).*}'],
    ),
  ),
});
const directory = fc.record({
  files: fc.array(fc.array(manifest, { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
  namespace: fc.option(namespace),
  bases: fc.subarray([1, 2]),
  patch: fc.option(patch, { freq: 3 }),
  generator: fc.option(fc.record({ name, namespace: fc.option(namespace) }), { freq: 3 }),
  replica: fc.option(name, { freq: 8 }),
});

/** What a folder is refused for, and what kustomize builds all the same. */
const refused = fc.record({
  prefix: fc.option(fc.constantFrom('p-', 'q-'), { freq: 2 }),
  suffix: fc.option(fc.constant('-s'), { freq: 4 }),
  secret: fc.option(name, { freq: 4 }),
  inline: fc.option(fc.tuple(manifest, fc.constantFrom('$patch: delete\n', 'extra: 1\n')), { freq: 4 }),
  legacy: fc.option(manifest, { freq: 5 }),
  component: fc.option(fc.tuple(manifest, fc.option(namespace), fc.boolean()), { freq: 3 }),
});

/** Three directories of which each may build those after it. */
const repository = fc.tuple(directory, directory, directory).map((directories) => toFiles(directories));
const oddRepository = fc
  .tuple(fc.tuple(directory, directory, directory), fc.tuple(refused, refused, refused))
  .map(([directories, extras]) => {
    const files = toFiles(directories);
    extras.forEach((extra, at) => addRefused(files, at, extra));
    return files;
  });

type Refused = typeof refused extends fc.Arbitrary<infer T> ? T : never;
type Directory = typeof directory extends fc.Arbitrary<infer T> ? T : never;

function addRefused(files: Record<string, string>, at: number, extra: Refused): void {
  const { prefix, suffix, secret, inline, legacy, component } = extra;
  const indented = (text: string): string => text.replace(/^/gm, '    ');
  const lines: string[] = [];
  if (prefix !== null) lines.push(`namePrefix: ${prefix}`);
  if (suffix !== null) lines.push(`nameSuffix: ${suffix}`);
  if (secret !== null)
    lines.push(`secretGenerator: [{name: ${secret}, literals: [k=v], options: {disableNameSuffixHash: true}}]`);
  if (inline !== null && !(files[`d${at}/kustomization.yaml`] ?? '').includes('patches:'))
    lines.push(`patches:\n- patch: |-\n${indented(inline.join(''))}`.trimEnd());
  if (legacy !== null) {
    lines.push('patchesStrategicMerge: [legacy.yaml]');
    files[`d${at}/legacy.yaml`] = `${legacy}more: 1\n`;
  }
  if (component !== null) {
    const [resource, where, isPrefixed] = component;
    lines.push('components: [component]');
    files[`d${at}/component/r.yaml`] = resource;
    files[`d${at}/component/kustomization.yaml`] = [
      'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [r.yaml]',
      ...(where === null ? [] : [`namespace: ${where}`]),
      ...(isPrefixed ? ['namePrefix: c-'] : []),
    ].join('\n');
  }
  files[`d${at}/kustomization.yaml`] += lines.map((line) => `${line}\n`).join('');
}

function toFiles(directories: readonly Directory[]): Record<string, string> {
  const files: Record<string, string> = {};
  directories.forEach((each, at) => {
    const resources = each.files.map((documents, index) => {
      files[`d${at}/f${index}.yaml`] = documents.join('---\n');
      return `f${index}.yaml`;
    });
    resources.push(...each.bases.filter((base) => base > at).map((base) => `../d${base}`));
    const lines = [`resources: [${resources.join(', ')}]`];
    if (each.namespace !== null) lines.push(`namespace: ${each.namespace}`);
    if (each.patch !== null) {
      files[`d${at}/p.yaml`] = each.patch.text + each.patch.change;
      lines.push(`patches: [{path: p.yaml${each.patch.target === null ? '' : `, target: ${each.patch.target}`}}]`);
    }
    if (each.generator !== null) {
      const where = each.generator.namespace === null ? '' : `namespace: ${each.generator.namespace}, `;
      const entry = `name: ${each.generator.name}, ${where}literals: [k=v], options: {disableNameSuffixHash: true}`;
      lines.push(`configMapGenerator: [{${entry}}]`);
    }
    if (each.replica !== null) lines.push(`replicas: [{name: ${each.replica}, count: 2}]`);
    files[`d${at}/kustomization.yaml`] = `${lines.join('\n')}\n`;
  });
  return files;
}

/** Names of what kustomize builds, or undefined when it refuses. */
function kustomize(files: Readonly<Record<string, string>>): readonly string[] | undefined {
  const root = mkdtempSync(join(tmpdir(), 'kustomize-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const run = spawnSync('kubectl', ['kustomize', join(root, 'd0')]);
    if (run.status !== 0) return undefined;
    const documents = identifyDocuments(run.stdout);
    if (!documents.ok) throw new Error(documents.error.message);
    return documents.value
      .flatMap(({ identity }) => identity ?? [])
      .map(({ apiVersion, kind, namespace: where = '', name: own }) => `${apiVersion} ${kind} ${where}/${own}`)
      .sort();
  } finally {
    rmSync(root, { recursive: true });
  }
}

function build(files: Readonly<Record<string, string>>): KustomizeBuild {
  const tree = new KustomizeTree(memoryFolder(files), new FolderCache().file);
  const root = tree.kustomizationAt('d0');
  if (root === undefined) throw new Error('no root');
  return buildStructure(tree, root);
}

function namesOf({ objects }: KustomizeBuild): readonly string[] {
  return objects
    .map(({ identity: { group, version, kind, namespace: where = '', name: own } }) => {
      return `${group === '' ? version : `${group}/${version}`} ${kind} ${where}/${own}`;
    })
    .sort();
}

/** The same cases with every run; others are `PROPERTY_SEED` and `PROPERTY_RUNS` away. */
const runs = {
  seed: Number(process.env['PROPERTY_SEED'] ?? 20261130),
  numRuns: Number(process.env['PROPERTY_RUNS'] ?? 60),
};
/** Kustomize is started for each. */
const timeout = 60_000 + runs.numRuns * 2_000;

(hasKubectl ? describe : describe.skip)('the structure of a build', () => {
  it(
    'has the objects kustomize builds, and is refused when kustomize refuses',
    () => {
      fc.assert(
        fc.property(repository, (files) => {
          const built = build(files);

          expect(built.features.length > 0 ? undefined : namesOf(built)).toEqual(kustomize(files));
        }),
        runs,
      );
    },
    timeout,
  );

  it(
    'has them as well where the folder is refused for its features, and nothing where kustomize builds nothing',
    () => {
      fc.assert(
        fc.property(oddRepository, (files) => {
          expect(namesOf(build(files))).toEqual(kustomize(files) ?? []);
        }),
        runs,
      );
    },
    timeout,
  );
});
