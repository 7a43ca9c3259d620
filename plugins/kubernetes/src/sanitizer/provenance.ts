import type { GeneratedSelection, JsonObject, KubeObject, ResourceType } from '@gitops-reverser/kernel-api';
import { at, isEmpty, isList, isMap } from './json.js';

/** One filter of chapter 20, 2.2: an object nobody wrote. */
interface Filter {
  readonly id: string;
  /** Cause and remedy, for whoever wonders where the object is. */
  readonly doc: string;
  readonly on: boolean;
  holds(object: KubeObject, type: ResourceType, desired: () => JsonObject): boolean;
}

const isCore = (type: ResourceType, resource: string): boolean => type.group === '' && type.resource === resource;
const label = (object: KubeObject, key: string): string | undefined => object.metadata.labels?.[key];
const hasLabel = (object: KubeObject, key: string): boolean => label(object, key) !== undefined;
const hasAnnotation = (object: KubeObject, key: string): boolean => object.metadata.annotations?.[key] !== undefined;

/** In order; the first that holds wins. No rule looks at users, field managers or user agents. */
const FILTERS: readonly Filter[] = [
  {
    id: 'kube-root-ca',
    doc: "The cluster's own CA, put into every namespace; includeGenerated mirrors it after all.",
    on: true,
    holds: (object, type) => isCore(type, 'configmaps') && object.metadata.name === 'kube-root-ca.crt',
  },
  {
    id: 'injected-ca',
    doc: 'A CA that the platform puts into every namespace; includeGenerated mirrors it after all.',
    on: true,
    holds: (object, type) =>
      isCore(type, 'configmaps') && ['openshift-service-ca.crt', 'istio-ca-root-cert'].includes(object.metadata.name),
  },
  {
    id: 'service-account-token',
    doc: 'A token the cluster minted; includeGenerated mirrors it after all.',
    on: true,
    holds: (object, type) => isCore(type, 'secrets') && object['type'] === 'kubernetes.io/service-account-token',
  },
  {
    id: 'bootstrap-token',
    doc: 'A token for nodes that join; includeGenerated mirrors it after all.',
    on: true,
    holds: (object, type) => isCore(type, 'secrets') && object['type'] === 'bootstrap.kubernetes.io/token',
  },
  {
    id: 'helm-release-store',
    doc: "Helm's own memory of a release; includeGenerated mirrors it after all.",
    on: true,
    holds: (object, type) =>
      (isCore(type, 'secrets') && object['type'] === 'helm.sh/release.v1') ||
      ((isCore(type, 'secrets') || isCore(type, 'configmaps')) &&
        label(object, 'owner') === 'helm' &&
        object.metadata.name.startsWith('sh.helm.release.v1.')),
  },
  {
    id: 'default-service-account',
    doc: 'The account every namespace is given, unchanged; includeGenerated mirrors it after all.',
    on: true,
    holds: (object, type, desired) =>
      isCore(type, 'serviceaccounts') && object.metadata.name === 'default' && isOnlyIdentity(desired()),
  },
  {
    id: 'leader-lock',
    doc: 'A lock that leaders renew every few seconds; includeGenerated mirrors it after all.',
    on: true,
    holds: (object, type) =>
      (isCore(type, 'configmaps') || isCore(type, 'endpoints')) &&
      hasAnnotation(object, 'control-plane.alpha.kubernetes.io/leader'),
  },
  {
    id: 'endpoints',
    doc: 'Addresses a controller keeps for a Service; includeGenerated mirrors them after all.',
    on: true,
    holds: (object, type) =>
      (isCore(type, 'endpoints') &&
        (hasAnnotation(object, 'endpoints.kubernetes.io/last-change-trigger-time') ||
          hasLabel(object, 'endpoints.kubernetes.io/managed-by'))) ||
      (type.group === 'discovery.k8s.io' &&
        type.resource === 'endpointslices' &&
        hasLabel(object, 'endpointslice.kubernetes.io/managed-by')),
  },
  {
    id: 'rbac-default',
    doc: 'A role the API server restores at every start; includeGenerated mirrors it after all.',
    on: true,
    holds: (object, type) =>
      type.group === 'rbac.authorization.k8s.io' && label(object, 'kubernetes.io/bootstrapping') === 'rbac-defaults',
  },
  {
    id: 'controller-owned',
    doc: 'A controller made it from another object; excludeGenerated names this filter.',
    on: false,
    holds: (object) => {
      const owners = at(object, 'metadata', 'ownerReferences');
      return isList(owners) && owners.some((owner) => isMap(owner) && owner['controller'] === true);
    },
  },
  {
    id: 'release-owned',
    doc: 'A release controller made it; excludeGenerated names this filter.',
    on: false,
    holds: (object) =>
      hasLabel(object, 'helm.toolkit.fluxcd.io/name') || hasLabel(object, 'resourceset.fluxcd.controlplane.io/name'),
  },
  {
    id: 'helm-cli-owned',
    doc: 'A Helm release made it; excludeGenerated names this filter.',
    on: false,
    holds: (object) =>
      label(object, 'app.kubernetes.io/managed-by') === 'Helm' && hasAnnotation(object, 'meta.helm.sh/release-name'),
  },
];

/** Filters with their default, as reference tables, reasons and validation need them. */
export const GENERATED_FILTERS: readonly { readonly id: string; readonly on: boolean; readonly doc: string }[] =
  FILTERS.map(({ id, on, doc }) => ({ id, on, doc }));

/** The id of the filter that drops this object, if any. `desired` is what all sanitizers together will leave of it. */
export function provenance(
  object: KubeObject,
  type: ResourceType,
  desired: () => JsonObject,
  selection: GeneratedSelection,
  defaults: 'all' | 'none',
): string | undefined {
  for (const filter of FILTERS) {
    if (isOn(filter, selection, defaults) && filter.holds(object, type, desired)) return filter.id;
  }
  return undefined;
}

/** A target that names a filter outweighs every wildcard and default. */
function isOn({ id, on }: Filter, { include, exclude }: GeneratedSelection, defaults: 'all' | 'none'): boolean {
  if (exclude.includes(id)) return true;
  return on && defaults === 'all' && !include.includes('*') && !include.includes(id);
}

function isOnlyIdentity(desired: JsonObject): boolean {
  const { apiVersion, kind, metadata, ...rest } = desired;
  if (!isEmpty(rest) || !isMap(metadata)) return false;
  return Object.keys(metadata).every((key) => key === 'name' || key === 'namespace');
}
