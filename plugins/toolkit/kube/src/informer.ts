import { reasonOf, type Clock, type KubeObject, type Logger } from '@gitops-reverser/kernel-api';
import { linkAbort } from './abort.js';
import { backoffLadder, type Random } from './backoff.js';
import { isExpired, isKubeError, isWatchListRefusal } from './errors.js';
import { listAll } from './list-pager.js';
import type { CollectionPath } from './paths.js';
import type { KubeClient, Selection, WatchOptions } from './requests.js';
import { transportError } from './transport-error.js';
import type { WatchFrame } from './watch-stream.js';

export interface InformerOptions extends Selection {
  readonly client: KubeClient;
  readonly path: CollectionPath;
  readonly logger?: Logger;
  readonly random?: Random;
}

export type InformerChange<T extends KubeObject> =
  | { readonly kind: 'added'; readonly object: T }
  | { readonly kind: 'updated'; readonly object: T; readonly before: T }
  /** `object` is the last state known; after a replay that is not the last state there was. */
  | { readonly kind: 'deleted'; readonly object: T };

export type InformerListener<T extends KubeObject> = (change: InformerChange<T>) => void;

/** What is the matter while an informer does not follow; it goes on trying by itself. */
export interface InformerTrouble {
  readonly reason: string;
  readonly message: string;
}

// 60 s: how long an end mark is waited for, and how long a stream must have lived to count as healthy (30, 2.4).
const REPLAY_DEADLINE_MS = 60_000;
const HEALTHY_MS = 60_000;

type Ending = 'resume' | 'replay' | 'fall-back';

/**
 * The objects of one collection, held in memory and kept current: for our own kinds and for namespaces. A set replaces the
 * one before it only when it is complete, so a list cut in the middle never looks like deletions.
 */
export class Informer<T extends KubeObject = KubeObject> implements AsyncDisposable {
  /** Resolves with the first complete set; rejects when the informer is closed before. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<InformerListener<T>>();
  readonly #task: Promise<void>;
  #objects: Map<string, T> = new Map();
  #sync!: { resolve(): void; reject(reason: unknown): void };
  #isSynced = false;
  #hasWatchList = true;
  #version: string | undefined;
  #trouble: InformerTrouble | undefined;

  constructor(options: InformerOptions) {
    this.#options = options;
    this.#clock = options.client.connection.clock;
    this.synced = new Promise((resolve, reject) => {
      this.#sync = { resolve, reject };
    });
    this.synced.catch(() => undefined);
    this.#task = this.#run(this.#stop.signal);
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get trouble(): InformerTrouble | undefined {
    return this.#trouble;
  }

  get(name: string, namespace?: string): T | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  /** All, or those of one namespace, by namespace and name. */
  list(namespace?: string): readonly T[] {
    const keys = [...this.#objects.keys()]
      .filter((key) => namespace === undefined || key.startsWith(`${namespace}/`))
      .sort();
    return keys.map((key) => this.#objects.get(key) as T);
  }

  /** Called for each change in the order received; what is already there is not repeated. */
  onChange(listener: InformerListener<T>): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#task;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const backoff = backoffLadder(undefined, this.#options.random);
    while (!signal.aborted) {
      const startedAt = this.#clock.now().getTime();
      let delayMs: number | undefined;
      try {
        const ending = await this.#session(signal);
        if (ending !== 'resume') this.#version = undefined;
        if (ending === 'fall-back') this.#hasWatchList = false;
        const lived = this.#clock.now().getTime() - startedAt;
        if (lived >= HEALTHY_MS && this.#isSynced) backoff.reset();
        if (ending === 'fall-back' || (ending === 'resume' && lived >= HEALTHY_MS)) delayMs = 0;
      } catch (thrown) {
        if (signal.aborted) break;
        this.#version = undefined;
        if (this.#hasWatchList && isWatchListRefusal(thrown)) {
          this.#hasWatchList = false;
          continue;
        }
        this.#report(thrown);
        if (isKubeError(thrown) && thrown.retryAfterSeconds !== undefined)
          delayMs = Math.max(backoff.next(), thrown.retryAfterSeconds * 1000);
      }
      await this.#clock.sleep(delayMs ?? backoff.next(), signal);
    }
    this.#sync.reject(signal.reason);
  }

  /** One list and its watch, or one watch. Its end says how the next one starts. */
  async #session(signal: AbortSignal): Promise<Ending> {
    if (this.#version === undefined && !this.#hasWatchList) {
      const { client, path } = this.#options;
      const { items, resourceVersion } = await listAll(client, path, this.#selection(), signal);
      this.#replace(new Map(items.map((item) => [keyOfObject(item), item as T])));
      this.#version = resourceVersion;
    }
    return this.#version === undefined
      ? await this.#replayAndFollow(signal)
      : await this.#follow(this.#version, signal);
  }

  async #replayAndFollow(signal: AbortSignal): Promise<Ending> {
    using link = linkAbort(signal);
    let fresh: Map<string, T> | undefined = new Map();
    const lateness = this.#clock.sleep(REPLAY_DEADLINE_MS, link.signal).then(() => {
      if (fresh !== undefined && !link.signal.aborted) link.abort();
    });
    const stream = await this.#watch({ sendInitialEvents: true }, link.signal);
    let ending: Ending | undefined;
    for await (const frame of stream) {
      if (fresh === undefined) ending = this.#live(frame);
      else if (frame.kind === 'event') fresh.set(keyOfObject(frame.object), frame.object as T);
      else if (frame.kind === 'initial-events-end') {
        this.#replace(fresh);
        this.#version = frame.resourceVersion;
        fresh = undefined;
      } else if (frame.kind === 'error' || frame.kind === 'ended') {
        // 30, 2.4 step 3: an ERROR of code 500 is how a server says that its store cannot report progress.
        if (frame.kind === 'error' && frame.error.code === 500) ending = 'fall-back';
        else
          throw (
            frame.error ??
            transportError(stream.asked, 'ConnectionCut', { found: 'the replay ended before its end mark' })
          );
      }
      if (ending !== undefined) break;
    }
    link.abort();
    await lateness;
    if (signal.aborted) return 'replay';
    // FC-WCH-4: no end mark within the deadline; nothing was taken over.
    return ending ?? (fresh === undefined ? 'replay' : 'fall-back');
  }

  async #follow(version: string, signal: AbortSignal): Promise<Ending> {
    const stream = await this.#watch({ resourceVersion: version, allowWatchBookmarks: true }, signal);
    for await (const frame of stream) {
      const ending = this.#live(frame);
      if (ending !== undefined) return ending;
    }
    return 'replay';
  }

  #watch(
    form: Pick<WatchOptions, 'sendInitialEvents' | 'resourceVersion' | 'allowWatchBookmarks'>,
    signal: AbortSignal,
  ): ReturnType<KubeClient['watch']> {
    const random = this.#options.random ?? Math.random;
    // 300 to 600 s (30, SC-16), so that many streams do not end together.
    const timeoutSeconds = 300 + Math.floor(random() * 300);
    return this.#options.client.watch(this.#options.path, { ...this.#selection(), ...form, timeoutSeconds }, signal);
  }

  /** @returns how to go on, once the stream is over */
  #live(frame: WatchFrame): Ending | undefined {
    switch (frame.kind) {
      case 'event':
        this.#version = frame.resourceVersion;
        if (frame.type === 'DELETED') this.#remove(frame.object as T);
        else this.#put(frame.object as T);
        return undefined;
      case 'bookmark':
      case 'initial-events-end':
        this.#version = frame.resourceVersion;
        return undefined;
      case 'error':
        if (!isExpired(frame.error)) this.#report(frame.error);
        return 'replay';
      case 'ended':
        if (frame.error !== undefined) this.#report(frame.error);
        // A store that went back is silent about versions it has not reached (30, 2.4.1): only an end like the server's own
        // timeout, after a stream that said something, is worth resuming. Our collections are small.
        return frame.cause === 'server' && frame.bytes > 0 ? 'resume' : 'replay';
    }
  }

  #replace(fresh: Map<string, T>): void {
    const old = this.#objects;
    this.#objects = fresh;
    this.#trouble = undefined;
    for (const [key, object] of old) if (!fresh.has(key)) this.#tell({ kind: 'deleted', object });
    for (const [key, object] of fresh) this.#tellPut(old.get(key), object);
    this.#isSynced = true;
    this.#sync.resolve();
  }

  #put(object: T): void {
    const key = keyOfObject(object);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#tellPut(before, object);
  }

  #tellPut(before: T | undefined, object: T): void {
    if (before === undefined) return this.#tell({ kind: 'added', object });
    if (before.metadata.uid !== object.metadata.uid) {
      // Deleted and created again while we did not look.
      this.#tell({ kind: 'deleted', object: before });
      return this.#tell({ kind: 'added', object });
    }
    if (before.metadata.resourceVersion !== object.metadata.resourceVersion)
      this.#tell({ kind: 'updated', object, before });
  }

  #remove(object: T): void {
    if (this.#objects.delete(keyOfObject(object))) this.#tell({ kind: 'deleted', object });
  }

  #tell(change: InformerChange<T>): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (thrown) {
        this.#options.logger?.error(
          { resource: this.#options.path.resource, reason: reasonOf(thrown), err: thrown },
          'a listener failed',
        );
      }
    }
  }

  #report(thrown: unknown): void {
    const reason = reasonOf(thrown);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    // One line for one outage, however many reasons it has on its way.
    if (this.#trouble === undefined)
      this.#options.logger?.warn({ resource: this.#options.path.resource, reason, message }, 'watch interrupted');
    this.#trouble = { reason, message };
  }

  #selection(): Selection {
    const { labelSelector, fieldSelector } = this.#options;
    return {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
  }
}

export function openInformer<T extends KubeObject = KubeObject>(options: InformerOptions): Informer<T> {
  return new Informer<T>(options);
}

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;
const keyOfObject = (object: KubeObject): string => keyOf(object.metadata.namespace, object.metadata.name);
