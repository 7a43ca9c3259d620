import {
  keyJudge,
  ok,
  refuse,
  type AnyContribution,
  type Bookkeeping,
  type KeyRule,
  type Plugin,
  type ReverserError,
  type Result,
} from '@gitops-reverser/kernel-api';
import { causeText, coreError } from './errors.js';
import type { LoadedPlugin } from './registry.js';

/** All that a plugin's contributions say of keys. @returns every rule that can match nothing, as one error */
export function bookkeepingOf(
  plugin: Plugin,
  contributions: readonly AnyContribution[],
  options: unknown,
  use: string,
): Result<Bookkeeping, ReverserError> {
  let said: readonly Bookkeeping[];
  try {
    said = contributions.flatMap(({ bookkeeping }) => (bookkeeping === undefined ? [] : [bookkeeping(options)]));
  } catch (error) {
    return refuse(
      coreError('PluginStartFailed', {
        message: `${use}: telling its bookkeeping failed: ${causeText(error)}; ask its author`,
        details: { package: use, plugin: plugin.id },
        cause: error,
      }),
    );
  }
  const strips = said.flatMap((each) => [...(each?.strips ?? [])]);
  const keeps = said.flatMap((each) => [...(each?.keeps ?? [])]);
  const problems = [
    ...strips.flatMap((rule) => problemOf(rule, 'strips')),
    ...keeps.flatMap((rule) => problemOf(rule, 'keeps')),
  ];
  if (problems.length === 0) return ok(Object.freeze({ strips: Object.freeze(strips), keeps: Object.freeze(keeps) }));
  return refuse(
    coreError('PluginRulesInvalid', {
      message: `${use}: ${problems.join('; ')}. Correct its options, or ask its author`,
      details: { package: use, plugin: plugin.id, problems },
    }),
  );
}

function problemOf(rule: unknown, list: string): readonly string[] {
  const { scope, match, value } = (rule ?? {}) as Readonly<Record<string, unknown>>;
  const expected = 'expected {scope: labels|annotations, match: exact|prefix, value}';
  if (!['labels', 'annotations'].includes(scope as string) || !['exact', 'prefix'].includes(match as string))
    return [`${list}: ${expected}, found ${(JSON.stringify(rule) ?? 'nothing').slice(0, 80)}`];
  if (typeof value !== 'string') return [`${list}: ${expected}, found no text as value`];
  const found = JSON.stringify(value.slice(0, 80));
  if (match === 'prefix' && !/^[^/\s]+\/$/.test(value))
    return [`${list}: a prefix is a domain and ends in /, found ${found} for ${scope as string}`];
  if (match === 'exact' && !/^([^/\s]+\/)?[^/\s]+$/.test(value))
    return [`${list}: a key is name or domain/name, found ${found} for ${scope as string}`];
  return [];
}

interface Disagreement {
  readonly plugin: LoadedPlugin;
  readonly problem: ReverserError;
}

/** Rules that match a key for which another plugin vouches, or the plugin itself by a rule just as narrow. */
export function disagreements(plugins: readonly LoadedPlugin[]): readonly Disagreement[] {
  const found: Disagreement[] = [];
  const judges = new Map(plugins.map((plugin) => [plugin, keyJudge(plugin.bookkeeping)]));
  for (const plugin of plugins) {
    for (const strip of plugin.bookkeeping.strips) {
      for (const other of plugins) {
        for (const keep of other.bookkeeping.keeps) {
          const key = commonKey(strip, keep);
          if (key === undefined) continue;
          const isSelf = other === plugin;
          if (isSelf && strip.match !== keep.match) continue;
          // What its own exceptions take out of a rule is not matched by it.
          const strips = isSelf || judges.get(plugin)?.(strip.scope, key)?.kind === 'strip';
          const keeps = isSelf || judges.get(other)?.(strip.scope, key)?.kind === 'keep';
          if (strips && keeps) found.push({ plugin, problem: disagreement(plugin, strip, other, keep) });
        }
      }
    }
  }
  return found;
}

/** A key both rules match: the narrower one's, or any below a prefix they share. */
function commonKey(one: KeyRule, other: KeyRule): string | undefined {
  if (one.scope !== other.scope) return undefined;
  if (one.match === other.match) return one.value === other.value ? one.value : undefined;
  const [narrow, wide] = one.match === 'exact' ? [one.value, other.value] : [other.value, one.value];
  return narrow.startsWith(wide) ? narrow : undefined;
}

function disagreement(plugin: LoadedPlugin, strip: KeyRule, other: LoadedPlugin, keep: KeyRule): ReverserError {
  const sides =
    plugin === other
      ? `${plugin.use} both strips and keeps ${shown(strip)}`
      : `${plugin.use} strips ${shown(strip)}, but ${other.use} keeps ${shown(keep)} because people write it`;
  return coreError('PluginRulesConflict', {
    message: `${sides}; narrow the first rule, or remove one of the plugins from the configuration`,
    details: { packages: [plugin.use, other.use], strip, keep },
  });
}

const shown = ({ scope, match, value }: KeyRule): string =>
  `${scope === 'labels' ? 'label' : 'annotation'} ${match === 'prefix' ? `${value}*` : value}`;
