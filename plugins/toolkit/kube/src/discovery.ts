import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { isKubeError } from './errors.js';
import type { KubeClient } from './requests.js';

/** One served version of a resource (30, DC-2). */
export interface DiscoveredResource {
  /** Empty for core types. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** Undefined: the server does not say. */
  readonly namespaced: boolean | undefined;
  readonly verbs: readonly string[];
  /** True for one version of a resource: the group's preferred one where it serves it, else the first that does. */
  readonly preferred: boolean;
  readonly subresources: readonly string[];
}

export interface DiscoveryFailure {
  /** `v1`, `apps/v1`. */
  readonly groupVersion: string;
  readonly reason: string;
}

/** A plain fact about one moment; what it means for a type is judged elsewhere, across scans. */
export interface DiscoveryScan {
  /** Sorted by group, then resource; the versions of a resource in the server's order of preference. */
  readonly entries: readonly DiscoveredResource[];
  readonly scanned: readonly string[];
  readonly failed: readonly DiscoveryFailure[];
  /** True when nothing failed: only then is absence a fact for a group that was not scanned. */
  readonly complete: boolean;
}

interface Version {
  readonly group: string;
  readonly version: string;
  readonly preferredVersion: string;
  readonly resources: readonly Omit<DiscoveredResource, 'preferred'>[] | { readonly failure: string };
}
interface Named {
  readonly group: string;
  readonly version: string;
  readonly preferredVersion: string;
}

const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');
// 15 s for each request (30, SC-15): a black-holed endpoint cannot hang the refresh.
const REQUEST_MS = 15_000;
const CONCURRENT = 6;

/** Scans what one API server serves. Remembers a server that does not do aggregated discovery. */
export class Discovery {
  readonly #client: KubeClient;
  #aggregated = true;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Ask for the aggregated form again: after a reconnect, the server may be another version (30, DC-1). */
  reset(): void {
    this.#aggregated = true;
  }

  /** @throws KubeError when a root document cannot be read: nothing is known then, and nothing follows from it */
  async scan(signal: AbortSignal): Promise<DiscoveryScan> {
    const core = await this.#root('/api', signal);
    const groups = await this.#root('/apis', signal);
    return toScan([...(await this.#versionsOf(core, signal)), ...(await this.#versionsOf(groups, signal))]);
  }

  async #root(path: '/api' | '/apis', signal: AbortSignal): Promise<JsonObject> {
    if (!this.#aggregated) return await this.#read(path, 'application/json', signal);
    try {
      return await this.#read(path, `${AGGREGATED},application/json`, signal);
    } catch (thrown) {
      if (!isKubeError(thrown) || thrown.code !== 406) throw thrown;
      this.#aggregated = false;
      return await this.#read(path, 'application/json', signal);
    }
  }

  /** The answer says by its kind which form it is. */
  async #versionsOf(root: JsonObject, signal: AbortSignal): Promise<readonly Version[]> {
    if (root['kind'] === 'APIGroupDiscoveryList') return fromAggregated(root);
    this.#aggregated = false;
    const named = root['kind'] === 'APIVersions' ? fromCoreVersions(root) : fromGroupList(root);
    return await mapLimited(named, CONCURRENT, (version) => this.#classic(version, signal));
  }

  async #classic(named: Named, signal: AbortSignal): Promise<Version> {
    const path = named.group === '' ? `/api/${named.version}` : `/apis/${named.group}/${named.version}`;
    try {
      return { ...named, resources: fromResourceList(await this.#read(path, 'application/json', signal), named) };
    } catch (thrown) {
      // 30, DC-3: one broken aggregated API makes the scan partial, not failed.
      if (signal.aborted || !isKubeError(thrown)) throw thrown;
      return { ...named, resources: { failure: thrown.reason } };
    }
  }

  async #read(path: string, accept: string, signal: AbortSignal): Promise<JsonObject> {
    return await this.#client.json(
      { method: 'GET', path, headers: { accept, 'accept-encoding': 'gzip' }, timeoutMs: REQUEST_MS },
      signal,
    );
  }
}

function toScan(versions: readonly Version[]): DiscoveryScan {
  const entries: DiscoveredResource[] = [];
  const failed: DiscoveryFailure[] = [];
  const scanned: string[] = [];
  const served = versions.flatMap((version) =>
    'failure' in version.resources
      ? []
      : version.resources.map((resource) => ({ resource, preferredVersion: version.preferredVersion })),
  );
  const preferredByType = new Map<string, string>();
  for (const { resource, preferredVersion } of served) {
    const type = `${resource.group}/${resource.resource}`;
    if (!preferredByType.has(type) || resource.version === preferredVersion)
      preferredByType.set(type, resource.version);
  }
  for (const { group, version, resources } of versions) {
    const groupVersion = group === '' ? version : `${group}/${version}`;
    if ('failure' in resources) failed.push({ groupVersion, reason: resources.failure });
    else scanned.push(groupVersion);
  }
  for (const { resource } of served) {
    entries.push({
      ...resource,
      preferred: resource.version === preferredByType.get(`${resource.group}/${resource.resource}`),
    });
  }
  const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  entries.sort((a, b) => order(a.group, b.group) || order(a.resource, b.resource));
  scanned.sort(order);
  failed.sort((a, b) => order(a.groupVersion, b.groupVersion));
  return { entries, scanned, failed, complete: failed.length === 0 };
}

function fromAggregated(root: JsonObject): readonly Version[] {
  return objects(root['items']).flatMap((item) => {
    const group = text(object(item['metadata'])['name']);
    const versions = objects(item['versions']);
    const preferredVersion = text(versions[0]?.['version']);
    return versions.map((entry): Version => {
      const version = text(entry['version']);
      // A stale version is what the aggregator remembers of an API server it cannot reach.
      if (entry['freshness'] === 'Stale')
        return { group, version, preferredVersion, resources: { failure: 'StaleGroupVersion' } };
      return {
        group,
        version,
        preferredVersion,
        resources: objects(entry['resources']).flatMap((resource) => toResource(resource, group, version)),
      };
    });
  });
}

function toResource(
  entry: JsonObject,
  group: string,
  version: string,
): readonly Omit<DiscoveredResource, 'preferred'>[] {
  const kind = text(object(entry['responseKind'])['kind']);
  // A resource that is only the parent of subresources has no kind of its own.
  if (kind === '') return [];
  return [
    {
      group,
      version,
      resource: text(entry['resource']),
      kind,
      singular: text(entry['singularResource']) || kind.toLowerCase(),
      shortNames: texts(entry['shortNames']),
      namespaced: entry['scope'] === 'Namespaced' ? true : entry['scope'] === 'Cluster' ? false : undefined,
      verbs: texts(entry['verbs']),
      subresources: objects(entry['subresources']).map((sub) => text(sub['subresource'])),
    },
  ];
}

function fromCoreVersions(root: JsonObject): readonly Named[] {
  const versions = texts(root['versions']);
  return versions.map((version) => ({ group: '', version, preferredVersion: versions[0] ?? version }));
}

function fromGroupList(root: JsonObject): readonly Named[] {
  return objects(root['groups']).flatMap((group) => {
    const versions = objects(group['versions']).map((entry) => text(entry['version']));
    const preferredVersion = text(object(group['preferredVersion'])['version']) || (versions[0] ?? '');
    return versions.map((version) => ({ group: text(group['name']), version, preferredVersion }));
  });
}

function fromResourceList(
  list: JsonObject,
  { group, version }: Named,
): readonly Omit<DiscoveredResource, 'preferred'>[] {
  const all = objects(list['resources']);
  const subresources = (resource: string): string[] =>
    all
      .map((entry) => text(entry['name']))
      .filter((name) => name.startsWith(`${resource}/`))
      .map((name) => name.slice(resource.length + 1));
  return all
    .filter((entry) => !text(entry['name']).includes('/') && text(entry['kind']) !== '')
    .map((entry) => ({
      group,
      version,
      resource: text(entry['name']),
      kind: text(entry['kind']),
      singular: text(entry['singularName']) || text(entry['kind']).toLowerCase(),
      shortNames: texts(entry['shortNames']),
      namespaced: typeof entry['namespaced'] === 'boolean' ? entry['namespaced'] : undefined,
      verbs: texts(entry['verbs']),
      subresources: subresources(text(entry['name'])),
    }));
}

async function mapLimited<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const texts = (value: JsonValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
const object = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
const objects = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter((item): item is JsonObject => typeof item === 'object' && item !== null) : [];
