/** What `.gittargetignore` hides. Syntax and precedence are gitignore's. */
export interface IgnoreRules {
  /** Whether a file is hidden, by a rule for itself or for a directory above it. */
  ignores(path: string): boolean;
  /** Whether a directory above the file is hidden. */
  ignoresDirectoryOf(path: string): boolean;
  /** Patterns that would hide every manifest: refused. */
  readonly hideAll: readonly { readonly pattern: string; readonly line: number }[];
  /** Why the file cannot be gone by. Asked after the paths: some of its patterns may have taken too long for one of them. */
  readonly problem: string | undefined;
}

export const ignoreFileName = '.gittargetignore';
export const noIgnoreRules: IgnoreRules = {
  ignores: () => false,
  ignoresDirectoryOf: () => false,
  hideAll: [],
  problem: undefined,
};

/** Far beyond what anybody writes by hand; with them a folder of fifty thousand files is still judged within seconds. */
export const ignoreLimits = { bytes: 64 * 1024, patterns: 1_000, stepsPerPath: 50_000 } as const;

interface Rule {
  readonly isNegated: boolean;
  readonly isDirectoryOnly: boolean;
  /** Matched against the whole path when anchored, else against the last segment. */
  readonly isAnchored: boolean;
  readonly segments: readonly string[];
}

const hideAllPatterns = new Set(['*', '**', '/', '*.yaml', '*.yml', '**/*', '**/*.yaml', '**/*.yml']);

/** Names nobody has. A pattern that hides all of one kind, at the top as well as below, hides everything, however it is spelled. */
const unlikelyNames = ['yaml', 'yml'].map((extension) =>
  ['q7-x', 'Zz.9', '_', 'é\u{1f600}'].flatMap((name) => [`${name}.${extension}`, `8w/${name}/k.${extension}`]),
);

function hidesAll(pattern: string, rule: Rule | undefined): boolean {
  if (hideAllPatterns.has(pattern)) return true;
  if (rule === undefined || rule.isNegated) return false;
  const alone = new Rules([rule], []);
  return unlikelyNames.some((paths) => paths.every((path) => alone.ignores(path)));
}

export function parseIgnoreFile(bytes: string | Uint8Array): IgnoreRules {
  const size = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.byteLength;
  if (size > ignoreLimits.bytes)
    return { ...noIgnoreRules, problem: `it has ${size} bytes, the limit is ${ignoreLimits.bytes}; shorten it` };
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8');
  const rules: Rule[] = [];
  const hideAll: { pattern: string; line: number }[] = [];
  text
    .replace(/^\ufeff/, '')
    .split('\n')
    .forEach((source, at) => {
      const pattern = trimEnd(source.replace(/\r$/, ''));
      const rule = parseRule(pattern);
      if (hidesAll(pattern, rule)) hideAll.push({ pattern, line: at + 1 });
      if (rule !== undefined) rules.push(rule);
    });
  if (rules.length > ignoreLimits.patterns) {
    const problem = `it has ${rules.length} patterns, the limit is ${ignoreLimits.patterns}; ignore directories instead of files`;
    return { ...noIgnoreRules, hideAll, problem };
  }
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

/** How much was compared for one path. */
interface Effort {
  steps: number;
}

class Rules implements IgnoreRules {
  readonly hideAll: IgnoreRules['hideAll'];
  problem: string | undefined;
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
    const effort: Effort = { steps: 0 };
    for (let at = this.rules.length - 1; at >= 0; at -= 1) {
      const rule = this.rules[at] as Rule;
      if (rule.isDirectoryOnly && !isDirectory) continue;
      const isMatch = rule.isAnchored
        ? matchesSegments(rule.segments, segments, effort)
        : matchesSegment(rule.segments[0] as string, segments.at(-1) as string, effort);
      if (effort.steps > ignoreLimits.stepsPerPath) {
        this.problem ??= 'its patterns take too long to apply; use fewer and shorter ones';
        return false;
      }
      if (isMatch) return !rule.isNegated;
    }
    return false;
  }
}

/** `**` stands for any number of segments; at the end for at least one. Cost is the product of the two lengths. */
function matchesSegments(pattern: readonly string[], path: readonly string[], effort: Effort): boolean {
  let reachable = new Array<boolean>(path.length + 1).fill(false);
  reachable[0] = true;
  pattern.forEach((segment, at) => {
    if (effort.steps > ignoreLimits.stepsPerPath) return;
    effort.steps += path.length;
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
        next[end] = reachable[end - 1] === true && matchesSegment(segment, path[end - 1] as string, effort);
    }
    reachable = next;
  });
  return reachable[path.length] === true;
}

/** Shell pattern within one segment, without backtracking beyond the last `*`: no pattern makes it slow. */
function matchesSegment(pattern: string, text: string, effort: Effort): boolean {
  let inPattern = 0;
  let inText = 0;
  let afterStar = -1;
  let starText = 0;
  while (inText < text.length) {
    effort.steps += 1;
    if (effort.steps > ignoreLimits.stepsPerPath) return false;
    if (pattern[inPattern] === '*') {
      inPattern += 1;
      afterStar = inPattern;
      starText = inText;
      continue;
    }
    // A set is read again for every character.
    if (pattern[inPattern] === '[') effort.steps += pattern.length - inPattern;
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
