import type { FolderView, JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import type { FolderContents } from './folder-contents.js';
import type { RetainedFile } from './folder-verdict.js';
import type { DocumentIdentity } from './identity.js';
import { directoryOf, join, resolveEntry } from './kustomize/tree.js';

/**
 * Files that are no manifests but Helm values a manifest of the folder names (chapter 20, 10.3): read-only context. Reads nothing
 * while every file is a manifest.
 */
export function namedValuesFiles(folder: FolderView, contents: FolderContents): readonly RetainedFile[] {
  const suspects = new Set(contents.issues.flatMap(({ code, path }) => (code === 'non-krm-yaml' ? [path] : [])));
  if (suspects.size === 0) return [];
  const named = new Set<string>();
  for (const { path, documents } of contents.entries) {
    const indexes = documents.flatMap(({ identity, index, nature }) =>
      nature === 'manifest' && namesValues(identity) ? [index] : [],
    );
    if (indexes.length === 0) continue;
    const file = folder.file(path);
    const parsed = file === undefined ? undefined : parseDocuments(file.read());
    if (parsed?.ok !== true) continue;
    for (const index of indexes) {
      const document = parsed.value[index];
      if (document?.state !== 'read') continue;
      for (const entry of valuesFilesOf(document.value))
        for (const candidate of candidatesFor(entry, path, folder.path))
          if (suspects.has(candidate)) named.add(candidate);
    }
  }
  return [...named].sort().map((path) => ({ path }));
}

function namesValues({ group, kind }: DocumentIdentity): boolean {
  return (
    (group === 'argoproj.io' && kind === 'Application') ||
    (group === 'helm.toolkit.fluxcd.io' && kind === 'HelmRelease')
  );
}

function valuesFilesOf(manifest: JsonValue): readonly string[] {
  const spec = at(manifest, 'spec');
  const sources = at(spec, 'sources');
  const lists = [
    at(spec, 'source', 'helm', 'valueFiles'),
    ...(Array.isArray(sources) ? sources.map((source: JsonValue) => at(source, 'helm', 'valueFiles')) : []),
    at(spec, 'chart', 'spec', 'valuesFiles'),
  ];
  return lists.flatMap((list) =>
    Array.isArray(list) ? list.filter((entry): entry is string => typeof entry === 'string') : [],
  );
}

function at(value: JsonValue | undefined, ...keys: readonly string[]): JsonValue | undefined {
  let current = value;
  for (const key of keys) {
    if (typeof current !== 'object' || current === null || Array.isArray(current)) return undefined;
    const fields = current as JsonObject;
    if (!Object.hasOwn(fields, key)) return undefined;
    current = fields[key];
  }
  return current;
}

/** Paths within the folder: from the document, from the folder, from the top of the repository, and beside the document. */
function candidatesFor(entry: string, documentPath: string, folderPath: string): readonly string[] {
  const text = entry.startsWith('$') && entry.includes('/') ? entry.slice(entry.indexOf('/') + 1) : entry;
  const directory = directoryOf(documentPath);
  const baseName = text.slice(text.lastIndexOf('/') + 1);
  const fromTop = resolveEntry('.', text);
  const below = `${folderPath}/`;
  return [
    resolveEntry(directory, text),
    fromTop,
    fromTop?.startsWith(below) === true ? fromTop.slice(below.length) : undefined,
    baseName === '' ? undefined : join(directory, baseName),
  ].filter((path) => path !== undefined);
}
