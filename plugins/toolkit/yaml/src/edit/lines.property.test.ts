import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import fc from 'fast-check';
import { openText, readDocument, type SplitText } from '../index.js';
import { editDocument } from './edit-document.js';
import { dice, humanYaml, randomObject, randomScalar, randomValue } from './human-yaml.fixture.js';
import { readTree, type Node } from './tree.js';

const runs = Number(process.env['PROPERTY_RUNS'] ?? 150);

type Path = readonly (string | number)[];

function open(text: string): SplitText {
  const split = openText(text);
  if (!split.ok) throw new Error(split.error.message);
  return split.value;
}

function* places(node: Node | undefined, path: Path): Generator<{ readonly path: Path; readonly node: Node }> {
  if (node === undefined) return;
  yield { path, node };
  if (node.kind === 'map') for (const { key, value } of node.pairs) yield* places(value, [...path, key]);
  if (node.kind === 'list') for (const [at, { value }] of node.items.entries()) yield* places(value, [...path, at]);
}

/** A copy in which `change` has had its way with what holds the last step of `path`. */
function changed(value: JsonValue, [step, ...rest]: Path, change: (holder: never, step: never) => void): JsonValue {
  const copy = Array.isArray(value) ? [...(value as readonly JsonValue[])] : { ...(value as JsonObject) };
  if (rest.length === 0) change(copy as never, step as never);
  else
    (copy as Record<string, JsonValue>)[step as string] = changed(
      (copy as JsonObject)[step as string] as JsonValue,
      rest,
      change,
    );
  return copy;
}

/** Lines that went and lines that came, by a longest common subsequence. */
function difference(
  before: string,
  after: string,
): { readonly gone: readonly string[]; readonly come: readonly string[] } {
  const [a, b] = [before, after].map((text) => text.split('\n')) as [string[], string[]];
  while (a.length > 0 && b.length > 0 && a[0] === b[0]) {
    a.shift();
    b.shift();
  }
  while (a.length > 0 && b.length > 0 && a.at(-1) === b.at(-1)) {
    a.pop();
    b.pop();
  }
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  for (let row = a.length - 1; row >= 0; row -= 1)
    for (let column = b.length - 1; column >= 0; column -= 1)
      (lengths[row] as number[])[column] =
        a[row] === b[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const gone: string[] = [];
  const come: string[] = [];
  for (let row = 0, column = 0; row < a.length || column < b.length;) {
    if (row < a.length && column < b.length && a[row] === b[column]) {
      row += 1;
      column += 1;
    } else if (row < a.length && (column === b.length || at(row + 1, column) >= at(row, column + 1))) {
      gone.push(a[row] as string);
      row += 1;
    } else {
      come.push(b[column] as string);
      column += 1;
    }
  }
  return { gone, come };
}

const isInline = (value: JsonValue): boolean => typeof value !== 'string' || !value.includes('\n');
const inBrackets = (root: Node, path: Path): boolean =>
  [...places(root, [])].some(
    ({ path: above, node }) =>
      (node.kind === 'map' || node.kind === 'list' || node.kind === 'opaque') &&
      node.isFlow &&
      above.every((step, at) => step === path[at]),
  );

/** Of brackets: the lines of what goes, the comments above it, and one that loses or takes a comma. */
function expectFewLines(text: string, node: Node, gone: readonly string[], come: readonly string[]): void {
  const own = text.slice(node.start, node.end).split('\n').length;
  expect(gone.filter((line) => /^\s*[^\s#]/.test(line)).length).toBeLessThanOrEqual(own + 1);
  expect(come.length).toBeLessThan(2);
}

interface Subject {
  readonly text: string;
  readonly value: JsonObject;
  readonly root: Node;
  readonly roll: () => number;
}

function subjectOf(seed: number): Subject {
  const roll = dice(seed);
  // A text that keeps its blank lines may take those below for its own, which is another test's matter.
  const text = humanYaml(roll, randomObject(roll)).replaceAll(/\|([1-9]?)\+/g, '|$1');
  const reading = readDocument(open(text), 0);
  if (reading.state !== 'read') throw new Error(`the generator wrote what does not parse:\n${text}`);
  return { text, value: reading.value as JsonObject, root: readTree(text, reading.value), roll };
}

function editedTo(text: string, live: JsonValue): string {
  const edited = editDocument(open(text), 0, live as JsonObject);
  if (!edited.ok) throw new Error(`${edited.error.code}: ${edited.error.message}`);
  expect(edited.value.outcome).not.toBe('rewritten');
  return edited.value.text;
}

const pick = <T>(roll: () => number, from: readonly T[]): T | undefined => from[Math.floor(roll() * from.length)];
const isPinned = ([first]: Path): boolean => ['apiVersion', 'kind', 'metadata', undefined].includes(first as string);

function property(check: (subject: Subject) => boolean): number {
  let count = 0;
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      if (check(subjectOf(seed))) count += 1;
    }),
    { numRuns: runs },
  );
  return count;
}

describe('20, 6.2: every line that does not hold a change stays', () => {
  it('one scalar on one line changes exactly that line', () => {
    const count = property(({ text, value, root, roll }) => {
      const scalars = [...places(root, [])].filter(
        ({ node, path }) =>
          node.kind === 'scalar' && !isPinned(path) && !text.slice(node.start, node.end).includes('\n'),
      );
      const found = pick(roll, scalars);
      const fresh = randomScalar(roll);
      if (found === undefined || !isInline(fresh)) return false;
      const live = changed(value, found.path, (holder: Record<string, JsonValue>, step: string) => {
        holder[step] = fresh;
      });
      const after = editedTo(text, live);
      if (after === text) return false;
      const { gone, come } = difference(text, after);
      expect({ gone: gone.length, come: come.length }).toEqual({ gone: 1, come: 1 });
      return true;
    });
    expect(count).toBeGreaterThan(runs * 0.4);
  });

  it('a key that goes takes its own lines and the comments directly above it, and nothing comes', () => {
    const count = property(({ text, value, root, roll }) => {
      const keys = [...places(root, [])].filter(({ path, node }) => {
        if (isPinned(path) || typeof path.at(-1) !== 'string') return false;
        const holder = [...places(root, [])].find(
          ({ path: above }) => above.join('\0') === path.slice(0, -1).join('\0'),
        );
        const pairs = holder?.node.kind === 'map' ? holder.node.pairs : [];
        return node.kind !== 'opaque' && pairs.length > 1 && pairs[0]?.key !== path.at(-1);
      });
      const found = pick(roll, keys);
      if (found === undefined) return false;
      const after = editedTo(
        text,
        changed(value, found.path, (holder: Record<string, JsonValue>, step: string) => delete holder[step]),
      );
      if (after === text) return false;
      const { gone, come } = difference(text, after);
      if (inBrackets(root, found.path.slice(0, -1))) {
        expectFewLines(text, found.node, gone, come);
        return true;
      }
      expect(come).toEqual([]);
      expect(text).toContain(gone.join('\n'));
      return true;
    });
    expect(count).toBeGreaterThan(runs * 0.3);
  });

  it('a key or an item that comes takes nothing away', () => {
    const count = property(({ text, value, root, roll }) => {
      const holders = [...places(root, [])].filter(
        ({ node, path }) =>
          !isPinned([path[0] ?? '-']) &&
          ((node.kind === 'map' && node.pairs.length > 0) || (node.kind === 'list' && node.items.length > 0)),
      );
      const found = pick(roll, holders);
      if (found === undefined) return false;
      const fresh = randomValue(roll, 2);
      const size = found.node.kind === 'list' ? found.node.items.length : 0;
      const place = found.node.kind === 'list' ? Math.floor(roll() * (size + 1)) : 'fresh-key';
      const live = changed(value, [...found.path, place], (holder: JsonValue[], step: number) => {
        if (found.node.kind === 'list') holder.splice(step, 0, fresh);
        else holder[step] = fresh;
      });
      const after = editedTo(text, live);
      if (after === text) return false;
      const { gone } = difference(text, after);
      // The line above may take a comma, and brackets on one line stay on one.
      if (inBrackets(root, found.path)) expect(gone.length).toBeLessThan(2);
      // The first item of a list within a list shares its line with another dash.
      else expect(gone.length).toBeLessThan(place === 0 ? 2 : 1);
      for (const comment of text.match(/# [ct]\d+/g) ?? []) expect(after).toContain(comment);
      return true;
    });
    expect(count).toBeGreaterThan(runs * 0.4);
  });

  it('an item that goes takes its own lines, and nothing comes', () => {
    const count = property(({ text, value, root, roll }) => {
      const items = [...places(root, [])].filter(({ path }) => typeof path.at(-1) === 'number' && path.at(-1) !== 0);
      const found = pick(roll, items);
      if (found === undefined) return false;
      const after = editedTo(
        text,
        changed(value, found.path, (holder: JsonValue[], step: number) => holder.splice(step, 1)),
      );
      if (after === text) return false;
      const { gone, come } = difference(text, after);
      if (inBrackets(root, found.path.slice(0, -1))) expectFewLines(text, found.node, gone, come);
      else expect(come).toEqual([]);
      return true;
    });
    expect(count).toBeGreaterThan(runs * 0.1);
  });
});
