import {
  provide,
  reasonOf,
  stripRules,
  clock as clockToken,
  logger as loggerToken,
  metrics as metricsToken,
  type PointName,
  type Provided,
  type Scopes,
} from '@gitops-reverser/kernel-api';
import { within } from './limit.js';
import { loadPlugins, type LoadRequest } from './plugin-loader.js';
import type { TokenOffer } from './plugin-checks.js';
import type { PluginRegistry } from './registry.js';
import { ScopeOpener } from './scope-opener.js';
import type { InstanceHealth, KernelScope } from './scope.js';

export interface KernelRequest extends Omit<LoadRequest, 'offers'> {
  /** Values of the process scope besides clock, logger and metrics. */
  readonly given?: readonly Provided<'process'>[];
  /** Values that clusters, branches and targets will be given by those who open them. */
  readonly offers?: readonly TokenOffer[];
  readonly usualPackage?: (point: PointName, value: string) => string | undefined;
}

export interface KernelHealth {
  /** Plugins are started and the operator is not stopping. What single clusters, branches or targets suffer does not count. */
  readonly isReady: boolean;
  readonly reason: 'Running' | 'Stopping';
  readonly plugins: readonly { readonly plugin: string; readonly isUp: boolean; readonly reason: string }[];
  /** What instances say about themselves, by scope. */
  readonly instances: readonly InstanceHealth[];
}

export interface Kernel {
  readonly registry: PluginRegistry;
  readonly scopes: Scopes;
  /** Loops of the process itself may run here. */
  readonly process: KernelScope;
  health(): KernelHealth;
  /**
   * Adds what has to happen before the scopes are closed: closing the inlets, letting windows settle, publishing. Such steps
   * run one after the other, in the order they were added.
   */
  beforeClose(name: string, step: (signal: AbortSignal) => Promise<void>): void;
  /**
   * Stops with the river. Idempotent; never throws. Once `budgetMs` is over it returns all the same, and what remains is
   * named in the last log line.
   */
  close(budgetMs: number): Promise<void>;
}

/**
 * Loads the plugins and gets ready to open scopes for them.
 * @throws PluginsBroken
 */
export async function openKernel(request: KernelRequest): Promise<Kernel> {
  const { clock, logger, metrics, given = [], offers = [], usualPackage } = request;
  const processValues = [
    provide(clockToken, clock),
    provide(loggerToken, logger),
    provide(metricsToken, metrics),
    ...given,
  ];
  const processOffers = processValues.map(({ token }): TokenOffer => ({ token, by: 'the operator' }));
  const ownOffers: readonly TokenOffer[] = [{ token: stripRules, by: 'the kernel' }];
  const registry = await loadPlugins({ ...request, offers: [...processOffers, ...ownOffers, ...offers] });
  const scopes = new ScopeOpener({
    registry,
    given: [...processValues, provide(stripRules, registry.stripRules)],
    clock,
    logger,
    ...(usualPackage === undefined ? {} : { usualPackage }),
  });
  const steps: { readonly name: string; run(signal: AbortSignal): Promise<void> }[] = [];
  let closing: Promise<void> | undefined;

  const close = async (budgetMs: number): Promise<void> => {
    const startedMs = clock.now().getTime();
    const stop = new AbortController();
    let current: string | undefined;
    const stopping = (async (): Promise<void> => {
      for (const { name, run } of steps) {
        current = name;
        try {
          await run(stop.signal);
        } catch (error) {
          logger.error({ step: name, reason: reasonOf(error), err: error }, 'a step of stopping failed');
        }
      }
      current = undefined;
      await scopes.close();
    })();
    const outcome = await within(stopping, budgetMs, clock);
    stop.abort();
    registry[Symbol.dispose]();
    const durationMs = clock.now().getTime() - startedMs;
    if (outcome.kind === 'done') logger.info({ durationMs }, 'stopped');
    if (outcome.kind === 'failed')
      logger.error({ durationMs, reason: reasonOf(outcome.error), err: outcome.error }, 'stopped, with faults');
    if (outcome.kind === 'late')
      logger.error(
        { durationMs, budgetMs, remaining: [...(current === undefined ? [] : [current]), ...scopes.remaining()] },
        'stopped before everything had ended',
      );
  };

  return {
    registry,
    scopes,
    process: scopes.process,
    health: () => ({
      isReady: closing === undefined,
      reason: closing === undefined ? 'Running' : 'Stopping',
      plugins: [
        ...registry.plugins.map(({ id }) => ({ plugin: id, isUp: true, reason: 'Running' })),
        ...registry.broken.map(({ id, use, problems }) => ({
          plugin: id ?? use,
          isUp: false,
          reason: problems[0]?.reason ?? 'Unknown',
        })),
      ],
      instances: scopes.health(),
    }),
    beforeClose: (name, run) => void steps.push({ name, run }),
    close: (budgetMs) => (closing ??= close(budgetMs)),
  };
}
