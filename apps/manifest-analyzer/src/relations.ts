import { directoryOf, isWithin } from '@gitops-reverser/toolkit-manifests';
import { compareCodePoints } from '@gitops-reverser/toolkit-yaml';

export interface Overlaps {
  readonly pairs: readonly { readonly ancestor: string; readonly descendant: string }[];
  readonly byPath: ReadonlyMap<string, readonly string[]>;
}

/** Candidates inside others: two targets on such a pair would both own the inner one. */
export function findOverlaps(paths: readonly string[]): Overlaps {
  const known = new Set(paths);
  const pairs: { ancestor: string; descendant: string }[] = [];
  const byPath = new Map<string, string[]>();
  for (const descendant of paths)
    for (const ancestor of ancestorsOf(descendant)) {
      if (!known.has(ancestor)) continue;
      pairs.push({ ancestor, descendant });
      add(byPath, ancestor, descendant);
      add(byPath, descendant, ancestor);
    }
  for (const others of byPath.values()) others.sort(compareCodePoints);
  pairs.sort((a, b) => compareCodePoints(a.ancestor, b.ancestor) || compareCodePoints(a.descendant, b.descendant));
  return { pairs, byPath };
}

/** Who reads files of a candidate from outside it. */
export function findReaders(
  candidates: readonly { readonly path: string; readonly outsideDirectories: readonly string[] }[],
): ReadonlyMap<string, readonly string[]> {
  const known = new Set(candidates.map(({ path }) => path));
  const readers = new Map<string, string[]>();
  for (const { path: reader, outsideDirectories } of candidates)
    for (const directory of outsideDirectories)
      for (const read of [directory, ...ancestorsOf(directory)]) {
        if (!known.has(read) || isWithin(reader, read)) continue;
        if (readers.get(read)?.includes(reader) !== true) add(readers, read, reader);
      }
  return readers;
}

function ancestorsOf(path: string): readonly string[] {
  const ancestors: string[] = [];
  for (let at = path; at !== '.';) {
    at = directoryOf(at);
    ancestors.push(at);
  }
  return ancestors;
}

function add(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
