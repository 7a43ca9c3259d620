import { foldPath } from './path-safety.js';

/** Paths as a file system without case or composition sees them; may stand on those of a folder that it leaves alone. */
export class PathIndex {
  /** How many indexes this one stands on. */
  readonly depth: number;
  private readonly base: PathIndex | undefined;
  private readonly fileByFold = new Map<string, string>();
  private readonly directories = new Set<string>();

  constructor(paths: Iterable<string>, base?: PathIndex) {
    this.base = base;
    this.depth = base === undefined ? 0 : base.depth + 1;
    for (const path of paths) this.add(path);
  }

  add(path: string): void {
    const fold = foldPath(path);
    if (!this.fileByFold.has(fold)) this.fileByFold.set(fold, path);
    for (const directory of directoriesAbove(fold)) {
      if (this.directories.has(directory)) break;
      this.directories.add(directory);
    }
  }

  has(path: string): boolean {
    return this.fileFor(foldPath(path)) === path;
  }

  /** Some system would take the path for another one's file or directory. */
  clashes(path: string): boolean {
    const fold = foldPath(path);
    const file = this.fileFor(fold);
    return (file !== undefined && file !== path) || this.hasDirectory(fold);
  }

  /** A file where the path needs a directory. */
  fileAbove(path: string): string | undefined {
    for (const directory of directoriesAbove(foldPath(path))) {
      const file = this.fileFor(directory);
      if (file !== undefined) return file;
    }
    return undefined;
  }

  private fileFor(fold: string): string | undefined {
    return this.fileByFold.get(fold) ?? this.base?.fileFor(fold);
  }

  private hasDirectory(fold: string): boolean {
    return this.directories.has(fold) || this.base?.hasDirectory(fold) === true;
  }
}

function* directoriesAbove(path: string): Generator<string> {
  for (let slash = path.lastIndexOf('/'); slash !== -1; slash = path.lastIndexOf('/', slash - 1)) {
    yield path.slice(0, slash);
    if (slash === 0) return;
  }
}
