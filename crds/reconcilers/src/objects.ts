import type { KubeObject } from '@gitops-reverser/kernel-api';
import { KINDS, type KindName, type ObjectOf } from '@gitops-reverser/crd-types';
import { Informer, type CollectionPath, type KubeClient } from '@gitops-reverser/toolkit-kube';

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

/** Everything the reconcilers know of the control cluster: our own kinds, and namespaces for their labels. */
export class ControlObjects implements AsyncDisposable {
  readonly namespaces: Informer;
  readonly #informers: ReadonlyMap<Reconciled, Informer>;

  constructor(client: KubeClient) {
    this.#informers = new Map(RECONCILED.map((kind) => [kind, new Informer({ client, path: pathOf(kind) })]));
    this.namespaces = new Informer({ client, path: { group: '', version: 'v1', resource: 'namespaces' } });
  }

  informer<K extends Reconciled>(kind: K): Informer<Declared<K>> {
    // Each informer was made for the path of its kind, and the API server only serves that kind there.
    return this.#informers.get(kind) as unknown as Informer<Declared<K>>;
  }

  get<K extends Reconciled>(kind: K, key: string): Declared<K> | undefined {
    const { namespace, name } = splitKey(key);
    return this.informer(kind).get(name, namespace);
  }

  list<K extends Reconciled>(kind: K, namespace?: string): readonly Declared<K>[] {
    return this.informer(kind).list(namespace);
  }

  /** Resolves once everything was read completely: before that, absence means nothing (WP-15). */
  async synced(): Promise<void> {
    await Promise.all([this.namespaces.synced, ...[...this.#informers.values()].map(({ synced }) => synced)]);
  }

  /** What has not been read so far, for the readiness check. */
  missing(): string | undefined {
    const waiting = [...this.#informers]
      .filter(([, informer]) => !informer.isSynced)
      .map(([kind, informer]) =>
        informer.trouble === undefined ? KINDS[kind].plural : `${KINDS[kind].plural} (${informer.trouble.message})`,
      );
    if (!this.namespaces.isSynced) waiting.push('namespaces');
    return waiting.length === 0 ? undefined : `waiting for ${waiting.join(', ')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.namespaces, ...this.#informers.values()].map((informer) => informer.close()));
  }
}
