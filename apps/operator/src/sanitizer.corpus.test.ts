import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GeneratedSelection, JsonObject, KubeObject } from '@gitops-reverser/kernel-api';
import { deepFreeze } from '@gitops-reverser/kernel-testing';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { openChain, type Chain } from './default-chain.fixture.js';

interface Case {
  readonly id: string;
  readonly why: string;
  readonly options?: JsonObject;
  readonly live: KubeObject;
  readonly expect: JsonObject;
}
interface Entry {
  readonly path: string;
  readonly verdict?: string;
  readonly reason?: string;
  readonly ours?: 'unsure' | { readonly verdict?: string; readonly reason?: string };
}

const folder = process.env['CORPUS_DIR'] ?? join(import.meta.dirname, '../../../../shared/corpus');
const isThere = existsSync(join(folder, 'sanitizer/cases.yaml'));
if (!isThere) process.stderr.write(`SKIPPED: no corpus at ${folder}; set CORPUS_DIR to run the suite sanitizer\n`);

async function read<T>(file: string): Promise<readonly T[]> {
  if (!isThere) return [];
  const documents = parseDocuments(await readFile(join(folder, file)));
  const [document] = documents.ok ? documents.value : [];
  if (document?.state !== 'read') throw new Error(`${file}: expected one YAML document, found none that can be read`);
  return (document.value as unknown as { readonly cases: readonly T[] }).cases;
}
const cases = await read<Case>('sanitizer/cases.yaml');
const index = await read<Entry>('index.yaml');
/** What the index says of a case; an answer of our own wins. */
const judged = (id: string): Entry | undefined => {
  const entry = index.find(({ path }) => path.endsWith(`#${id}`) && path.startsWith('sanitizer/'));
  return typeof entry?.ours === 'object' ? { ...entry, ...entry.ours } : entry;
};

/** `options` are settings of a target, and what the operator excludes by default. */
function selectionOf(options: JsonObject = {}): { readonly selection: GeneratedSelection; readonly defaults: string } {
  const { includeGenerated = [], excludeGenerated = [], defaultObjectExclusions = 'all', ...unknown } = options;
  if (Object.keys(unknown).length > 0)
    throw new Error(`options this runner does not know: ${Object.keys(unknown).join(', ')}`);
  return {
    selection: { include: includeGenerated as readonly string[], exclude: excludeGenerated as readonly string[] },
    defaults: String(defaultObjectExclusions),
  };
}

/** The whole default set, in the order in which the operator runs it. */
(isThere ? describe : describe.skip)('corpus suite sanitizer', () => {
  const chains = new Map<string, Chain>();
  beforeAll(async () => {
    for (const defaults of ['all', 'none'])
      chains.set(defaults, await openChain({ source: { defaultObjectExclusions: defaults } }));
  });
  afterAll(async () => {
    for (const chain of chains.values()) await chain[Symbol.asyncDispose]();
  });

  it('is there', () => {
    expect(cases.length).toBeGreaterThan(0);
  });

  for (const { id, why, live, options, expect: wanted } of cases) {
    const entry = judged(id);
    const isUnsure = entry?.verdict === 'unsure' || entry?.ours === 'unsure';
    (isUnsure ? it.skip : it)(`${id}: ${why}`, () => {
      const { selection, defaults } = selectionOf(options);
      const chain = chains.get(defaults);
      if (chain === undefined) throw new Error(`defaultObjectExclusions: ${defaults} is no value this runner knows`);

      const sanitized = chain.sanitize(deepFreeze(live), selection);

      // The echo of finalizers is no part of the document.
      const found: JsonObject =
        sanitized.kind === 'keep'
          ? { object: Object.fromEntries(Object.entries(sanitized.object)) }
          : { drop: sanitized.reason };
      expect(found).toEqual(wanted);
      if (sanitized.kind === 'keep') expect(chain.sanitize(sanitized.object, selection)).toEqual(sanitized);
      if (entry?.verdict !== undefined) expect(sanitized.kind).toBe(entry.verdict === 'dropped' ? 'drop' : 'keep');
      if (entry?.reason !== undefined) expect(sanitized).toMatchObject({ reason: entry.reason });
    });
  }
});
