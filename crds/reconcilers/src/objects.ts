import type { KubeObject, Logger } from '@gitops-reverser/kernel-api';
import { KINDS, type KindName, type NamespaceLabels, type ObjectOf } from '@gitops-reverser/crd-types';
import {
  Informer,
  type CollectionPath,
  type InformerChange,
  type InformerListener,
  type KubeClient,
} from '@gitops-reverser/toolkit-kube';

/** Kinds that have a reconciler here. */
export const RECONCILED = [
  'GitProvider',
  'GitBranch',
  'GitTarget',
  'KubeProvider',
  'WatchRule',
  'ClusterWatchRule',
] as const satisfies readonly KindName[];
export type Reconciled = (typeof RECONCILED)[number];

/** One of our objects as the API server holds it. */
export type Declared<K extends KindName> = KubeObject & ObjectOf<K>;

/** `namespace/name`, or the name alone for a cluster-scoped object. */
export function keyOf(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): string {
  const { name, namespace } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
export const keyFor = (namespace: string, name: string): string => `${namespace}/${name}`;
export function splitKey(key: string): { readonly namespace?: string; readonly name: string } {
  const at = key.indexOf('/');
  return at < 0 ? { name: key } : { namespace: key.slice(0, at), name: key.slice(at + 1) };
}

export function pathOf(kind: KindName): CollectionPath {
  return { group: 'configbutler.ai', version: 'v1alpha3', resource: KINDS[kind].plural };
}

/** Creation time, then namespace and name: of two that want the same, the older one has it. */
export function isOlder(a: KubeObject, b: KubeObject): boolean {
  const rank = (object: KubeObject): string => `${object.metadata['creationTimestamp']} ${keyOf(object)}`;
  return rank(a) < rank(b);
}

/** What the reconcilers know of the control cluster: our own kinds, and namespaces for their labels. */
export interface Objects {
  get<K extends Reconciled>(kind: K, key: string): Declared<K> | undefined;
  list<K extends Reconciled>(kind: K, namespace?: string): readonly Declared<K>[];
  onChange<K extends Reconciled>(kind: K, listener: InformerListener<Declared<K>>): Disposable;
  namespaceLabels(namespace: string): NamespaceLabels;
  onNamespaceChange(listener: (change: InformerChange<KubeObject>) => void): Disposable;
}

/** The same, read from the API server and kept current. */
export class ControlObjects implements Objects, AsyncDisposable {
  readonly #namespaces: Informer;
  readonly #informers: ReadonlyMap<Reconciled, Informer>;

  constructor(client: KubeClient, logger: Logger) {
    this.#informers = new Map(RECONCILED.map((kind) => [kind, new Informer({ client, path: pathOf(kind), logger })]));
    this.#namespaces = new Informer({ client, path: { group: '', version: 'v1', resource: 'namespaces' }, logger });
  }

  get<K extends Reconciled>(kind: K, key: string): Declared<K> | undefined {
    const { namespace, name } = splitKey(key);
    return this.#informer(kind).get(name, namespace);
  }

  list<K extends Reconciled>(kind: K, namespace?: string): readonly Declared<K>[] {
    return this.#informer(kind).list(namespace);
  }

  onChange<K extends Reconciled>(kind: K, listener: InformerListener<Declared<K>>): Disposable {
    return this.#informer(kind).onChange(listener);
  }

  namespaceLabels(namespace: string): NamespaceLabels {
    const { trouble, isSynced } = this.#namespaces;
    if (trouble !== undefined) return { kind: 'unreadable', cause: trouble.message };
    if (!isSynced) return { kind: 'unreadable', cause: 'namespaces have not been read so far' };
    const found = this.#namespaces.get(namespace);
    return found === undefined ? { kind: 'missing' } : { kind: 'known', labels: found.metadata.labels ?? {} };
  }

  onNamespaceChange(listener: (change: InformerChange<KubeObject>) => void): Disposable {
    return this.#namespaces.onChange(listener);
  }

  /** Resolves once everything was read completely: before that, absence means nothing (WP-15). */
  async synced(): Promise<void> {
    await Promise.all([this.#namespaces.synced, ...[...this.#informers.values()].map(({ synced }) => synced)]);
  }

  /** What has not been read so far, for the readiness check. */
  missing(): string | undefined {
    const all = [...[...this.#informers].map(([kind, each]) => [KINDS[kind].plural, each] as const)];
    const waiting = [...all, ['namespaces', this.#namespaces] as const]
      .filter(([, { isSynced }]) => !isSynced)
      .map(([name, { trouble }]) => (trouble === undefined ? name : `${name} (${trouble.message})`));
    return waiting.length === 0 ? undefined : `waiting for ${waiting.join(', ')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#namespaces, ...this.#informers.values()].map((informer) => informer.close()));
  }

  #informer<K extends Reconciled>(kind: K): Informer<Declared<K>> {
    // Each informer was made for the path of its kind, and the API server only serves that kind there.
    return this.#informers.get(kind) as unknown as Informer<Declared<K>>;
  }
}
