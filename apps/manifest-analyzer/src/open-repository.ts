import { setImmediate as breathe } from 'node:timers/promises';
import {
  directoryOf,
  ignoreFileName,
  isKustomizationPath,
  parseKustomization,
  resolveEntry,
} from '@gitops-reverser/toolkit-manifests';
import { limits } from '@gitops-reverser/toolkit-yaml';
import { checkRoot, enclosingRepository, fileLookup, listDirectory, submodulesOf } from './directory.js';
import { Repository, type RepositoryEntry } from './repository.js';
import { ScanFailed, type Entry, type Source } from './source.js';

export interface ScanProgress {
  readonly stage: 'listed' | 'read' | 'judged';
  readonly done: number;
  /** Known once everything is listed. */
  readonly total?: number;
}

export interface ScanOptions {
  /** Ends the scan with its reason. */
  readonly signal?: AbortSignal;
  /** Told now and then. */
  readonly onProgress?: (progress: ScanProgress) => void;
}

/** How often others are let in. */
const stride = 500;

/** Names everything on disk; reads nothing so far. */
export async function openDirectory(root: string, options: ScanOptions): Promise<Repository> {
  return new Repository(await gather(listDirectory(root), options));
}

/** One folder, where it lies in its working copy: a Kustomize graph may read files above it. */
export async function openFolder(
  folder: string,
  options: ScanOptions,
): Promise<{ readonly repository: Repository; readonly path: string }> {
  checkRoot(folder);
  const { root, path } = enclosingRepository(folder);
  if (path === '.') return { repository: await openDirectory(folder, options), path };
  const prefix = `${path}/`;
  const submodules = [...submodulesOf(root)].flatMap((each) =>
    each.startsWith(prefix) ? [each.slice(prefix.length)] : [],
  );
  const entries = await gather(listDirectory(folder, new Set(submodules)), options);
  const located = entries.map((entry) => ({ ...entry, path: prefix + entry.path }));
  const lookUp = fileLookup(root);
  const outside = (name: string) => (name.startsWith(prefix) ? undefined : lookUp(name));
  return { repository: new Repository(located, outside), path };
}

async function gather(listing: Iterable<RepositoryEntry>, options: ScanOptions): Promise<readonly RepositoryEntry[]> {
  const entries: RepositoryEntry[] = [];
  for (const entry of listing) {
    entries.push(entry);
    if (entries.length % stride === 0) await pause({ stage: 'listed', done: entries.length }, options);
  }
  return entries;
}

/** Of a source that is no directory, whatever may be judged is held in memory; beyond this the scan gives up. */
const mostHeldBytes = 1024 * 1024 * 1024;

/** Reads whatever may be a manifest or is named by a kustomization, so that judging need not wait for anything. */
export async function openSource(source: Source, options: ScanOptions): Promise<Repository> {
  const entries: Entry[] = [];
  for await (const entry of source.list()) entries.push(entry);
  const isFile = new Set(entries.flatMap(({ path, mode }) => (mode === 'file' || mode === 'executable' ? [path] : [])));
  const bytesByPath = new Map<string, Uint8Array>();
  let held = 0;
  const hold = async (path: string): Promise<void> => {
    if (bytesByPath.has(path) || !isFile.has(path)) return;
    const bytes = await source.read(path);
    const isTooLarge = bytes.byteLength > limits.maxFileBytes;
    // Whoever judges it looks at the size first; zeros that nobody touches cost no memory.
    bytesByPath.set(path, isTooLarge ? new Uint8Array(bytes.byteLength) : bytes);
    if (!isTooLarge) held += bytes.byteLength;
    if (held > mostHeldBytes) {
      const what = `more than ${mostHeldBytes} bytes would be held in memory`;
      throw new ScanFailed(`${what}; check the commit out and scan the directory`);
    }
    if (bytesByPath.size % stride === 0) await pause({ stage: 'listed', done: bytesByPath.size }, options);
  };
  for (const { path } of entries) if (mayBeRead(path)) await hold(path);
  for (const path of [...bytesByPath.keys()].filter(isKustomizationPath))
    for (const input of inputsOf(path, bytesByPath.get(path) ?? new Uint8Array())) await hold(input);
  return new Repository(
    entries.map(({ path, mode }) => ({ path, mode, read: () => bytesByPath.get(path) ?? new Uint8Array() })),
  );
}

function mayBeRead(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return /\.ya?ml$/.test(name) || isKustomizationPath(path) || name === ignoreFileName || name === 'README.md';
}

function inputsOf(path: string, bytes: Uint8Array): readonly string[] {
  const { resources, patches, generators } = parseKustomization(bytes);
  const named = [
    ...resources,
    ...patches.flatMap((patch) => ('path' in patch ? [patch.path] : [])),
    ...generators.flatMap(({ files, envs }) => [...files.map((file) => file.path), ...envs]),
  ];
  return named.flatMap((entry) => resolveEntry(directoryOf(path), entry) ?? []);
}

/** Lets others have the thread, and ends the scan when it is asked to. */
export async function pause(progress: ScanProgress, { signal, onProgress }: ScanOptions): Promise<void> {
  onProgress?.(progress);
  await breathe();
  signal?.throwIfAborted();
}
