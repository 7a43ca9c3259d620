import type { ResourceType } from '../resources/resource-type.js';

export interface Subresource {
  readonly name: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

/** What a type has below its objects. */
export function builtinSubresources(type: ResourceType): readonly Subresource[] {
  const own = { group: type.group, version: type.version, kind: type.kind };
  const found: Subresource[] = [];
  if (type.storage === '/namespaces') found.push({ name: 'finalize', kind: own, verbs: ['update'] });
  if (type.scale !== undefined)
    found.push({
      name: 'scale',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      verbs: ['get', 'patch', 'update'],
    });
  if (type.hasStatus) found.push({ name: 'status', kind: own, verbs: ['get', 'patch', 'update'] });
  if (type.storage === '/serviceaccounts')
    found.push({
      name: 'token',
      kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      verbs: ['create'],
    });
  return found;
}
