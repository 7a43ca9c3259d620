import type { JsonObject } from '@gitops-reverser/kernel-api';
import { isKnownClusterScoped } from './cluster-scoped.js';
import type { BuiltObject } from './build.js';

/** One part of a pattern: a character, any character, or alternatives, and how often. */
interface Part {
  readonly what: string | readonly (readonly Part[])[];
  readonly isAny: boolean;
  readonly min: 0 | 1;
  readonly isRepeated: boolean;
}

const literal = /[A-Za-z0-9_/ :@%,<>=!&#~"'-]/;
const quantifier = /^[*+?]$/;
const longest = 200;

/** No pattern to any engine, or one that only a full engine could run. */
type PatternProblem = 'invalid' | 'unsupported';

/**
 * Whether a pattern in the subset of literals, `.`, groups, `|`, `*`, `+` and `?` matches a whole text. No foreign pattern is ever
 * run by an engine that may take forever over it: this one takes pattern times text.
 */
export function compilePattern(pattern: string): ((text: string) => boolean) | PatternProblem {
  const bare = pattern.replace(/^\^/, '').replace(/\$$/, '');
  const parsed = bare.length > longest ? 'unsupported' : parseAlternatives(bare, 0);
  if (typeof parsed === 'string') return parsed;
  if (parsed.end < bare.length) return 'invalid';
  return (text) => alternatives(parsed.found, text, new Set([0])).has(text.length);
}

interface Parsed {
  readonly found: readonly (readonly Part[])[];
  readonly end: number;
}

function parseAlternatives(pattern: string, start: number): Parsed | PatternProblem {
  const found: Part[][] = [[]];
  let at = start;
  while (at < pattern.length && pattern[at] !== ')') {
    const character = pattern[at] ?? '';
    if (character === '|') {
      found.push([]);
      at += 1;
      continue;
    }
    let what: Part['what'] = character;
    let isAny = false;
    if (pattern.startsWith('(?', at) && pattern[at + 2] !== ':') return 'unsupported';
    if (character === '(') {
      const inner = parseAlternatives(pattern, at + (pattern.startsWith('(?:', at) ? 3 : 1));
      if (typeof inner === 'string') return inner;
      if (pattern[inner.end] !== ')') return 'invalid';
      what = inner.found;
      at = inner.end + 1;
    } else if (character === '\\' && /[.\\|()*+?-]/.test(pattern[at + 1] ?? '')) {
      what = pattern[at + 1] ?? '';
      at += 2;
    } else if (character === '.' || literal.test(character)) {
      isAny = character === '.';
      at += 1;
    } else return quantifier.test(character) ? 'invalid' : 'unsupported';
    const often = pattern[at] ?? '';
    const isCounted = quantifier.test(often);
    if (isCounted) at += 1;
    if (isCounted && quantifier.test(pattern[at] ?? '')) return pattern[at] === '?' ? 'unsupported' : 'invalid';
    const min = often === '*' || often === '?' ? 0 : 1;
    found.at(-1)?.push({ what, isAny, min, isRepeated: often === '*' || often === '+' });
  }
  return { found, end: at };
}

type Places = ReadonlySet<number>;

function alternatives(each: readonly (readonly Part[])[], text: string, from: Places): Places {
  return new Set(each.flatMap((parts) => [...parts.reduce((at, part) => follow(part, text, at), from)]));
}

function follow(part: Part, text: string, from: Places): Places {
  const reached = new Set(part.min === 0 ? from : []);
  let front = from;
  do {
    const next = step(part, text, front);
    front = new Set([...next].filter((at) => !reached.has(at)));
    for (const at of front) reached.add(at);
  } while (part.isRepeated && front.size > 0);
  return reached;
}

function step({ what, isAny }: Part, text: string, from: Places): Places {
  if (typeof what !== 'string') return alternatives(what, text, from);
  return new Set([...from].flatMap((at) => (at < text.length && (isAny || text[at] === what) ? [at + 1] : [])));
}

/** What kustomize takes for the namespace of a type that has none. */
const noNamespace = '_non_namespaceable_';

/**
 * Objects a target selects, as far as names tell: by the first and the last name and namespace of each.
 *
 * @returns the key whose value is no pattern we can run instead
 */
export function select(
  objects: readonly BuiltObject[],
  target: JsonObject,
): readonly BuiltObject[] | { readonly key: string; readonly problem: PatternProblem } {
  const matchers: [string, (text: string) => boolean][] = [];
  for (const [key, value] of Object.entries(target)) {
    if (key === 'labelSelector' || key === 'annotationSelector' || typeof value !== 'string' || value === '') continue;
    const matches = compilePattern(value);
    if (typeof matches === 'string') return { key, problem: matches };
    matchers.push([key, matches]);
  }
  return objects.filter((object) => matchers.every(([key, matches]) => valuesOf(object, key).some(matches)));
}

function valuesOf({ identity, names, namespaces }: BuiltObject, key: string): readonly string[] {
  if (key === 'name') return [names[0] ?? '', identity.name];
  if (key !== 'namespace') return [identity[key as 'group' | 'version' | 'kind']];
  if (isKnownClusterScoped(identity)) return [noNamespace];
  return [namespaces[0] ?? 'default', identity.namespace ?? 'default'];
}
