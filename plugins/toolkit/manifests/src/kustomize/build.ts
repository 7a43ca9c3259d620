import type { DocumentIdentity } from '../identity.js';
import { isKnownClusterScoped } from './cluster-scoped.js';
import type { ImageEntry, ReplicaEntry } from './entries.js';
import { fault, unsupported, type KustomizeFeature } from './features.js';
import { envKeys, unsupportedGenerator, type ConfigMapGenerator, type GeneratedName } from './generators.js';
import { objectsInList } from './lists.js';
import { applyPatch } from './patches.js';
import { resolveEntry, type KustomizeTree, type LocatedKustomization } from './tree.js';

/** Chapter 20, 8.2. */
const limits = {
  files: 2_000,
  objects: 20_000,
  depth: 32,
  /** Objects looked at by patches, generators and entries: what ten seconds are for a real render, in the same on every machine. */
  steps: 5_000_000,
} as const;

/** An entry and the kustomization that holds it: who else writes a field of an object. */
export interface Override<E> {
  readonly path: string;
  readonly entry: E;
}

/** One object of a build, known by its names alone. */
export interface BuiltObject {
  /** As it is after the last kustomization. */
  identity: DocumentIdentity;
  /** Every name and every namespace it had on the way, by which a patch may know it. */
  readonly names: string[];
  readonly namespaces: (string | undefined)[];
  /** The document it comes from; of a generated one the kustomization and the entry. */
  readonly path: string;
  readonly index: number;
  readonly isGenerated: boolean;
  /** Of the document: it stated this namespace. */
  readonly statedNamespace?: string;
  /** `images` and `replicas` that apply to it, in order. */
  readonly images: Override<ImageEntry>[];
  readonly replicas: Override<ReplicaEntry>[];
}

/** What one render root yields, without any content. */
export interface KustomizeBuild {
  readonly root: LocatedKustomization;
  readonly objects: readonly BuiltObject[];
  /** Every file it reads, kustomizations included. */
  readonly files: ReadonlySet<string>;
  /** Of these, files that are listed as resources. */
  readonly resourceFiles: ReadonlySet<string>;
  /** Of these, files that are no manifests to it: patches and inputs of generators. */
  readonly inputs: ReadonlySet<string>;
  /** What stands against it, and in which kustomization. */
  readonly features: readonly { readonly path: string; readonly feature: KustomizeFeature }[];
}

/** Without these nothing can be said about the objects. */
const blinding = new Set(['unparseable', 'render-failed', 'render-limit']);

const ofRenders = new Set(['render-failed', 'render-limit']);

/** Follows the graph of a root as kustomize does and keeps names only. Reads local files the graph names, nothing else. */
export function buildStructure(tree: KustomizeTree, root: LocatedKustomization): KustomizeBuild {
  const builder = new Builder(tree);
  const objects = builder.kustomization(root, []);
  const { files, inputs, resourceFiles } = builder;
  const isBlind = builder.features.some(({ feature }) => blinding.has(feature.code));
  // What is refused for its features is not rendered: how that would have ended says nothing.
  const features = builder.features.some(({ feature }) => !ofRenders.has(feature.code))
    ? builder.features.filter(({ feature }) => !ofRenders.has(feature.code))
    : builder.features;
  return { root, objects: isBlind ? [] : objects, files, inputs, resourceFiles, features };
}

class Builder {
  readonly features: { path: string; feature: KustomizeFeature }[] = [];
  readonly files = new Set<string>();
  readonly resourceFiles = new Set<string>();
  readonly inputs = new Set<string>();
  private readonly tree: KustomizeTree;
  private objectCount = 0;
  private visits = 0;
  private steps = 0;
  private readonly blamed = new Set<string>();
  /** What is missing may be among the objects nobody knows here. */
  private hasUnknownObjects = false;

  constructor(tree: KustomizeTree) {
    this.tree = tree;
  }

  /** @param inherited what a component finds when its turn comes */
  kustomization(
    located: LocatedKustomization,
    above: readonly string[],
    inherited: readonly BuiltObject[] = [],
  ): BuiltObject[] {
    const { path, directory } = located;
    const blame = (feature: KustomizeFeature): void => {
      // One of a kind is enough: a long list of mistakes is no longer a report.
      const kind = `${path}\n${feature.code}\n${feature.solvable}`;
      if (this.blamed.has(kind)) return;
      this.blamed.add(kind);
      this.features.push({ path, feature });
    };
    if (!this.enter(path, blame)) return [...inherited];
    located.features.forEach(blame);
    // A component that nobody names has nothing to work on.
    if (located.hasUnknownObjects || (located.isComponent && above.length === 0)) this.hasUnknownObjects = true;
    const chain = [...above, directory];
    let objects = this.accumulate(located, chain, inherited, blame);
    const generated = [
      ...located.generators.map((generator) => this.generate(generator, located, blame)),
      ...located.secrets.map((secret) => toGenerated('Secret', secret, path)),
    ];
    for (const object of generated) {
      if (!this.spend(objects.length, blame)) break;
      if (objects.some((other) => isKnownAs(other, object.identity)))
        blame(
          fault('render-failed', `${object.identity.kind} ${object.identity.name} of a generator is there already`),
        );
      objects.push(object);
    }
    for (const entry of located.components) objects = this.component(entry, located, chain, objects, blame);
    const context = this.patchContext(located, blame);
    let kept = objects;
    for (const patch of located.patches) kept = applyPatch(kept, patch, context);
    this.transform(kept, located, blame);
    return kept;
  }

  /** Kustomize looks for ids that are taken with every entry, long before a patch could remove one of the two. */
  private accumulate(
    located: LocatedKustomization,
    chain: readonly string[],
    inherited: readonly BuiltObject[],
    blame: (feature: KustomizeFeature) => void,
  ): BuiltObject[] {
    const objects = [...inherited];
    if (!this.spend(inherited.length, blame)) return objects;
    const taken = new Set(inherited.map(({ identity }) => idOf(identity)));
    for (const entry of located.resources)
      for (const object of this.resource(entry, located, chain, blame)) {
        const id = idOf(object.identity);
        if (taken.has(id)) blame(producedTwice(object.identity));
        taken.add(id);
        objects.push(object);
      }
    return objects;
  }

  /** Counts a file each time it is reached: few files can name each other in more ways than anybody can follow. */
  private enter(path: string, blame: (feature: KustomizeFeature) => void): boolean {
    this.files.add(path);
    this.visits += 1;
    if (this.visits === limits.files + 1) blame(unsupported('render-limit', `more than ${limits.files} files`));
    return this.visits <= limits.files;
  }

  private spend(steps: number, blame: (feature: KustomizeFeature) => void): boolean {
    this.steps += steps;
    if (this.steps <= limits.steps) return true;
    blame(unsupported('render-limit', `more than ${limits.steps} steps`));
    return false;
  }

  private resource(
    entry: string,
    { directory }: LocatedKustomization,
    chain: readonly string[],
    blame: (feature: KustomizeFeature) => void,
  ): BuiltObject[] {
    const target = resolveEntry(directory, entry);
    if (target === undefined) {
      blame(fault('render-failed', `resource ${entry} leaves the repository`));
      return [];
    }
    const file = this.tree.file(target);
    if (file === undefined) {
      const below = this.tree.kustomizationAt(target);
      if (below === undefined) blame(fault('render-failed', `resource ${entry} is no file and no kustomization`));
      else if (this.mayDescend(`resource ${entry}`, target, chain, blame)) return this.kustomization(below, chain);
      return [];
    }
    if (!this.enter(target, blame)) return [];
    this.resourceFiles.add(target);
    const { documents, problem } = this.tree.manifests(file);
    if (problem !== undefined) blame(fault('render-failed', `resource ${entry}: ${problem}`));
    const objects: BuiltObject[] = [];
    for (const document of documents) {
      const { index, nature, identity, isLocal } = document;
      const where = `resource ${entry}: document ${index}`;
      // A list is no manifest to anybody but kustomize, which takes it apart.
      const listed =
        nature === 'not-krm' || identity?.kind.endsWith('List') ? objectsInList(file.read(), index) : undefined;
      if (listed !== undefined && identity !== undefined)
        blame(fault('render-failed', `${where} has a name and items; kustomize takes it for a list`));
      else if (listed !== undefined) objects.push(...listed.map((each) => toObject(each, target, index)));
      else if (identity !== undefined) objects.push(...(isLocal === true ? [] : [toObject(identity, target, index)]));
      else if (nature === 'invalid' || nature === 'not-krm') blame(fault('render-failed', `${where} is no manifest`));
    }
    this.objectCount += objects.length;
    if (this.objectCount <= limits.objects) return objects;
    blame(unsupported('render-limit', `more than ${limits.objects} objects`));
    return [];
  }

  private mayDescend(
    what: string,
    target: string,
    chain: readonly string[],
    blame: (feature: KustomizeFeature) => void,
  ): boolean {
    if (chain.includes(target)) blame(fault('render-failed', `${what} leads back here`));
    else if (chain.length >= limits.depth) blame(unsupported('render-limit', `deeper than ${limits.depth}`));
    else return true;
    return false;
  }

  /** Refused, and followed all the same: what the folder reads and yields is told of a refused one as well. */
  private component(
    entry: string,
    { directory }: LocatedKustomization,
    chain: readonly string[],
    objects: BuiltObject[],
    blame: (feature: KustomizeFeature) => void,
  ): BuiltObject[] {
    const target = resolveEntry(directory, entry);
    const located = target === undefined ? undefined : this.tree.kustomizationAt(target);
    if (target === undefined || located === undefined) {
      blame(fault('render-failed', `component ${entry} is no kustomization`));
      return objects;
    }
    const mayDescend = this.mayDescend(`component ${entry}`, target, chain, blame);
    return mayDescend ? this.kustomization(located, chain, objects) : objects;
  }

  private generate(
    generator: ConfigMapGenerator,
    { directory, path }: LocatedKustomization,
    blame: (feature: KustomizeFeature) => void,
  ): BuiltObject {
    const keys = [...generator.files.map(({ key }) => key), ...generator.literals.map(({ key }) => key)];
    for (const { path: entry } of generator.files) this.input(entry, directory, blame);
    for (const entry of generator.envs) {
      const file = this.input(entry, directory, blame);
      const found = file === undefined ? [] : envKeys(Buffer.from(file.read()).toString('utf8'));
      if (found === undefined) blame(unsupportedGenerator(`a line of ${entry} without =`));
      else keys.push(...found);
    }
    if (new Set(keys).size < keys.length) blame(unsupportedGenerator('a key from two sources'));
    return toGenerated('ConfigMap', generator, path);
  }

  /** A file a generator reads. */
  private input(entry: string, directory: string, blame: (feature: KustomizeFeature) => void) {
    const path = resolveEntry(directory, entry);
    const file = path === undefined ? undefined : this.tree.file(path);
    if (path === undefined) blame(unsupportedGenerator(`input ${entry} is outside the repository`));
    else if (file === undefined) blame(fault('render-failed', `input ${entry} of a generator is no file`));
    else if (this.enter(path, blame)) {
      this.inputs.add(path);
      if (/\.ya?ml$/.test(path) && this.tree.manifests(file).isEncrypted)
        blame(unsupportedGenerator(`input ${entry} is encrypted`));
    }
    return file;
  }

  private patchContext({ directory }: LocatedKustomization, blame: (feature: KustomizeFeature) => void) {
    return {
      blame,
      spend: (steps: number) => this.spend(steps, blame),
      hasUnknownObjects: this.hasUnknownObjects,
      open: (entry: string) => {
        const path = resolveEntry(directory, entry);
        const file = path === undefined ? undefined : this.tree.file(path);
        if (path === undefined || file === undefined || !this.enter(path, blame)) return undefined;
        this.inputs.add(path);
        return file;
      },
    };
  }

  /** In the order of 8.3, as far as it changes names or says who owns a field. */
  private transform(
    objects: readonly BuiltObject[],
    { path, namespace, namePrefix, nameSuffix, images, replicas }: LocatedKustomization,
    blame: (feature: KustomizeFeature) => void,
  ): void {
    if (!this.spend(objects.length * (1 + images.length + replicas.length), blame)) return;
    for (const object of objects) {
      if (namespace !== undefined) moveTo(object, namespace);
      if (namePrefix !== '' || nameSuffix !== '') rename(object, namePrefix, nameSuffix);
      for (const entry of replicas) if (isScaledBy(object, entry)) object.replicas.push({ path, entry });
      for (const entry of images) object.images.push({ path, entry });
    }
    for (const entry of replicas)
      if (!this.hasUnknownObjects && !objects.some((object) => isScaledBy(object, entry)))
        blame(fault('render-failed', `an entry of replicas is for ${entry.name}, and nothing of that name has any`));
    const seen = new Set<string>();
    for (const { identity } of objects) {
      const id = idOf(identity);
      if (seen.has(id)) {
        blame(producedTwice(identity));
        return;
      }
      seen.add(id);
    }
  }
}

const scalable = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController']);

const isScaledBy = ({ identity, names }: BuiltObject, { name }: ReplicaEntry): boolean =>
  scalable.has(identity.kind) && names.includes(name);

function toObject(identity: DocumentIdentity, path: string, index: number): BuiltObject {
  const { namespace } = identity;
  return {
    identity,
    names: [identity.name],
    namespaces: [namespace],
    path,
    index,
    isGenerated: false,
    ...(namespace === undefined ? {} : { statedNamespace: namespace }),
    images: [],
    replicas: [],
  };
}

/** By the name it has until a hash is put behind it. */
function toGenerated(
  kind: 'ConfigMap' | 'Secret',
  { index, name, namespace }: GeneratedName,
  path: string,
): BuiltObject {
  const identity = { group: '', version: 'v1', kind, name };
  return {
    identity: namespace === undefined ? identity : { ...identity, namespace },
    names: [name],
    namespaces: [namespace],
    path,
    index,
    isGenerated: true,
    images: [],
    replicas: [],
  };
}

/** Others know these by their names. */
const keptNames = new Set(['CustomResourceDefinition', 'APIService', 'Namespace']);

function rename(object: BuiltObject, prefix: string, suffix: string): void {
  const { identity } = object;
  if (keptNames.has(identity.kind)) return;
  object.identity = { ...identity, name: `${prefix}${identity.name}${suffix}` };
  object.names.push(object.identity.name);
}

function moveTo(object: BuiltObject, namespace: string): void {
  const { identity } = object;
  if (identity.group === '' && identity.kind === 'Namespace') {
    object.identity = { ...identity, name: namespace };
    object.names.push(namespace);
  } else if (!isKnownClusterScoped(identity)) {
    object.identity = { ...identity, namespace };
    object.namespaces.push(namespace);
  }
}

/** Under any name and namespace it had on the way: kustomize remembers them all. */
function isKnownAs({ identity, names, namespaces }: BuiltObject, wanted: DocumentIdentity): boolean {
  const { group, version, kind, name, namespace = 'default' } = wanted;
  const isSameType = identity.group === group && identity.version === version && identity.kind === kind;
  return isSameType && names.includes(name) && namespaces.some((each) => (each ?? 'default') === namespace);
}

const producedTwice = ({ kind, name }: DocumentIdentity): KustomizeFeature =>
  fault('render-failed', `${kind} ${name} is produced twice`);

/** What no two objects of a build may share. Kustomize holds no namespace and `default` for the same. */
function idOf(identity: DocumentIdentity): string {
  const { group, version, kind, namespace = 'default', name } = identity;
  return [group, version, kind, isKnownClusterScoped(identity) ? '' : namespace, name].join('\n');
}
