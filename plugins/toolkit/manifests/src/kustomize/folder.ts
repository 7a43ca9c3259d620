import { issue } from '../acceptance.js';
import type { FolderContents } from '../folder-contents.js';
import type { FolderDocument } from '../folder-entry.js';
import type { FolderIssue } from '../folder-verdict.js';
import type { RetainedFile } from '../values-context.js';
import { sortFolderIssues } from '../folder-verdict.js';
import { describeDocument, documentKey, type DocumentIdentity } from '../identity.js';
import type { BuiltObject, KustomizeBuild } from './build.js';
import { buildStructure } from './build.js';
import { describeFeatures, isSolvable, mergeFeatures, type KustomizeFeature } from './features.js';
import { findRenderRoots, kustomizationDirectories } from './roots.js';
import { isWithin, join, type KustomizeTree } from './tree.js';

/** A folder in which Kustomize builds something, as far as its structure says. */
export interface KustomizeFolder {
  /** What the folder's own contents and its graphs give; empty means accepted. Sorted. */
  readonly issues: readonly FolderIssue[];
  /** Files that are read and never written. Sorted by path. */
  readonly retained: readonly RetainedFile[];
  /** One for each render root inside the folder; paths are relative to the tree. */
  readonly builds: readonly KustomizeBuild[];
  /** Documents of the folder that may be edited or named: without patches and other inputs. */
  readonly documents: readonly DocumentInContext[];
  /** All feature codes, sorted. */
  readonly features: readonly KustomizeFeature[];
}

export interface DocumentInContext {
  readonly document: FolderDocument;
  /** With the namespace it ends up in. */
  readonly identity: DocumentIdentity;
  readonly namespaceSource: 'Explicit' | 'Kustomize' | 'None';
  /** As its renders have it; more than one when several roots reach it. */
  readonly objects: readonly BuiltObject[];
  readonly diagnostics: readonly ('ambiguous-namespace' | 'ambiguous-kustomize-overrides')[];
}

/**
 * @param folder path within the tree, `.` for its top
 * @param contents the same folder, read on its own; its paths are relative to it
 * @param retained what other rules keep out of the manifests, such as Helm values
 */
export function readKustomizeFolder(
  tree: KustomizeTree,
  folder: string,
  contents: FolderContents,
  retained: readonly RetainedFile[] = [],
): KustomizeFolder {
  const directories = kustomizationDirectories(contents.kustomizations.map((path) => join(folder, path)));
  const builds = findRenderRoots(tree, directories).roots.flatMap((directory) => {
    const root = tree.kustomizationAt(directory);
    return root === undefined ? [] : [buildStructure(tree, root)];
  });
  const relative = (path: string): string => (folder === '.' ? path : path.slice(folder.length + 1));
  const inputs = inputsOf(builds, folder, relative);
  const isRetained = new Set([...inputs, ...retained.map(({ path }) => path)]);
  const documents = inContext(contents, builds, (path) => join(folder, path), isRetained);
  const featuresByPath = featuresIn(builds, folder, relative);
  const issues: FolderIssue[] = [
    ...contents.issues.filter(({ code, path }) => code !== 'duplicate-identity' && !isRetained.has(path)),
    ...duplicates(documents),
    ...[...featuresByPath].map(([path, features]) => unsupportedIssue(path, features)),
  ];
  return {
    issues: sortFolderIssues(issues),
    retained: [
      ...retained,
      ...[...inputs].map((path) => ({ path })),
      ...[...featuresByPath.keys()].map((path) => ({ path, unsupported: true as const })),
    ].sort((a, b) => (a.path < b.path ? -1 : 1)),
    builds,
    documents,
    features: mergeFeatures([...featuresByPath.values()].flat()),
  };
}

/** Patches and generator inputs of builds that can be understood, unless they are resources as well. */
function inputsOf(
  builds: readonly KustomizeBuild[],
  folder: string,
  relative: (path: string) => string,
): ReadonlySet<string> {
  const paths = new Set<string>();
  const resources = new Set(builds.flatMap(({ resourceFiles }) => [...resourceFiles]));
  for (const { inputs, features } of builds) {
    if (features.length > 0) continue;
    for (const path of inputs) if (isWithin(path, folder) && !resources.has(path)) paths.add(relative(path));
  }
  return paths;
}

/** By kustomization of the folder; what stands in one outside is held against the root that reaches it. */
function featuresIn(
  builds: readonly KustomizeBuild[],
  folder: string,
  relative: (path: string) => string,
): ReadonlyMap<string, readonly KustomizeFeature[]> {
  const found = new Map<string, KustomizeFeature[]>();
  for (const { root, features } of builds)
    for (const { path, feature } of features) {
      const at = relative(isWithin(path, folder) ? path : root.path);
      const known = found.get(at);
      if (known === undefined) found.set(at, [feature]);
      else known.push(feature);
    }
  return found;
}

function unsupportedIssue(path: string, features: readonly KustomizeFeature[]): FolderIssue {
  const solvable = isSolvable(features);
  return {
    code: 'unsupported-kustomize',
    path,
    documentIndex: 0,
    message: `${path}: ${describeFeatures(features)}`,
    solvable,
    actor: solvable ? 'repository-author' : '',
  };
}

/** What the roots make of every document: its namespace, and who else writes into it. */
function inContext(
  contents: FolderContents,
  builds: readonly KustomizeBuild[],
  absolute: (path: string) => string,
  isRetained: ReadonlySet<string>,
): readonly DocumentInContext[] {
  const objectsByPlace = new Map<string, BuiltObject[]>();
  for (const { objects, features } of builds) {
    // A build that is not understood as a whole supplies nothing.
    if (features.length > 0) continue;
    for (const object of objects) {
      if (object.isGenerated) continue;
      const place = `${object.path}\n${object.index}`;
      const known = objectsByPlace.get(place);
      if (known === undefined) objectsByPlace.set(place, [object]);
      else known.push(object);
    }
  }
  return contents.entries
    .filter(({ path }) => !isRetained.has(path))
    .flatMap(({ documents }) => documents)
    .map((document) => toContext(document, objectsByPlace.get(`${absolute(document.path)}\n${document.index}`) ?? []));
}

function toContext(document: FolderDocument, objects: readonly BuiltObject[]): DocumentInContext {
  const { identity } = document;
  const [first, ...others] = objects;
  const base = { document, objects };
  if (first === undefined) {
    const namespaceSource = identity.namespace === undefined ? 'None' : 'Explicit';
    return { ...base, identity, namespaceSource, diagnostics: [] };
  }
  const isAmbiguous = others.some((object) => object.identity.namespace !== first.identity.namespace);
  const hasChains = others.some((object) => chainOf(object) !== chainOf(first));
  const diagnostics = [
    ...(isAmbiguous ? (['ambiguous-namespace'] as const) : []),
    ...(hasChains ? (['ambiguous-kustomize-overrides'] as const) : []),
  ];
  if (isAmbiguous) {
    const { namespace: _, ...nameless } = identity;
    return { ...base, identity: nameless, namespaceSource: 'None', diagnostics };
  }
  const { namespace } = first.identity;
  const source = namespace === undefined ? 'None' : namespace === identity.namespace ? 'Explicit' : 'Kustomize';
  return { ...base, identity: first.identity, namespaceSource: source, diagnostics };
}

const chainOf = ({ images, replicas }: BuiltObject): string =>
  [...images, ...replicas].map(({ path, entry }) => `${path}#${entry.index}`).join('\n');

/** Two documents that end up as one object. */
function duplicates(documents: readonly DocumentInContext[]): readonly FolderIssue[] {
  const firstByKey = new Map<string, FolderDocument>();
  const found: FolderIssue[] = [];
  for (const { document, identity } of documents) {
    if (document.nature === 'non-editable') continue;
    const first = firstByKey.get(documentKey(identity));
    if (first === undefined) firstByKey.set(documentKey(identity), document);
    else {
      const where = first.path === document.path ? `document ${first.index} of the same file` : first.path;
      const what = `${describeDocument(identity)} is also in ${where}; keep one of them`;
      found.push(issue('duplicate-identity', document.path, what, document.index));
    }
  }
  return found;
}
