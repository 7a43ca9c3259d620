import { createHash } from 'node:crypto';
import type { FolderFile, FolderView, KubeObject } from '@gitops-reverser/kernel-api';
import { issue, sortIssues, type Issue } from './acceptance.js';
import { ByteLru } from './byte-lru.js';
import {
  lookUp,
  ReadContents,
  type ContentsParts,
  type DocumentTable,
  type FolderContents,
} from './folder-contents.js';
import { inspectEntry, type FolderDocument, type FolderEntry } from './folder-entry.js';
import { describeDocument, documentKey } from './identity.js';
import { ignoreFileName, noIgnoreRules, parseIgnoreFile, type IgnoreRules } from './ignore-file.js';
import { bytesOf, manifestFileOf, readManifestFile, type ManifestFile } from './manifest-file.js';
import { readValuesFiles, type NamedValuesFiles } from './values-files.js';

/** Chapter 20, 15. */
export const maxFiles = 50_000;

/** Remembers what blobs and whole folders hold, by their ids. One per process; safe to share between targets. */
export class FolderCache {
  private readonly files: ByteLru<ManifestFile>;
  private readonly folders: ByteLru<ReadContents>;
  /** Few folders have a use for it. */
  private readonly valuesFilesByOid: ByteLru<NamedValuesFiles>;
  /** The tree last read at a folder path: the next one there will differ little from it. */
  private readonly lastTreeByPath = new Map<string, string>();

  /** @param maxBytes estimated memory, one half for blobs and nearly all of the other for whole folders */
  constructor(maxBytes = 128 * 1024 * 1024) {
    this.files = new ByteLru(Math.floor(maxBytes / 2));
    this.folders = new ByteLru(Math.floor((maxBytes / 16) * 7));
    this.valuesFilesByOid = new ByteLru(Math.floor(maxBytes / 16));
  }

  get bytes(): number {
    return this.files.bytes + this.folders.bytes + this.valuesFilesByOid.bytes;
  }

  readonly file = (file: FolderFile): ManifestFile => {
    const known = this.files.get(file.oid);
    if (known !== undefined) return known;
    const read = readManifestFile(file.read());
    this.files.set(file.oid, read, bytesOf(read) + file.oid.length);
    return read;
  };

  /** Helm values its documents name, by their index; only asked of a folder that holds something beside manifests. */
  valuesFiles(file: FolderFile): NamedValuesFiles {
    const known = this.valuesFilesByOid.get(file.oid);
    if (known !== undefined) return known;
    const named = readValuesFiles(file.read());
    let bytes = 200 + file.oid.length;
    for (const entries of named.values()) for (const entry of entries) bytes += 2 * entry.length + 40;
    this.valuesFilesByOid.set(file.oid, named, bytes);
    return named;
  }

  /**
   * A file that holds this one plain document and was just written, so that it need not be read back. Stores name blobs as Git
   * does; where one names them otherwise, this is never asked for.
   */
  learn(bytes: Uint8Array, object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): void {
    const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    const file = manifestFileOf(object);
    if (file !== undefined) this.files.set(oid, file, bytesOf(file) + oid.length);
  }

  known(treeId: string): ReadContents | undefined {
    return this.folders.get(treeId);
  }

  lastAt(path: string): ReadContents | undefined {
    const treeId = this.lastTreeByPath.get(path);
    return treeId === undefined ? undefined : this.folders.get(treeId);
  }

  remember({ path, treeId }: FolderView, contents: ReadContents): void {
    if (this.lastTreeByPath.size >= 10_000) this.lastTreeByPath.clear();
    this.lastTreeByPath.set(path, treeId);
    const { base, changes } = contents.table;
    const own = changes.size === 0 ? base.size * 250 + contents.entries.length * 120 : changes.size * 500;
    this.folders.set(treeId, contents, 1024 + own + contents.entries.length * 8);
  }
}

/**
 * Reads a folder: roles, acceptance and inventory. What is known of the same tree, of the tree before it at this path and of
 * every blob is used again.
 *
 * @throws whatever reading a blob throws: a partial view is never returned
 */
export function readFolder(folder: FolderView, cache: FolderCache): FolderContents {
  // An absent folder has no id, and reading it costs nothing.
  if (folder.treeId === '') return readWhole(folder, cache);
  const known = cache.known(folder.treeId);
  if (known !== undefined) return known;
  const last = cache.lastAt(folder.path);
  const contents = (last === undefined ? undefined : readChanges(last, folder, cache)) ?? readWhole(folder, cache);
  cache.remember(folder, contents);
  return contents;
}

function readWhole(folder: FolderView, cache: FolderCache): ReadContents {
  const rules = readIgnoreFile(folder);
  const issues: Issue[] = rules.hideAll.map(({ pattern, line }) => {
    const what = `pattern "${pattern}" in line ${line} hides every manifest; name what is to be ignored`;
    return issue('ignore-shadows-managed', ignoreFileName, what);
  });
  const entries: FolderEntry[] = [];
  const base = new Map<string, FolderDocument>();
  const kustomizations: string[] = [];
  let counted = 0;
  let documentCount = 0;
  for (const file of folder.files()) {
    counted += 1;
    if (counted > maxFiles) continue;
    const entry = inspectEntry(file, rules, cache.file);
    entries.push(entry);
    if (entry.issue !== undefined) issues.push(entry.issue);
    if (entry.role === 'kustomization') kustomizations.push(entry.path);
    documentCount += entry.documents.length;
    for (const document of entry.documents) {
      const key = documentKey(document.identity);
      const first = base.get(key);
      if (first === undefined) base.set(key, document);
      else if (isDuplicate(first, document)) issues.push(describeDuplicate(first, document));
    }
  }
  if (counted > maxFiles)
    issues.push(issue('too-many-files', '', `too many files: ${counted}, the limit is ${maxFiles}`));
  if (rules.problem !== undefined) issues.push(issue('ignore-shadows-managed', ignoreFileName, rules.problem));
  const table = { base, changes: new Map<string, never>() };
  return new ReadContents({ issues: sortIssues(issues), entries, table, documentCount, kustomizations, rules });
}

/** What a non-editable document says of itself is no proof. */
function isDuplicate(first: FolderDocument, second: FolderDocument): boolean {
  return first.nature !== 'non-editable' && second.nature !== 'non-editable';
}

function describeDuplicate(first: FolderDocument, second: FolderDocument): Issue {
  const where = first.path === second.path ? `document ${first.index} of the same file` : first.path;
  const what = `${describeDocument(second.identity)} is also in ${where}; keep one of them`;
  return issue('duplicate-identity', second.path, what, second.index);
}

function readIgnoreFile(folder: FolderView): IgnoreRules {
  const file = folder.file(ignoreFileName);
  if (file === undefined || (file.mode !== 'file' && file.mode !== 'executable')) return noIgnoreRules;
  return parseIgnoreFile(file.read());
}

const mostChanges = 256;

/** What concerns more than one entry. */
const sharedIssues = new Set<string>(['duplicate-identity', 'too-many-files']);

/**
 * The folder by its difference from an earlier one, in time that hardly grows with its size. Gives up, so that the whole is read,
 * when there are many changes or anything that one entry alone cannot settle: duplicates, another ignore file.
 */
function readChanges(last: ReadContents, folder: FolderView, cache: FolderCache): ReadContents | undefined {
  // When one of two rivals goes, the other may have to take its place.
  if (last.issues.some(({ code }) => sharedIssues.has(code)) || last.hasRivals) return undefined;
  const difference = compareEntries(last.entries, folder.files());
  if (difference === undefined) return undefined;
  const changes = new Map(last.table.changes);
  const table: DocumentTable = { base: last.table.base, changes };
  let { documentCount } = last;
  for (const { documents } of difference.removed) {
    documentCount -= documents.length;
    for (const document of documents) {
      const key = documentKey(document.identity);
      if (lookUp(table, key) !== document) return undefined;
      changes.set(key, undefined);
    }
  }
  const { entries } = difference;
  const newIssues: Issue[] = [];
  for (const { file, at } of difference.added) {
    if (file.path === ignoreFileName) return undefined;
    const entry = inspectEntry(file, last.rules, cache.file);
    if (entry.issue !== undefined) newIssues.push(entry.issue);
    entries[at] = entry;
    documentCount += entry.documents.length;
    for (const document of entry.documents) {
      const key = documentKey(document.identity);
      if (lookUp(table, key) !== undefined) return undefined;
      changes.set(key, document);
    }
  }
  if (changes.size > mostChanges * 4 || entries.length > maxFiles) return undefined;
  // One of the new paths may have been too much for the patterns.
  if (last.rules.problem !== undefined) return undefined;
  const issues = carryIssues(last.issues, difference.removed, newIssues);
  const parts: ContentsParts = {
    issues,
    entries: entries as readonly FolderEntry[],
    table,
    documentCount,
    kustomizations: carryKustomizations(last.kustomizations, difference),
    rules: last.rules,
  };
  const index = last.builtPaths;
  const addedPaths = new Set(difference.added.map(({ file }) => file.path));
  const isOnlyMore = difference.removed.every(({ path }) => addedPaths.has(path));
  if (index === undefined || !isOnlyMore || index.depth > 8) return new ReadContents(parts);
  return new ReadContents({ ...parts, knownPaths: { index, added: [...addedPaths] } });
}

function carryKustomizations(before: readonly string[], { removed, added, entries }: Difference): readonly string[] {
  const isOne = (entry: FolderEntry | undefined): boolean => entry?.role === 'kustomization';
  if (!removed.some(isOne) && !added.some(({ at }) => isOne(entries[at]))) return before;
  return entries.flatMap((entry) => (entry?.role === 'kustomization' ? [entry.path] : []));
}

/** Of the entries that stay, and of those that came. */
function carryIssues(
  before: readonly Issue[],
  removed: readonly FolderEntry[],
  added: readonly Issue[],
): readonly Issue[] {
  if (before.length === 0) return added.length < 2 ? added : sortIssues(added);
  const gone = new Set(removed.map(({ path }) => path));
  return sortIssues([...before.filter(({ path }) => !gone.has(path)), ...added]);
}

interface Difference {
  /** With holes where `added` says. */
  readonly entries: (FolderEntry | undefined)[];
  readonly added: readonly { readonly file: FolderFile; readonly at: number }[];
  readonly removed: readonly FolderEntry[];
}

/** Walks both in step; a file it takes for added although it moved shows up as removed as well, which is as good. */
function compareEntries(before: readonly FolderEntry[], files: Iterable<FolderFile>): Difference | undefined {
  const entries: (FolderEntry | undefined)[] = [];
  const added: { file: FolderFile; at: number }[] = [];
  const removed: FolderEntry[] = [];
  let at = 0;
  for (const file of files) {
    let entry = before[at];
    if (entry !== undefined && entry.path !== file.path) {
      const gone = countUntil(before, at, file.path);
      for (let skip = 0; skip < gone; skip += 1, at += 1) removed.push(before[at] as FolderEntry);
      entry = before[at];
    }
    if (entry?.path === file.path) {
      at += 1;
      if (entry.oid === file.oid && entry.mode === file.mode) {
        entries.push(entry);
        continue;
      }
      removed.push(entry);
    }
    added.push({ file, at: entries.length });
    entries.push(undefined);
    if (added.length + removed.length > mostChanges) return undefined;
  }
  removed.push(...before.slice(at));
  if (added.length + removed.length > mostChanges) return undefined;
  return removed.some(({ path }) => path === ignoreFileName) ? undefined : { entries, added, removed };
}

/** How many entries lie before `path`, if it follows soon. */
function countUntil(entries: readonly FolderEntry[], from: number, path: string): number {
  for (let ahead = 1; ahead <= 64; ahead += 1) if (entries[from + ahead]?.path === path) return ahead;
  return 0;
}
