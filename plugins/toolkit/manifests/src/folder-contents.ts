import type { FolderFile, FolderView } from '@gitops-reverser/kernel-api';
import { issue, sortIssues, type Issue } from './acceptance.js';
import { ByteLru } from './byte-lru.js';
import { roleOf, type EntryRole } from './folder-roles.js';
import { describeDocument, documentKey, type DocumentIdentity } from './identity.js';
import { ignoreFileName, noIgnoreRules, parseIgnoreFile, type IgnoreRules } from './ignore-file.js';
import { bytesOf, readManifestFile, type FileDocument, type ManifestFile } from './manifest-file.js';
import { PathIndex } from './path-index.js';
import type { ExistingFile, PlacementSite } from './placement.js';

/** Chapter 20, 15. */
export const maxFiles = 50_000;

/** A document with a known or claimed identity, and where it is. */
export interface FolderDocument {
  readonly identity: DocumentIdentity;
  readonly path: string;
  readonly index: number;
  /** Of the file that holds it. */
  readonly oid: string;
  readonly nature: 'manifest' | 'non-editable' | 'encrypted';
  /** Of a non-editable document. */
  readonly construct?: string;
  /** Documents in its file. */
  readonly siblings: number;
}

/** One folder as manifests: what it holds, and why it may not be written. Never holds content. */
export interface FolderContents extends PlacementSite {
  /** Structure-only acceptance for plain manifests; empty means accepted. Sorted. */
  readonly issues: readonly Issue[];
  /** In (path, index) order; of duplicates only the first. */
  readonly documents: readonly FolderDocument[];
  /** Kustomization files that are not ignored. What they mean is a layout's to say. */
  readonly kustomizations: readonly string[];
  /** Every entry with its role, in path order. */
  readonly entries: readonly FolderEntry[];
  /** Versionless, by what the documents say of themselves. */
  find(identity: Pick<DocumentIdentity, 'group' | 'kind' | 'namespace' | 'name'>): FolderDocument | undefined;
}

export interface FolderEntry {
  readonly path: string;
  readonly oid: string;
  readonly role: EntryRole;
}

/** Remembers what blobs and whole folders hold, by their ids. One per process; safe to share between targets. */
export class FolderCache {
  private readonly files: ByteLru<ManifestFile>;
  private readonly folders: ByteLru<FolderContents>;

  /** @param maxBytes estimated memory, three quarters for blobs and one for whole folders */
  constructor(maxBytes = 64 * 1024 * 1024) {
    this.files = new ByteLru(Math.floor(maxBytes * 0.75));
    this.folders = new ByteLru(Math.floor(maxBytes * 0.25));
  }

  get bytes(): number {
    return this.files.bytes + this.folders.bytes;
  }

  folder(treeId: string, read: () => FolderContents): FolderContents {
    // An absent folder has no id; reading it costs nothing.
    if (treeId === '') return read();
    const known = this.folders.get(treeId);
    if (known !== undefined) return known;
    const contents = read();
    this.folders.set(treeId, contents, 1024 + contents.entries.length * 120 + contents.documents.length * 250);
    return contents;
  }

  file(file: FolderFile): ManifestFile {
    const known = this.files.get(file.oid);
    if (known !== undefined) return known;
    const read = readManifestFile(file.read());
    this.files.set(file.oid, read, bytesOf(read) + file.oid.length);
    return read;
  }
}

/**
 * Reads a folder: roles, acceptance and inventory in one pass.
 *
 * @throws whatever reading a blob throws: a partial view is never returned
 */
export function readFolder(folder: FolderView, cache: FolderCache): FolderContents {
  return cache.folder(folder.treeId, () => {
    const reader = new FolderReader(folder, cache);
    for (const file of folder.files()) reader.add(file);
    return reader.finish();
  });
}

class FolderReader {
  private readonly cache: FolderCache;
  private readonly rules: IgnoreRules;
  private readonly issues: Issue[] = [];
  private readonly entries: FolderEntry[] = [];
  private readonly kustomizations: string[] = [];
  private readonly fileByPath = new Map<string, ManifestFile>();
  private readonly documentByKey = new Map<string, FolderDocument>();

  constructor(folder: FolderView, cache: FolderCache) {
    this.cache = cache;
    this.rules = readIgnoreFile(folder);
    for (const { pattern, line } of this.rules.hideAll)
      this.issues.push(
        issue(
          'ignore-shadows-managed',
          ignoreFileName,
          `pattern "${pattern}" in line ${line} hides every manifest; name what is to be ignored`,
        ),
      );
  }

  add(file: FolderFile): void {
    const role = roleOf(file.path, file.mode, this.rules);
    if (role === 'skipped') return;
    this.entries.push({ path: file.path, oid: file.oid, role });
    if (this.entries.length > maxFiles) return;
    const foreign = describeForeign(file.path, role);
    if (foreign !== undefined) this.issues.push(foreign);
    else if (role === 'manifest') this.manifest(file);
    else if (role === 'kustomization' || role === 'sops-config') this.artifact(file, role);
  }

  private manifest(file: FolderFile): void {
    const read = this.cache.file(file);
    this.fileByPath.set(file.path, read);
    const problem = judgeManifest(file.path, read);
    if (problem !== undefined) this.issues.push(problem);
    for (const document of read.documents) this.document(file, document, read.documents.length);
  }

  private document(file: FolderFile, document: FileDocument, siblings: number): void {
    const { identity, index, nature, construct } = document;
    if (identity === undefined || nature === 'not-krm' || nature === 'empty' || nature === 'invalid') return;
    const known = this.documentByKey.get(documentKey(identity));
    const found = { identity, path: file.path, index, oid: file.oid, nature, siblings };
    if (known === undefined) {
      this.documentByKey.set(documentKey(identity), construct === undefined ? found : { ...found, construct });
      return;
    }
    // What a non-editable document says of itself is no proof.
    if (nature === 'non-editable' || known.nature === 'non-editable') return;
    const where = known.path === file.path ? `document ${known.index} of the same file` : known.path;
    this.issues.push(
      issue(
        'duplicate-identity',
        file.path,
        `${describeDocument(identity)} is also in ${where}; keep one of them`,
        index,
      ),
    );
  }

  private artifact(file: FolderFile, role: 'kustomization' | 'sops-config'): void {
    if (role === 'kustomization') this.kustomizations.push(file.path);
    const manifest = this.cache
      .file(file)
      .documents.find(({ identity }) => identity !== undefined && identity.group !== 'kustomize.config.k8s.io');
    if (manifest?.identity === undefined) return;
    const what = `${describeDocument(manifest.identity)} stands in a file that is no manifest; move it to a file of its own`;
    this.issues.push(issue('mixed-managed-allowlisted', file.path, what, manifest.index));
  }

  finish(): FolderContents {
    if (this.entries.length > maxFiles)
      this.issues.push(issue('too-many-files', '', `too many files: ${this.entries.length}, the limit is ${maxFiles}`));
    return new ReadContents(
      sortIssues(this.issues),
      this.entries,
      this.kustomizations,
      this.documentByKey,
      this.fileByPath,
      this.rules,
    );
  }
}

class ReadContents implements FolderContents {
  readonly issues: readonly Issue[];
  readonly entries: readonly FolderEntry[];
  readonly kustomizations: readonly string[];
  readonly documents: readonly FolderDocument[];
  private readonly documentByKey: ReadonlyMap<string, FolderDocument>;
  private readonly fileByPath: ReadonlyMap<string, ManifestFile>;
  private readonly rules: IgnoreRules;
  private index: PathIndex | undefined;

  constructor(
    issues: readonly Issue[],
    entries: readonly FolderEntry[],
    kustomizations: readonly string[],
    documentByKey: ReadonlyMap<string, FolderDocument>,
    fileByPath: ReadonlyMap<string, ManifestFile>,
    rules: IgnoreRules,
  ) {
    this.issues = issues;
    this.entries = entries;
    this.kustomizations = kustomizations;
    this.documentByKey = documentByKey;
    this.documents = [...documentByKey.values()];
    this.fileByPath = fileByPath;
    this.rules = rules;
  }

  /** Built when the first document is placed: most plans only edit. */
  get paths(): PathIndex {
    return (this.index ??= new PathIndex(this.entries.map((entry) => entry.path)));
  }

  find(identity: Pick<DocumentIdentity, 'group' | 'kind' | 'namespace' | 'name'>): FolderDocument | undefined {
    return this.documentByKey.get(documentKey(identity));
  }

  existing(path: string): ExistingFile | undefined {
    const file = this.fileByPath.get(path);
    if (file !== undefined) return toExisting(path, file);
    return this.paths.has(path) ? { isAppendable: false, isEncrypted: false, documentCount: 0 } : undefined;
  }

  ignores(path: string): boolean {
    return this.rules.ignores(path);
  }
}

/** A file that is named as encrypted takes no plain text, whatever it holds. */
const sopsName = /\.sops\.ya?ml$/;

function toExisting(path: string, file: ManifestFile): ExistingFile {
  const isEncrypted = file.isEncrypted || sopsName.test(path);
  const isPlain = file.documents.every((document) => document.nature === 'manifest');
  return {
    isAppendable: file.problem === undefined && !isEncrypted && isPlain,
    isEncrypted,
    documentCount: file.documents.length,
  };
}

function readIgnoreFile(folder: FolderView): IgnoreRules {
  const file = folder.file(ignoreFileName);
  if (file === undefined || (file.mode !== 'file' && file.mode !== 'executable')) return noIgnoreRules;
  return parseIgnoreFile(Buffer.from(file.read()).toString('utf8'));
}

function describeForeign(path: string, role: EntryRole): Issue | undefined {
  switch (role) {
    case 'foreign-file':
      return issue(
        'foreign-file',
        path,
        `foreign file is not a managed manifest; remove it or name it in ${ignoreFileName}`,
      );
    case 'unsafe-path':
      return issue('foreign-file', path, 'this path cannot be checked out safely; remove it');
    case 'foreign-symlink':
      return issue(
        'foreign-symlink',
        path,
        `symbolic links are not followed; remove it or name it in ${ignoreFileName}`,
      );
    case 'foreign-submodule':
      return issue('foreign-submodule', path, 'submodules are not read; remove it');
    default:
      return undefined;
  }
}

const isManifest = ({ nature }: FileDocument): boolean =>
  nature === 'manifest' || nature === 'non-editable' || nature === 'encrypted';

/** A file of manifests alone, or one without any document, passes. */
function judgeManifest(path: string, file: ManifestFile): Issue | undefined {
  if (file.problem !== undefined) return issue('invalid-yaml', path, file.problem);
  const intruder = file.documents.find((document) => !isManifest(document));
  if (intruder === undefined) return undefined;
  if (file.documents.some(isManifest))
    return issue(
      'impure-managed-file',
      path,
      `${describeIntruder(intruder)}; a file of manifests holds nothing else`,
      intruder.index,
    );
  const invalid = file.documents.find(({ nature }) => nature === 'invalid');
  if (invalid !== undefined) return issue('invalid-yaml', path, invalid.problem ?? 'does not parse', invalid.index);
  const notKrm = file.documents.find(({ nature }) => nature === 'not-krm');
  if (notKrm === undefined) return undefined;
  const what = `YAML is not a Kubernetes manifest (apiVersion, kind and metadata.name are needed; a List must be split into documents); remove it or name it in ${ignoreFileName}`;
  return issue('non-krm-yaml', path, what, notKrm.index);
}

function describeIntruder({ index, line, nature, problem }: FileDocument): string {
  const where = `document ${index} (line ${line})`;
  if (nature === 'invalid') return `${where} does not parse: ${problem ?? ''}`;
  return nature === 'empty' ? `${where} is empty` : `${where} is not a Kubernetes manifest`;
}
