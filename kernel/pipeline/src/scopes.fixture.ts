import {
  parseOptions,
  POINT_SCOPES,
  type AnyContribution,
  type OpenScope,
  type Placed,
  type Plugin,
  type PointName,
  type Provided,
  type Scopes,
} from '@gitops-reverser/kernel-api';

/** Scopes over given plugins, without containers: values are looked up by name, leases lend theirs. */
export function plainScopes(
  plugins: readonly Plugin[],
  processValues: Readonly<Record<string, unknown>>,
): Scopes & { readonly open: Scopes['open']; readonly labels: () => readonly string[] } {
  const open = new Map<string, PlainScope>();
  return {
    labels: () => [...open.keys()],
    async open(request) {
      const label = `${request.scope} ${request.id}`;
      if (open.has(label)) throw new TypeError(`${label} is open already`);
      const scope = new PlainScope(
        request.scope,
        request.id,
        request.given,
        request.leases as unknown as readonly PlainScope[],
        processValues,
        () => open.delete(label),
      );
      for (const plugin of plugins) {
        for (const contribution of plugin.contributions()) {
          const value = request.serving?.[contribution.point];
          const isWanted =
            contribution.serves.length === 0 || (value !== undefined && contribution.serves.includes(value));
          if (POINT_SCOPES[contribution.point] === request.scope && isWanted) scope.place(plugin, contribution);
        }
      }
      open.set(label, scope);
      return scope;
    },
  };
}

class PlainScope implements OpenScope {
  readonly name: OpenScope['name'];
  readonly id: string;
  readonly #values: Map<string, unknown>;
  readonly #abort = new AbortController();
  readonly #placed: { readonly point: PointName; readonly placed: Placed<PointName> }[] = [];
  readonly #holders = new Set<PlainScope>();
  readonly #leases: readonly PlainScope[];
  readonly #loops = new Set<Promise<void>>();
  readonly #closed: () => void;
  #closing: Promise<void> | undefined;

  constructor(
    name: OpenScope['name'],
    id: string,
    given: readonly Provided[],
    leases: readonly PlainScope[],
    processValues: Readonly<Record<string, unknown>>,
    closed: () => void,
  ) {
    this.name = name;
    this.id = id;
    this.#values = new Map([
      ...Object.entries(processValues),
      ...leases.flatMap((lease) => [...lease.#values]),
      ...given.map(({ token, value }) => [token.name, value] as const),
    ]);
    this.#leases = leases;
    this.#closed = closed;
    for (const lease of leases) lease.#holders.add(this);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  place(plugin: Plugin, contribution: AnyContribution): void {
    const options = parseOptions(plugin.options, {});
    if (!options.ok) throw new TypeError(`options of ${plugin.id}`);
    const needs = Object.fromEntries(
      Object.entries(contribution.needs).map(([key, token]) => [key, this.#values.get(token.name)]),
    );
    const instance = contribution.create({ options: options.value, needs, signal: this.signal });
    this.#placed.push({
      point: contribution.point,
      placed: { plugin: plugin.id, serves: contribution.serves, instance } as Placed<PointName>,
    });
  }

  instances<P extends PointName>(point: P): readonly Placed<P>[] {
    return this.#placed.filter((each) => each.point === point).map(({ placed }) => placed as unknown as Placed<P>);
  }

  run(_name: string, loop: (signal: AbortSignal) => Promise<void>): void {
    if (this.#closing !== undefined) throw new TypeError(`${this.name} ${this.id} is closed`);
    const running = loop(this.signal).finally(() => this.#loops.delete(running));
    this.#loops.add(running);
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#abort.abort();
      for (const holder of [...this.#holders]) await holder.close();
      await Promise.all(this.#loops);
      for (const { placed } of this.#placed) await placed.instance[Symbol.asyncDispose]?.();
      for (const lease of this.#leases) lease.#holders.delete(this);
      this.#closed();
    })();
    return this.#closing;
  }
}
