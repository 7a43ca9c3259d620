import {
  compileStripRules,
  isPlugin,
  refuse,
  ok,
  type AnyContribution,
  type Clock,
  type Logger,
  type Metrics,
  type Plugin,
  type PointName,
  type ReverserError,
  type Result,
} from '@gitops-reverser/kernel-api';
import { bookkeepingOf, disagreements } from './bookkeeping.js';
import { PluginsBroken, causeText, coreError } from './errors.js';
import { START_LIMIT_MS, within } from './limit.js';
import { apiMismatch, manifestMismatch, parseManifest, readablePoints, type PluginManifest } from './manifest.js';
import { findPackage } from './package-lookup.js';
import { checkNeeds, checkOptions, declared, duplicates, type TokenOffer } from './plugin-checks.js';
import { rank, type BrokenPlugin, type LoadedPlugin, type PluginRegistry } from './registry.js';

/** One entry of `plugins` in the configuration. */
export interface PluginEntry {
  /** Name of a package. */
  readonly use: string;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Default `stop`. */
  readonly whenBroken?: 'stop' | 'continue';
}

/** A plugin that is part of the program itself: nothing is looked up, everything else is checked all the same. */
export interface BuiltInPlugin {
  readonly plugin: Plugin;
  readonly manifest: PluginManifest;
  readonly version?: string;
}

export interface LoadRequest {
  /** In the order of the configuration, which is the order at run time. */
  readonly entries: readonly PluginEntry[];
  /** Folder the configuration lies in: packages are looked up from there. */
  readonly from: string;
  /** By package name; these are never looked up. */
  readonly builtIn?: Readonly<Record<string, BuiltInPlugin>>;
  /** Every value that some scope will hold. */
  readonly offers: readonly TokenOffer[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** How far one entry came. */
interface Attempt {
  readonly entry: PluginEntry;
  readonly id?: string;
  readonly points: readonly PointName[];
  readonly loaded?: LoadedPlugin;
  readonly problems: readonly ReverserError[];
}

/** A plugin that offers one of these holds something back; without it we would publish what it exists to keep. */
const GUARDS: readonly PointName[] = ['sanitizer', 'layout'];

/**
 * Loads exactly the plugins that are named, in order. A plugin's manifest is read and judged before any of its code runs.
 *
 * @throws PluginsBroken with every problem of every plugin whose `whenBroken` is `stop`
 */
export async function loadPlugins(request: LoadRequest): Promise<PluginRegistry> {
  const attempts: Attempt[] = [];
  for (const entry of request.entries) attempts.push(await attempt(entry, request));
  const judged = withClashes(attempts);

  const stopping = judged.filter(({ problems, entry }) => problems.length > 0 && entry.whenBroken !== 'continue');
  const misplaced = judged.filter(({ entry }) => entry.whenBroken === 'continue').flatMap(refusedContinue);
  const problems = judged.flatMap((each) => [
    ...misplaced.filter(({ of }) => of === each).map(({ problem }) => problem),
    ...(stopping.includes(each) ? each.problems : []),
  ]);
  if (problems.length > 0) throw new PluginsBroken(problems);

  return registered(judged, request);
}

function refusedContinue(attempt: Attempt): readonly { readonly of: Attempt; readonly problem: ReverserError }[] {
  const guards = attempt.points.filter((point) => GUARDS.includes(point));
  if (guards.length === 0) return [];
  const { use } = attempt.entry;
  const problem = coreError('PluginOptionsInvalid', {
    message: `${use}: whenBroken: expected stop, found continue: it offers a ${guards.join(' and a ')}, and without it we would publish what it holds back`,
    details: { package: use, points: guards },
  });
  // What else is wrong with it counts as well: its `continue` is void.
  return [{ of: attempt, problem }, ...attempt.problems.map((each) => ({ of: attempt, problem: each }))];
}

async function attempt(entry: PluginEntry, request: LoadRequest): Promise<Attempt> {
  const found = lookUp(entry.use, request);
  if (!found.ok) return { entry, points: [], problems: [found.error] };
  const { block, where, version } = found.value;
  const points = readablePoints(block);

  const manifest = parseManifest(block, entry.use, where);
  if (!manifest.ok) return { entry, points, problems: [manifest.error] };
  const known = { entry, id: manifest.value.id, points };
  const mismatch = apiMismatch(manifest.value.kernelApi, entry.use);
  if (mismatch !== undefined) return { ...known, problems: [mismatch] };

  const plugin = await found.value.open();
  if (!plugin.ok) return { ...known, problems: [plugin.error] };
  const contributions = declaredSafely(plugin.value, entry.use);
  if (!contributions.ok) return { ...known, problems: [contributions.error] };
  const offered = { ...known, points: [...new Set([...points, ...contributions.value.map(({ point }) => point)])] };

  const untrue = manifestMismatch(plugin.value, contributions.value, manifest.value, entry.use);
  if (untrue !== undefined) return { ...offered, problems: [untrue] };
  const options = checkOptions(plugin.value, entry.options, entry.use);
  const needs = checkNeeds(plugin.value, contributions.value, request.offers, entry.use);
  const bookkeeping = options.ok
    ? bookkeepingOf(plugin.value, contributions.value, options.value, entry.use)
    : refuse(options.error);
  const problems = [...(bookkeeping.ok ? [] : [bookkeeping.error]), ...(needs === undefined ? [] : [needs])];
  if (!options.ok || !bookkeeping.ok || problems.length > 0) return { ...offered, problems };

  const { id, reasons } = plugin.value;
  const loaded = Object.freeze({
    id,
    use: entry.use,
    version,
    options: options.value,
    contributions: Object.freeze([...contributions.value]),
    bookkeeping: bookkeeping.value,
    reasons,
  });
  return { ...offered, loaded, problems: [] };
}

interface Found {
  readonly block: unknown;
  readonly where: string;
  readonly version: string;
  /** Runs the plugin's module. */
  open(): Promise<Result<Plugin, ReverserError>>;
}

function lookUp(use: string, request: LoadRequest): Result<Found, ReverserError> {
  const builtIn =
    request.builtIn !== undefined && Object.hasOwn(request.builtIn, use) ? request.builtIn[use] : undefined;
  if (builtIn !== undefined) {
    const { plugin, manifest, version = '' } = builtIn;
    return ok({ block: manifest, where: 'built in', version, open: () => Promise.resolve(checkMark(plugin, use)) });
  }
  const found = findPackage(use, request.from);
  if (!found.ok) return found;
  const { block, file, version, entry } = found.value;
  return ok({
    block,
    where: file,
    version,
    open: async () => (entry.ok ? importPlugin(entry.value, use, request.clock) : entry),
  });
}

async function importPlugin(url: URL, use: string, clock: Clock): Promise<Result<Plugin, ReverserError>> {
  const details = { package: use, file: url.pathname };
  const imported = await within(import(url.href) as Promise<Readonly<Record<string, unknown>>>, START_LIMIT_MS, clock);
  switch (imported.kind) {
    case 'done':
      return checkMark(imported.value['plugin'], use);
    case 'failed':
      return refuse(
        coreError('PluginStartFailed', {
          message: `${use}: importing it failed: ${causeText(imported.error)}. Install it again with its dependencies, or ask its author`,
          details,
          cause: imported.error,
        }),
      );
    case 'late':
      return refuse(
        coreError('PluginStartTimeout', {
          message: `${use}: importing it did not end within ${START_LIMIT_MS / 1_000} s: it waits at its top level. Ask its author to wait in start() instead, or remove it from the configuration`,
          details: { ...details, limitMs: START_LIMIT_MS },
        }),
      );
  }
}

function checkMark(value: unknown, use: string): Result<Plugin, ReverserError> {
  if (isPlugin(value)) return ok(value);
  const found = value === undefined ? 'it has none' : 'found something else';
  return refuse(
    coreError('PluginManifestInvalid', {
      message: `${use}: expected an export named plugin, made by definePlugin; ${found}. Write: export const plugin = definePlugin(...)`,
      details: { package: use },
    }),
  );
}

function declaredSafely(plugin: Plugin, use: string): Result<readonly AnyContribution[], ReverserError> {
  try {
    return declared(plugin, use);
  } catch (error) {
    return refuse(
      coreError('PluginStartFailed', {
        message: `${use}: its declaration failed: ${causeText(error)}. The callback of definePlugin only declares; ask its author`,
        details: { package: use, plugin: plugin.id },
        cause: error,
      }),
    );
  }
}

/** What is wrong with plugins only beside each other. */
function withClashes(attempts: readonly Attempt[]): readonly Attempt[] {
  const loaded = attempts.flatMap((attempt) => (attempt.loaded === undefined ? [] : [attempt.loaded]));
  const found = [...duplicates(loaded), ...disagreements(loaded)];
  return attempts.map((attempt) => {
    const problems = found.filter(({ plugin }) => plugin === attempt.loaded).map(({ problem }) => problem);
    if (problems.length === 0) return attempt;
    const { loaded: _loaded, ...rest } = attempt;
    return { ...rest, problems };
  });
}

function registered(attempts: readonly Attempt[], { logger, metrics }: LoadRequest): PluginRegistry {
  const plugins = Object.freeze(attempts.flatMap(({ loaded }) => (loaded === undefined ? [] : [loaded])));
  const broken: readonly BrokenPlugin[] = Object.freeze(
    attempts
      .filter(({ loaded }) => loaded === undefined)
      .map(({ entry, id, points, problems }) => ({
        use: entry.use,
        points,
        problems,
        ...(id === undefined ? {} : { id }),
      })),
  );
  for (const { id, use, version, contributions } of plugins) {
    const points = [...new Set(contributions.map(({ point }) => point))];
    const places = points.map((point) => {
      const ranked = rank(plugins, point);
      const places = ranked.flatMap(({ plugin }, index) => (plugin.id === id ? [index + 1] : []));
      return [point, `${places.join('+')} of ${ranked.length}`];
    });
    logger.info({ plugin: id, package: use, version, points, order: Object.fromEntries(places) }, 'plugin loaded');
  }
  for (const { use, id, problems } of broken) {
    for (const problem of problems)
      logger.error(
        { plugin: id ?? use, package: use, reason: problem.reason, err: problem },
        'plugin broken, continuing without it',
      );
  }
  const up = metrics.gauge({ name: 'plugin_up', help: '0: configured, not running.', labels: ['plugin'] }, () => [
    ...plugins.map(({ id }) => ({ labels: { plugin: id }, value: 1 })),
    ...broken.map(({ id, use }) => ({ labels: { plugin: id ?? use }, value: 0 })),
  ]);
  return Object.freeze({
    plugins,
    broken,
    stripRules: compileStripRules(plugins.map(({ bookkeeping }) => bookkeeping)),
    ranked: (point: PointName) => rank(plugins, point),
    [Symbol.dispose]: () => up[Symbol.dispose](),
  });
}
