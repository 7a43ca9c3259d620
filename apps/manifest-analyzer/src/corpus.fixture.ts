import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import type { Entry, Source } from './source.js';

export const corpusFolder = process.env['CORPUS_DIR'] ?? resolve(import.meta.dirname, '../../../../shared/corpus');

export interface ExpectedCandidate {
  readonly path: string;
  readonly layout: string;
  readonly accepted: boolean;
  readonly inferredNamespace?: string;
  readonly resources: { readonly rendered: number; readonly editable: number; readonly nonKrm: number };
  readonly reasons?: readonly { readonly code: string; readonly solvable: boolean }[];
}

/** One entry of the index. */
export interface CorpusCase {
  readonly path: string;
  readonly suite: string;
  readonly verdict: string;
  readonly reason?: string | readonly string[];
  readonly input?: string;
  readonly expected?: string;
  readonly mode?: string;
  readonly features?: readonly string[];
  readonly documents?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace: string | null;
    readonly namespaceSource: string;
  }[];
  readonly overrides?: {
    readonly images: readonly Readonly<Record<string, string>>[];
    readonly replicas: readonly Readonly<Record<string, string | number>>[];
  };
  readonly diagnostics?: readonly string[];
  readonly candidates?: readonly ExpectedCandidate[];
  readonly readEdges?: readonly { readonly from: string; readonly to: string }[];
  readonly ours?: 'unsure' | Readonly<Record<string, JsonValue>>;
}

export const at = (...names: readonly string[]): string => join(corpusFolder, ...names);

export function readYaml(path: string): JsonValue {
  const documents = parseDocuments(readFileSync(path));
  const first = documents.ok ? documents.value[0] : undefined;
  if (first?.state !== 'read') throw new Error(`${path} does not parse`);
  return first.value;
}

/** Runs a suite of the corpus, or says loudly that there is none. What we answer differently on purpose wins. */
export function describeSuite(suite: string, run: (each: CorpusCase) => void): void {
  const isThere = existsSync(at('index.yaml'));
  if (!isThere)
    process.stderr.write(`SKIPPED: no corpus at ${corpusFolder}; set CORPUS_DIR to run the suite ${suite}\n`);
  (isThere ? describe : describe.skip)(`corpus suite ${suite}`, () => {
    const index = isThere ? (readYaml(at('index.yaml')) as unknown as { cases: readonly CorpusCase[] }).cases : [];
    const cases = index.filter((each) => each.suite === suite);

    it('has cases', () => {
      expect(cases.length).toBeGreaterThan(0);
    });

    for (const each of cases) run(typeof each.ours === 'object' ? { ...each, ...each.ours } : each);
  });
}

/** A case's input as a program would hand it over that has no directory. */
export function memorySource(root: string): Source {
  return {
    async *list(): AsyncIterable<Entry> {
      await Promise.resolve();
      for (const dirent of readdirSync(root, { recursive: true, withFileTypes: true }))
        if (dirent.isFile()) yield { path: join(dirent.parentPath, dirent.name).slice(root.length + 1), mode: 'file' };
    },
    read: (path) => Promise.resolve(new Uint8Array(readFileSync(join(root, path)))),
  };
}
