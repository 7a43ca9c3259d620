import type { ObjectRef } from '@gitops-reverser/kernel-api';
import { builtInType } from './built-in-types.js';
import type { FolderDocument } from './folder-entry.js';
import { encodePathValue } from './path-safety.js';

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
  readonly kind: string;
  readonly type: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly directory: string;
  readonly stem: string;
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
  const byNamespace = groupBy(evidence, ({ namespace }) => namespace ?? '');
  const owners = new DirectoryOwners(all);
  const known = new Map<string, Convention | undefined>();
  return (ref) => {
    const key = `${ref.group}/${ref.kind}/${ref.resource}/${ref.namespace ?? ''}`;
    if (!known.has(key)) {
      const cohort = byType.get(`${ref.group}/${ref.kind}`) ?? [];
      known.set(key, toConvention(ref, find(ref, cohort, byNamespace.get(ref.namespace ?? '') ?? []), owners));
    }
    const convention = known.get(key);
    if (convention === undefined) return undefined;
    const { directory, pattern, extension, step, evidenceCount, isForeign } = convention;
    const fileName = `${pattern(ref, ref.resource, encodePathValue)}${extension}`;
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
  const { group, kind, name } = identity;
  const slash = path.lastIndexOf('/');
  const mayBeBare = identity.namespace === undefined && builtInType(group, kind)?.namespaced !== false;
  const namespace = mayBeBare ? bareNamespace : identity.namespace;
  const directory = slash === -1 ? '' : path.slice(0, slash);
  const fileName = path.slice(slash + 1);
  return {
    group,
    kind,
    type: `${group}/${kind}`,
    namespace,
    name,
    directory,
    stem: fileName.replace(/\.ya?ml$/, ''),
    isYml: fileName.endsWith('.yml'),
    isSole: siblings === 1,
  };
}

function find(ref: ObjectRef, cohort: readonly Sibling[], neighbours: readonly Sibling[]): Candidate | undefined {
  const own = cohort.filter(({ namespace }) => namespace === ref.namespace);
  if (own.length > 0) {
    const directory = onlyOne(own.map((each) => each.directory));
    return directory === undefined ? undefined : { step: 'a', directory, ownFrom: 0, evidence: own };
  }
  if (cohort.length > 0) return byShape(ref, cohort);
  if (neighbours.length === 0) return undefined;
  const directory = onlyOne(neighbours.map((each) => each.directory));
  const typeCount = new Set(neighbours.map(({ type }) => type)).size;
  if (directory !== undefined && typeCount >= 2) return { step: 'c', directory, ownFrom: 0, evidence: neighbours };
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
  const own = ref.namespace;
  if (own === undefined) return undefined;
  const shapes = cohort.map(({ namespace, directory }) => {
    const segments = directory.split('/');
    const at = segments.indexOf(namespace ?? '');
    if (namespace === undefined || at === -1 || segments.lastIndexOf(namespace) !== at) return undefined;
    return [...segments.slice(0, at), own, ...segments.slice(at + 1)].join('/');
  });
  const directory = onlyOne(shapes);
  if (directory === undefined) return undefined;
  return { step: 'b', directory, ownFrom: directory.split('/').indexOf(own), evidence: cohort };
}

function isCanonical({ group, kind, namespace = '_cluster', directory }: Sibling): boolean {
  const segments = [namespace, group, builtInType(group, kind)?.resource ?? ''];
  return directory === segments.filter((segment) => segment !== '').join('/');
}

/** What lies above a directory that is called like the document's resource. */
function parentOfTypeDirectory({ group, kind, directory }: Sibling): string | undefined {
  const slash = directory.lastIndexOf('/');
  const resource = builtInType(group, kind)?.resource;
  if (resource === undefined || directory.slice(slash + 1) !== resource) return undefined;
  return slash === -1 ? '' : directory.slice(0, slash);
}

type Encode = (value: string) => string;
type Pattern = (
  of: { readonly kind: string; readonly name: string; readonly namespace?: string | undefined },
  resource: string,
  encode: Encode,
) => string;

const byName: Pattern = ({ name }, _, encode) => encode(name);
const patterns: readonly Pattern[] = [
  byName,
  ({ name }, resource, encode) => `${resource}-${encode(name)}`,
  ({ name, kind }, _, encode) => `${encode(kind.toLowerCase())}-${encode(name)}`,
  ({ name }, resource, encode) => `${encode(name)}-${resource}`,
  ({ name, kind }, _, encode) => `${encode(name)}-${encode(kind.toLowerCase())}`,
  ({ name, namespace }, _, encode) => `${encode(namespace ?? '')}-${encode(name)}`,
];

function toConvention(
  ref: ObjectRef,
  candidate: Candidate | undefined,
  owners: DirectoryOwners,
): Convention | undefined {
  if (candidate === undefined) return undefined;
  const { step, directory, ownFrom, evidence } = candidate;
  const asIs: Encode = (value) => value;
  const type = `${ref.group}/${ref.kind}`;
  const fits = patterns.filter((pattern) =>
    evidence.every((each) => {
      const isOfType = each.type === type;
      const resource = isOfType ? ref.resource : (builtInType(each.group, each.kind)?.resource ?? '\0');
      return each.stem === pattern(each, resource, encodePathValue) || each.stem === pattern(each, resource, asIs);
    }),
  );
  const [only, second] = fits;
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
      if (last !== namespace && this.namespaces.has(last)) return true;
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
