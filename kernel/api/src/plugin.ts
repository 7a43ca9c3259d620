import type { OptionsOf, OptionsSchema } from './options.js';
import type { PointName, Points } from './points.js';
import { reasonsFrom, type RefusalMeaning } from './refusal-meaning.js';
import type { Bookkeeping } from './strip-rules.js';
import type { Given, Needs } from './tokens.js';

const mark = Symbol.for('gitops-reverser.plugin');

/** Version of this contract, two numbers: a minor adds, a major breaks. The kernel accepts one major. */
export const KERNEL_API_VERSION = '1.0';

export interface Lifecycle extends Partial<AsyncDisposable> {
  start?(signal: AbortSignal): Promise<void>;
  health?(): { readonly state: 'ok' | 'degraded' | 'down'; readonly reason: string; readonly message: string };
}

export interface Contribution<P extends PointName, O, N> {
  /** Values an object selects this contribution by: a dialect, an encryption provider, a claim kind. */
  readonly serves?: readonly string[];
  readonly order?: 'first' | 'normal' | 'last';
  readonly needs: N;
  /**
   * Of a sanitizer: the keys it takes away and those it vouches for. Whoever has to know what never reaches Git reads them; to
   * strip is the sanitizer's own work. Pure.
   */
  readonly bookkeeping?: P extends 'sanitizer' ? (options: O) => Bookkeeping : never;
  /** Cheap, synchronous, no I/O: an instance is born cold, started once, disposed once. */
  create(given: {
    readonly options: O;
    readonly needs: Given<N>;
    readonly signal: AbortSignal;
  }): Points[P]['instance'] & Lifecycle;
}

export type On<O> = {
  readonly [P in PointName]: <const N extends Needs<Points[P]['scope']>>(contribution: Contribution<P, O, N>) => void;
};

export interface PluginHeader<S extends OptionsSchema> {
  /** Kebab-case, 1..63, unique among the loaded plugins. */
  readonly id: string;
  /** `^MAJOR.MINOR`: same major, minor not above the kernel's. */
  readonly kernelApi: string;
  readonly options: S;
  /** Every code its refusals and errors carry, with the cause and the remedy. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** What its layouts and writers may refuse, in more detail than `reasons`, which these join. */
  readonly refusals?: Readonly<Record<string, RefusalMeaning>>;
}

/** A contribution as the kernel sees it, types erased. */
export interface AnyContribution {
  readonly point: PointName;
  readonly serves: readonly string[];
  readonly order: 'first' | 'normal' | 'last';
  readonly needs: Needs<'target'> | Needs<'cluster'> | Needs<'branch'>;
  readonly bookkeeping?: (options: unknown) => Bookkeeping;
  create(given: {
    readonly options: unknown;
    readonly needs: Readonly<Record<string, unknown>>;
    readonly signal: AbortSignal;
  }): Points[PointName]['instance'] & Lifecycle;
}

export interface Plugin {
  readonly [mark]: true;
  readonly id: string;
  readonly kernelApi: string;
  readonly options: OptionsSchema;
  readonly reasons: Readonly<Record<string, string>>;
  readonly refusals: Readonly<Record<string, RefusalMeaning>>;
  /** Runs the declaration. Pure: it may be run any number of times. */
  contributions(): readonly AnyContribution[];
}

/** Declares a plugin. The callback only declares; nothing is created and no I/O happens. */
export function definePlugin<const S extends OptionsSchema>(
  header: PluginHeader<S>,
  register: (on: On<OptionsOf<S>>) => void,
): Plugin {
  return {
    [mark]: true,
    id: header.id,
    kernelApi: header.kernelApi,
    options: header.options,
    reasons: { ...header.reasons, ...reasonsFrom(header.refusals ?? {}) },
    refusals: header.refusals ?? {},
    contributions() {
      const found: AnyContribution[] = [];
      const add = (point: PointName) => (contribution: Contribution<PointName, OptionsOf<S>, Needs<'target'>>) => {
        found.push({
          point,
          serves: contribution.serves ?? [],
          order: contribution.order ?? 'normal',
          needs: contribution.needs,
          ...(contribution.bookkeeping === undefined
            ? {}
            : { bookkeeping: contribution.bookkeeping as (options: unknown) => Bookkeeping }),
          create: (given) => contribution.create(given as Parameters<typeof contribution.create>[0]),
        });
      };
      const on = Object.fromEntries(
        (['source', 'attributor', 'sanitizer', 'layout', 'writer', 'applier'] as const).map((point) => [
          point,
          add(point),
        ]),
      );
      register(on as unknown as On<OptionsOf<S>>);
      return found;
    },
  };
}

/** Two copies of this package may be loaded: compare marks, never classes. */
export function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && mark in value;
}
