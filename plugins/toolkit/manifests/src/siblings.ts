import type { ObjectRef } from '@gitops-reverser/kernel-api';
import { builtInType } from './built-in-types.js';
import type { FolderDocument } from './folder-entry.js';
import { key } from './identity.js';
import { encodePathValue, stemOf, toDirectoryName, toSafePath, withHash } from './path-safety.js';

/** Which rule of chapter 20, 7.5 found the place. */
export type SiblingStep = 'a' | 'b' | 'c' | 'd';

export interface SiblingPlace {
  readonly step: SiblingStep;
  readonly evidenceCount: number;
  /** Relative to the folder, before it is made safe. */
  readonly path: string;
  /** The directory belongs to another namespace: the place must not be used. */
  readonly isForeign: boolean;
}

/** Where objects like this one lie already, if that points to one place. */
export type SiblingSearch = (ref: ObjectRef) => SiblingPlace | undefined;

interface Sibling {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly type: string;
  readonly namespace: string | undefined;
  /** Of a kind that has namespaces, without one: whose it is nobody knows. */
  readonly isLost: boolean;
  readonly name: string;
  readonly directory: string;
  readonly fileName: string;
  readonly isYml: boolean;
  readonly isSole: boolean;
}
interface Candidate {
  readonly step: SiblingStep;
  readonly directory: string;
  /** Depth of the directory named by the namespace that was put in for another; the ones above are shared by design. */
  readonly ownFrom: number;
  readonly evidence: readonly Sibling[];
}
interface Convention extends Omit<SiblingPlace, 'path'> {
  readonly directory: string;
  readonly pattern: Pattern;
  readonly extension: string;
}

/**
 * Learns from the documents of a folder where new ones would be put by a careful colleague. Never points into a directory of
 * another namespace. `bareNamespace`: what documents without a namespace stand for.
 */
export function searchSiblings(documents: readonly FolderDocument[], bareNamespace?: string): SiblingSearch {
  const all = documents.map((document) => siblingOf(document, bareNamespace));
  const evidence = all.filter(({ isSole }) => isSole);
  const byType = groupBy(evidence, ({ type }) => type);
  const found = evidence.filter(({ isLost }) => !isLost);
  const byNamespace = groupBy(found, ({ namespace }) => namespace ?? '');
  const byDirectory = groupBy(evidence, ({ directory }) => directory);
  const owners = new DirectoryOwners(all);
  const known = new Map<string, Convention | undefined>();
  return (ref) => {
    const question = `${ref.group}/${ref.kind}/${ref.resource}/${ref.namespace ?? ''}`;
    if (!known.has(question)) {
      const cohort = byType.get(`${ref.group}/${ref.kind}`) ?? [];
      const neighbours = byNamespace.get(ref.namespace ?? '') ?? [];
      known.set(question, toConvention(ref, find(ref, cohort, neighbours, byDirectory), owners));
    }
    const convention = known.get(question);
    if (convention === undefined) return undefined;
    const { directory, pattern, extension, step, evidenceCount, isForeign } = convention;
    const fileName = `${encodePathValue(pattern(ref, ref.resource))}${extension}`;
    return { step, evidenceCount, isForeign, path: directory === '' ? fileName : `${directory}/${fileName}` };
  };
}

/** Documents live on from one folder to the next. */
const knownSiblings = new WeakMap<FolderDocument, Sibling>();

function siblingOf(document: FolderDocument, bareNamespace: string | undefined): Sibling {
  if (bareNamespace !== undefined) return toSibling(document, bareNamespace);
  let sibling = knownSiblings.get(document);
  if (sibling === undefined) knownSiblings.set(document, (sibling = toSibling(document, undefined)));
  return sibling;
}

function toSibling({ identity, path, siblings }: FolderDocument, bareNamespace: string | undefined): Sibling {
  const { group, version, kind, name } = identity;
  const slash = path.lastIndexOf('/');
  const isNamespaced = builtInType(group, kind)?.namespaced;
  const mayBeBare = identity.namespace === undefined && isNamespaced !== false;
  const namespace = mayBeBare ? bareNamespace : identity.namespace;
  const directory = slash === -1 ? '' : path.slice(0, slash);
  const fileName = path.slice(slash + 1);
  return {
    group,
    version,
    kind,
    type: `${group}/${kind}`,
    namespace,
    isLost: namespace === undefined && isNamespaced === true,
    name,
    directory,
    fileName,
    isYml: fileName.endsWith('.yml'),
    isSole: siblings === 1,
  };
}

function find(
  ref: ObjectRef,
  cohort: readonly Sibling[],
  neighbours: readonly Sibling[],
  byDirectory: ReadonlyMap<string, readonly Sibling[]>,
): Candidate | undefined {
  const own = cohort.filter(({ namespace, isLost }) => namespace === ref.namespace && !isLost);
  if (own.length > 0) {
    const directory = onlyOne(own.map((each) => each.directory));
    return directory === undefined ? undefined : { step: 'a', directory, ownFrom: 0, evidence: own };
  }
  if (cohort.length > 0) return byShape(ref, cohort);
  if (neighbours.length === 0) return undefined;
  const directory = onlyOne(neighbours.map((each) => each.directory));
  const isMixed = new Set(byDirectory.get(directory ?? '')?.map(({ type }) => type)).size >= 2;
  if (directory !== undefined && isMixed) return { step: 'c', directory, ownFrom: 0, evidence: neighbours };
  const parent = onlyOne(neighbours.map(parentOfTypeDirectory));
  // Documents where we would put them ourselves show no other convention: what was written first must not bend what comes next.
  if (parent === undefined || neighbours.every(isCanonical)) return undefined;
  return {
    step: 'd',
    directory: parent === '' ? ref.resource : `${parent}/${ref.resource}`,
    ownFrom: 0,
    evidence: neighbours,
  };
}

/** Everybody else's directory, with this namespace in the place of theirs. */
function byShape(ref: ObjectRef, cohort: readonly Sibling[]): Candidate | undefined {
  if (ref.namespace === undefined) return undefined;
  const shape = onlyOne(cohort.map(shapeOf));
  if (shape === undefined) return undefined;
  const own = toDirectoryName(ref.namespace);
  const segments = shape.split('/').map((segment) => (segment === ownSegment ? own : segment));
  return { step: 'b', directory: segments.join('/'), ownFrom: segments.indexOf(own), evidence: cohort };
}

/** No path holds one. */
const ownSegment = '\0';

/** The directory with its namespace left open. Undefined: it is not named exactly once. */
function shapeOf({ namespace, directory }: Sibling): string | undefined {
  if (namespace === undefined) return undefined;
  const segments = directory.split('/').map((segment) => (isNameOf(segment, namespace) ? ownSegment : segment));
  return segments.filter((segment) => segment === ownSegment).length === 1 ? segments.join('/') : undefined;
}

const isNameOf = (segment: string, namespace: string): boolean =>
  segment === namespace || segment === toDirectoryName(namespace);

function isCanonical({ group, kind, namespace = '_cluster', directory }: Sibling): boolean {
  const segments = [toDirectoryName(namespace), group, builtInType(group, kind)?.resource ?? ''];
  return directory === segments.filter((segment) => segment !== '').join('/');
}

/** What lies above a directory that is called like the document's resource. */
function parentOfTypeDirectory({ group, kind, directory }: Sibling): string | undefined {
  const slash = directory.lastIndexOf('/');
  const resource = builtInType(group, kind)?.resource;
  if (resource === undefined || directory.slice(slash + 1) !== resource) return undefined;
  return slash === -1 ? '' : directory.slice(0, slash);
}

type Pattern = (
  of: { readonly kind: string; readonly name: string; readonly namespace?: string | undefined },
  resource: string,
) => string;

const byName: Pattern = ({ name }) => name;
const patterns: readonly Pattern[] = [
  byName,
  ({ name }, resource) => `${resource}-${name}`,
  ({ name, kind }) => `${kind.toLowerCase()}-${name}`,
  ({ name }, resource) => `${name}-${resource}`,
  ({ name, kind }) => `${name}-${kind.toLowerCase()}`,
  ({ name, namespace }) => `${namespace ?? ''}-${name}`,
];

function toConvention(
  ref: ObjectRef,
  candidate: Candidate | undefined,
  owners: DirectoryOwners,
): Convention | undefined {
  if (candidate === undefined) return undefined;
  const { step, directory, ownFrom, evidence } = candidate;
  const [only, second] = patterns.filter((pattern) => evidence.every((each) => fits(each, pattern, ref)));
  return {
    ...{
      step,
      directory,
      evidenceCount: evidence.length,
      isForeign: owners.isForeign(directory, ref.namespace, ownFrom),
    },
    pattern: only === undefined || second !== undefined ? byName : only,
    extension: evidence.every(({ isYml }) => isYml) ? '.yml' : '.yaml',
  };
}

/** The file is called so, as it is or as we would have to call it. */
function fits(sibling: Sibling, pattern: Pattern, { group, kind, resource: plural }: ObjectRef): boolean {
  const isOfType = sibling.group === group && sibling.kind === kind;
  const resource = isOfType ? plural : builtInType(sibling.group, sibling.kind)?.resource;
  const stem = pattern(sibling, resource ?? '\0');
  const { fileName } = sibling;
  const found = stemOf(fileName);
  if (found === stem || found === encodePathValue(stem)) return true;
  // What was cut or set apart from another holds a sign that no name of an object holds, or ends in its hash.
  if (resource === undefined || !mayBeOurs.test(found)) return false;
  const { version, namespace, name } = sibling;
  const identity = key({
    group: sibling.group,
    version,
    resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  });
  const safe = toSafePath(`${encodePathValue(stem)}${fileName.slice(found.length)}`, identity);
  return fileName === safe || fileName === withHash(safe, identity);
}

const mayBeOurs = /%|-(?:[0-9a-f]{8}|[0-9a-f]{12})$/;

const several = Symbol('several');

/** Which namespaces directories belong to, by name and by content. */
class DirectoryOwners {
  private readonly namespaces = new Set<string>();
  private readonly ownerByDirectory = new Map<string, string | typeof several>();

  constructor(documents: readonly Sibling[]) {
    let last: Sibling | undefined;
    for (const document of documents) {
      const { namespace, directory } = document;
      if (namespace === undefined || (last?.namespace === namespace && last.directory === directory)) continue;
      last = document;
      this.namespaces.add(namespace);
      this.namespaces.add(toDirectoryName(namespace));
      for (const above of withParents(directory)) {
        const owner = this.ownerByDirectory.get(above);
        if (owner === several) break;
        this.ownerByDirectory.set(above, owner === undefined || owner === namespace ? namespace : several);
      }
    }
  }

  /** Directories above depth `ownFrom` are judged by name alone. */
  isForeign(directory: string, namespace: string | undefined, ownFrom: number): boolean {
    for (const above of withParents(directory)) {
      const last = above.slice(above.lastIndexOf('/') + 1);
      const isOwn = namespace !== undefined && isNameOf(last, namespace);
      if (!isOwn && this.namespaces.has(last)) return true;
      const owner = this.ownerByDirectory.get(above);
      const isShared = above.split('/').length - 1 < ownFrom;
      if (!isShared && typeof owner === 'string' && owner !== namespace) return true;
    }
    return false;
  }
}

/** The directory and those above it; the root is nobody's. */
function* withParents(directory: string): Generator<string> {
  for (let above = directory; above !== ''; above = above.slice(0, Math.max(0, above.lastIndexOf('/')))) yield above;
}

function onlyOne<T>(values: readonly (T | undefined)[]): T | undefined {
  const first = values[0];
  return values.every((value) => value === first) ? first : undefined;
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
