import type { Clock, JsonObject, JsonValue, KubeObject } from '@gitops-reverser/kernel-api';
import type { NamespaceLabels } from '@gitops-reverser/crd-types';
import type { InformerChange, KubeAnswer, KubeConnection, KubeRequest } from '@gitops-reverser/toolkit-kube';
import { keyOf, pathOf, splitKey, type Declared, type Objects, type Reconciled } from '../objects.js';

type Change = InformerChange<KubeObject>;

export interface Written {
  readonly what: 'status' | 'event';
  /** `Kind key` of the object it is about. */
  readonly about: string;
  readonly body: JsonObject;
}

/** A control cluster in memory: it holds objects, tells of changes at once, and answers the few requests reconcilers make. */
export class MemoryCluster implements Objects {
  readonly connection: KubeConnection;
  readonly written: Written[] = [];
  readonly secretReads: string[] = [];
  /** Set: namespaces cannot be read, and this is why. */
  namespaceTrouble: string | undefined;
  /** Set: Secrets and ConfigMaps are answered with this code. */
  secretTrouble: number | undefined;
  /** Status writes are answered with this code. */
  statusTrouble: number | undefined;
  readonly #clock: Clock;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners = new Map<string, Set<(change: Change) => void>>();
  #version = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.connection = {
      server: 'https://control.example.test',
      namespace: undefined,
      clock,
      request: (request) => Promise.resolve(this.#answer(request)),
      openStream: () => Promise.reject(new TypeError('the memory cluster has no streams')),
      close: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  // What tests do.

  /** Creates or replaces; generation rises with the spec, everything else of the metadata stays as given. */
  put(object: KubeObject): KubeObject {
    const before = this.#of(object.kind).get(keyOf(object));
    const isSameSpec = JSON.stringify(before?.['spec']) === JSON.stringify(object['spec']);
    const generation = (before?.metadata['generation'] as number | undefined) ?? 0;
    const stored = {
      ...object,
      ...(before?.['status'] === undefined ? {} : { status: before['status'] }),
      metadata: {
        creationTimestamp: before?.metadata['creationTimestamp'] ?? seconds(this.#clock.now()),
        ...object.metadata,
        uid: before?.metadata.uid ?? `uid-${this.#version}`,
        generation: isSameSpec ? generation : generation + 1,
      },
    } as KubeObject;
    return this.#store(stored);
  }

  edit(kind: string, key: string, change: (object: KubeObject) => JsonObject): void {
    const found = this.#of(kind).get(key);
    if (found === undefined) throw new TypeError(`${kind} ${key} is not there`);
    this.put({ ...found, ...change(found) } as KubeObject);
  }

  remove(kind: string, key: string): void {
    const found = this.#of(kind).get(key);
    if (found === undefined) throw new TypeError(`${kind} ${key} is not there`);
    this.#of(kind).delete(key);
    this.#tell(kind, { kind: 'deleted', object: found });
  }

  secret(namespace: string, name: string, values: Readonly<Record<string, string>>): void {
    const data = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    this.put({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, data } as KubeObject);
  }

  configMap(namespace: string, name: string, data: Readonly<Record<string, string>>): void {
    this.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data } as KubeObject);
  }

  namespace(name: string, labels: Readonly<Record<string, string>> = {}): void {
    this.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } } as KubeObject);
  }

  // What reconcilers see.

  get<K extends Reconciled>(kind: K, key: string): Declared<K> | undefined {
    return this.#of(kind).get(key) as Declared<K> | undefined;
  }

  list<K extends Reconciled>(kind: K, namespace?: string): readonly Declared<K>[] {
    return [...this.#of(kind).values()]
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) as unknown as readonly Declared<K>[];
  }

  onChange<K extends Reconciled>(kind: K, listener: (change: InformerChange<Declared<K>>) => void): Disposable {
    return this.#listen(kind, listener as (change: Change) => void);
  }

  namespaceLabels(namespace: string): NamespaceLabels {
    if (this.namespaceTrouble !== undefined) return { kind: 'unreadable', cause: this.namespaceTrouble };
    const found = this.#of('Namespace').get(namespace);
    return found === undefined ? { kind: 'missing' } : { kind: 'known', labels: found.metadata.labels ?? {} };
  }

  onNamespaceChange(listener: (change: Change) => void): Disposable {
    return this.#listen('Namespace', listener);
  }

  // The rest.

  #of(kind: string): Map<string, KubeObject> {
    const found = this.#objects.get(kind) ?? new Map<string, KubeObject>();
    this.#objects.set(kind, found);
    return found;
  }

  #listen(kind: string, listener: (change: Change) => void): Disposable {
    const all = this.#listeners.get(kind) ?? new Set();
    this.#listeners.set(kind, all.add(listener));
    return { [Symbol.dispose]: () => void all.delete(listener) };
  }

  #tell(kind: string, change: Change): void {
    for (const listener of [...(this.#listeners.get(kind) ?? [])]) listener(change);
  }

  #store(object: KubeObject): KubeObject {
    this.#version += 1;
    const stored = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(this.#version) },
    } as KubeObject;
    const before = this.#of(object.kind).get(keyOf(object));
    this.#of(object.kind).set(keyOf(object), stored);
    this.#tell(
      object.kind,
      before === undefined ? { kind: 'added', object: stored } : { kind: 'updated', object: stored, before },
    );
    return stored;
  }

  #answer({ method, path, body }: KubeRequest): KubeAnswer {
    const parts = path.split('/').filter((part) => part !== '');
    const sent = body === undefined ? {} : (JSON.parse(body) as JsonObject);
    if (method === 'GET' && (path.includes('/secrets/') || path.includes('/configmaps/')))
      return this.#answerSecret(path, parts);
    if (method === 'PATCH' && path.endsWith('/status')) return this.#answerStatus(path, sent);
    if (parts.includes('events')) {
      const about = sent['involvedObject'] as JsonObject | undefined;
      const key = about?.['namespace'] === undefined ? about?.['name'] : `${about['namespace']}/${about['name']}`;
      this.written.push({ what: 'event', about: `${about?.['kind'] ?? 'repeated'} ${key ?? ''}`, body: sent });
      return answer(201, sent);
    }
    return answer(404, status(404, `${method} ${path}`));
  }

  #answerSecret(path: string, parts: readonly string[]): KubeAnswer {
    this.secretReads.push(path);
    if (this.secretTrouble !== undefined)
      return answer(this.secretTrouble, status(this.secretTrouble, 'the server does not want to'));
    const [, , , namespace, resource, name] = parts;
    const found = this.#of(resource === 'secrets' ? 'Secret' : 'ConfigMap').get(`${namespace}/${name}`);
    return found === undefined ? answer(404, status(404, `${resource} "${name}" not found`)) : answer(200, found);
  }

  #answerStatus(path: string, sent: JsonObject): KubeAnswer {
    for (const [kind, objects] of this.#objects) {
      for (const [key, object] of objects) {
        if (object.apiVersion === 'v1' || pathOfStatus(kind as Reconciled, key) !== path) continue;
        if (this.statusTrouble !== undefined) return answer(this.statusTrouble, status(this.statusTrouble, 'not now'));
        const asked = (sent['metadata'] as JsonObject)['resourceVersion'];
        if (asked !== object.metadata.resourceVersion) return answer(409, status(409, 'the object has been modified'));
        this.written.push({ what: 'status', about: `${kind} ${key}`, body: sent['status'] as JsonObject });
        const merged = merge(object['status'] ?? {}, sent['status'] ?? {});
        return answer(200, this.#store({ ...object, status: merged } as KubeObject));
      }
    }
    return answer(404, status(404, `${path} not found`));
  }
}

function pathOfStatus(kind: Reconciled, key: string): string {
  const { namespace, name } = splitKey(key);
  const { group, version, resource } = pathOf(kind);
  const scope = namespace === undefined ? '' : `namespaces/${namespace}/`;
  return `/apis/${group}/${version}/${scope}${resource}/${name}/status`;
}

/** RFC 7386. */
function merge(target: JsonValue, patch: JsonValue): JsonValue {
  if (!isMap(patch)) return patch;
  const result: Record<string, JsonValue> = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key] ?? {}, value);
  }
  return result;
}

const isMap = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const seconds = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;
const answer = (code: number, body: JsonObject): KubeAnswer => ({
  status: code,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});
const status = (code: number, message: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Status',
  status: 'Failure',
  code,
  reason: { 403: 'Forbidden', 404: 'NotFound', 409: 'Conflict' }[code] ?? 'InternalError',
  message,
});
