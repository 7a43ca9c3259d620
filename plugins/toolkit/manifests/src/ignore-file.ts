/** What `.gittargetignore` hides. Syntax and precedence are gitignore's. */
export interface IgnoreRules {
  /** Whether a file is hidden, by a rule for itself or for a directory above it. */
  ignores(path: string): boolean;
  /** Whether a directory above the file is hidden. */
  ignoresDirectoryOf(path: string): boolean;
  /** Patterns that would hide every manifest: refused. */
  readonly hideAll: readonly { readonly pattern: string; readonly line: number }[];
}

export const ignoreFileName = '.gittargetignore';
export const noIgnoreRules: IgnoreRules = { ignores: () => false, ignoresDirectoryOf: () => false, hideAll: [] };

interface Rule {
  readonly isNegated: boolean;
  readonly isDirectoryOnly: boolean;
  /** Matched against the whole path when anchored, else against the last segment. */
  readonly isAnchored: boolean;
  readonly segments: readonly string[];
}

const hideAllPatterns = new Set([
  '*',
  '**',
  '/',
  '*.yaml',
  '*.yml',
  '**/*',
  '**/*.yaml',
  '**/*.yml',
  '/*',
  '/**',
  '/**/*',
]);

export function parseIgnoreFile(text: string): IgnoreRules {
  const rules: Rule[] = [];
  const hideAll: { pattern: string; line: number }[] = [];
  text
    .replace(/^\ufeff/, '')
    .split('\n')
    .forEach((source, at) => {
      const pattern = trimEnd(source.replace(/\r$/, ''));
      if (hideAllPatterns.has(pattern)) hideAll.push({ pattern, line: at + 1 });
      const rule = parseRule(pattern);
      if (rule !== undefined) rules.push(rule);
    });
  return rules.length === 0 && hideAll.length === 0 ? noIgnoreRules : new Rules(rules, hideAll);
}

/** Trailing spaces do not count unless escaped. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && line[end - 2] !== '\\') end -= 1;
  return line.slice(0, end);
}

function parseRule(line: string): Rule | undefined {
  if (line === '' || line.startsWith('#')) return undefined;
  const isNegated = line.startsWith('!');
  let pattern = isNegated ? line.slice(1) : line;
  const isDirectoryOnly = pattern.endsWith('/');
  if (isDirectoryOnly) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes('/');
  if (pattern.startsWith('/')) pattern = pattern.slice(1);
  if (pattern === '') return undefined;
  return { isNegated, isDirectoryOnly, isAnchored, segments: pattern.split('/') };
}

class Rules implements IgnoreRules {
  readonly hideAll: IgnoreRules['hideAll'];
  private readonly rules: readonly Rule[];
  private readonly isHiddenByDirectory = new Map<string, boolean>();

  constructor(rules: readonly Rule[], hideAll: IgnoreRules['hideAll']) {
    this.rules = rules;
    this.hideAll = hideAll;
  }

  ignores(path: string): boolean {
    return this.ignoresDirectoryOf(path) || this.decide(path, false);
  }

  ignoresDirectoryOf(path: string): boolean {
    const slash = path.lastIndexOf('/');
    return slash !== -1 && this.hidesDirectory(path.slice(0, slash));
  }

  /** What lies below a hidden directory stays hidden, whatever later rules say. */
  private hidesDirectory(directory: string): boolean {
    let isHidden = this.isHiddenByDirectory.get(directory);
    if (isHidden === undefined) {
      isHidden = this.ignoresDirectoryOf(directory) || this.decide(directory, true);
      this.isHiddenByDirectory.set(directory, isHidden);
    }
    return isHidden;
  }

  /** The last rule that matches decides. */
  private decide(path: string, isDirectory: boolean): boolean {
    const segments = path.split('/');
    for (let at = this.rules.length - 1; at >= 0; at -= 1) {
      const rule = this.rules[at] as Rule;
      if (rule.isDirectoryOnly && !isDirectory) continue;
      const isMatch = rule.isAnchored
        ? matchesSegments(rule.segments, segments)
        : matchesSegment(rule.segments[0] as string, segments.at(-1) as string);
      if (isMatch) return !rule.isNegated;
    }
    return false;
  }
}

/** `**` stands for any number of segments; at the end for at least one. Cost is the product of the two lengths. */
function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  let reachable = new Array<boolean>(path.length + 1).fill(false);
  reachable[0] = true;
  pattern.forEach((segment, at) => {
    const next = new Array<boolean>(path.length + 1).fill(false);
    if (segment === '**') {
      let isOpen = false;
      const isLast = at === pattern.length - 1;
      for (let end = 0; end <= path.length; end += 1) {
        if (!isLast) isOpen ||= reachable[end] === true;
        next[end] = isOpen;
        if (isLast) isOpen ||= reachable[end] === true;
      }
    } else {
      for (let end = 1; end <= path.length; end += 1)
        next[end] = reachable[end - 1] === true && matchesSegment(segment, path[end - 1] as string);
    }
    reachable = next;
  });
  return reachable[path.length] === true;
}

/** Shell pattern within one segment, without backtracking beyond the last `*`: no pattern makes it slow. */
function matchesSegment(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  let afterStar = -1;
  let starText = 0;
  while (inText < text.length) {
    if (pattern[inPattern] === '*') {
      inPattern += 1;
      afterStar = inPattern;
      starText = inText;
      continue;
    }
    const step = matchOne(pattern, inPattern, text.charAt(inText));
    if (step > 0) {
      inPattern += step;
      inText += 1;
      continue;
    }
    if (afterStar === -1) return false;
    starText += 1;
    inText = starText;
    inPattern = afterStar;
  }
  while (pattern[inPattern] === '*') inPattern += 1;
  return inPattern === pattern.length;
}

/** Length of the pattern element that matches `char`, or 0. */
function matchOne(pattern: string, at: number, char: string): number {
  const element = pattern[at];
  if (element === undefined) return 0;
  if (element === '?') return 1;
  if (element === '\\' && at + 1 < pattern.length) return pattern[at + 1] === char ? 2 : 0;
  if (element === '[') {
    const set = parseSet(pattern, at);
    if (set !== undefined) return set.has(char) ? set.length : 0;
  }
  return element === char ? 1 : 0;
}

const classes: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[A-Fa-f0-9]/,
};

/** `[a-z]`, `[!a]`, `[^a]`, `[[:digit:]]`; `undefined` when it is never closed and the bracket stands for itself. */
function parseSet(pattern: string, start: number): { readonly length: number; has(char: string): boolean } | undefined {
  let at = start + 1;
  const isNegated = pattern[at] === '!' || pattern[at] === '^';
  if (isNegated) at += 1;
  const tests: ((char: string) => boolean)[] = [];
  for (let isFirst = true; ; isFirst = false) {
    if (at >= pattern.length) return undefined;
    if (pattern[at] === ']' && !isFirst) break;
    const named = /^\[:([a-z]+):\]/.exec(pattern.slice(at, at + 12));
    const namedClass = named === null ? undefined : classes[named[1] as string];
    if (named !== null && namedClass !== undefined) {
      tests.push((char) => namedClass.test(char));
      at += named[0].length;
      continue;
    }
    if (pattern[at] === '\\') at += 1;
    const low = pattern.charAt(at);
    at += 1;
    if (pattern[at] === '-' && pattern[at + 1] !== ']' && at + 1 < pattern.length) {
      if (pattern[at + 1] === '\\') at += 1;
      const high = pattern.charAt(at + 1);
      at += 2;
      tests.push((char) => char >= low && char <= high);
    } else tests.push((char) => char === low);
  }
  return { length: at + 1 - start, has: (char) => tests.some((test) => test(char)) !== isNegated };
}
