import type { KubeObject } from './model.js';
import type { Sanitizer } from './points.js';

export type KeyScope = 'labels' | 'annotations';

/** Names keys of the root object's own labels or annotations. */
export interface KeyRule {
  readonly scope: KeyScope;
  /** `prefix`: every key below `value`, which ends in `/`. */
  readonly match: 'exact' | 'prefix';
  readonly value: string;
}

/** What a plugin knows of the keys that one system writes (chapter 20, 3.7). */
export interface Bookkeeping {
  /** Notes a controller makes for itself: they never reach Git. */
  readonly strips: readonly KeyRule[];
  /** What people write. Exceptions from the plugin's own rules; a rule of another plugin that matches one ends the start. */
  readonly keeps: readonly KeyRule[];
}

/** What a plugin says of one key, with the rule it says it by. */
export interface KeyVerdict {
  readonly kind: 'strip' | 'keep';
  readonly rule: KeyRule;
}
export type KeyJudge = (scope: KeyScope, key: string) => KeyVerdict | undefined;

/** Which keys never reach Git, by the rules of every loaded plugin. */
export interface StripRules {
  /** The rule that takes the key away, if any does. */
  strippedBy(scope: KeyScope, key: string): KeyRule | undefined;
}

/** One rule for each value; a value that ends in `/` stands for every key below it, as no key ends so. */
export const keyRules = (scope: KeyScope, ...values: readonly string[]): readonly KeyRule[] =>
  values.map((value) => ({ scope, match: value.endsWith('/') ? 'prefix' : 'exact', value }));

/** The narrower rule wins: a key by itself, then what it lies below. */
export function keyJudge({ strips, keeps }: Bookkeeping): KeyJudge {
  const verdicts = new Map<string, KeyVerdict>();
  const name = (scope: KeyScope, match: KeyRule['match'], value: string): string => `${scope} ${match} ${value}`;
  const add = (kind: KeyVerdict['kind'], rule: KeyRule): void =>
    void verdicts.set(name(rule.scope, rule.match, rule.value), { kind, rule });
  for (const rule of strips) add('strip', rule);
  for (const rule of keeps) add('keep', rule);
  return (scope, key) =>
    verdicts.get(name(scope, 'exact', key)) ?? verdicts.get(name(scope, 'prefix', key.slice(0, key.indexOf('/') + 1)));
}

export function compileStripRules(of: readonly Bookkeeping[]): StripRules {
  const judges = of.map(keyJudge);
  return {
    strippedBy(scope, key) {
      for (const judge of judges) {
        const verdict = judge(scope, key);
        if (verdict?.kind === 'strip') return verdict.rule;
      }
      return undefined;
    },
  };
}

export const noStripRules: StripRules = compileStripRules([]);

/** The object without what the rules take away, a map that became empty included; the object itself where nothing is. */
export function withoutStripped<T extends KubeObject>(object: T, rules: StripRules): T {
  let gone = 0;
  const metadata = Object.entries(object.metadata).flatMap(([key, value]): [string, unknown][] => {
    if ((key !== 'labels' && key !== 'annotations') || !isMap(value)) return [[key, value]];
    const all = Object.entries(value);
    const kept = all.filter(([name]) => rules.strippedBy(key, name) === undefined);
    if (kept.length === all.length && all.length > 0) return [[key, value]];
    gone += 1;
    return kept.length === 0 ? [] : [[key, Object.fromEntries(kept)]];
  });
  return gone === 0 ? object : { ...object, metadata: Object.fromEntries(metadata) };
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A sanitizer for plugins whose whole knowledge is bookkeeping. Everything else stays as it is, the echo included. */
export function createBookkeepingSanitizer(bookkeeping: Bookkeeping): Sanitizer {
  const rules = compileStripRules([bookkeeping]);
  return { sanitize: (object) => ({ kind: 'keep', object: withoutStripped(object, rules) }) };
}
