import type { FolderView } from '@gitops-reverser/kernel-api';
import { compareCodePoints } from '@gitops-reverser/toolkit-yaml';
import type { FolderContents } from './folder-contents.js';
import type { FolderCache } from './folder-reader.js';
import { directoryOf, join, resolveEntry } from './kustomize/tree.js';
import { namesValues, readValuesFiles } from './values-files.js';

/** A file that is understood and never written. */
export interface RetainedFile {
  readonly path: string;
  /** A kustomization the folder is refused for. */
  readonly unsupported?: true;
}

/**
 * Files that are no manifests but Helm values a manifest of the folder names (chapter 20, 10.3): read-only context. Reads nothing
 * while every file is a manifest.
 */
export function namedValuesFiles(
  folder: FolderView,
  contents: FolderContents,
  cache?: FolderCache,
): readonly RetainedFile[] {
  const suspects = new Set(contents.issues.flatMap(({ code, path }) => (code === 'non-krm-yaml' ? [path] : [])));
  if (suspects.size === 0) return [];
  const retained = new Set<string>();
  for (const { path, documents } of contents.entries) {
    const naming = documents.filter(
      ({ nature, identity }) => nature === 'manifest' && namesValues(identity.group, identity.kind),
    );
    const file = naming.length === 0 ? undefined : folder.file(path);
    if (file === undefined) continue;
    const named = cache === undefined ? readValuesFiles(file.read()) : cache.valuesFiles(file);
    for (const { index } of naming)
      for (const entry of named.get(index) ?? [])
        for (const candidate of candidatesFor(entry, path, folder.path))
          if (suspects.has(candidate)) retained.add(candidate);
  }
  return [...retained].sort(compareCodePoints).map((path) => ({ path }));
}

/** Paths within the folder: from the document, from the folder, from the top of the repository, and beside the document. */
function candidatesFor(entry: string, documentPath: string, folderPath: string): readonly string[] {
  const text = entry.startsWith('$') && entry.includes('/') ? entry.slice(entry.indexOf('/') + 1) : entry;
  // A leading slash means the top of the repository as well.
  const directory = directoryOf(documentPath);
  const baseName = text.slice(text.lastIndexOf('/') + 1);
  const fromTop = resolveEntry('.', text.replace(/^\/+/, ''));
  const below = `${folderPath}/`;
  return [
    resolveEntry(directory, text),
    fromTop,
    fromTop?.startsWith(below) === true ? fromTop.slice(below.length) : undefined,
    baseName === '' ? undefined : join(directory, baseName),
  ].filter((path) => path !== undefined);
}
