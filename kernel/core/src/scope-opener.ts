import {
  POINT_SCOPES,
  clock as clockToken,
  logger as loggerToken,
  type Clock,
  type Logger,
  type OpenScope,
  type PointName,
  type Provided,
  type ScopeName,
  type ScopeRequest,
  type Scopes,
} from '@gitops-reverser/kernel-api';
import { asValue, createContainer, type AwilixContainer } from 'awilix';
import { coreError } from './errors.js';
import { POINTS } from './manifest.js';
import type { PluginRegistry, RankedContribution } from './registry.js';
import { KernelScope, valueKey, type InstanceHealth } from './scope.js';

export interface ScopeOpenerFacts {
  readonly registry: PluginRegistry;
  /** Values of the process scope: clock and logger among them. */
  readonly given: readonly Provided<'process'>[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Names the package that usually serves a value; by default none is named. */
  readonly usualPackage?: (point: PointName, value: string) => string | undefined;
}

/** Opens scopes, each a child container of the process, and keeps the tree that the containers do not keep. */
export class ScopeOpener implements Scopes {
  readonly #facts: ScopeOpenerFacts;
  readonly #root: AwilixContainer;
  readonly #open = new Map<string, KernelScope>();
  readonly process: KernelScope;
  #isClosing = false;

  constructor(facts: ScopeOpenerFacts) {
    this.#facts = facts;
    this.#root = createContainer({ strict: true });
    const given = [
      { token: clockToken, value: facts.clock },
      { token: loggerToken, value: facts.logger },
      ...facts.given,
    ];
    for (const { token, value } of given) this.#root.register(valueKey(token), asValue(value));
    this.process = this.#scope('process', '', [], []);
  }

  async open<S extends Exclude<ScopeName, 'process'>>(request: ScopeRequest<S>): Promise<OpenScope> {
    const { scope: name, id, given, serving } = request;
    const label = `${name} ${id}`;
    if (this.#isClosing)
      throw coreError('ScopeClosed', {
        message: `${label} cannot be opened: the operator is stopping`,
        details: { scope: label },
      });
    if (this.#open.has(label))
      throw new TypeError(`${label} is open already; close it first, or give this one another id`);
    for (const { token } of given) {
      if (token.scope !== name)
        throw new TypeError(`${label} was given ${token.name}, a value of the ${token.scope} scope`);
    }
    const leases = request.leases.map(ownScope);
    for (const lender of leases) refuseClosed(lender, label);
    const contributions = this.#selected(name, serving ?? {}, label);

    const scope = this.#scope(name, id, given, leases);
    this.#open.set(label, scope);
    try {
      await scope.populate(contributions);
      for (const lender of leases) refuseClosed(lender, label);
      if (scope.isClosed)
        throw coreError('ScopeClosed', {
          message: `${label} was closed while it was being opened`,
          details: { scope: label },
        });
      return scope;
    } catch (error) {
      await scope
        .close()
        .catch((failure: unknown) =>
          this.#facts.logger.error({ scope: label, err: failure }, 'cleaning up after a failed start failed as well'),
        );
      throw error;
    }
  }

  #scope(name: ScopeName, id: string, given: readonly Provided[], leases: readonly KernelScope[]): KernelScope {
    const { clock, logger } = this.#facts;
    const container = name === 'process' ? this.#root : this.#root.createScope();
    return new KernelScope({
      name,
      id,
      container,
      given,
      leases,
      clock,
      logger,
      onClosed: (scope) => void this.#open.delete(scope.label),
    });
  }

  /** Contributions that live in a scope of this kind: those that serve nothing in particular, and those that serve what was asked for. */
  #selected(
    name: ScopeName,
    serving: Partial<Readonly<Record<PointName, string>>>,
    label: string,
  ): readonly RankedContribution[] {
    return POINTS.filter((point) => POINT_SCOPES[point] === name).flatMap((point) => {
      const ranked = this.#facts.registry.ranked(point);
      const value = serving[point];
      if (value !== undefined && !ranked.some(({ contribution }) => contribution.serves.includes(value)))
        throw this.#unavailable(point, value, label);
      return ranked.filter(
        ({ contribution: { serves } }) => serves.length === 0 || (value !== undefined && serves.includes(value)),
      );
    });
  }

  #unavailable(point: PointName, value: string, label: string): Error {
    const { registry, usualPackage } = this.#facts;
    const loaded = [...new Set(registry.ranked(point).flatMap(({ contribution }) => contribution.serves))].sort();
    const broken = registry.broken
      .filter(({ points }) => points.length === 0 || points.includes(point))
      .map(({ use, problems }) => `${use} (${problems[0]?.reason ?? 'unknown'})`);
    const usual = usualPackage?.(point, value);
    const sentences = [
      `${label}: no loaded plugin serves ${value} (${point})`,
      `loaded: ${loaded.length === 0 ? 'none' : loaded.join(', ')}`,
      ...(broken.length === 0 ? [] : [`broken: ${broken.join(', ')}`]),
      ...(usual === undefined
        ? ['add the package that serves it to plugins in the configuration']
        : [`it usually comes with ${usual}: add that to plugins in the configuration`]),
    ];
    return coreError('PluginUnavailable', {
      message: sentences.join('; '),
      details: { scope: label, point, value, loaded, ...(usual === undefined ? {} : { usual }) },
    });
  }

  health(): readonly InstanceHealth[] {
    return [this.process, ...this.#open.values()].flatMap((scope) => scope.health());
  }

  /** Refuses every new scope and closes the open ones with the river: clusters and what draws on them, targets, branches, the process. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const failures: unknown[] = [];
    for (const name of ['cluster', 'target', 'branch'] as const) {
      const scopes = [...this.#open.values()].filter((scope) => scope.name === name);
      await Promise.all(scopes.map((scope) => scope.close().catch((error: unknown) => failures.push(error))));
    }
    await this.process.close().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'closing the scopes failed in part');
  }

  remaining(): readonly string[] {
    return [...this.#open.values(), this.process].flatMap((scope) => scope.remaining());
  }
}

function ownScope(scope: OpenScope): KernelScope {
  if (scope instanceof KernelScope) return scope;
  throw new TypeError(`${scope.name} ${scope.id} was not opened here and cannot be leased`);
}

function refuseClosed(lender: KernelScope, label: string): void {
  if (!lender.isClosed) return;
  throw coreError('ScopeClosed', {
    message: `${label} cannot be opened: ${lender.label}, which it would use, is closing`,
    details: { scope: label, lender: lender.label },
  });
}
