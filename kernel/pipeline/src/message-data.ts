import type { ObjectRef, ResourceType } from '@gitops-reverser/kernel-api';
import type { Operation } from './item.js';

/** One change as a message sees it. */
export interface MessageEntry {
  readonly operation: Operation;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  /** `_cluster` for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly labels: Readonly<Record<string, string>>;
}
export interface LiveFacts {
  /** Raw user name, or empty; never the sentinel. */
  readonly author: string;
  readonly gitTarget: string;
  readonly entries: readonly MessageEntry[];
  readonly requestMessage: string;
}
export interface ReconcileFacts {
  readonly count: number;
  readonly gitTarget: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resourceVersion: string;
}

export const apiVersionOf = ({ group, version }: { readonly group: string; readonly version: string }): string =>
  group === '' ? version : `${group}/${version}`;

export interface EntrySource {
  readonly ref: ObjectRef;
  readonly operation: Operation;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly object?: {
    readonly kind: string;
    readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  };
}

export function messageEntry({ ref, operation, object, resourceVersion, generation }: EntrySource): MessageEntry {
  return {
    operation,
    group: ref.group,
    version: ref.version,
    resource: ref.resource,
    kind: object?.kind ?? '',
    namespace: ref.namespace ?? '_cluster',
    name: ref.name,
    apiVersion: apiVersionOf(ref),
    resourceVersion,
    generation,
    labels: object?.metadata.labels ?? {},
  };
}

export function reconcileFacts(
  type: ResourceType,
  facts: Pick<ReconcileFacts, 'count' | 'gitTarget' | 'namespace' | 'resourceVersion'>,
): ReconcileFacts {
  return {
    ...facts,
    group: type.group,
    version: type.version,
    resource: type.resource,
    apiVersion: apiVersionOf(type),
  };
}
