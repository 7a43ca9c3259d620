import type { Faults } from '../faults.js';
import { parseAccept } from '../http/negotiation.js';
import type { JsonObject } from '../object.js';
import type { Catalog } from '../resources/catalog.js';
import type { ResourceType } from '../resources/resource-type.js';
import { refuse } from '../status.js';
import { builtinSubresources } from './subresources.js';

export interface DiscoveryAnswer {
  readonly body: JsonObject;
  readonly contentType: string;
}

/** `/api`, `/apis`: aggregated when it is asked for and switched on, classic otherwise. */
export function rootDiscovery(
  catalog: Catalog,
  path: '/api' | '/apis',
  accept: string | undefined,
  faults: Faults,
): DiscoveryAnswer {
  const wanted = parseAccept(accept);
  const isAggregated = (range: (typeof wanted)[number]) =>
    range.parameters['g'] === 'apidiscovery.k8s.io' && range.parameters['as'] === 'APIGroupDiscoveryList';
  for (const range of wanted) {
    if (range.type !== 'application/json' && range.type !== '*/*') continue;
    if (!isAggregated(range)) return { body: classicRoot(catalog, path), contentType: 'application/json' };
    const version = range.parameters['v'] ?? 'v2';
    if (!faults.aggregatedDiscovery || (version !== 'v2' && version !== 'v2beta1')) continue;
    return {
      body: aggregated(catalog, path, version, faults),
      contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    };
  }
  if (wanted.length === 0) return { body: classicRoot(catalog, path), contentType: 'application/json' };
  throw refuse.notAcceptable(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']);
}

function aggregated(catalog: Catalog, path: '/api' | '/apis', version: string, faults: Faults): JsonObject {
  const groups = catalog.groups().filter(({ group }) => (group === '') === (path === '/api'));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map((name) => {
        const isBroken = faults.isGroupBroken(group);
        return {
          version: name,
          freshness: isBroken ? 'Stale' : 'Current',
          ...(isBroken ? {} : { resources: catalog.typesOf(group, name).map(aggregatedResource) }),
        };
      }),
    })),
  };
}

function aggregatedResource(type: ResourceType): JsonObject {
  const subresources = builtinSubresources(type).map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind: { group: kind.group, version: kind.version, kind: kind.kind },
    verbs,
  }));
  return {
    resource: type.plural,
    responseKind: { group: type.group, version: type.version, kind: type.kind },
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: type.verbs,
    ...(type.shortNames.length > 0 ? { shortNames: type.shortNames } : {}),
    ...(type.categories.length > 0 ? { categories: type.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

function classicRoot(catalog: Catalog, path: '/api' | '/apis'): JsonObject {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: catalog
      .groups()
      .filter(({ group }) => group !== '')
      .map(groupBody),
  };
}

function groupBody({ group, versions }: { readonly group: string; readonly versions: readonly string[] }): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** `/apis/G`. */
export function groupDiscovery(catalog: Catalog, group: string): JsonObject {
  const found = catalog.groups().find((one) => one.group === group);
  if (found === undefined || group === '') throw refuse.noSuchPath();
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupBody(found) };
}

/** `/api/v1`, `/apis/G/V`. */
export function versionDiscovery(catalog: Catalog, group: string, version: string, faults: Faults): JsonObject {
  if (faults.isGroupBroken(group)) throw refuse.unavailable('service unavailable');
  const types = catalog.typesOf(group, version);
  if (types.length === 0) throw refuse.noSuchPath();
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: types.flatMap((type) => [
      {
        name: type.plural,
        singularName: type.singular,
        namespaced: type.namespaced,
        kind: type.kind,
        verbs: type.verbs,
        ...(type.shortNames.length > 0 ? { shortNames: type.shortNames } : {}),
        ...(type.categories.length > 0 ? { categories: type.categories } : {}),
      },
      ...builtinSubresources(type).map(({ name, kind, verbs }) => ({
        name: `${type.plural}/${name}`,
        singularName: '',
        namespaced: type.namespaced,
        ...(kind.group === type.group && kind.version === type.version
          ? {}
          : { group: kind.group, version: kind.version }),
        kind: kind.kind,
        verbs,
      })),
    ]),
  };
}
