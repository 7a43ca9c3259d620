import {
  cursor,
  definePlugin,
  refOf,
  token,
  type Collection,
  type Cursor,
  type KubeObject,
  type ObjectRef,
  type ResourceType,
  type Source,
  type SourceEvent,
  type Surface,
} from '@gitops-reverser/kernel-api';
import { configMaps, deployments, namespaces, observed, secrets, services, widgets } from '../objects.js';
import { bell } from './bell.js';

interface Change {
  readonly version: number;
  readonly type: ResourceType;
  readonly object: KubeObject;
  readonly before?: KubeObject;
  readonly isRemoval: boolean;
}

/** A cluster in memory: objects with resource versions, and a history that can be read again. */
export interface MemoryCluster {
  /** Creates the object, or replaces it. Returns it as stored. */
  put(type: ResourceType, object: KubeObject): KubeObject;
  remove(type: ResourceType, name: string, namespace?: string): void;
  /** Breaks every open stream once. */
  cut(): void;
  /** Forgets the history: older cursors are too old. */
  expire(): void;
  setSurface(change: Partial<Surface>): void;
}

export interface MemoryClusterEnd extends MemoryCluster {
  readonly version: number;
  readonly oldest: number;
  readonly cuts: number;
  surface(): Surface;
  list(type: ResourceType): readonly KubeObject[];
  since(version: number): readonly Change[];
  /** Resolves on the next change of anything, or on abort. */
  changed(signal: AbortSignal): Promise<void>;
}

export const memoryClusterEnd = token<MemoryClusterEnd, 'cluster'>('memory-cluster', 'cluster');

const keyOf = (type: ResourceType, namespace: string | undefined, name: string): string =>
  `${type.group}/${type.resource}/${namespace ?? ''}/${name}`;

export function memoryCluster(): MemoryClusterEnd {
  const stored = new Map<string, { readonly type: ResourceType; readonly object: KubeObject }>();
  const history: Change[] = [];
  const changes = bell();
  let [version, oldest, cuts, births] = [1, 1, 0, 0];
  let surface: Surface = {
    generation: 1,
    reach: { state: 'reachable', reason: 'Connected', message: 'in memory' },
    types: [configMaps, secrets, services, namespaces, deployments, widgets].map((type) => ({
      type,
      singular: type.kind.toLowerCase(),
      shortNames: [],
      preferred: true,
      verdict: 'followable' as const,
    })),
  };
  const remember = (change: Omit<Change, 'version'>): void => {
    history.push({ ...change, version });
    changes.ring();
  };

  return {
    put(type, object) {
      version += 1;
      const key = keyOf(type, object.metadata.namespace, object.metadata.name);
      const before = stored.get(key)?.object;
      if (before === undefined) births += 1;
      const uid = before?.metadata.uid ?? `00000000-0000-4000-8000-${String(births).padStart(12, '0')}`;
      const held = observed(object, { uid, resourceVersion: String(version) });
      stored.set(key, { type, object: held });
      remember({ type, object: held, isRemoval: false, ...(before === undefined ? {} : { before }) });
      return held;
    },
    remove(type, name, namespace = 'demo') {
      const key = keyOf(type, type.namespaced ? namespace : undefined, name);
      const held = stored.get(key);
      if (held === undefined) throw new TypeError(`memory cluster: no ${type.kind} ${namespace}/${name}`);
      version += 1;
      stored.delete(key);
      remember({ type, object: held.object, isRemoval: true });
    },
    cut() {
      cuts += 1;
      changes.ring();
    },
    expire() {
      version += 1;
      oldest = version;
      history.length = 0;
    },
    setSurface(change) {
      surface = { ...surface, ...change, generation: surface.generation + 1 };
      changes.ring();
    },
    get version() {
      return version;
    },
    get oldest() {
      return oldest;
    },
    get cuts() {
      return cuts;
    },
    surface: () => surface,
    list: (type) =>
      [...stored.values()]
        .filter((held) => held.type.resource === type.resource && held.type.group === type.group)
        .map(({ object }) => object),
    since: (from) => history.filter((change) => change.version > from),
    changed: changes.rung,
  };
}

/** A source over a {@link MemoryCluster}; serves the dialect `memory`. */
export const memorySource = definePlugin({ id: 'memory-source', kernelApi: '^1.0', options: {} }, (on) => {
  on.source({
    serves: ['memory'],
    needs: { cluster: memoryClusterEnd },
    create: ({ needs }) => createMemorySource(needs.cluster),
  });
});

function createMemorySource(cluster: MemoryClusterEnd): Source {
  return {
    async *surface(signal) {
      let told: number | undefined;
      while (!signal.aborted) {
        const surface = cluster.surface();
        if (surface.generation !== told) {
          told = surface.generation;
          yield surface;
        } else await cluster.changed(signal);
      }
    },
    async *follow(collection, from, signal) {
      let at = resumable(cluster, from);
      let cuts = cluster.cuts;
      while (!signal.aborted) {
        if (at === undefined || at < cluster.oldest) {
          const now = cluster.version;
          yield* snapshot(cluster, collection, now, signal);
          if (signal.aborted) return;
          at = now;
          yield { kind: 'streaming' };
        }
        if (cuts !== cluster.cuts) {
          cuts = cluster.cuts;
          yield { kind: 'trouble', reason: 'WatchError', message: 'the stream was cut' };
          yield { kind: 'streaming' };
        }
        const changes: readonly Change[] = cluster.since(at);
        for (const change of changes) {
          if (signal.aborted) return;
          at = change.version;
          const event = eventOf(collection, change);
          if (event !== undefined) yield event;
        }
        if (changes.length === 0 && cuts === cluster.cuts) await cluster.changed(signal);
      }
    },
  };
}

async function* snapshot(
  cluster: MemoryClusterEnd,
  collection: Collection,
  version: number,
  signal: AbortSignal,
): AsyncIterable<SourceEvent> {
  yield { kind: 'snapshot-begin' };
  for (const object of cluster.list(collection.type).filter((each) => isMatch(collection, each))) {
    if (signal.aborted) return;
    yield { kind: 'upsert', ref: refOf(collection.type, object), object, via: 'snapshot', cursor: cursorAt(version) };
  }
  if (!signal.aborted) yield { kind: 'snapshot-end', cursor: cursorAt(version) };
}

function eventOf(
  collection: Collection,
  { version, type, object, before, isRemoval }: Change,
): SourceEvent | undefined {
  if (type.resource !== collection.type.resource || type.group !== collection.type.group) return undefined;
  const ref: ObjectRef = refOf(collection.type, object);
  const gone = {
    kind: 'delete',
    ref,
    object,
    cursor: cursorAt(version),
    ...(object.metadata.uid === undefined ? {} : { uid: object.metadata.uid }),
  } as const;
  if (isRemoval) return isMatch(collection, object) ? { ...gone, removal: 'deletion' } : undefined;
  if (isMatch(collection, object)) return { kind: 'upsert', ref, object, via: 'live', cursor: cursorAt(version) };
  return before !== undefined && isMatch(collection, before) ? { ...gone, removal: 'filtered' } : undefined;
}

/** Namespace, and label selectors of equalities alone: `a=b,c=d`. */
function isMatch({ namespace, labelSelector }: Collection, { metadata }: KubeObject): boolean {
  if (namespace !== undefined && namespace !== metadata.namespace) return false;
  const wanted = labelSelector?.split(',').map((term) => term.split('=')) ?? [];
  return wanted.every(([key, value]) => key !== undefined && metadata.labels?.[key] === value);
}

const cursorAt = (version: number): Cursor => cursor(`memory:${version}`);
function resumable(cluster: MemoryClusterEnd, from: Cursor | undefined): number | undefined {
  const version = Number(/^memory:(\d+)$/.exec(from ?? '')?.[1] ?? Number.NaN);
  return Number.isNaN(version) || version > cluster.version ? undefined : version;
}
