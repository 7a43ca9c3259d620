import type { ResourceType } from './resource-type.js';

/** What the server serves right now. Changes when custom resource definitions come and go. */
export class Catalog {
  readonly #typesByPath = new Map<string, ResourceType>();
  readonly #typesByKind = new Map<string, ResourceType>();
  #generation = 0;

  /** Moves with every change: what was derived from the catalog is stale when it differs. */
  get generation(): number {
    return this.#generation;
  }

  add(type: ResourceType): void {
    this.#typesByPath.set(`${type.group}/${type.version}/${type.plural}`, type);
    this.#typesByKind.set(`${type.group}/${type.version}/${type.kind}`, type);
    this.#generation += 1;
  }

  remove(type: ResourceType): void {
    this.#typesByPath.delete(`${type.group}/${type.version}/${type.plural}`);
    this.#typesByKind.delete(`${type.group}/${type.version}/${type.kind}`);
    this.#generation += 1;
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#typesByPath.get(`${group}/${version}/${plural}`);
  }

  findKind(group: string, version: string, kind: string): ResourceType | undefined {
    return this.#typesByKind.get(`${group}/${version}/${kind}`);
  }

  all(): Iterable<ResourceType> {
    return this.#typesByPath.values();
  }

  hasGroupVersion(group: string, version: string): boolean {
    for (const type of this.#typesByPath.values()) if (type.group === group && type.version === version) return true;
    return false;
  }

  /** One type for each collection, whichever version comes first: for work on everything that is stored. */
  stored(): ResourceType[] {
    const typeByStorage = new Map<string, ResourceType>();
    for (const type of this.#typesByPath.values())
      if (type.verbs.includes('list') && !typeByStorage.has(type.storage)) typeByStorage.set(type.storage, type);
    return [...typeByStorage.values()];
  }

  /** Groups with their versions, the preferred one first, the core group first of all. */
  groups(): readonly { readonly group: string; readonly versions: readonly string[] }[] {
    const versionsByGroup = new Map<string, string[]>([['', []]]);
    for (const { group, version } of this.#typesByPath.values()) {
      const versions = versionsByGroup.get(group) ?? [];
      if (!versions.includes(version)) versions.push(version);
      versionsByGroup.set(group, versions);
    }
    return [...versionsByGroup].map(([group, versions]) => ({ group, versions: versions.sort(compareVersions) }));
  }

  typesOf(group: string, version: string): readonly ResourceType[] {
    return [...this.#typesByPath.values()]
      .filter((type) => type.group === group && type.version === version)
      .sort((a, b) => (a.plural < b.plural ? -1 : 1));
  }
}

/** Kubernetes' order: v2 before v1 before v1beta1 before v1alpha1 before anything else by name. */
function compareVersions(a: string, b: string): number {
  const rank = (version: string) => {
    const match = /^v([0-9]+)(?:(alpha|beta)([0-9]+))?$/.exec(version);
    if (!match) return undefined;
    return [match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0, Number(match[1]), Number(match[3] ?? 0)] as const;
  };
  const [left, right] = [rank(a), rank(b)];
  if (left === undefined || right === undefined) return left === right ? (a < b ? -1 : 1) : left === undefined ? 1 : -1;
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2];
}
