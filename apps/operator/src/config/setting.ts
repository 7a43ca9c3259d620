import { nearest, ok, parseDuration, refuse, type Result } from '@gitops-reverser/kernel-api';

/** One setting: read from a flag, an environment variable or the configuration file, and printed in the reference. */
export interface Setting<T> {
  /** Without the leading dashes. */
  readonly flag: string;
  /** Path in the configuration file. */
  readonly path: readonly string[];
  readonly default: T;
  /** How the default reads in the reference and in help. */
  readonly defaultText: string;
  readonly expects: string;
  readonly doc: string;
  /** Text of a flag or variable, or the typed value of the file. */
  parse(raw: unknown): Result<T, string>;
}

interface Common {
  readonly flag: string;
  /** Section of the file, and the prefix the flag's name loses there; empty for the root. */
  readonly section: string;
  /** Path in the file, where it does not follow from the flag. */
  readonly path?: readonly string[];
  readonly doc: string;
}

export const setting = {
  text(
    spec: Common & { readonly default: string; readonly pattern?: RegExp; readonly expects?: string },
  ): Setting<string> {
    const expects = spec.expects ?? (spec.pattern === undefined ? 'text' : `text matching ${spec.pattern.source}`);
    return define(spec, spec.default, expects, (raw) => {
      if (typeof raw !== 'string' && typeof raw !== 'number') return refuse(found(expects, raw));
      const text = String(raw);
      return spec.pattern === undefined || spec.pattern.test(text)
        ? ok(text)
        : refuse(`expected ${expects}, found '${text}'`);
    });
  },
  choice<const C extends readonly string[]>(
    spec: Common & { readonly default: C[number]; readonly choices: C },
  ): Setting<C[number]> {
    const expects = `one of ${spec.choices.join(', ')}`;
    return define(spec, spec.default, expects, (raw) => {
      if (typeof raw === 'string' && spec.choices.includes(raw)) return ok(raw as C[number]);
      if (typeof raw !== 'string') return refuse(found(expects, raw));
      return refuse(`expected ${expects}, found '${raw}'; did you mean ${nearest(raw, spec.choices)}?`);
    });
  },
  flag(spec: Common & { readonly default: boolean }): Setting<boolean> {
    return define(spec, spec.default, 'true or false', (raw) => {
      if (raw === true || raw === 'true') return ok(true);
      if (raw === false || raw === 'false') return ok(false);
      return refuse(found('true or false', raw));
    });
  },
  integer(spec: Common & { readonly default: number; readonly min: number; readonly max: number }): Setting<number> {
    const expects = `an integer of ${spec.min}..${spec.max}`;
    return define(spec, spec.default, expects, (raw) => {
      const value = typeof raw === 'string' && /^-?\d+$/.test(raw) ? Number(raw) : raw;
      if (typeof value !== 'number' || !Number.isInteger(value)) return refuse(found(expects, raw));
      return value >= spec.min && value <= spec.max ? ok(value) : refuse(`expected ${expects}, found ${value}`);
    });
  },
  /** In milliseconds. */
  duration(spec: Common & { readonly default: string; readonly min: string; readonly max: string }): Setting<number> {
    const expects = `a duration of ${spec.min}..${spec.max}`;
    const ms = (text: string): number => parseDuration(text) ?? Number.NaN;
    return define(
      spec,
      ms(spec.default),
      expects,
      (raw) => {
        const value = typeof raw === 'string' ? parseDuration(raw) : undefined;
        if (value === undefined) return refuse(`${found(expects, raw)}; a duration has a unit, such as 30s`);
        return value >= ms(spec.min) && value <= ms(spec.max)
          ? ok(value)
          : refuse(`expected ${expects}, found ${String(raw)}`);
      },
      spec.default,
    );
  },
  /** A Kubernetes quantity, in bytes. */
  size(spec: Common & { readonly default: string; readonly min: string; readonly max: string }): Setting<number> {
    const expects = `a size of ${spec.min}..${spec.max}`;
    const bytes = (text: string): number => parseSize(text) ?? Number.NaN;
    return define(
      spec,
      bytes(spec.default),
      expects,
      (raw) => {
        const value = typeof raw === 'string' || typeof raw === 'number' ? parseSize(String(raw)) : undefined;
        if (value === undefined) return refuse(`${found(expects, raw)}; write it as 8Mi`);
        return value >= bytes(spec.min) && value <= bytes(spec.max)
          ? ok(value)
          : refuse(`expected ${expects}, found ${String(raw)}`);
      },
      spec.default,
    );
  },
  /** Comma-separated in a flag or variable, a list or such a text in the file. */
  list(spec: Common & { readonly pattern: RegExp; readonly item: string }): Setting<readonly string[]> {
    const expects = `a list of ${spec.item}`;
    return define(
      spec,
      [],
      expects,
      (raw) => {
        const items: unknown =
          typeof raw === 'string'
            ? raw
                .split(',')
                .map((item) => item.trim())
                .filter((item) => item !== '')
            : raw;
        if (!Array.isArray(items) || !items.every((item) => typeof item === 'string'))
          return refuse(found(expects, raw));
        const bad = (items as string[]).find((item) => !spec.pattern.test(item));
        return bad === undefined ? ok(items as string[]) : refuse(`expected ${expects}, found '${bad}'`);
      },
      '""',
    );
  },
};

function define<T>(
  spec: Common,
  preset: T,
  expects: string,
  parse: (raw: unknown) => Result<T, string>,
  text = String(preset),
): Setting<T> {
  return {
    flag: spec.flag,
    path: spec.path ?? pathOf(spec.section, spec.flag),
    default: preset,
    defaultText: text === '' ? '""' : text,
    expects,
    doc: spec.doc,
    parse,
  };
}

/** The section, then the flag in camelCase without the section's prefix. */
function pathOf(section: string, flag: string): readonly string[] {
  const bare = section !== '' && flag.startsWith(`${section}-`) ? flag.slice(section.length + 1) : flag;
  const camel = bare.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return section === '' ? [camel] : [section, camel];
}

/** `--redis-addr` is `GITOPS_REVERSER_REDIS_ADDR`. */
export const environmentName = (flag: string): string => `GITOPS_REVERSER_${flag.toUpperCase().replaceAll('-', '_')}`;

const found = (expects: string, raw: unknown): string => {
  const what =
    raw === null || raw === undefined
      ? 'nothing'
      : Array.isArray(raw)
        ? 'a list'
        : typeof raw === 'object'
          ? 'a map'
          : `'${String(raw)}'`;
  return `expected ${expects}, found ${what}`;
};

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

function parseSize(text: string): number | undefined {
  const match = /^(\d+)(Ki|Mi|Gi|k|M|G)?$/.exec(text);
  return match === null ? undefined : Number(match[1]) * (UNITS[match[2] ?? ''] ?? Number.NaN);
}
