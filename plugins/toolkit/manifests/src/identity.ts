import type { ObjectRef } from '@gitops-reverser/kernel-api';

/**
 * `{group}/{version}/{resource}/{namespace}/{name}`: for logs, traces and hashes. A cluster-scoped object has no namespace
 * segment, the core group is an empty leading one. To compare objects use `refKey` or `documentKey`, which know no version.
 */
export function key(ref: Pick<ObjectRef, 'group' | 'version' | 'resource' | 'namespace' | 'name'>): string {
  const scope = ref.namespace === undefined ? '' : `${ref.namespace}/`;
  return `${ref.group}/${ref.version}/${ref.resource}/${scope}${ref.name}`;
}

/** What a document says it is. Without a registry a kind is all there is to know of its type. */
export interface DocumentIdentity {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Versionless: two documents that differ in the version alone are the same object. No part can hold a line feed. */
export function documentKey(identity: Pick<DocumentIdentity, 'group' | 'kind' | 'namespace' | 'name'>): string {
  return `${identity.group}\n${identity.kind}\n${identity.namespace ?? ''}\n${identity.name}`;
}

/** Splits `apps/v1` and `v1`. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return slash === -1
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** For messages: `ConfigMap shop/settings`, `ClusterRole reader`. */
export function describeDocument(identity: Pick<DocumentIdentity, 'kind' | 'namespace' | 'name'>): string {
  return identity.namespace === undefined
    ? `${identity.kind} ${identity.name}`
    : `${identity.kind} ${identity.namespace}/${identity.name}`;
}
