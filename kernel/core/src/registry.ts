import type { AnyContribution, Bookkeeping, PointName, ReverserError, StripRules } from '@gitops-reverser/kernel-api';

/** One plugin that runs. */
export interface LoadedPlugin {
  readonly id: string;
  /** Name under which it was configured. */
  readonly use: string;
  readonly version: string;
  /** Parsed, defaulted, frozen. */
  readonly options: unknown;
  readonly contributions: readonly AnyContribution[];
  readonly bookkeeping: Bookkeeping;
  /** Codes it may give, with their meaning. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** One plugin that was configured with `whenBroken: continue` and does not run. */
export interface BrokenPlugin {
  readonly use: string;
  /** Absent when its manifest could not be read. */
  readonly id?: string;
  readonly points: readonly PointName[];
  readonly problems: readonly ReverserError[];
}

export interface RankedContribution {
  readonly plugin: LoadedPlugin;
  readonly contribution: AnyContribution;
}

/** What may run, decided once at start and frozen. Disposing it takes its metric away. */
export interface PluginRegistry extends Disposable {
  /** In the order of the configuration. */
  readonly plugins: readonly LoadedPlugin[];
  readonly broken: readonly BrokenPlugin[];
  /** Of all plugins together. */
  readonly stripRules: StripRules;
  /** Contributions to one point in effective order: bucket, then place in the configuration, then place in the plugin. */
  ranked(point: PointName): readonly RankedContribution[];
}

const BUCKETS = ['first', 'normal', 'last'] as const;

export function rank(plugins: readonly LoadedPlugin[], point: PointName): readonly RankedContribution[] {
  const all = plugins.flatMap((plugin) =>
    plugin.contributions
      .filter((contribution) => contribution.point === point)
      .map((contribution) => ({ plugin, contribution })),
  );
  return BUCKETS.flatMap((bucket) => all.filter(({ contribution }) => contribution.order === bucket));
}
