import {
  withEcho,
  type Clock,
  type ListMapKeys,
  type Logger,
  type ResourceType,
  type SourceEvent,
} from '@gitops-reverser/kernel-api';
import { isKubeError, type KubeClient } from '@gitops-reverser/toolkit-kube';
import { listMapKeysByKind } from './list-map-keys.js';

/** Definitions change seldom, and an old answer only pairs items of a list less well. */
const FRESH_MS = 600_000;
/** An edit without these keys is an edit all the same: no stream waits longer for them. */
const REQUEST_MS = 3_000;
/** The editor has a table for these groups. */
const BUILT_IN = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'policy',
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'networking.k8s.io',
  'storage.k8s.io',
  'coordination.k8s.io',
]);

interface Read {
  readonly atMs: number;
  readonly keysByKind: Promise<ReadonlyMap<string, ListMapKeys>>;
}

/** What the OpenAPI documents of one cluster say of its types; each is read when one of its types is followed. */
export class Schemas {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #signal: AbortSignal;
  readonly #readByGroupVersion = new Map<string, Read>();

  /** @param signal ends the reads of all streams */
  constructor(client: KubeClient, clock: Clock, logger: Logger, signal: AbortSignal) {
    this.#client = client;
    this.#clock = clock;
    this.#logger = logger;
    this.#signal = signal;
  }

  /** The same events; each object says how its lists are keyed. */
  async *describe(
    events: AsyncIterable<SourceEvent>,
    type: ResourceType,
  ): AsyncGenerator<SourceEvent, void, undefined> {
    if (BUILT_IN.has(type.group)) return yield* events;
    let keys: Promise<ListMapKeys | undefined> = Promise.resolve(undefined);
    for await (const event of events) {
      if (event.kind === 'snapshot-begin' || event.kind === 'streaming') keys = this.#listKeys(type);
      const listKeys = event.kind === 'upsert' ? await keys : undefined;
      yield event.kind === 'upsert' && listKeys !== undefined
        ? { ...event, object: withEcho(event.object, { listKeys }) }
        : event;
    }
  }

  async #listKeys(type: ResourceType): Promise<ListMapKeys | undefined> {
    const groupVersion = `${type.group}/${type.version}`;
    const nowMs = this.#clock.now().getTime();
    let read = this.#readByGroupVersion.get(groupVersion);
    if (read === undefined || nowMs - read.atMs > FRESH_MS) {
      read = { atMs: nowMs, keysByKind: this.#read(type, groupVersion) };
      this.#readByGroupVersion.set(groupVersion, read);
    }
    return (await read.keysByKind).get(type.kind);
  }

  /** A server that does not describe its types is not asked again before the answer would have aged. */
  async #read(type: ResourceType, groupVersion: string): Promise<ReadonlyMap<string, ListMapKeys>> {
    try {
      const path = `/openapi/v3/apis/${groupVersion}`;
      const headers = { accept: 'application/json', 'accept-encoding': 'gzip' };
      const document = await this.#client.json({ method: 'GET', path, headers, timeoutMs: REQUEST_MS }, this.#signal);
      return listMapKeysByKind(document, type);
    } catch (thrown) {
      if (!this.#signal.aborted)
        this.#logger.debug(
          { groupVersion, reason: isKubeError(thrown) ? thrown.reason : 'Unexpected' },
          'types are not described',
        );
      return new Map();
    }
  }
}
