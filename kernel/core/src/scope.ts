import {
  POINT_SCOPES,
  SEES,
  isReverserError,
  reasonOf,
  type Clock,
  type Lifecycle,
  type Logger,
  type OpenScope,
  type Placed,
  type PointName,
  type Points,
  type Provided,
  type ScopeName,
  type Token,
} from '@gitops-reverser/kernel-api';
import { asFunction, asValue, type AwilixContainer } from 'awilix';
import { causeText, coreError } from './errors.js';
import { START_LIMIT_MS, within } from './limit.js';
import { listeningLogger } from './listening-logger.js';
import type { RankedContribution } from './registry.js';

type AnyInstance = Points[PointName]['instance'] & Lifecycle;

interface Resident {
  readonly point: PointName;
  readonly ranked: RankedContribution;
  readonly instance: AnyInstance;
}

export interface InstanceHealth {
  readonly scope: string;
  readonly plugin: string;
  readonly point: PointName;
  readonly state: 'ok' | 'degraded' | 'down';
  readonly reason: string;
  readonly message: string;
}

export interface ScopeFacts {
  readonly name: ScopeName;
  readonly id: string;
  /** Child of the process container; this scope owns it. */
  readonly container: AwilixContainer;
  readonly given: readonly Provided[];
  readonly leases: readonly KernelScope[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once everything is closed. */
  onClosed(scope: KernelScope): void;
}

/** Values of two tokens with one name and scope are one value, whichever copy of a package made the token. */
export const valueKey = ({ name, scope }: Token<unknown, ScopeName>): string => `${scope}/${name}`;

/** One open scope: its values, its instances, its loops, and who still uses it. */
export class KernelScope implements OpenScope {
  readonly name: ScopeName;
  readonly id: string;
  readonly #facts: ScopeFacts;
  readonly #abort = new AbortController();
  readonly #residents: Resident[] = [];
  readonly #loops = new Map<Promise<void>, string>();
  readonly #holders = new Set<KernelScope>();
  #opening: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #doing: string | undefined;
  #isGone = false;

  constructor(facts: ScopeFacts) {
    this.name = facts.name;
    this.id = facts.id;
    this.#facts = facts;
    const { container, given, leases } = facts;
    for (const { token, value } of given) container.register(valueKey(token), asValue(value));
    for (const lender of leases) {
      // Values travel, never recipes: a recipe resolved through another container would build a second instance.
      for (const { token, value } of lender.#facts.given) {
        if (isVisible(token.scope, facts.name)) container.register(valueKey(token), asValue(value));
      }
      lender.#holders.add(this);
    }
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Creates an instance of each contribution, in order, and starts them in the same order. All or nothing. */
  populate(contributions: readonly RankedContribution[]): Promise<void> {
    this.#opening = this.#populate(contributions);
    return this.#opening;
  }

  async #populate(contributions: readonly RankedContribution[]): Promise<void> {
    const hearing = contributions.map((ranked) => {
      const ears = listeningLogger(this.#facts.logger.child({ plugin: ranked.plugin.id }));
      return { ranked, ears, resident: this.#create(ranked, ears.logger, ears.lastSaid) };
    });
    for (const { resident, ears } of hearing) await this.#start(resident, ears.lastSaid);
  }

  #create(ranked: RankedContribution, logger: Logger, lastSaid: () => string): Resident {
    const { contribution, plugin } = ranked;
    const key = `instance/${this.#residents.length}`;
    const build = (cradle: Readonly<Record<string, unknown>>): AnyInstance => {
      const needs = Object.entries(contribution.needs).map(([name, token]) => [
        name,
        token.scope === 'process' && token.name === 'logger' ? logger : cradle[valueKey(token)],
      ]);
      return contribution.create({
        options: plugin.options,
        needs: Object.freeze(Object.fromEntries(needs)),
        signal: this.signal,
      });
    };
    const { container } = this.#facts;
    this.#refuseMissing(ranked);
    container.register(key, asFunction(build).scoped());
    let instance: AnyInstance;
    try {
      instance = container.resolve<AnyInstance>(key);
      if (typeof (instance as { readonly then?: unknown } | undefined)?.then === 'function')
        throw new TypeError('create returned a promise; it is synchronous, and waiting belongs in start()');
      if (typeof instance !== 'object' || instance === null)
        throw new TypeError(
          `create returned ${instance === null ? 'null' : typeof instance}, expected a ${contribution.point}`,
        );
    } catch (error) {
      throw this.#failed('creating', { ranked, point: contribution.point }, error, lastSaid);
    }
    const resident = { ranked, instance, point: contribution.point };
    this.#residents.push(resident);
    return resident;
  }

  /** The declaration was checked at start; here the owner of the scope may have kept a value to itself. */
  #refuseMissing({ plugin, contribution: { needs, point } }: RankedContribution): void {
    const missing = Object.values(needs).filter((token) => !this.#facts.container.hasRegistration(valueKey(token)));
    if (missing.length === 0) return;
    const names = missing.map(({ name, scope }) => `${name} of the ${scope} scope`);
    throw coreError('PluginNeedsMissing', {
      message: `plugin ${plugin.id} (${plugin.use}): its ${point} in ${this.label} needs ${names.join(', ')}, which this scope was neither given nor leased`,
      details: { plugin: plugin.id, point, scope: this.label, missing: names },
    });
  }

  async #start(resident: Resident, lastSaid: () => string): Promise<void> {
    const { instance, point, ranked } = resident;
    if (instance.start === undefined || this.isClosed) return;
    const starting = Promise.resolve().then(() => instance.start?.(this.signal));
    const started = await within(starting, START_LIMIT_MS, this.#facts.clock, (error) =>
      this.#logStraggler(resident, error),
    );
    if (started.kind === 'failed') throw this.#failed('starting', resident, started.error, lastSaid);
    if (started.kind === 'done') return;
    throw coreError('PluginStartTimeout', {
      message: `plugin ${ranked.plugin.id} (${ranked.plugin.use}): starting its ${point} in ${this.label} did not end within ${START_LIMIT_MS / 1_000} s; ${lastSaid()}. Look at what it waits for`,
      details: { plugin: ranked.plugin.id, point, scope: this.label, limitMs: START_LIMIT_MS },
    });
  }

  #failed(
    doing: string,
    { ranked, point }: Pick<Resident, 'ranked' | 'point'>,
    error: unknown,
    lastSaid: () => string,
  ): Error {
    const { id, use } = ranked.plugin;
    return coreError('PluginStartFailed', {
      message: `plugin ${id} (${use}): ${doing} its ${point} in ${this.label} failed: ${causeText(error)}; ${lastSaid()}`,
      details: { plugin: id, point, scope: this.label, cause: reasonOf(error) },
      cause: error,
    });
  }

  #logStraggler({ ranked, point }: Resident, error: unknown): void {
    this.#facts.logger.warn(
      { plugin: ranked.plugin.id, point, scope: this.label, reason: reasonOf(error), err: error },
      'a start that was given up failed later',
    );
  }

  /** `target demo/app`; the process has no id. */
  get label(): string {
    return this.id === '' ? this.name : `${this.name} ${this.id}`;
  }

  instances<P extends PointName>(point: P): readonly Placed<P>[] {
    const home =
      POINT_SCOPES[point] === this.name
        ? [this]
        : this.#facts.leases.filter(({ name }) => name === POINT_SCOPES[point]);
    return home.flatMap((scope) =>
      scope.#residents
        .filter((resident) => resident.point === point)
        .map(({ ranked, instance }) => ({
          plugin: ranked.plugin.id,
          serves: ranked.contribution.serves,
          instance: instance as Placed<P>['instance'],
        })),
    );
  }

  run(name: string, loop: (signal: AbortSignal) => Promise<void>): void {
    if (this.isClosed)
      throw coreError('ScopeClosed', {
        message: `${this.label} is closed; ${name} cannot run in it`,
        details: { scope: this.label, loop: name },
      });
    const running = (async () => loop(this.signal))()
      .catch((error: unknown) => {
        if (this.signal.aborted && isAbort(error)) return;
        this.#facts.logger.error(
          { scope: this.label, loop: name, reason: reasonOf(error), err: error },
          'a loop ended with a fault',
        );
      })
      .finally(() => this.#loops.delete(running));
    this.#loops.set(running, name);
  }

  health(): readonly InstanceHealth[] {
    return this.#residents.flatMap(({ instance, ranked, point }) => {
      if (instance.health === undefined) return [];
      return [{ scope: this.label, plugin: ranked.plugin.id, point, ...healthOf(instance) }];
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#abort.abort();
    // Whoever failed to open says so to its opener; here it only has to be over.
    await this.#opening.catch(() => undefined);
    const failures: unknown[] = [];
    const attempt = async (doing: string, act: () => Promise<void> | void): Promise<void> => {
      this.#doing = doing;
      try {
        await act();
      } catch (error) {
        failures.push(error);
      }
    };

    await Promise.all(
      [...this.#holders].map((holder) => holder.close().catch((error: unknown) => failures.push(error))),
    );
    await attempt('waiting for its loops', async () => void (await Promise.all(this.#loops.keys())));
    for (const resident of [...this.#residents].reverse()) {
      const { id } = resident.ranked.plugin;
      await attempt(`disposing the ${resident.point} of plugin ${id}`, () => dispose(resident, this.label));
    }
    await attempt('disposing its container', () => this.#facts.container.dispose());
    this.#doing = undefined;
    this.#isGone = true;
    for (const lender of this.#facts.leases) lender.#holders.delete(this);
    this.#facts.onClosed(this);
    if (failures.length > 0)
      throw new AggregateError(failures, `closing ${this.label}: ${failures.map(causeText).join('; ')}`);
  }

  /** What keeps this scope from being closed right now, for the last words of a stop that ran out of time. */
  remaining(): readonly string[] {
    const loops = [...this.#loops.values()].map((loop) => `${this.label}: loop ${loop}`);
    if (loops.length > 0 || this.#isGone || this.name === 'process') return loops;
    return [this.#doing === undefined ? this.label : `${this.label}: ${this.#doing}`];
  }
}

async function dispose({ ranked, instance, point }: Resident, label: string): Promise<void> {
  try {
    await instance[Symbol.asyncDispose]?.();
  } catch (error) {
    throw new Error(`disposing the ${point} of plugin ${ranked.plugin.id} in ${label} failed: ${causeText(error)}`, {
      cause: error,
    });
  }
}

/** Health is asked from outside and must not throw. */
function healthOf(instance: AnyInstance): {
  readonly state: 'ok' | 'degraded' | 'down';
  readonly reason: string;
  readonly message: string;
} {
  try {
    return instance.health?.() ?? { state: 'ok', reason: 'Running', message: '' };
  } catch (error) {
    return { state: 'down', reason: isReverserError(error) ? error.reason : 'HealthFailed', message: causeText(error) };
  }
}

const isVisible = (scope: ScopeName, from: ScopeName): boolean => (SEES[from] as readonly ScopeName[]).includes(scope);

function isAbort(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError';
}
