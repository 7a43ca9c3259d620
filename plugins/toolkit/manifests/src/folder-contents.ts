import type { Issue } from './acceptance.js';
import type { FolderDocument, FolderEntry } from './folder-entry.js';
import { documentKey, type DocumentIdentity } from './identity.js';
import type { IgnoreRules } from './ignore-file.js';
import type { ManifestFile } from './manifest-file.js';
import { PathIndex } from './path-index.js';
import type { ExistingFile, PlacementSite } from './placement.js';
import { searchSiblings, type SiblingSearch } from './siblings.js';

/** One folder as manifests: what it holds, and why it may not be written. Never holds content. */
export interface FolderContents extends PlacementSite {
  /** Structure-only acceptance for plain manifests; empty means accepted. Sorted. */
  readonly issues: readonly Issue[];
  /** In (path, index) order; of duplicates only the first. */
  readonly documents: readonly FolderDocument[];
  /** Kustomization files that are not ignored. What they mean is a layout's to say. */
  readonly kustomizations: readonly string[];
  /** Every entry, what is skipped included, in path order. */
  readonly entries: readonly FolderEntry[];
  /** Versionless, by what the documents say of themselves. */
  find(identity: Pick<DocumentIdentity, 'group' | 'kind' | 'namespace' | 'name'>): FolderDocument | undefined;
}

/** Documents by key: a big table shared between commits, and what changed since. */
export interface DocumentTable {
  readonly base: ReadonlyMap<string, FolderDocument>;
  /** `undefined` removes. */
  readonly changes: ReadonlyMap<string, FolderDocument | undefined>;
}

export function lookUp(table: DocumentTable, key: string): FolderDocument | undefined {
  return table.changes.has(key) ? table.changes.get(key) : table.base.get(key);
}

function countOf({ base, changes }: DocumentTable): number {
  let count = base.size;
  for (const [key, document] of changes) count += Number(document !== undefined) - Number(base.has(key));
  return count;
}

export interface ContentsParts {
  readonly issues: readonly Issue[];
  readonly entries: readonly FolderEntry[];
  readonly table: DocumentTable;
  /** Of all entries together, those that lost their key included. */
  readonly documentCount: number;
  readonly kustomizations: readonly string[];
  readonly rules: IgnoreRules;
  /** Paths of the folder this one was derived from, and what it has besides. */
  readonly knownPaths?: { readonly index: PathIndex; readonly added: readonly string[] };
}

export class ReadContents implements FolderContents {
  readonly issues: readonly Issue[];
  readonly entries: readonly FolderEntry[];
  readonly table: DocumentTable;
  readonly documentCount: number;
  readonly kustomizations: readonly string[];
  readonly rules: IgnoreRules;
  private readonly knownPaths: ContentsParts['knownPaths'];
  private index: PathIndex | undefined;
  private inOrder: readonly FolderDocument[] | undefined;
  private entryByPath: ReadonlyMap<string, FolderEntry> | undefined;
  private siblingSearch: { readonly bareNamespace: string | undefined; readonly search: SiblingSearch } | undefined;

  constructor(parts: ContentsParts) {
    this.issues = parts.issues;
    this.entries = parts.entries;
    this.table = parts.table;
    this.documentCount = parts.documentCount;
    this.kustomizations = parts.kustomizations;
    this.rules = parts.rules;
    this.knownPaths = parts.knownPaths;
  }

  get documents(): readonly FolderDocument[] {
    return (this.inOrder ??= this.listDocuments());
  }

  /** Some document, which is not editable, lost its key to another or took it from one. */
  get hasRivals(): boolean {
    return this.documentCount !== countOf(this.table);
  }

  private listDocuments(): readonly FolderDocument[] {
    const { table } = this;
    if (table.changes.size === 0) return [...table.base.values()];
    const all: FolderDocument[] = [];
    for (const { documents } of this.entries) for (const document of documents) all.push(document);
    // As many documents as keys: nobody lost to anybody.
    if (!this.hasRivals) return all;
    return all.filter((document) => lookUp(table, documentKey(document.identity)) === document);
  }

  /** Built when the first document is placed: most plans only edit. */
  get paths(): PathIndex {
    if (this.index === undefined) {
      const known = this.knownPaths;
      this.index =
        known === undefined
          ? new PathIndex(this.entries.map(({ path }) => path))
          : new PathIndex(known.added, known.index);
    }
    return this.index;
  }

  /** The index, if some plan had to build it. */
  get builtPaths(): PathIndex | undefined {
    return this.index;
  }

  find(identity: Pick<DocumentIdentity, 'group' | 'kind' | 'namespace' | 'name'>): FolderDocument | undefined {
    return lookUp(this.table, documentKey(identity));
  }

  existing(path: string): ExistingFile | undefined {
    if (!this.paths.has(path)) return undefined;
    this.entryByPath ??= new Map(this.entries.map((entry) => [entry.path, entry]));
    const file = this.entryByPath.get(path)?.file;
    return file === undefined ? { isAppendable: false, isEncrypted: false, documentCount: 0 } : toExisting(path, file);
  }

  ignores(path: string): boolean {
    return this.rules.ignores(path);
  }

  siblings(bareNamespace?: string): SiblingSearch {
    if (this.siblingSearch === undefined || this.siblingSearch.bareNamespace !== bareNamespace)
      this.siblingSearch = { bareNamespace, search: searchSiblings(this.documents, bareNamespace) };
    return this.siblingSearch.search;
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
