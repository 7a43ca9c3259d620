import type { Clock, Logger, Surface } from '@gitops-reverser/kernel-api';
import {
  backoffLadder,
  Discovery,
  isKubeError,
  type Backoff,
  type DiscoveryScan,
  type KubeClient,
  type Random,
} from '@gitops-reverser/toolkit-kube';
import type { ResourcePolicy } from './policy.js';
import { TypeRegistry } from './registry.js';

const SCAN_EVERY_MS = 30_000;
/** Triggers come in bursts: a chart installs its definitions one after the other. */
const TRIGGER_SETTLE_MS = 500;
/** A new definition is served a moment after it was accepted. */
const SECOND_LOOK_MS = 2_000;
/** A freshly started workspace authenticator answers 401 for about a minute (30, 1.2). */
const AUTHENTICATION_GRACE_MS = 120_000;

export interface SurfaceLoopOptions {
  readonly client: KubeClient;
  readonly policy: ResourcePolicy;
  readonly isLocal: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: Random;
  /** After every scan that was not a failure as a whole. */
  onScan(scan: DiscoveryScan): void;
}

/**
 * Scans discovery every 30 s, sooner after a scan that failed, and whenever it is told to; publishes what follows from it. Scans
 * are serial.
 */
export class SurfaceLoop {
  readonly #options: SurfaceLoopOptions;
  readonly #discovery: Discovery;
  readonly #registry: TypeRegistry;
  readonly #since: number;
  readonly #ladder: Backoff;
  #surface: Surface = {
    generation: 0,
    reach: { state: 'unknown', reason: 'AwaitingDiscovery', message: 'not looked at so far' },
    types: [],
  };
  #content = '';
  #isReady = false;
  /** Since when the credential is not accepted, without an answer in between. */
  #unauthorizedSince: number | undefined;
  #wake = new AbortController();
  #listeners = new Set<() => void>();

  constructor(options: SurfaceLoopOptions) {
    this.#options = options;
    this.#discovery = new Discovery(options.client);
    this.#registry = new TypeRegistry(options.policy);
    this.#since = options.clock.now().getTime();
    this.#ladder = backoffLadder(undefined, options.random);
  }

  /** Asks for a scan now. */
  trigger(): void {
    this.#wake.abort();
  }

  /** What is known at once, then every change. */
  async *surfaces(signal: AbortSignal): AsyncGenerator<Surface, void, undefined> {
    let seen: Surface | undefined;
    while (!signal.aborted) {
      if (this.#surface !== seen) {
        seen = this.#surface;
        yield seen;
        continue;
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#listeners.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#listeners.add(wake);
        signal.addEventListener('abort', wake);
      });
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const stop = (): void => this.#wake.abort();
    signal.addEventListener('abort', stop);
    let isTriggered = false;
    while (!signal.aborted) {
      // A trigger during the scan came too late for it and asks for another.
      this.#wake = new AbortController();
      const hasAnswered = await this.#scan(signal);
      if (signal.aborted) break;
      await clock.sleep(this.#pauseMs(hasAnswered, isTriggered), this.#wake.signal);
      isTriggered = this.#wake.signal.aborted;
      if (isTriggered) await clock.sleep(TRIGGER_SETTLE_MS, signal);
    }
    signal.removeEventListener('abort', stop);
  }

  /** A cluster that is back is found on the ladder: its targets are not ready before that. */
  #pauseMs(hasAnswered: boolean, isTriggered: boolean): number {
    if (hasAnswered) return isTriggered ? SECOND_LOOK_MS : SCAN_EVERY_MS;
    const rungMs = this.#ladder.next();
    return this.#isInGrace ? rungMs : Math.min(SCAN_EVERY_MS, rungMs);
  }

  /** The credential may only not be accepted yet, or not at the moment: nothing is said about the cluster until that is clear. */
  get #isInGrace(): boolean {
    const since = this.#unauthorizedSince;
    if (this.#options.isLocal || since === undefined) return false;
    const isNew = since - this.#since < AUTHENTICATION_GRACE_MS;
    return (this.#isReady || isNew) && this.#options.clock.now().getTime() - since < AUTHENTICATION_GRACE_MS;
  }

  /** @returns whether the cluster answered, fully or in part */
  async #scan(signal: AbortSignal): Promise<boolean> {
    const { clock, isLocal, logger } = this.#options;
    try {
      const scan = await this.#discovery.scan(signal);
      this.#unauthorizedSince = undefined;
      this.#ladder.reset();
      const change = this.#registry.take(scan, clock.now());
      const reason = isLocal ? 'LocalCluster' : 'RemoteCluster';
      const missing = scan.failed.length === 0 ? '' : `; ${scan.failed.length} group version(s) could not be read`;
      this.#publish({ state: 'reachable', reason, message: `discovery answered${missing}` }, change.types);
      if (!this.#isReady) logger.info({ types: change.types.length }, 'catalog ready');
      this.#isReady = true;
      if (change.wobbling.length > 0)
        logger.warn(
          { types: change.wobbling.length, failed: scan.failed.map(({ groupVersion }) => groupVersion) },
          'catalog degraded',
        );
      if (change.recovered.length > 0) logger.info({ types: change.recovered.length }, 'catalog recovered');
      if (change.removed.length > 0) logger.info({ types: change.removed.length }, 'types removed');
      this.#options.onScan(scan);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      // What answers next may be another version of the server.
      this.#discovery.reset();
      this.#publish(this.#unreachable(error), this.#registry.take(undefined, clock.now()).types);
      return false;
    }
  }

  #unreachable(error: unknown): Surface['reach'] {
    const code = isKubeError(error) ? error.code : 0;
    const server = this.#options.client.connection.server;
    const found = isKubeError(error) ? error.message : 'the answer could not be read';
    if (code !== 401) this.#unauthorizedSince = undefined;
    if (code === 401) {
      this.#unauthorizedSince ??= this.#options.clock.now().getTime();
      if (this.#isInGrace)
        return {
          state: 'unknown',
          reason: 'AwaitingDiscovery',
          message: `${server} does not accept the credential so far (401); trying again`,
        };
      return {
        state: 'unreachable',
        reason: 'SourceClusterAuthenticationFailed',
        message: `${server} does not accept the credential (401); renew it`,
      };
    }
    if (code === 403)
      return {
        state: 'unreachable',
        reason: 'SourceClusterAccessDenied',
        message: `${server} denies the credential its discovery documents (403); grant it`,
      };
    return { state: 'unreachable', reason: 'SourceClusterUnreachable', message: found };
  }

  #publish(reach: Surface['reach'], types: Surface['types']): void {
    const content = JSON.stringify([reach, types]);
    if (content === this.#content) return;
    if (reach.reason !== this.#surface.reach.reason && reach.state === 'unreachable')
      this.#options.logger.warn(
        { reason: reach.reason, server: this.#options.client.connection.server },
        'source cluster not reachable',
      );
    this.#content = content;
    // Generation 0 means "never looked": a cluster that could not be reached has told nothing about its types.
    const generation = this.#isReady || reach.state === 'reachable' ? this.#surface.generation + 1 : 0;
    this.#surface = { generation, reach, types };
    for (const listener of [...this.#listeners]) listener();
  }
}
