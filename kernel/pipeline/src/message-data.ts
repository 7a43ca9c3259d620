import type { ObjectRef, ResourceType } from '@gitops-reverser/kernel-api';
import type { Operation } from './item.js';
import { TemplateMap, TemplateRecord, type Value } from './template/index.js';

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

const apiVersionOf = ({ group, version }: { readonly group: string; readonly version: string }): string =>
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

/** What live and request templates see. */
export function liveData(facts: LiveFacts): Value {
  const operations = new Map<string, bigint>();
  for (const { operation } of facts.entries) operations.set(operation, (operations.get(operation) ?? 0n) + 1n);
  return new TemplateRecord(
    {
      Author: facts.author,
      GitTarget: facts.gitTarget,
      Count: BigInt(facts.entries.length),
      Operations: new TemplateMap(operations, 0n),
      Resources: facts.entries.map(entryData),
      RequestMessage: facts.requestMessage,
    },
    {
      LabelValues: (key) => [...new Set(facts.entries.flatMap(({ labels }) => ownLabel(labels, key) ?? []))].sort(),
      LabelValue: (key) => {
        const values = new Set(facts.entries.map(({ labels }) => ownLabel(labels, key)));
        const [only] = values;
        return values.size === 1 && only !== undefined ? only : '';
      },
    },
  );
}

/** What reconcile templates see. */
export function reconcileData(facts: ReconcileFacts): Value {
  return new TemplateRecord(
    {
      Count: BigInt(facts.count),
      GitTarget: facts.gitTarget,
      Group: facts.group,
      Version: facts.version,
      Resource: facts.resource,
      APIVersion: facts.apiVersion,
      Namespace: facts.namespace,
      ResourceVersion: facts.resourceVersion,
    },
    {},
  );
}

function entryData(entry: MessageEntry): Value {
  const place = entry.namespace === '_cluster' ? '' : `/${entry.namespace}`;
  const printed = `${entry.group === '' ? '' : `${entry.group}/`}${entry.version}/${entry.resource}${place}/${entry.name}`;
  return new TemplateRecord(
    {
      Operation: entry.operation,
      Group: entry.group,
      Version: entry.version,
      Resource: entry.resource,
      Kind: entry.kind,
      Namespace: entry.namespace,
      Name: entry.name,
      APIVersion: entry.apiVersion,
      ResourceVersion: entry.resourceVersion,
      Generation: BigInt(entry.generation),
      Labels: new TemplateMap(new Map(Object.entries(entry.labels)), ''),
    },
    { Label: (key) => ownLabel(entry.labels, key) ?? '' },
    printed,
  );
}

const ownLabel = (labels: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;
