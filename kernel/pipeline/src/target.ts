import {
  isReverserError,
  messageOf,
  reasonOf,
  type Collection,
  type Listener,
  type Logger,
  type StreamStatus,
  type TargetHandle,
  type TargetId,
  type TargetSettings,
  type TargetSpec,
  type TargetStatus,
} from '@gitops-reverser/kernel-api';
import { announcer, type Announcer } from './announce.js';
import type { BranchWorker } from './branch-worker.js';
import type { OpenedCluster } from './cluster.js';
import { unreadRefusal } from './closing.js';
import { byKey, diffPlan, planDueMs } from './follow-plan.js';
import type { Snapshot, SnapshotOutcome } from './item.js';
import { Lane, type LanePlugins } from './lane.js';
import { gtLabels } from './meters.js';
import type { Commons } from './commons.js';
import { OwedReplays } from './owed-replays.js';
import { Resyncs } from './resyncs.js';
import { Stream } from './stream.js';

export interface TargetGiven {
  readonly spec: TargetSpec;
  readonly cluster: OpenedCluster;
  readonly worker: BranchWorker;
  readonly commons: Commons;
  /** Opens the target's plugins for these settings. */
  readonly plugins: (settings: TargetSettings) => Promise<OpenedPlugins>;
  readonly closed: () => void;
}
export interface OpenedPlugins extends LanePlugins {
  close(): Promise<void>;
}

/** One target: its streams follow its plan, its lane holds what the branch knows of it. */
export class Target implements TargetHandle {
  readonly id: TargetId;
  readonly #given: TargetGiven;
  readonly #logger: Logger;
  readonly #announcer: Announcer;
  readonly #lane: Lane;
  readonly #streams = new Map<string, Stream>();
  readonly #gauges: readonly Disposable[];
  readonly #stop = new AbortController();
  #isClosed = false;
  #releasing: Promise<void> | undefined;
  #plugins: OpenedPlugins;
  #settings: TargetSettings;
  #wanted: ReadonlyMap<string, Collection> = new Map();
  #dirty: { firstAtMs: number; lastAtMs: number } | undefined;
  readonly #owed: OwedReplays;
  readonly #resyncs = new Resyncs();
  #isFirst = true;
  #configuring: Promise<void> = Promise.resolve();
  #planning: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;

  constructor(given: TargetGiven, plugins: OpenedPlugins) {
    const { spec, commons, cluster } = given;
    this.id = spec.id;
    this.#given = given;
    this.#plugins = plugins;
    this.#settings = spec.settings;
    this.#logger = commons.logger.child({ gitTarget: spec.id });
    this.#announcer = announcer(this.#logger);
    this.#owed = new OwedReplays(commons.limits);
    this.#lane = new Lane(
      { id: spec.id, namespace: spec.namespace, name: spec.name, sourceCluster: cluster.id },
      plugins,
      spec.settings,
      {
        changed: () => this.#announcer.changed(),
        released: () => {
          this.#releasing = this.#quietly(() => this.#plugins.close());
        },
        snapshotOwed: (keys) => {
          this.#owed.owe(keys, this.#nowMs());
          this.#wake();
        },
        recovered: () => {
          this.#owed.recover(this.#wanted.keys(), this.#nowMs());
          this.#wake();
        },
        judged: (durationMs) => commons.meters.storeBuild.observe(gtLabels(spec), durationMs / 1_000),
      },
      this.#logger,
      () => commons.clock.now(),
    );
    const labels = { source_cluster: cluster.id, ...gtLabels(spec) };
    this.#gauges = [
      commons.gauges.streamsOpen.add(() => [{ labels, value: this.#streams.size }]),
      commons.gauges.watchTypes.add(() =>
        typesByState(this.#streams).map(([state, value]) => ({ labels: { ...labels, state }, value })),
      ),
      commons.gauges.dirtySince.add(() =>
        this.#dirty === undefined ? [] : [{ labels: {}, value: this.#dirty.firstAtMs / 1_000 }],
      ),
    ];
    given.worker.admit(this.#lane);
    cluster.targets.add(this);
    this.#planning = new Promise((resolve) => {
      cluster.run(`plan of ${spec.id}`, async (signal) => {
        try {
          await this.#planLoop(AbortSignal.any([signal, this.#stop.signal]));
        } finally {
          resolve();
        }
      });
    });
  }

  status(): TargetStatus {
    const retention = this.#lane.retention();
    const { lastCommit } = this.#lane;
    const { settledToken } = this.#resyncs;
    return {
      streams: [...this.#streams].map(([key, stream]) => this.#streamStatus(key, stream)),
      folder: this.#lane.folderStatus(),
      ...this.#lane.findings(),
      ...(retention === undefined ? {} : { retention }),
      ...(lastCommit === undefined ? {} : { lastCommit }),
      ...(settledToken === undefined ? {} : { resyncedToken: settledToken }),
    };
  }

  /** What streams into a mirror that is not whole yet says that it replays. */
  #streamStatus(key: string, stream: Stream): StreamStatus {
    const status = stream.status();
    return status.state === 'Streaming' && this.#owed.isRecovering(key) ? { ...status, state: 'Replaying' } : status;
  }

  onChange(listener: Listener): Disposable {
    return this.#announcer.onChange(listener);
  }

  /** Plugins are made for settings, so other settings get other plugins; the branch changes over between two messages. */
  configure(settings: TargetSettings): void {
    this.#configuring = this.#configuring.then(async () => {
      if (this.#stop.signal.aborted || isSame(settings, this.#settings)) return;
      let opened: OpenedPlugins;
      try {
        opened = await this.#given.plugins(settings);
      } catch (error) {
        this.#logger.error(
          { reason: reasonOf(error), err: messageOf(error) },
          'the plugins of a target could not be opened for its new settings; the old ones stay',
        );
        return;
      }
      if (this.#stop.signal.aborted) return opened.close();
      const [before, old] = [this.#settings, this.#plugins];
      this.#settings = settings;
      this.#plugins = opened;
      await this.#given.worker.reconfigure(this.#lane, opened, settings);
      await this.#quietly(() => old.close());
      const isWidened = settings.prune === 'Always' && before.prune !== 'Always';
      const isResumed = before.suspend && !settings.suspend;
      const isReselected = !isSame(before.generated, settings.generated);
      if (isWidened || isResumed || isReselected) this.#replayNow([...this.#wanted.keys()]);
      this.#announcer.changed();
    });
  }

  follow(collections: readonly Collection[]): void {
    const wanted = byKey(collections);
    // Whoever hears of a pass says again what it wants: repeating itself is no reason for another pass.
    if (isSame([...this.#wanted], [...wanted])) return;
    const nowMs = this.#nowMs();
    this.#wanted = wanted;
    this.#dirty = { firstAtMs: this.#dirty?.firstAtMs ?? nowMs, lastAtMs: nowMs };
    this.#wake();
  }

  resync(token: string): void {
    this.#resyncs.ask(token, this.#wanted.keys());
    this.#given.worker.observe();
    this.#replayNow([...this.#wanted.keys()]);
    this.#settleResyncs();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#given.cluster.targets.delete(this);
    await this.stopStreams();
    await this.#configuring;
    await this.#given.worker.retire(this.#lane);
    for (const gauge of this.#gauges) gauge[Symbol.dispose]();
    this.#given.commons.meters.registry.forget(gtLabels(this.#given.spec));
    // Not yet released: commits of it still wait for the remote, and its plugins stay until they are settled.
    await this.#releasing;
    this.#given.closed();
  }

  /** Inlets first: nothing more enters the river from this target. */
  async stopStreams(): Promise<void> {
    this.#stop.abort();
    await this.#planning;
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    await Promise.all(streams.map((stream) => stream.stop()));
  }

  // The plan owner: one serial loop starts and stops the streams, nothing else does.

  async #planLoop(signal: AbortSignal): Promise<void> {
    const { clock } = this.#given.commons;
    while (!signal.aborted) {
      const dueMs = this.#dueMs();
      const nowMs = this.#nowMs();
      if (dueMs === undefined || dueMs > nowMs) {
        const woken = new AbortController();
        const wake = (): void => woken.abort();
        signal.addEventListener('abort', wake, { once: true });
        this.#wake = wake;
        if (dueMs !== undefined) await clock.sleep(dueMs - nowMs, woken.signal);
        else
          await new Promise<void>((resolve) => woken.signal.addEventListener('abort', () => resolve(), { once: true }));
        signal.removeEventListener('abort', wake);
        continue;
      }
      await this.#pass();
    }
  }

  #dueMs(): number | undefined {
    const dues: number[] = [...this.#owed.dues];
    if (this.#dirty !== undefined) dues.push(planDueMs(this.#dirty, this.#isFirst, this.#given.commons.limits));
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  async #pass(): Promise<void> {
    const startedAtMs = this.#nowMs();
    const isPlanDue =
      this.#dirty !== undefined && planDueMs(this.#dirty, this.#isFirst, this.#given.commons.limits) <= startedAtMs;
    const again = this.#owed.take(startedAtMs);
    if (isPlanDue) {
      this.#dirty = undefined;
      if (this.#wanted.size > 0) this.#isFirst = false;
    }
    // A pass for an owed replay leaves a plan that is not due yet alone.
    const wanted = isPlanDue
      ? this.#wanted
      : new Map([...this.#streams].map(([key, { collection }]) => [key, this.#wanted.get(key) ?? collection]));
    const diff = diffPlan(this.#streams, wanted);
    const begin = new Map([...diff.start, ...diff.restart]);
    for (const key of diff.keep) {
      const stream = this.#streams.get(key);
      if (stream !== undefined && again.has(key)) begin.set(key, stream.collection);
    }
    const stopped = [...diff.stop, ...[...begin.keys()].filter((key) => this.#streams.has(key))];
    await Promise.all(stopped.map((key) => this.#streams.get(key)?.stop()));
    for (const key of diff.stop) this.#forget(key);
    if (this.#stop.signal.aborted) return;
    for (const [key, collection] of begin) this.#streams.set(key, this.#open(key, collection));
    if (isPlanDue) {
      const { meters } = this.#given.commons;
      meters.planPasses.add({ ...gtLabels(this.#given.spec), outcome: 'completed' });
      meters.planPassDuration.observe({}, Math.max(0, this.#nowMs() - startedAtMs) / 1_000);
    }
    this.#settleResyncs();
    if (stopped.length > 0 || begin.size > 0) this.#announcer.changed();
  }

  #open(key: string, collection: Collection): Stream {
    const { spec, cluster, worker, commons } = this.#given;
    const { epoch } = this.#resyncs;
    const stream = new Stream({
      collection,
      collectionKey: key,
      epoch,
      cluster: cluster.id,
      source: cluster.source,
      intake: { sanitizers: cluster.sanitizers, selection: () => this.#settings.generated },
      asking: {
        attributors: cluster.attributors,
        clock: commons.clock,
        graceMs: commons.limits.graceMs,
        logger: this.#logger,
      },
      clock: commons.clock,
      logger: this.#logger,
      meters: commons.meters,
      targetLabels: gtLabels(spec),
      limits: commons.limits,
      gate: commons.gate,
      write: (item) => worker.offerWrite(item),
      snapshot: (snapshot) => this.#offer(snapshot),
      unreadable: (refKey, ref, reason) => worker.report(this.#lane, key, refKey, unreadRefusal(this.id, ref, reason)),
      changed: () => this.#announcer.changed(),
    });
    stream.start((loop) => cluster.run(`stream ${key}`, loop));
    return stream;
  }

  #offer(snapshot: Snapshot): boolean {
    const outcome = this.#given.worker.offerSnapshot(snapshot);
    if (outcome === undefined) return false;
    void outcome.then((what) => this.#snapshotDone(snapshot, what));
    return true;
  }

  #snapshotDone({ collectionKey: key, epoch }: Snapshot, outcome: SnapshotOutcome): void {
    if (outcome === 'superseded') return;
    if (this.#owed.settled(key)) this.#announcer.changed();
    this.#resyncs.done(key, epoch);
    this.#settleResyncs();
  }

  #settleResyncs(): void {
    if (this.#resyncs.settle((key) => this.#wanted.has(key))) this.#announcer.changed();
  }

  #forget(key: string): void {
    this.#streams.delete(key);
    this.#owed.forget(key);
    this.#given.worker.forget(this.#lane, key);
  }

  #replayNow(keys: readonly string[]): void {
    this.#owed.now(keys, this.#nowMs());
    this.#wake();
  }

  async #quietly(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#logger.error(
        { reason: isReverserError(error) ? error.reason : 'Unexpected', err: messageOf(error) },
        'closing the plugins of a target failed',
      );
    }
  }

  #nowMs(): number {
    return this.#given.commons.clock.now().getTime();
  }
}

const STATES = ['streaming', 'replaying', 'blocked'] as const;

/** A type with several collections counts with the worst of them. */
function typesByState(streams: ReadonlyMap<string, Stream>): readonly (readonly [string, number])[] {
  const worst = new Map<string, number>();
  for (const stream of streams.values()) {
    const { collection, state } = stream.status();
    const type = `${collection.type.group}/${collection.type.resource}`;
    worst.set(type, Math.max(worst.get(type) ?? 0, STATES.indexOf(state.toLowerCase() as (typeof STATES)[number])));
  }
  return STATES.map((state, place) => [state, [...worst.values()].filter((each) => each === place).length]);
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [one, two] = [Object.entries(a), new Map(Object.entries(b))];
  return one.length === two.size && one.every(([key, value]) => two.has(key) && isSame(value, two.get(key)));
}
