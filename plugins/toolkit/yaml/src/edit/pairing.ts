import type { JsonObject, JsonValue, ListMapKeys } from '@gitops-reverser/kernel-api';
import { sortedKeys } from '../key-order.js';
import { isMap, type Place } from './intent.js';

/**
 * For every item of `live` the item of `git` whose text it takes over, or -1 (chapter 20, 6.4): equal ones, then those with one
 * key, then by position among what is left.
 */
export function pairItems(
  git: readonly JsonValue[],
  live: readonly JsonValue[],
  place: Place,
  listKeys?: ListMapKeys,
): readonly number[] {
  const pairs = new Array<number>(live.length).fill(-1);
  const taken = new Array<boolean>(git.length).fill(false);
  const pair = (liveAt: number, gitAt: number): void => {
    pairs[liveAt] = gitAt;
    taken[gitAt] = true;
  };
  const gitTexts = git.map(canonicalText);
  const liveTexts = live.map(canonicalText);
  for (const [gitAt, liveAt] of commonSubsequence(gitTexts, liveTexts)) pair(liveAt, gitAt);
  const leftover = (): { readonly git: readonly number[]; readonly live: readonly number[] } => ({
    git: git.flatMap((_, at) => (taken[at] === true ? [] : [at])),
    live: live.flatMap((_, at) => (pairs[at] === -1 ? [at] : [])),
  });
  const pairBy = (gitKeys: (at: number) => string, liveKeys: (at: number) => string): void => {
    const left = leftover();
    const waiting = new Map<string, number[]>();
    for (const at of left.git) waiting.set(gitKeys(at), [...(waiting.get(gitKeys(at)) ?? []), at]);
    for (const at of left.live) {
      const gitAt = waiting.get(liveKeys(at))?.shift();
      if (gitAt !== undefined) pair(at, gitAt);
    }
  };
  if (leftover().git.length > 0)
    pairBy(
      (at) => gitTexts[at] ?? '',
      (at) => liveTexts[at] ?? '',
    );
  const rest = leftover();
  if (rest.git.length === 0 || rest.live.length === 0) return pairs;
  const keys = keysOf(
    rest.git.map((at) => git[at]),
    rest.live.map((at) => live[at]),
    place,
    listKeys,
  );
  if (keys !== undefined)
    pairBy(
      (at) => keys(git[at]) ?? '',
      (at) => keys(live[at]) ?? '',
    );
  const last = leftover();
  last.live.forEach((liveAt, at) => {
    const gitAt = last.git[at];
    if (gitAt !== undefined) pair(liveAt, gitAt);
  });
  return pairs;
}

type KeyOf = (item: JsonValue | undefined) => string | undefined;

const byName = field('name');
const fixedKeys = new Map<string, readonly KeyOf[]>([
  ...[
    'containers',
    'initContainers',
    'ephemeralContainers',
    'volumes',
    'env',
    'imagePullSecrets',
    'webhooks',
    'versions',
  ].map((list): [string, readonly KeyOf[]] => [list, [byName]]),
  ['volumeClaimTemplates', [(item) => (isMap(item) ? byName(item['metadata']) : undefined)]],
  ['volumeMounts', [field('mountPath')]],
  ['volumeDevices', [field('devicePath')]],
  ['ports', [composite(['containerPort'], { protocol: 'TCP' }), composite(['port'], { protocol: 'TCP' })]],
  ['hostAliases', [field('ip')]],
  ['topologySpreadConstraints', [composite(['topologyKey', 'whenUnsatisfiable'], {})]],
  ['subjects', [composite(['kind', 'name'], { namespace: '' })]],
]);
const anyKeys: readonly KeyOf[] = [byName, field('key'), field('id')];

/** The first key that every item on both sides has, each value once. */
function keysOf(
  git: readonly (JsonValue | undefined)[],
  live: readonly (JsonValue | undefined)[],
  place: Place,
  listKeys: ListMapKeys | undefined,
): KeyOf | undefined {
  const path = listKeys === undefined ? '' : pathOf(place);
  const declared = listKeys !== undefined && Object.hasOwn(listKeys, path) ? listKeys[path] : undefined;
  const candidates = [
    ...(declared === undefined ? [] : [composite(declared, {})]),
    ...(fixedKeys.get(place.key) ?? []),
    ...anyKeys,
  ];
  return candidates.find((keyOf) => [git, live].every((side) => areUnique(side.map(keyOf))));
}

function areUnique(keys: readonly (string | undefined)[]): boolean {
  return keys.every((key) => key !== undefined && key !== '') && new Set(keys).size === keys.length;
}

function field(name: string): KeyOf {
  return (item) => {
    const value = isMap(item) && Object.hasOwn(item, name) ? item[name] : undefined;
    return typeof value === 'object' || value === undefined ? undefined : String(value);
  };
}

function composite(required: readonly string[], defaults: Readonly<Record<string, string>>): KeyOf {
  const fields = required.map(field);
  const optional = Object.entries(defaults).map(([name, value]) => ({ of: field(name), value }));
  return (item) => {
    const parts = fields.map((of) => of(item));
    if (parts.some((part) => part === undefined || part === '')) return undefined;
    return [...parts, ...optional.map(({ of, value }) => of(item) ?? value)].join('\0');
  };
}

/** As {@link ListMapKeys} names it. */
function pathOf({ key, above }: Place): string {
  const path = above === undefined ? '' : pathOf(above);
  return path === '' ? key : `${path}/${key}`;
}

/** Equal for equal values, whatever the order of their keys. */
function canonicalText(value: JsonValue): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(canonicalText).join(',')}]`;
  const fields = value as JsonObject;
  return `{${sortedKeys(fields)
    .map((key) => `${JSON.stringify(key)}:${canonicalText(fields[key] as JsonValue)}`)
    .join(',')}}`;
}

const mostCells = 250_000;

/** Index pairs of a longest common subsequence; of a good one when both sides are very long. */
function commonSubsequence(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail])
    tail += 1;
  const pairs: (readonly [number, number])[] = [];
  for (let at = 0; at < head; at += 1) pairs.push([at, at]);
  const left = a.slice(head, a.length - tail);
  const right = b.slice(head, b.length - tail);
  const middle =
    left.length * right.length <= mostCells ? exactSubsequence(left, right) : uniqueSubsequence(left, right);
  for (const [from, to] of middle) pairs.push([from + head, to + head]);
  for (let at = tail; at > 0; at -= 1) pairs.push([a.length - at, b.length - at]);
  return pairs;
}

function exactSubsequence(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = a.length - 1; row >= 0; row -= 1)
    for (let column = b.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        a[row] === b[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let row = 0, column = 0; row < a.length && column < b.length;) {
    if (a[row] === b[column]) {
      pairs.push([row, column]);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

/** Over what occurs once on each side. */
function uniqueSubsequence(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  const count = (texts: readonly string[]): ReadonlyMap<string, number> => {
    const places = new Map<string, number>();
    texts.forEach((text, at) => places.set(text, places.has(text) ? -1 : at));
    return places;
  };
  const left = count(a);
  const common = [...count(b)].flatMap(([text, to]): (readonly [number, number])[] => {
    const from = left.get(text) ?? -1;
    return from === -1 || to === -1 ? [] : [[from, to]];
  });
  const rising = longestRising(common.map(([from]) => from));
  return rising.flatMap((at) => (common[at] === undefined ? [] : [common[at]]));
}

/** Indexes of a longest rising run of numbers, none of which occurs twice. */
export function longestRising(numbers: readonly number[]): readonly number[] {
  const ends: number[] = [];
  const before = new Array<number>(numbers.length).fill(-1);
  numbers.forEach((number, at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    before[at] = low === 0 ? -1 : (ends[low - 1] ?? -1);
    ends[low] = at;
  });
  const run: number[] = [];
  for (let at = ends.at(-1) ?? -1; at !== -1; at = before[at] ?? -1) run.push(at);
  return run.reverse();
}
