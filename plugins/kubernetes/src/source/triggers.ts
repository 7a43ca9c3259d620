import type { Clock, Logger } from '@gitops-reverser/kernel-api';
import {
  backoffLadder,
  isKubeError,
  type CollectionPath,
  type DiscoveryScan,
  type KubeClient,
  type Random,
} from '@gitops-reverser/toolkit-kube';

/** Types whose change means that discovery changed (30, DC-4). */
const TRIGGERS: readonly CollectionPath[] = [
  { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' },
];
const HEALTHY_MS = 60_000;
const TIMEOUT_SECONDS = [300, 600] as const;

export interface TriggersOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: Random;
  onChange(): void;
}

interface Trigger {
  readonly path: CollectionPath;
  running?: { readonly stop: AbortController; readonly task: Promise<void> };
  isRunning: boolean;
  /** Said once, until it is no longer so. */
  said?: 'not-served' | 'forbidden';
}

/**
 * Watches definitions and calls out when one changes; holds none of them. Where they are not served or not permitted, the timer
 * alone serves: every scan looks again, nothing is blacklisted.
 */
export class Triggers implements AsyncDisposable {
  readonly #options: TriggersOptions;
  readonly #triggers: readonly Trigger[] = TRIGGERS.map((path) => ({ path, isRunning: false }));
  #isClosed = false;

  constructor(options: TriggersOptions) {
    this.#options = options;
  }

  /** Starts and stops watches by what a scan shows. A group that could not be scanned changes nothing. */
  arm({ entries, scanned, complete }: DiscoveryScan): void {
    if (this.#isClosed) return;
    for (const trigger of this.#triggers) {
      const { group, version, resource } = trigger.path;
      const entry = entries.find(
        (each) => each.group === group && each.version === version && each.resource === resource,
      );
      const isServed = entry !== undefined && entry.verbs.includes('list') && entry.verbs.includes('watch');
      if (isServed) this.#start(trigger);
      else if (complete || scanned.includes(`${group}/${version}`)) this.#stop(trigger);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const { running } of this.#triggers) running?.stop.abort();
    await Promise.all(this.#triggers.map(({ running }) => running?.task));
  }

  #start(trigger: Trigger): void {
    if (trigger.isRunning) return;
    const stop = new AbortController();
    trigger.isRunning = true;
    trigger.running = {
      stop,
      task: this.#run(trigger, stop.signal).finally(() => (trigger.isRunning = false)),
    };
  }

  #stop(trigger: Trigger): void {
    trigger.running?.stop.abort();
    if (trigger.said === 'not-served') return;
    trigger.said = 'not-served';
    this.#options.logger.info(
      { resource: trigger.path.resource },
      'the cluster does not serve these definitions; discovery is scanned by timer',
    );
  }

  async #run(trigger: Trigger, signal: AbortSignal): Promise<void> {
    const { clock, logger, random } = this.#options;
    const ladder = backoffLadder(undefined, random);
    while (!signal.aborted) {
      const startedAt = clock.now().getTime();
      try {
        await this.#follow(trigger, signal);
      } catch (thrown) {
        if (signal.aborted) return;
        const code = isKubeError(thrown) ? thrown.code : 0;
        if (code === 403 && trigger.said !== 'forbidden') {
          trigger.said = 'forbidden';
          logger.info(
            { resource: trigger.path.resource },
            'the credential may not list and watch these definitions; discovery is scanned by timer',
          );
        }
        // The next scan starts it again.
        if (code === 403 || code === 404) return;
      }
      if (clock.now().getTime() - startedAt >= HEALTHY_MS) ladder.reset();
      await clock.sleep(ladder.next(), signal);
    }
  }

  /** From now on, not from a version remembered: a change that was missed is found by the scan the opening asks for. */
  async #follow(trigger: Trigger, signal: AbortSignal): Promise<void> {
    const { client, random, onChange } = this.#options;
    const [least, most] = TIMEOUT_SECONDS;
    const { resourceVersion } = await client.list(trigger.path, { limit: 1 }, signal);
    const timeoutSeconds = Math.round(least + (most - least) * random());
    const stream = await client.watch(trigger.path, { resourceVersion, timeoutSeconds }, signal);
    delete trigger.said;
    onChange();
    for await (const frame of stream) {
      if (frame.kind === 'event') onChange();
      else if (frame.kind === 'error') throw frame.error;
    }
  }
}
