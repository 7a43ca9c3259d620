import { createHash } from 'node:crypto';
import { reasonOf, type Clock, type JsonObject, type KubeObject, type Logger } from '@gitops-reverser/kernel-api';
import { isNotFound } from './errors.js';
import type { CollectionPath } from './paths.js';
import type { KubeClient } from './requests.js';

export interface EventFacts {
  readonly regarding: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** PascalCase; the reason of the condition that changed. */
  readonly reason: string;
  /** One line; cut to 1_024 characters, the limit of the API. */
  readonly message: string;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** Who reports: `gitops-reverser`. */
  readonly component: string;
  /** Which of several: the pod's name. */
  readonly instance: string;
  readonly logger?: Logger;
}

interface Emitted {
  readonly atMs: number;
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
}

const EVENTS: CollectionPath = { group: '', version: 'v1', resource: 'events' };
// 10, ST-6.
const AGGREGATION_MS = 10 * 60_000;
// Bounds memory, not correctness: what falls out is reported as a new event.
const MAX_REMEMBERED = 1_000;
const MAX_MESSAGE = 1_024;

/** Emits core/v1 Events; equal ones within ten minutes raise the count of the first. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #emitted = new Map<string, Emitted>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.client.connection.clock;
  }

  /** Never fails a reconcile: an event that cannot be stored is logged. @throws only the abort reason of `signal` */
  async emit(facts: EventFacts, signal: AbortSignal): Promise<void> {
    const key = keyOf(facts);
    const now = this.#clock.now();
    const earlier = this.#emitted.get(key);
    try {
      const repeated = earlier !== undefined && now.getTime() - earlier.atMs < AGGREGATION_MS;
      const emitted =
        (repeated ? await this.#repeat(earlier, now, signal) : undefined) ?? (await this.#create(facts, now, signal));
      this.#remember(key, emitted);
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const { kind, metadata } = facts.regarding;
      this.#options.logger?.warn(
        { kind, namespace: metadata.namespace, name: metadata.name, reason: reasonOf(thrown) },
        'event not stored',
      );
    }
  }

  /** @returns `undefined` when the first event is gone: the API server keeps events for an hour */
  async #repeat(earlier: Emitted, now: Date, signal: AbortSignal): Promise<Emitted | undefined> {
    const count = earlier.count + 1;
    const body = { count, lastTimestamp: seconds(now) };
    try {
      await this.#options.client.patch(
        { ...EVENTS, namespace: earlier.namespace, name: earlier.name },
        { type: 'merge', body },
        {},
        signal,
      );
    } catch (thrown) {
      if (isNotFound(thrown)) return undefined;
      throw thrown;
    }
    return { ...earlier, count };
  }

  async #create(facts: EventFacts, now: Date, signal: AbortSignal): Promise<Emitted> {
    const event = this.#toEvent(facts, now);
    const { namespace, name } = event.metadata;
    await this.#options.client.create({ ...EVENTS, namespace }, event, {}, signal);
    return { atMs: now.getTime(), namespace, name, count: 1 };
  }

  #toEvent(
    { regarding, type, reason, message }: EventFacts,
    now: Date,
  ): JsonObject & { readonly metadata: { readonly namespace: string; readonly name: string } } {
    const { component, instance } = this.#options;
    const { name, namespace, uid, resourceVersion } = regarding.metadata;
    const suffix = createHash('sha256')
      .update(`${now.getTime()} ${keyOf({ regarding, type, reason, message })}`)
      .digest('hex')
      .slice(0, 16);
    const at = seconds(now);
    return {
      apiVersion: 'v1',
      kind: 'Event',
      // Events of cluster-scoped objects live in the default namespace. 253: limit of an object's name.
      metadata: { namespace: namespace ?? 'default', name: `${name.slice(0, 253 - suffix.length - 1)}.${suffix}` },
      involvedObject: {
        apiVersion: regarding.apiVersion,
        kind: regarding.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      type,
      reason,
      message: message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1)}…`,
      count: 1,
      firstTimestamp: at,
      lastTimestamp: at,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
    };
  }

  #remember(key: string, emitted: Emitted): void {
    this.#emitted.delete(key);
    this.#emitted.set(key, emitted);
    const [oldest] = this.#emitted.keys();
    if (this.#emitted.size > MAX_REMEMBERED && oldest !== undefined) this.#emitted.delete(oldest);
  }
}

function keyOf({ regarding, type, reason, message }: EventFacts): string {
  const { uid, namespace, name } = regarding.metadata;
  return JSON.stringify([regarding.kind, namespace, name, uid, type, reason, message]);
}

/** metav1.Time has no fractions of a second. */
const seconds = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');
