import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue } from '@gitops-reverser/kernel-api';
import { describeCorpus, type Corpus, type CorpusEntry } from '@gitops-reverser/kernel-testing';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import type { Entry, Source } from './source.js';

export interface ExpectedCandidate {
  readonly path: string;
  readonly layout?: string;
  readonly accepted?: boolean;
  readonly inferredNamespace?: string;
  readonly resources?: Readonly<Record<string, number>>;
  readonly renderedTypes?: JsonValue;
  readonly reasons?: readonly { readonly code: string; readonly solvable?: boolean }[];
}

/** What an entry of the index may say to the suites of this package. */
export interface Expected {
  readonly input?: string;
  readonly expected?: string;
  readonly mode?: string;
  readonly features?: readonly string[];
  readonly documents?: readonly Readonly<Record<string, JsonValue>>[];
  readonly overrides?: JsonValue;
  readonly diagnostics?: readonly string[];
  readonly candidates?: readonly ExpectedCandidate[];
  readonly readEdges?: JsonValue;
  readonly retained?: readonly string[];
}
export type CorpusCase = Expected & CorpusEntry;

function parse(bytes: Uint8Array): JsonValue {
  const documents = parseDocuments(bytes);
  const first = documents.ok ? documents.value[0] : undefined;
  if (first?.state !== 'read') throw new Error('expected a document that can be read');
  return first.value;
}

/** The first document of a file. */
export const readYaml = (path: string): JsonValue => parse(readFileSync(path));

/** @param fields those of {@link Expected} the runner asserts or needs */
export function describeSuite(
  suite: string,
  fields: readonly (keyof Expected)[],
  run: (each: CorpusCase, corpus: Corpus<Expected>) => void,
): void {
  describeCorpus<Expected>({ suite, parse, fields }, run);
}

/** Codes that an entry names, once each. */
export const codesOf = ({ reason = [] }: CorpusCase): readonly string[] => [...new Set([reason].flat())].sort();

/** A case's input as a program would hand it over that has no directory. */
export function memorySource(root: string): Source {
  const isLink = new Set<string>();
  return {
    async *list(): AsyncIterable<Entry> {
      await Promise.resolve();
      for (const dirent of readdirSync(root, { recursive: true, withFileTypes: true })) {
        const path = join(dirent.parentPath, dirent.name).slice(root.length + 1);
        if (dirent.isSymbolicLink()) {
          isLink.add(path);
          yield { path, mode: 'symlink' };
        } else if (dirent.isFile()) {
          yield { path, mode: (statSync(join(root, path)).mode & 0o100) === 0 ? 'file' : 'executable' };
        }
      }
    },
    read: (path) => {
      const name = join(root, path);
      return Promise.resolve(new Uint8Array(isLink.has(path) ? Buffer.from(readlinkSync(name)) : readFileSync(name)));
    },
  };
}
