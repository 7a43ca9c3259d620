import { directoryOf, resolveEntry, type KustomizeTree } from './tree.js';

export interface RenderRoots {
  /** Directories no other kustomization reaches, sorted; of a circle its first. */
  readonly roots: readonly string[];
  /** Directories of kustomizations that another one names. */
  readonly referenced: ReadonlySet<string>;
}

/** Which of these directories, each with a kustomization, are render roots (chapter 20, 8.1). */
export function findRenderRoots(tree: KustomizeTree, directories: readonly string[]): RenderRoots {
  const targetsByDirectory = new Map<string, readonly string[]>();
  const pending = [...directories];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (targetsByDirectory.has(directory)) continue;
    const targets = referencesOf(tree, directory);
    targetsByDirectory.set(directory, targets);
    pending.push(...targets);
  }
  const referenced = new Set<string>();
  for (const [directory, targets] of targetsByDirectory)
    for (const target of targets) if (target !== directory) referenced.add(target);
  const reached = new Set<string>();
  const roots: string[] = [];
  const sorted = [...new Set(directories)].sort();
  for (const directory of sorted) if (!referenced.has(directory)) roots.push(directory);
  for (const directory of targetsByDirectory.keys())
    if (!referenced.has(directory)) reach(directory, targetsByDirectory, reached);
  // What is left goes round in circles.
  for (const directory of sorted) {
    if (reached.has(directory)) continue;
    roots.push(directory);
    reach(directory, targetsByDirectory, reached);
  }
  return { roots: roots.sort(), referenced };
}

function referencesOf(tree: KustomizeTree, directory: string): readonly string[] {
  const located = tree.kustomizationAt(directory);
  if (located === undefined) return [];
  return located.resources.flatMap((entry) => {
    const target = resolveEntry(directory, entry);
    return target !== undefined && tree.kustomizationAt(target) !== undefined ? [target] : [];
  });
}

function reach(from: string, targets: ReadonlyMap<string, readonly string[]>, reached: Set<string>): void {
  const pending = [from];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (reached.has(directory)) continue;
    reached.add(directory);
    pending.push(...(targets.get(directory) ?? []));
  }
}

/** Directories of kustomization files. */
export function kustomizationDirectories(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map(directoryOf))];
}
