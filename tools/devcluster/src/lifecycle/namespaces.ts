import { type KubeObject, type MutableJson, isObject, valueAt } from '../object.js';
import { type Core, commit, commitRemoval } from '../objects/core.js';
import { createObject } from '../objects/create.js';
import { deleteObject } from '../objects/remove.js';
import type { ResourceType } from '../resources/resource-type.js';
import { storeKey } from '../store/entry.js';
import type { Background } from './background.js';

export interface NamespaceSettings {
  /** PEM for `kube-root-ca.crt`; `undefined` makes no such ConfigMap. */
  readonly rootCa: string | undefined;
  readonly defaultServiceAccount: boolean;
  /** `false` leaves a deleted namespace Terminating, as a server without controllers does. */
  readonly finalizes: boolean;
}

const controller = {
  manager: 'kube-controller-manager',
  dryRun: false,
  fieldValidation: 'Ignore',
  subresource: '',
} as const;
const deleteOptions = { uid: undefined, resourceVersion: undefined, propagation: 'Background', dryRun: false } as const;

/** What the controllers of a real cluster do about namespaces: fill new ones, empty deleted ones. */
export function watchNamespaces(core: Core, background: Background, settings: NamespaceSettings): void {
  core.observers.push((type, change, object) => {
    if (type.storage === '/namespaces') {
      const name = object.metadata.name ?? '';
      if (change === 'ADDED') background.schedule(() => fill(core, name, settings));
      if (change === 'MODIFIED' && settings.finalizes && object.metadata.deletionTimestamp !== undefined)
        background.schedule(() => empty(core, name));
      if (change === 'MODIFIED' && object.metadata.deletionTimestamp !== undefined) removeWhenFinal(core, type, object);
      return;
    }
    const namespace = object.metadata.namespace;
    if (change !== 'DELETED' || namespace === undefined) return;
    // Controllers put back what every namespace has.
    if (type.storage === '/configmaps' || type.storage === '/serviceaccounts')
      background.schedule(() => fill(core, namespace, settings));
    if (
      settings.finalizes &&
      core.store.collection('/namespaces').get(namespace)?.object.metadata.deletionTimestamp !== undefined
    )
      background.schedule(() => empty(core, namespace));
  });
}

function fill(core: Core, namespace: string, settings: NamespaceSettings): void {
  const found = core.store.collection('/namespaces').get(namespace);
  if (found === undefined || found.object.metadata.deletionTimestamp !== undefined) return;
  const wanted: [string, MutableJson][] = [];
  if (settings.defaultServiceAccount) wanted.push(['serviceaccounts', { metadata: { name: 'default' } }]);
  if (settings.rootCa !== undefined)
    wanted.push([
      'configmaps',
      {
        metadata: {
          name: 'kube-root-ca.crt',
          annotations: {
            'kubernetes.io/description':
              'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
          },
        },
        data: { 'ca.crt': settings.rootCa },
      },
    ]);
  for (const [plural, body] of wanted) {
    const type = core.catalog.find('', 'v1', plural);
    const name = (body['metadata'] as { name: string }).name;
    if (type !== undefined && core.store.collection(type.storage).get(storeKey(namespace, name)) === undefined)
      createObject(core, type, namespace, body, controller);
  }
}

/** Deletes what is inside; the namespace goes when nothing is left. */
function empty(core: Core, namespace: string): void {
  const found = core.store.collection('/namespaces').get(namespace);
  if (found === undefined || found.object.metadata.deletionTimestamp === undefined) return;
  let left = 0;
  for (const type of core.catalog.stored()) {
    if (!type.namespaced) continue;
    for (const entry of core.store.collection(type.storage).entries()) {
      if (entry.object.metadata.namespace !== namespace) continue;
      deleteObject(core, type, namespace, entry.object.metadata.name ?? '', deleteOptions);
      if (core.store.collection(type.storage).get(entry.key) !== undefined) left += 1;
    }
  }
  const type = core.catalog.find('', 'v1', 'namespaces');
  const now = core.store.collection('/namespaces').get(namespace);
  if (left > 0 || type === undefined || now === undefined) return;
  commit(core, type, { ...now.object, spec: {} });
}

/** A terminating namespace without finalizers is gone at once; its last state is what DELETED carries. */
function removeWhenFinal(core: Core, type: ResourceType, object: KubeObject): void {
  const finalizers = valueAt(object, 'spec', 'finalizers');
  const isHeld = (Array.isArray(finalizers) && finalizers.length > 0) || (object.metadata.finalizers ?? []).length > 0;
  if (isHeld || !isObject(object['spec'])) return;
  if (core.store.collection('/namespaces').get(object.metadata.name ?? '') !== undefined)
    commitRemoval(core, type, object);
}
