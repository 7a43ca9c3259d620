import type { FileMode, FolderFile, FolderView } from '@gitops-reverser/kernel-api';
import { compareCodePoints } from '@gitops-reverser/toolkit-yaml';

/** An entry and how to read it. */
export interface RepositoryEntry {
  readonly path: string;
  readonly mode: FileMode;
  readonly read: () => Uint8Array;
}

let scans = 0;

/** Everything a scan may look at, by path. Knows names; contents are read when they are asked for. */
export class Repository {
  /** In the order of Git and of reports. */
  readonly entries: readonly RepositoryEntry[];
  private readonly entryByPath = new Map<string, RepositoryEntry>();
  private readonly outside: (path: string) => RepositoryEntry | undefined;
  /** No two scans share ids: files on disk change in between. */
  private readonly id = `scan-${(scans += 1)}`;

  /** @param outside looks up what was not listed: files above the folder that is scanned */
  constructor(
    entries: readonly RepositoryEntry[],
    outside: (path: string) => RepositoryEntry | undefined = () => undefined,
  ) {
    this.outside = outside;
    this.entries = [...entries].sort((a, b) => compareCodePoints(a.path, b.path));
    for (const entry of this.entries) this.entryByPath.set(entry.path, entry);
  }

  /** One folder as a layout sees it; `.` is the top. */
  folder(path: string): FolderView {
    const prefix = path === '.' ? '' : `${path}/`;
    const toFile = ({ path: full, mode, read }: RepositoryEntry): FolderFile => ({
      path: full.slice(prefix.length),
      oid: `${this.id}:${full}`,
      mode,
      read,
    });
    const fileAt = (name: string): FolderFile | undefined => {
      const entry = this.entryByPath.get(prefix + name) ?? this.outside(prefix + name);
      return entry === undefined ? undefined : toFile(entry);
    };
    const { entries } = this;
    const start = prefix === '' ? 0 : this.firstFrom(prefix);
    return {
      path,
      treeId: `${this.id}:${path}`,
      *files() {
        for (let at = start; at < entries.length; at += 1) {
          const entry = entries[at];
          if (entry?.path.startsWith(prefix) !== true) return;
          yield toFile(entry);
        }
      },
      file: fileAt,
    };
  }

  private firstFrom(path: string): number {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareCodePoints(this.entries[middle]?.path ?? '', path) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
