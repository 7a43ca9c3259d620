import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { editDocument, hasOtherContent, openText, parseDocuments, removeDocument, type SplitText } from './index.js';

const corpus = process.env['CORPUS_DIR'] ?? resolve(import.meta.dirname, '../../../../../shared/corpus');
const suite = 'inplace';

function readYaml(path: string): JsonValue {
  const documents = parseDocuments(readFileSync(path));
  const first = documents.ok ? documents.value[0] : undefined;
  if (first?.state !== 'read') throw new Error(`${path} does not parse`);
  return first.value;
}

interface Case {
  readonly path: string;
  readonly suite: string;
  readonly verdict: string;
  readonly reason?: string;
}

function casesOf(name: string): readonly Case[] {
  const index = readYaml(join(corpus, 'index.yaml'));
  const list = (
    Array.isArray(index) ? index : ((index as JsonObject)['cases'] ?? (index as JsonObject)['entries'])
  ) as unknown;
  return (list as readonly Case[]).filter((each) => each.suite === name);
}

function open(text: string): SplitText {
  const split = openText(text);
  if (!split.ok) throw new Error(split.error.message);
  return split.value;
}

const isThere = existsSync(join(corpus, 'index.yaml'));
if (!isThere) process.stderr.write(`SKIPPED: no corpus at ${corpus}; set CORPUS_DIR to run the suite ${suite}\n`);

(isThere ? describe : describe.skip)(`corpus suite ${suite}`, () => {
  const cases = isThere ? casesOf(suite).filter(({ verdict }) => verdict !== 'unsure') : [];

  it('is complete: the index names every folder', () => {
    const folders = isThere ? readdirSync(join(corpus, suite)) : [];

    expect(
      casesOf(suite)
        .map(({ path }) => path.slice(suite.length + 1))
        .sort(),
    ).toEqual([...folders].sort());
  });

  for (const { path, verdict, reason } of cases) {
    it(`${path}: ${verdict}`, () => {
      const at = (...names: readonly string[]): string => join(corpus, path, ...names);
      const { op, file, index } = readYaml(at('case.yaml')) as { op: string; file: string; index: number };
      const before = readFileSync(at('before', file), 'utf8');
      const split = open(before);
      if (op === 'delete') {
        const left = hasOtherContent(split, index) ? removeDocument(split, index) : undefined;
        expect(left === undefined ? 'delete-file' : 'delete-document').toBe(verdict);
        if (left !== undefined) expect(left).toBe(readFileSync(at('after', file), 'utf8'));
        return;
      }
      const live = readYaml(at('live.yaml')) as JsonObject;
      const edited = editDocument(split, index, live);
      if (verdict === 'skip') {
        expect(edited).toMatchObject({ ok: false, error: { code: reason } });
        return;
      }
      if (!edited.ok) throw new Error(edited.error.message);
      expect(edited.value.text).toBe(readFileSync(at('after', file), 'utf8'));
      expect(edited.value.outcome).toBe(verdict === 'no-change' ? 'unchanged' : 'patched');
      expect(editDocument(open(edited.value.text), index, live)).toMatchObject({
        ok: true,
        value: { outcome: 'unchanged', text: edited.value.text },
      });
    });
  }
});
