import type { FolderFile, FolderView } from '@gitops-reverser/kernel-api';
import type { ManifestFile } from '../manifest-file.js';
import { fault } from './features.js';
import { parseKustomization, type Kustomization } from './kustomization.js';

/** A kustomization and where it is; paths are relative to the tree. */
export interface LocatedKustomization extends Kustomization {
  readonly directory: string;
  readonly path: string;
}

const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/** What a build may read, from the top of the repository down. Nothing is followed out of it, nothing through a link. */
export class KustomizeTree {
  private readonly view: Pick<FolderView, 'file'>;
  private readonly readManifests: (file: FolderFile) => ManifestFile;
  private readonly known = new Map<string, LocatedKustomization | undefined>();

  /** @param readManifests what a file holds, normally `FolderCache.file` */
  constructor(view: Pick<FolderView, 'file'>, readManifests: (file: FolderFile) => ManifestFile) {
    this.view = view;
    this.readManifests = readManifests;
  }

  kustomizationAt(directory: string): LocatedKustomization | undefined {
    if (this.known.has(directory)) return this.known.get(directory);
    const found = this.load(directory);
    this.known.set(directory, found);
    return found;
  }

  private load(directory: string): LocatedKustomization | undefined {
    const paths = fileNames.map((name) => join(directory, name));
    const files = paths.flatMap((path) => this.file(path) ?? []);
    const [first] = files;
    if (first === undefined) return undefined;
    const parsed = parseKustomization(first.read());
    const extra = files.length === 1 ? [] : [fault('render-failed', 'two kustomization files in one directory')];
    return { ...parsed, features: [...parsed.features, ...extra], directory, path: first.path };
  }

  /** A regular file; what is a link or a submodule is not there. */
  file(path: string): FolderFile | undefined {
    const file = this.view.file(path);
    return file?.mode === 'file' || file?.mode === 'executable' ? file : undefined;
  }

  manifests(file: FolderFile): ManifestFile {
    return this.readManifests(file);
  }
}

export const join = (directory: string, name: string): string => (directory === '.' ? name : `${directory}/${name}`);

export function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '.' : path.slice(0, slash);
}

/** Where an entry of a kustomization in `directory` points; undefined when that is outside the tree. `.` is its top. */
export function resolveEntry(directory: string, entry: string): string | undefined {
  if (entry.startsWith('/') || entry.includes('\\') || entry.includes('\0')) return undefined;
  const parts = directory === '.' ? [] : directory.split('/');
  for (const part of entry.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.length === 0 ? '.' : parts.join('/');
}

export function isWithin(path: string, directory: string): boolean {
  return directory === '.' || path === directory || path.startsWith(`${directory}/`);
}
