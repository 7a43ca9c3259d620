import {
  isReverserError,
  parseOptions,
  type AnyContribution,
  type Lifecycle,
  type Plugin,
  type PointName,
  type Points,
} from '@gitops-reverser/kernel-api';
import { fakeClock } from '../fake-clock.js';
import { fakeLogger } from '../fake-logger.js';
import { fakeMetrics } from '../fake-metrics.js';

/** What every suite is told about the plugin it judges. */
export interface SuiteFacts {
  /** Raw, as in the configuration file. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Values by token name, or by the name under which the contribution needs them. Clock, logger and metrics have fakes. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Which contribution is meant when the plugin has several to this point; by default the first. */
  readonly pick?: (contribution: AnyContribution) => boolean;
  /** Text of the package's README; when given, its options table is compared with the schema. */
  readonly readme?: string;
}

/** What one test's instance lives on, made anew for each test. */
export interface Surroundings extends Partial<AsyncDisposable> {
  readonly given?: Readonly<Record<string, unknown>>;
}

export type Instance<P extends PointName> = Points[P]['instance'] & Lifecycle;

export interface Born<P extends PointName> extends AsyncDisposable {
  readonly instance: Instance<P>;
  /** The scope's signal, aborted on disposal. */
  readonly stop: AbortController;
}

export function contributionOf(plugin: Plugin, point: PointName, { pick = () => true }: SuiteFacts): AnyContribution {
  const found = plugin.contributions().filter((contribution) => contribution.point === point);
  const chosen = found.find(pick);
  if (chosen === undefined)
    throw new Error(`plugin ${plugin.id} contributes no ${point}${found.length > 0 ? ' that `pick` accepts' : ''}`);
  return chosen;
}

/** A cold instance, made as the kernel makes it: options parsed, needs looked up, nothing else handed over. */
export function create<P extends PointName>(
  plugin: Plugin,
  point: P,
  facts: SuiteFacts,
  surroundings: Surroundings = {},
): Born<P> {
  const contribution = contributionOf(plugin, point, facts);
  const options = parseOptions(plugin.options, facts.options);
  if (!options.ok)
    throw new Error(
      `options of ${plugin.id}: ${options.error.map(({ path, problem }) => `${path}: ${problem}`).join('; ')}`,
    );
  const given = {
    clock: fakeClock(),
    logger: fakeLogger(),
    metrics: fakeMetrics(),
    ...facts.given,
    ...surroundings.given,
  };
  const stop = new AbortController();
  const instance = contribution.create({
    options: options.value,
    needs: needsFrom(contribution, given),
    signal: stop.signal,
  }) as Instance<P>;
  return {
    instance,
    stop,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await instance[Symbol.asyncDispose]?.();
    },
  };
}

/** As {@link create}, started. */
export async function start<P extends PointName>(
  plugin: Plugin,
  point: P,
  facts: SuiteFacts,
  surroundings: Surroundings = {},
): Promise<Born<P>> {
  const born = create(plugin, point, facts, surroundings);
  await born.instance.start?.(born.stop.signal);
  return born;
}

function needsFrom(
  contribution: AnyContribution,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const missing: string[] = [];
  const needs = Object.entries(contribution.needs).map(([key, token]) => {
    const name = [token.name, key].find((candidate) => candidate in given);
    if (name === undefined) missing.push(`${token.name} (${token.scope})`);
    return [key, name === undefined ? undefined : given[name]] as const;
  });
  if (missing.length > 0) throw new Error(`the suite was not given ${missing.join(', ')}: name each in \`given\``);
  return Object.freeze(Object.fromEntries(needs));
}

/** Reasons a plugin gave during a suite, to be held against those it registered. */
export class ReasonBook {
  readonly #plugin: Plugin;
  constructor(plugin: Plugin) {
    this.#plugin = plugin;
  }

  /** @throws Error when the reason is not registered */
  check(reason: string): string {
    if (!Object.hasOwn(this.#plugin.reasons, reason)) {
      const known = Object.keys(this.#plugin.reasons).join(', ') || 'none';
      throw new Error(
        `plugin ${this.#plugin.id} gave the reason ${reason}, which it does not register in definePlugin({ reasons }); registered: ${known}`,
      );
    }
    return reason;
  }

  /** An error must be typed and registered; an abort may pass. */
  checkError(error: unknown): void {
    if (isReverserError(error)) this.check(error.reason);
    else if (!isAbort(error))
      throw new Error(`plugin ${this.#plugin.id} threw an error without a reason`, { cause: error });
  }
}

export function isAbort(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError';
}

/** Runs `act` over fresh surroundings and a started instance; both are closed whatever happens. */
export async function withStarted<P extends PointName, S extends Surroundings>(
  plugin: Plugin,
  point: P,
  facts: SuiteFacts,
  open: () => Promise<S> | S,
  act: (instance: Instance<P>, surroundings: S, born: Born<P>) => Promise<void>,
): Promise<void> {
  const surroundings = await open();
  try {
    const born = await start(plugin, point, facts, surroundings);
    try {
      await act(born.instance, surroundings, born);
    } finally {
      await born[Symbol.asyncDispose]();
    }
  } finally {
    await surroundings[Symbol.asyncDispose]?.();
  }
}

/** A test that exists only when the suite was told what it is about. */
export function itWith<T>(what: T | undefined, name: string, test: (what: T) => Promise<void>): void {
  if (what !== undefined) it(name, () => test(what));
}
