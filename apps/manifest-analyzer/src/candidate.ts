import {
  describeFeatures,
  directoryOf,
  isSolvable,
  isWithin,
  mergeFeatures,
  type DocumentIdentity,
  type KustomizeBuild,
} from '@gitops-reverser/toolkit-manifests';
import { compareCodePoints } from '@gitops-reverser/toolkit-yaml';
import type { Gate, Judgement } from './gate.js';
import type { Candidate, CandidateLayout, RefusalReason } from './report.js';

export type JudgedCandidate = Omit<Candidate, 'readBy' | 'overlapsWith'> & {
  /** Of every file it reads outside its folder. */
  readonly outsideDirectories: readonly string[];
  /** Codes it is refused for by its structure. */
  readonly features: readonly string[];
};

/** One folder as the `spec.path` of a target. */
export function judgeCandidate(gate: Gate, path: string, isRoot: boolean): JudgedCandidate {
  const judgement = gate.judge(path);
  const build = isRoot ? judgement.builds.find(({ root }) => root.directory === path) : undefined;
  const features = mergeFeatures(build?.features.map(({ feature }) => feature) ?? []);
  const outside = outsideOf(build, path);
  const readScope = outermost(outside);
  const reasons = features.length > 0 ? [structuralReason(features)] : reasonsOf(judgement);
  const objects = build?.objects ?? judgement.documents;
  // What is refused is not rendered: of its objects those are told that stand in files.
  const told = features.length === 0 ? objects : objects.filter((each) => !('isGenerated' in each && each.isGenerated));
  const identities = told.map(({ identity }) => identity);
  const namespaces = new Set(identities.flatMap(({ namespace }) => namespace ?? []));
  const [namespace] = namespaces;
  return {
    path,
    layout: layoutOf(build, features.length > 0, outside.length > 0),
    acceptedByOperator: reasons.length === 0,
    ...(reasons.length === 0 ? {} : { refusalReasons: reasons }),
    renderRoot: isRoot,
    ...(readScope.length === 0 ? {} : { readScope }),
    ...(namespace !== undefined && namespaces.size === 1 ? { inferredNamespace: namespace } : {}),
    resources: countResources(judgement, identities.length, inputsOf(build, path)),
    renderedTypes: features.length > 0 ? {} : typesOf(identities),
    outsideDirectories: outside,
    features: features.map(({ code }) => code),
  };
}

function layoutOf(build: KustomizeBuild | undefined, isRefused: boolean, readsOutside: boolean): CandidateLayout {
  if (isRefused) return 'refused-structural';
  if (build === undefined) return 'plain';
  return readsOutside ? 'kustomize-overlay' : 'kustomize-single';
}

function structuralReason(features: Parameters<typeof describeFeatures>[0]): RefusalReason {
  const solvable = isSolvable(features);
  return {
    code: 'refused-structural',
    detail: describeFeatures(features),
    solvable,
    ...(solvable ? { actor: 'repository-author' } : {}),
  };
}

function reasonsOf({ issues }: Judgement): readonly RefusalReason[] {
  return issues.map(({ code, message, solvable, actor }) => ({
    code,
    detail: message,
    solvable,
    ...(actor === '' ? {} : { actor }),
  }));
}

function outsideOf(build: KustomizeBuild | undefined, path: string): readonly string[] {
  const outside = [...(build?.files ?? [])].filter((file) => !isWithin(file, path)).map(directoryOf);
  return [...new Set(outside)].sort(compareCodePoints);
}

/** Without directories below another one. */
function outermost(directories: readonly string[]): readonly string[] {
  const all = new Set(directories);
  return directories.filter((directory) => {
    if (directory === '.') return true;
    for (let at = directoryOf(directory); ; at = directoryOf(at)) {
      if (all.has(at)) return false;
      if (at === '.') return true;
    }
  });
}

/** Files within the folder that its kustomization reads as patches and the like, even when it is refused: nothing to edit. */
function inputsOf(build: KustomizeBuild | undefined, folder: string): ReadonlySet<string> {
  const inputs = new Set<string>();
  for (const path of build?.inputs ?? [])
    if (isWithin(path, folder) && build?.resourceFiles.has(path) !== true)
      inputs.add(folder === '.' ? path : path.slice(folder.length + 1));
  return inputs;
}

function countResources(
  { contents, documents, retained }: Judgement,
  rendered: number,
  inputs: ReadonlySet<string>,
): Candidate['resources'] {
  const isContext = new Set([...inputs, ...retained.map(({ path }) => path)]);
  let nonKrm = 0;
  let encrypted = 0;
  for (const { path, file } of contents.entries) {
    if (file === undefined || isContext.has(path)) continue;
    for (const { nature } of file.documents) {
      if (nature === 'not-krm') nonKrm += 1;
      if (nature === 'encrypted') encrypted += 1;
    }
  }
  const editable = documents.filter(
    ({ document: { nature, path } }) => nature === 'manifest' && !isContext.has(path),
  ).length;
  return { rendered, editable, nonKrm, ...(encrypted === 0 ? {} : { encrypted }) };
}

function typesOf(identities: readonly DocumentIdentity[]): Candidate['renderedTypes'] {
  const typesByNamespace = new Map<string, Set<string>>();
  for (const { group, version, kind, namespace = '' } of identities) {
    const type = group === '' ? `${version}/${kind}` : `${group}/${version}/${kind}`;
    const known = typesByNamespace.get(namespace);
    if (known === undefined) typesByNamespace.set(namespace, new Set([type]));
    else known.add(type);
  }
  const sorted = (types: Iterable<string>): readonly string[] => [...types].sort(compareCodePoints);
  const undeclared = typesByNamespace.get('');
  typesByNamespace.delete('');
  const byNamespace = Object.fromEntries(
    [...typesByNamespace]
      .sort(([a], [b]) => compareCodePoints(a, b))
      .map(([namespace, types]) => [namespace, sorted(types)]),
  );
  return {
    ...(typesByNamespace.size === 0 ? {} : { byNamespace }),
    ...(undeclared === undefined ? {} : { namespaceUndeclared: sorted(undeclared) }),
  };
}
