import { refuse, ok, type Result } from './result.js';

/** One option of a plugin: how it is read, and what the reference table says about it. */
export interface OptionSpec<T> {
  readonly type: string;
  readonly doc: string;
  readonly default: T;
  /** Textual range or pattern for the reference table; empty when anything of the type goes. */
  readonly range: string;
  parse(value: unknown): Result<T, string>;
}
export type OptionsSchema = Readonly<Record<string, OptionSpec<unknown>>>;
export type OptionsOf<S extends OptionsSchema> = {
  readonly [K in keyof S]: S[K] extends OptionSpec<infer T> ? T : never;
};

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Reads a Go duration (`1m30s`) into milliseconds; undefined when it is none. The unit is mandatory. */
export function parseDuration(text: string): number | undefined {
  if (!/^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$/.test(text) || text.length > 32) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  }
  return Number.isFinite(total) ? total : undefined;
}

/** The kinds of option a plugin may have. Durations are read into milliseconds. */
export const option = {
  string(spec: { readonly default: string; readonly doc: string; readonly pattern?: RegExp }): OptionSpec<string> {
    const range = spec.pattern?.source ?? '';
    return {
      type: 'string',
      doc: spec.doc,
      default: spec.default,
      range,
      parse: (value) => {
        if (typeof value !== 'string') return refuse(`expected a string, found ${kindOf(value)}`);
        return spec.pattern === undefined || spec.pattern.test(value)
          ? ok(value)
          : refuse(`expected text matching ${range}`);
      },
    };
  },
  boolean(spec: { readonly default: boolean; readonly doc: string }): OptionSpec<boolean> {
    return {
      type: 'boolean',
      doc: spec.doc,
      default: spec.default,
      range: '',
      parse: (value) =>
        typeof value === 'boolean' ? ok(value) : refuse(`expected true or false, found ${kindOf(value)}`),
    };
  },
  integer(spec: {
    readonly default: number;
    readonly min: number;
    readonly max: number;
    readonly doc: string;
  }): OptionSpec<number> {
    const range = `${spec.min}..${spec.max}`;
    return {
      type: 'integer',
      doc: spec.doc,
      default: spec.default,
      range,
      parse: (value) => {
        if (typeof value !== 'number' || !Number.isInteger(value))
          return refuse(`expected an integer, found ${kindOf(value)}`);
        return value >= spec.min && value <= spec.max ? ok(value) : refuse(`expected ${range}, found ${value}`);
      },
    };
  },
  duration(spec: {
    readonly default: string;
    readonly min?: string;
    readonly max: string;
    readonly doc: string;
  }): OptionSpec<number> {
    const [lowest, highest, preset] = [
      parseDuration(spec.min ?? '0s'),
      parseDuration(spec.max),
      parseDuration(spec.default),
    ];
    if (lowest === undefined || highest === undefined || preset === undefined)
      throw new TypeError('option.duration needs Go durations');
    const range = `${spec.min ?? '0s'}..${spec.max}`;
    return {
      type: 'duration',
      doc: spec.doc,
      default: preset,
      range,
      parse: (value) => {
        if (typeof value !== 'string')
          return refuse(`expected a duration such as ${spec.default}, found ${kindOf(value)}`);
        const ms = parseDuration(value);
        if (ms === undefined)
          return refuse(`expected a duration such as ${spec.default}, found text without number and unit`);
        return ms >= lowest && ms <= highest ? ok(ms) : refuse(`expected ${range}, found ${value}`);
      },
    };
  },
  list(spec: {
    readonly default: readonly string[];
    readonly doc: string;
    readonly pattern?: RegExp;
    readonly maxItems: number;
  }): OptionSpec<readonly string[]> {
    const range = `at most ${spec.maxItems} items`;
    return {
      type: 'list of string',
      doc: spec.doc,
      default: spec.default,
      range,
      parse: (value) => {
        if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
          return refuse(`expected a list of strings, found ${kindOf(value)}`);
        if (value.length > spec.maxItems) return refuse(`expected ${range}, found ${value.length}`);
        const bad = spec.pattern === undefined ? undefined : value.findIndex((item) => !spec.pattern?.test(item));
        return bad === undefined || bad < 0 ? ok(value) : refuse(`item ${bad} does not match ${spec.pattern?.source}`);
      },
    };
  },
};

export interface OptionProblem {
  readonly path: string;
  readonly problem: string;
}

/** Reads raw options by a schema. All problems together; an unknown key names the nearest known one. */
export function parseOptions<S extends OptionsSchema>(
  schema: S,
  raw: unknown,
): Result<OptionsOf<S>, readonly OptionProblem[]> {
  if (raw !== undefined && (typeof raw !== 'object' || raw === null || Array.isArray(raw))) {
    return refuse([{ path: '', problem: `expected a map of options, found ${kindOf(raw)}` }]);
  }
  const given = new Map(Object.entries(raw ?? {}));
  const problems: OptionProblem[] = [];
  const values: [string, unknown][] = [];
  for (const [name, spec] of Object.entries(schema)) {
    if (!given.has(name)) {
      values.push([name, spec.default]);
      continue;
    }
    const parsed = spec.parse(given.get(name));
    if (parsed.ok) values.push([name, parsed.value]);
    else problems.push({ path: name, problem: parsed.error });
  }
  const known = Object.keys(schema);
  for (const name of given.keys()) {
    if (known.includes(name)) continue;
    const hint = nearest(name, known);
    problems.push({
      path: name,
      problem: hint === undefined ? 'unknown option; there are none' : `unknown option; did you mean ${hint}?`,
    });
  }
  return problems.length > 0 ? refuse(problems) : ok(Object.freeze(Object.fromEntries(values)) as OptionsOf<S>);
}

/** The known word closest to `word` by edit distance; undefined when there is none to choose from. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  return best?.name;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
