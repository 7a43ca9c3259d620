import type { Clock, JsonObject, JsonValue, KubeObject } from '@gitops-reverser/kernel-api';
import { deepEqual } from '@gitops-reverser/toolkit-yaml';
import { isConflict, isNotFound } from './errors.js';
import type { ObjectPath } from './paths.js';
import type { KubeClient } from './requests.js';

/**
 * `unchanged`: nothing was sent. `conflict`: the object moved on since it was read, so the next reconcile judges it anew; `gone`:
 * it was deleted. Neither is retried (10, ST-4).
 */
export type StatusOutcome =
  { readonly kind: 'written'; readonly object: KubeObject } | { readonly kind: 'unchanged' | 'conflict' | 'gone' };

// FC-OPS-5: at most one status write per object and second.
const MIN_INTERVAL_MS = 1_000;

/** Writes the whole status of an object as one merge patch, with the resourceVersion it was computed from as precondition. */
export class StatusPatcher {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #fieldManager: string;
  /** When an object was last written and which version that replaced; entries older than the interval are dropped. */
  readonly #writes = new Map<string, { readonly atMs: number; readonly replaced: string }>();

  constructor(client: KubeClient, fieldManager: string) {
    this.#client = client;
    this.#clock = client.connection.clock;
    this.#fieldManager = fieldManager;
  }

  /** @param evaluated the object as the reconcile read it; @param status everything that shall be there, and nothing else */
  async patch(
    path: ObjectPath,
    evaluated: KubeObject,
    status: JsonObject,
    signal: AbortSignal,
  ): Promise<StatusOutcome> {
    const before = statusOf(evaluated);
    if (deepEqual(before, status)) return { kind: 'unchanged' };
    const { uid = '', resourceVersion = '' } = evaluated.metadata;
    const last = this.#writes.get(uid);
    // A second patch in the same reconcile would only meet its own first one.
    if (last?.replaced === resourceVersion) return { kind: 'conflict' };
    await this.#pause(last?.atMs, signal);
    signal.throwIfAborted();
    const body: JsonObject = {
      metadata: { resourceVersion },
      status: toMergePatch(before, status),
    };
    try {
      const options = { fieldManager: this.#fieldManager };
      const object = await this.#client.patch(
        { ...path, subresource: 'status' },
        { type: 'merge', body },
        options,
        signal,
      );
      this.#remember(uid, resourceVersion);
      return { kind: 'written', object };
    } catch (thrown) {
      if (isConflict(thrown)) return { kind: 'conflict' };
      if (isNotFound(thrown)) return { kind: 'gone' };
      throw thrown;
    }
  }

  async #pause(lastMs: number | undefined, signal: AbortSignal): Promise<void> {
    if (lastMs === undefined) return;
    const left = lastMs + MIN_INTERVAL_MS - this.#clock.now().getTime();
    if (left > 0) await this.#clock.sleep(left, signal);
  }

  #remember(uid: string, replaced: string): void {
    const now = this.#clock.now().getTime();
    for (const [key, { atMs }] of this.#writes) if (now - atMs >= MIN_INTERVAL_MS) this.#writes.delete(key);
    this.#writes.set(uid, { atMs: now, replaced });
  }
}

function statusOf(object: KubeObject): JsonObject {
  const status = object['status'];
  return isMap(status) ? status : {};
}

/** RFC 7386: what turns `before` into `after`; a list is replaced whole. */
export function toMergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const patch: Record<string, JsonValue> = {};
  for (const key of Object.keys(before)) if (after[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const old = before[key];
    if (deepEqual(old, value)) continue;
    patch[key] = isMap(old) && isMap(value) ? toMergePatch(old, value) : value;
  }
  return patch;
}

const isMap = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
