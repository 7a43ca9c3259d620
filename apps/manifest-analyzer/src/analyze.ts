import { builtInType, mergeFeatures, type FolderEntry } from '@gitops-reverser/toolkit-manifests';
import { Gate, type Judgement } from './gate.js';
import { openFolder, openSource, type ScanOptions } from './open-repository.js';
import type { Repository } from './repository.js';
import { manifestPaths } from './scan-folder.js';
import type { Source } from './source.js';

export type DocumentClass = 'non-yaml' | 'empty' | 'invalid-yaml' | 'non-krm' | 'krm';

/** One document, or a file that holds none. */
export interface ClassifiedDocument {
  readonly path: string;
  readonly documentIndex: number;
  readonly class: DocumentClass;
  readonly identity?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
  };
}

/** Chapter 20, 5.1. */
export interface Diagnostic {
  readonly path: string;
  readonly documentIndex: number;
  readonly level: 'error' | 'warning' | 'info';
  readonly reason: string;
  readonly message: string;
}

export interface Analysis {
  readonly root?: string;
  readonly documents: readonly ClassifiedDocument[];
  readonly diagnostics: readonly Diagnostic[];
  readonly summary: {
    readonly files: number;
    readonly documents: Readonly<Partial<Record<DocumentClass, number>>>;
    readonly diagnostics: Readonly<Partial<Record<Diagnostic['level'], number>>>;
  };
}

/**
 * What every document of a folder is, and what is odd about it. Says nothing about whether the folder may be written.
 *
 * @throws ScanFailed when the root is no directory or cannot be read
 */
export async function analyze(source: string | Source, options: ScanOptions = {}): Promise<Analysis> {
  const { repository, path } =
    typeof source === 'string'
      ? await openFolder(source, options)
      : { repository: await openSource(source, options), path: '.' };
  const gate = new Gate(repository);
  await gate.readAll(path, manifestPaths(repository, path), options);
  const judgement = gate.judge(path);
  const entries = judgement.contents.entries.filter(({ role }) => role !== 'skipped' && role !== 'ignored');
  const documents = entries.flatMap(classify);
  const diagnostics = [
    ...entries.flatMap((entry) => diagnose(entry)),
    ...entries.flatMap((entry) => findMarker(repository, path, entry)),
    ...diagnoseFolder(judgement),
  ].sort((a, b) => compare(a.path, b.path) || a.documentIndex - b.documentIndex || compare(a.reason, b.reason));
  return {
    ...(typeof source === 'string' ? { root: source } : {}),
    documents,
    diagnostics,
    summary: {
      files: entries.length,
      documents: count(documents.map((document) => document.class)),
      diagnostics: count(diagnostics.map(({ level }) => level)),
    },
  };
}

/** Something to put right: what is only worth knowing does not count. */
export function hasIssue({ diagnostics }: Analysis): boolean {
  return diagnostics.some(({ level }) => level !== 'info');
}

function classify({ path, role, file, documents }: FolderEntry): readonly ClassifiedDocument[] {
  if (role === 'kustomization' || role === 'sops-config') return [{ path, documentIndex: 0, class: 'non-krm' }];
  if (file === undefined) return [{ path, documentIndex: 0, class: 'non-yaml' }];
  if (file.problem !== undefined) return [{ path, documentIndex: 0, class: 'invalid-yaml' }];
  if (file.documents.length === 0) return [{ path, documentIndex: 0, class: 'empty' }];
  const identityByIndex = new Map(documents.map(({ index, identity }) => [index, identity]));
  return file.documents.map(({ index, nature }): ClassifiedDocument => {
    const identity = identityByIndex.get(index);
    if (identity === undefined) return { path, documentIndex: index, class: classOf(nature) };
    const { group, version, kind, namespace, name } = identity;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const names = { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name };
    return { path, documentIndex: index, class: 'krm', identity: names };
  });
}

function classOf(nature: string): DocumentClass {
  if (nature === 'empty') return 'empty';
  if (nature === 'invalid') return 'invalid-yaml';
  return nature === 'encrypted' ? 'krm' : 'non-krm';
}

const sopsName = /\.sops\.ya?ml$/;

function diagnose({ path, role, file, documents }: FolderEntry): readonly Diagnostic[] {
  if (file === undefined || role !== 'manifest') return [];
  const at = (documentIndex: number, level: Diagnostic['level'], reason: string, message: string): Diagnostic => ({
    path,
    documentIndex,
    level,
    reason,
    message,
  });
  if (file.problem !== undefined) return [at(0, 'error', 'invalid-yaml', file.problem)];
  const found = file.documents.flatMap(({ index, nature, problem, construct }) => {
    if (nature === 'invalid') return [at(index, 'error', 'invalid-yaml', problem ?? 'does not parse')];
    if (nature === 'empty') return [at(index, 'info', 'empty-document', 'only white space or comments')];
    if (nature === 'not-krm') return [at(index, 'info', 'not-krm', 'no apiVersion, kind or metadata.name')];
    if (nature !== 'non-editable') return [];
    return [at(index, 'warning', 'non-editable', `it holds ${construct ?? 'a construct'} that no edit may touch`)];
  });
  for (const { identity, index } of documents) {
    // Without a cluster only what every Kubernetes serves is known, and a missing namespace may be meant so.
    if (identity.namespace === undefined || builtInType(identity.group, identity.kind)?.namespaced !== false) continue;
    const what = `a ${identity.kind} has no namespace, and it states ${identity.namespace}; remove it`;
    found.push(at(index, 'warning', 'scope-mismatch', what));
  }
  if (sopsName.test(path) && !file.isEncrypted)
    found.push(at(0, 'error', 'missing-sops-key', 'named as encrypted, but no document has a sops map'));
  return found;
}

function diagnoseFolder({ issues, documents, builds }: Judgement): readonly Diagnostic[] {
  const duplicates = issues.filter(({ code }) => code === 'duplicate-identity');
  return [
    ...duplicates.map(({ path, documentIndex, message }) => ({
      path,
      documentIndex,
      level: 'warning' as const,
      reason: 'duplicate-identity',
      message,
    })),
    ...documents.flatMap(({ document, diagnostics }) =>
      diagnostics.map((reason) => ({
        path: document.path,
        documentIndex: document.index,
        level: 'warning' as const,
        reason,
        message:
          reason === 'ambiguous-namespace'
            ? 'render roots give it different namespaces'
            : 'render roots override it in different ways',
      })),
    ),
    ...builds.flatMap(({ root, features }) => {
      const failed = mergeFeatures(features.map(({ feature }) => feature)).filter(({ code }) => failures.has(code));
      return failed.map(({ code, cause = code }) => ({
        path: root.path,
        documentIndex: 0,
        level: 'warning' as const,
        reason: 'kustomize-build-failed',
        message: cause,
      }));
    }),
  ];
}

const failures = new Set(['render-failed', 'render-limit', 'unparseable', 'patches-outside-tree']);

/** `Code generated by x. DO NOT EDIT.` before the first document: edited like any other, but whoever made it may make it again. */
function findMarker(repository: Repository, folder: string, { path, role, file }: FolderEntry): readonly Diagnostic[] {
  if (role !== 'manifest' || file === undefined || file.problem !== undefined) return [];
  const bytes = repository.folder(folder).file(path)?.read() ?? new Uint8Array();
  const text = Buffer.from(bytes.subarray(0, 400))
    .toString('utf8')
    .replace(/^\ufeff/, '');
  const line = text.split('\n').find((each) => !/^(?:---)?\s*$/.test(each)) ?? '';
  if (!/^#.*generated/i.test(line) || !/do not (?:edit|modify|change)/i.test(line)) return [];
  const message = 'marked as generated: whatever made it may overwrite edits';
  return [{ path, documentIndex: 0, level: 'info', reason: 'generated-marker', message }];
}

function count<K extends string>(values: readonly K[]): Partial<Record<K, number>> {
  const counts: Partial<Record<K, number>> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
