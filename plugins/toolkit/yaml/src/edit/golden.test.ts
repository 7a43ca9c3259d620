import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { JsonObject, JsonValue, ListMapKeys } from '@gitops-reverser/kernel-api';
import { editDocument, hasOtherContent, openText, parseDocuments, removeDocument, type SplitText } from '../index.js';

const fixtures = resolve(import.meta.dirname, '../../fixtures/edit');

interface Case {
  /** Section of chapter 20. */
  readonly spec: string;
  readonly why: string;
  /** Absent: edited to mean `live.yaml`. */
  readonly op?: 'delete';
  readonly index?: number;
  readonly liveFinalizers?: readonly string[];
  readonly listKeys?: ListMapKeys;
}

function readYaml(path: string): JsonValue {
  const documents = parseDocuments(readFileSync(path));
  const first = documents.ok ? documents.value[0] : undefined;
  if (first?.state !== 'read') throw new Error(`${path} does not parse`);
  return first.value;
}

function open(text: string): SplitText {
  const split = openText(text);
  if (!split.ok) throw new Error(split.error.message);
  return split.value;
}

const names = readdirSync(fixtures);
const cases = names.map((name) => ({ name, ...(readYaml(join(fixtures, name, 'case.yaml')) as unknown as Case) }));

describe('20, 6: golden folders', () => {
  it.each(cases.filter(({ op }) => op === undefined))('$spec: $why ($name)', ({ name, index = 0, ...options }) => {
    const [before, after] = ['before', 'after'].map((side) =>
      readFileSync(join(fixtures, name, side, 'doc.yaml'), 'utf8'),
    );
    const live = readYaml(join(fixtures, name, 'live.yaml')) as JsonObject;
    const edited = editDocument(open(before as string), index, live, options);

    if (!edited.ok) throw new Error(edited.error.message);
    expect(edited.value.text).toBe(after);
    expect(edited.value.outcome).toBe(before === after ? 'unchanged' : 'patched');
    expect(editDocument(open(edited.value.text), index, live, options)).toMatchObject({
      ok: true,
      value: { outcome: 'unchanged', text: after },
    });
  });

  it.each(cases.filter(({ op }) => op === 'delete'))('$spec: $why ($name)', ({ name, index = 0 }) => {
    const file = open(readFileSync(join(fixtures, name, 'before', 'doc.yaml'), 'utf8'));

    expect(hasOtherContent(file, index)).toBe(true);
    expect(removeDocument(file, index)).toBe(readFileSync(join(fixtures, name, 'after', 'doc.yaml'), 'utf8'));
  });
});
