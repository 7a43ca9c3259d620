import { messageOf, reasonOf, type Clock, type JsonObject, type Logger } from '@gitops-reverser/kernel-api';
import {
  eventOf,
  rollUp,
  type Condition,
  type Gate,
  type RollUpOptions,
  type StatusOf,
} from '@gitops-reverser/crd-types';
import { StatusPatcher, WorkQueue, type EventRecorder, type KubeClient } from '@gitops-reverser/toolkit-kube';
import { keyOf, pathOf, splitKey, type ControlObjects, type Declared, type Reconciled } from './objects.js';
import { readinessOf, type Readiness } from './readiness.js';

export const REQUESTED_AT = 'reconcile.configbutler.ai/requestedAt';
/** Fields that change with every commit are written together with another change, or this often. */
const VOLATILE_MS = 30_000;

/** What one reconcile found. Conditions and generation are computed from it once, at the end. */
export interface Findings<K extends Reconciled> {
  readonly gates: readonly Gate<K>[];
  /** Everything of the status but conditions, generation and the handled request. Undefined entries are left out. */
  readonly status?: { readonly [F in keyof StatusOf<K>]?: StatusOf<K>[F] | undefined };
  /** Names of status fields that alone are no reason to write before their time. */
  readonly volatile?: readonly string[];
  readonly options?: RollUpOptions;
  readonly requeueAfterMs?: number;
  /** The request of the annotation is done; absent: as soon as it was seen. */
  readonly handled?: string | undefined;
}

export interface ControllerOptions<K extends Reconciled> {
  readonly kind: K;
  readonly objects: ControlObjects;
  readonly client: KubeClient;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  reconcile(object: Declared<K>, signal: AbortSignal): Promise<Findings<K>>;
  /** The object is gone. */
  forget(key: string): Promise<void>;
  /** Readiness or facts of `key` may differ from before. */
  onSettled(key: string): void;
}

/** Runs the reconciles of one kind: one at a time per object, one status patch at the end, an event when readiness changed. */
export class Controller<K extends Reconciled> implements AsyncDisposable {
  readonly kind: K;
  readonly #options: ControllerOptions<K>;
  readonly #queue: WorkQueue;
  readonly #patcher: StatusPatcher;
  readonly #conditionsByKey = new Map<string, readonly Condition[]>();
  readonly #volatileAtByKey = new Map<string, number>();
  #subscription: Disposable | undefined;

  constructor(options: ControllerOptions<K>) {
    const { clock, logger } = options;
    this.kind = options.kind;
    this.#options = options;
    this.#patcher = new StatusPatcher(options.client, 'gitops-reverser');
    this.#queue = new WorkQueue({
      clock,
      concurrency: 4,
      work: (key, signal) => this.#work(key, signal),
      onFailure: (key, thrown, retryInMs) =>
        logger.warn(
          { kind: options.kind, key, reason: reasonOf(thrown), problem: messageOf(thrown), retryInMs },
          'reconcile failed',
        ),
    });
  }

  start(): void {
    const informer = this.#options.objects.informer(this.kind);
    this.#subscription = informer.onChange(({ object }) => this.#queue.add(keyOf(object)));
    for (const object of informer.list()) this.#queue.add(keyOf(object));
  }

  enqueue(key: string): void {
    this.#queue.add(key);
  }

  enqueueAll(): void {
    for (const object of this.#options.objects.list(this.kind)) this.#queue.add(keyOf(object));
  }

  /** As the last reconcile of this process found it: the stored status lags behind. */
  readiness(key: string): Readiness {
    return readinessOf(this.#conditionsByKey.get(key));
  }

  conditions(key: string): readonly Condition[] {
    return this.#conditionsByKey.get(key) ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription?.[Symbol.dispose]();
    await this.#queue[Symbol.asyncDispose]();
  }

  async #work(key: string, signal: AbortSignal): Promise<{ readonly requeueAfterMs: number } | undefined> {
    const { objects, reconcile, forget, onSettled } = this.#options;
    const object = objects.get(this.kind, key);
    if (object === undefined) {
      await forget(key);
      this.#conditionsByKey.delete(key);
      this.#volatileAtByKey.delete(key);
      this.#queue.remove(key);
      onSettled(key);
      return undefined;
    }
    const findings = await reconcile(object, signal);
    const before = (object.status?.conditions ?? []) as readonly Condition[];
    const conditions = rollUp(
      this.kind,
      findings.gates,
      before,
      object.metadata.generation ?? 0,
      this.#options.clock.now(),
      {
        ...findings.options,
        deleting: object.metadata.deletionTimestamp !== undefined,
      },
    );
    this.#conditionsByKey.set(key, conditions);
    onSettled(key);
    const waitMs = await this.#write(key, object, conditions, findings, signal);
    const delays = [findings.requeueAfterMs, waitMs].filter((ms) => ms !== undefined);
    return delays.length === 0 ? undefined : { requeueAfterMs: Math.min(...delays) };
  }

  /** @returns when to come back for fields that had to wait */
  async #write(
    key: string,
    object: Declared<K>,
    conditions: readonly Condition[],
    findings: Findings<K>,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const stored = (object.status ?? {}) as JsonObject;
    const handled = 'handled' in findings ? findings.handled : object.metadata.annotations?.[REQUESTED_AT];
    const whole = present({
      ...findings.status,
      observedGeneration: object.metadata.generation ?? 0,
      lastHandledReconcileAt: handled,
      conditions,
    });
    const { status, waitMs } = this.#calm(key, stored, whole, findings.volatile ?? []);
    const { namespace, name } = splitKey(key);
    const path = { ...pathOf(this.kind), name, ...(namespace === undefined ? {} : { namespace }) };
    const outcome = await this.#patcher.patch(path, object, status, signal);
    if (outcome.kind !== 'written') return waitMs;
    const event = eventOf((object.status?.conditions ?? []) as readonly Condition[], conditions);
    if (event !== undefined) await this.#options.recorder.emit({ regarding: object, ...event }, signal);
    return waitMs;
  }

  /** Keeps the stored value of volatile fields while nothing else changed and their time has not come. */
  #calm(
    key: string,
    stored: JsonObject,
    whole: JsonObject,
    names: readonly string[],
  ): { readonly status: JsonObject; readonly waitMs?: number } {
    if (names.length === 0) return { status: whole };
    const steady = (status: JsonObject): string =>
      JSON.stringify(sorted(Object.fromEntries(Object.entries(status).filter(([name]) => !names.includes(name)))));
    const now = this.#options.clock.now().getTime();
    const left = (this.#volatileAtByKey.get(key) ?? Number.NEGATIVE_INFINITY) + VOLATILE_MS - now;
    if (steady(stored) !== steady(whole) || left <= 0) {
      this.#volatileAtByKey.set(key, now);
      return { status: whole };
    }
    const kept = Object.fromEntries(
      names.flatMap((name) => (stored[name] === undefined ? [] : [[name, stored[name]]])),
    );
    const status = { ...Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name))), ...kept };
    return { status, waitMs: left };
  }
}

function present(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, child]) => [name, sorted(child)]),
  );
}
