import type { FolderView, Layout, Refusal } from '@gitops-reverser/kernel-api';
import { createPlainLayout } from '@gitops-reverser/plugin-plain';
import {
  FolderCache,
  judgePlainFolder,
  KustomizeTree,
  readFolder,
  readKustomizeFolder,
  type DocumentInContext,
  type FolderContents,
  type FolderIssue,
  type KustomizeBuild,
  type RetainedFile,
} from '@gitops-reverser/toolkit-manifests';
import { pause, type ScanOptions } from './open-repository.js';
import type { Repository } from './repository.js';
import { ScanFailed } from './source.js';

/** What the writer would say of a folder, and what stands behind it. */
export interface Judgement {
  /** Empty means accepted. */
  readonly issues: readonly FolderIssue[];
  readonly retained: readonly RetainedFile[];
  readonly contents: FolderContents;
  /** Manifests of the folder; what is retained is not among them. */
  readonly documents: readonly DocumentInContext[];
  /** Of a folder in which Kustomize builds something. */
  readonly builds: readonly KustomizeBuild[];
}

/** More would not fit into memory: a repository of a few bytes per document can hold billions. */
const mostDocuments = 1_000_000;

/** Asks the layouts the writer asks, about folders of one repository. */
export class Gate {
  readonly tree: KustomizeTree;
  private readonly repository: Repository;
  private readonly cache = new FolderCache();
  private readonly layouts: readonly Layout[];

  constructor(repository: Repository) {
    this.repository = repository;
    this.tree = new KustomizeTree(repository.folder('.'), this.cache.file);
    this.layouts = [
      createPlainLayout({ settings: { placement: { byType: {}, useKustomize: true } }, cache: this.cache }),
    ];
  }

  judge(path: string): Judgement {
    const folder = this.repository.folder(path);
    const contents = readFolder(folder, this.cache);
    const plain = judgePlainFolder(folder, contents, this.cache);
    if (contents.kustomizations.length > 0) {
      const kustomize = readKustomizeFolder(this.tree, path, contents, plain.retained);
      const { issues, retained, documents, builds } = kustomize;
      return { issues, retained, contents, documents, builds };
    }
    const isRetained = new Set(plain.retained.map((file) => file.path));
    const documents = contents.entries
      .filter((entry) => !isRetained.has(entry.path))
      .flatMap((entry) => entry.documents)
      .map((document): DocumentInContext => {
        const namespaceSource = document.identity.namespace === undefined ? 'None' : 'Explicit';
        return { document, identity: document.identity, namespaceSource, objects: [], diagnostics: [] };
      });
    return { issues: this.ask(folder), retained: plain.retained, contents, documents, builds: [] };
  }

  /** One layout must take the folder on, and none may refuse it. */
  private ask(folder: FolderView): readonly FolderIssue[] {
    const answers = this.layouts.map((layout) => layout.recognise(folder));
    const refusals = answers.flatMap((answer) => (answer.kind === 'refused' ? answer.refusals : []));
    if (refusals.length > 0) return refusals.map(toIssue);
    if (answers.some(({ kind }) => kind === 'mine')) return [];
    return [toIssue({ code: 'no-layout', message: 'no layout takes this folder on', path: '' })];
  }

  /**
   * Reads every manifest once, so that judging finds it in memory.
   *
   * @returns paths of those that hold manifests
   */
  async readAll(path: string, paths: readonly string[], options: ScanOptions): Promise<readonly string[]> {
    const folder = this.repository.folder(path);
    const withManifests: string[] = [];
    let documents = 0;
    for (const [done, each] of paths.entries()) {
      const file = folder.file(each);
      if (file === undefined) continue;
      const read = this.cache.file(file);
      documents += read.documents.length;
      if (documents > mostDocuments)
        throw new ScanFailed(`more than ${mostDocuments} documents; scan the folders below on their own`);
      if (read.documents.some(({ identity }) => identity !== undefined)) withManifests.push(each);
      if (done % 200 === 199) await pause({ stage: 'read', done: done + 1, total: paths.length }, options);
    }
    return withManifests;
  }
}

function toIssue(refusal: Refusal & Partial<FolderIssue>): FolderIssue {
  const { path = '', documentIndex = 0, solvable = false, actor = '' } = refusal;
  return { code: refusal.code, message: refusal.message, path, documentIndex, solvable, actor };
}
