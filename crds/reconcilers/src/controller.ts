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
import { keyOf, pathOf, splitKey, type Declared, type Objects, type Reconciled } from './objects.js';
import { readinessOf, type Readiness } from './readiness.js';

export const REQUESTED_AT = 'reconcile.configbutler.ai/requestedAt';
/** Fields that change with every commit are written together with another change, or this often. */
const VOLATILE_MS = 30_000;
/** Most of a reconcile is waiting for somebody else: a host that hangs must not hold up the others (FC-OPS-4). */
const CONCURRENCY = 16;
/** 25: a folder of a thousand such documents is one problem; the status has the count. */
const NOTICES_AT_ONCE = 25;

/** A warning about a part of the object: given out as an Event once, and again only after it went away and came back. */
export interface Notice {
  /** The same for as long as it is the same. */
  readonly id: string;
  /** PascalCase. */
  readonly reason: string;
  readonly message: string;
}

/** What one reconcile found. Conditions and generation are computed from it once, at the end. */
export interface Findings<K extends Reconciled> {
  readonly gates: readonly Gate<K>[];
  /** Everything of the status but conditions, generation and the handled request. Undefined entries are left out. */
  readonly status?: { readonly [F in keyof StatusOf<K>]?: StatusOf<K>[F] | undefined };
  /** Names of status fields that alone are no reason to write before their time. */
  readonly volatile?: readonly string[];
  readonly options?: RollUpOptions;
  readonly requeueAfterMs?: number;
  /** What it depends on was not judged so far by this process: what an earlier one stored is truer, and stays. */
  readonly isEarly?: boolean;
  /** Everything there is to warn about at present. */
  readonly notices?: readonly Notice[];
  /** The request of the annotation is done; absent: as soon as it was seen. */
  readonly handled?: string | undefined;
}

export interface ControllerOptions<K extends Reconciled> {
  readonly kind: K;
  readonly objects: Objects;
  readonly client: KubeClient;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Hides secrets in a text that leaves the process. */
  redact(text: string): string;
  reconcile(object: Declared<K>, signal: AbortSignal): Promise<Findings<K>>;
  /** The object is gone, or another one has taken its name. */
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
  /** Keys whose last reconcile failed. */
  readonly #failing = new Set<string>();
  readonly #uidByKey = new Map<string, string>();
  /** Ids of notices that are given out and still hold. */
  readonly #noticedByKey = new Map<string, ReadonlySet<string>>();
  #subscription: Disposable | undefined;

  constructor(options: ControllerOptions<K>) {
    const { clock, logger } = options;
    this.kind = options.kind;
    this.#options = options;
    this.#patcher = new StatusPatcher(options.client, 'gitops-reverser');
    this.#queue = new WorkQueue({
      clock,
      concurrency: CONCURRENCY,
      work: async (key, signal) => {
        const outcome = await this.#work(key, signal);
        this.#failing.delete(key);
        return outcome;
      },
      onFailure: (key, thrown, retryInMs) => {
        const fields = { kind: options.kind, key, reason: reasonOf(thrown), problem: messageOf(thrown), retryInMs };
        // One line for one outage: others may ask for the key many times while it lasts.
        logger[this.#failing.has(key) ? 'debug' : 'warn'](fields, 'reconcile failed');
        this.#failing.add(key);
      },
    });
  }

  start(): void {
    const { objects } = this.#options;
    this.#subscription = objects.onChange(this.kind, ({ object }) => this.#queue.add(keyOf(object)));
    this.enqueueAll();
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription?.[Symbol.dispose]();
    await this.#queue[Symbol.asyncDispose]();
  }

  async #work(key: string, signal: AbortSignal): Promise<{ readonly requeueAfterMs: number } | undefined> {
    const { objects, reconcile, forget, onSettled, redact } = this.#options;
    const object = objects.get(this.kind, key);
    const uid = object?.metadata.uid ?? '';
    const knownUid = this.#uidByKey.get(key);
    if (object === undefined || (knownUid !== undefined && knownUid !== uid)) {
      await forget(key);
      this.#conditionsByKey.delete(key);
      this.#volatileAtByKey.delete(key);
      this.#uidByKey.delete(key);
      this.#noticedByKey.delete(key);
    }
    if (object === undefined) {
      // Its key stays in the queue: it may have been created again while we let go.
      onSettled(key);
      return undefined;
    }
    this.#uidByKey.set(key, uid);
    const findings = await reconcile(object, signal);
    const before = (object.status?.conditions ?? []) as readonly Condition[];
    if (findings.isEarly === true && before.length > 0 && !this.#conditionsByKey.has(key)) return later(findings);
    const conditions = rollUp(
      this.kind,
      findings.gates.map((gate) => ({ ...gate, message: redact(gate.message) })),
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
    return later(findings, waitMs);
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
    if (outcome.kind === 'written') {
      const event = eventOf((object.status?.conditions ?? []) as readonly Condition[], conditions);
      if (event !== undefined) await this.#options.recorder.emit({ regarding: object, ...event }, signal);
    }
    // After a conflict the next reconcile gives out what this one found.
    if (outcome.kind === 'written' || outcome.kind === 'unchanged')
      await this.#notify(key, object, findings.notices ?? [], signal);
    return waitMs;
  }

  async #notify(key: string, object: Declared<K>, notices: readonly Notice[], signal: AbortSignal): Promise<void> {
    const noticed = this.#noticedByKey.get(key);
    const fresh = notices.filter(({ id }) => noticed?.has(id) !== true);
    this.#noticedByKey.set(key, new Set(notices.map(({ id }) => id)));
    const { recorder, redact } = this.#options;
    for (const [at, { reason, message }] of fresh.slice(0, NOTICES_AT_ONCE).entries()) {
      const left = at === NOTICES_AT_ONCE - 1 ? fresh.length - NOTICES_AT_ONCE : 0;
      const text = redact(left === 0 ? message : `${message}; and ${left} more like it`);
      await recorder.emit({ regarding: object, type: 'Warning', reason, message: text }, signal);
    }
  }

  /** Keeps the stored value of volatile fields while nothing else changed and their time has not come. */
  #calm(
    key: string,
    stored: JsonObject,
    whole: JsonObject,
    names: readonly string[],
  ): { readonly status: JsonObject; readonly waitMs?: number } {
    const [storedSteady, storedVolatile] = split(stored, names);
    const [steady, fresh] = split(whole, names);
    if (isSame(storedSteady, steady) && isSame(storedVolatile, fresh)) return { status: stored };
    const now = this.#options.clock.now().getTime();
    const waitMs = (this.#volatileAtByKey.get(key) ?? Number.NEGATIVE_INFINITY) + VOLATILE_MS - now;
    if (isSame(storedSteady, steady) && waitMs > 0) return { status: { ...steady, ...storedVolatile }, waitMs };
    this.#volatileAtByKey.set(key, now);
    return { status: whole };
  }
}

function later(
  { requeueAfterMs }: { readonly requeueAfterMs?: number },
  waitMs?: number,
): { readonly requeueAfterMs: number } | undefined {
  const delays = [requeueAfterMs, waitMs].filter((ms) => ms !== undefined);
  return delays.length === 0 ? undefined : { requeueAfterMs: Math.min(...delays) };
}

const split = (status: JsonObject, names: readonly string[]): readonly [steady: JsonObject, rest: JsonObject] => {
  const entries = Object.entries(status);
  const part = (isIn: boolean): JsonObject =>
    Object.fromEntries(entries.filter(([name]) => names.includes(name) === isIn));
  return [part(false), part(true)];
};
const isSame = (a: JsonObject, b: JsonObject): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

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
