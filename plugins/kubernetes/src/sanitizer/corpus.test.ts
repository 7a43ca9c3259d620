import { join } from 'node:path';
import type { GeneratedSelection, JsonObject, KubeObject } from '@gitops-reverser/kernel-api';
import { deepFreeze } from '@gitops-reverser/kernel-testing';
import { corpusFolder, readYaml, typeOf } from '../corpus.fixture.js';
import { createSanitizer } from './sanitizer.js';

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

const folder = corpusFolder('CORPUS_DIR', 'corpus');
const read = async <T>(file: string): Promise<readonly T[]> =>
  folder === undefined ? [] : ((await readYaml(join(folder, file)))['cases'] as readonly unknown[] as readonly T[]);
const cases = await read<Case>('sanitizer/cases.yaml');
const index = await read<Entry>('index.yaml');
/** What the index says of a case; an answer of our own wins. */
const judged = (id: string): Entry | undefined => {
  const entry = index.find(({ path }) => path.endsWith(`#${id}`) && path.startsWith('sanitizer/'));
  return typeof entry?.ours === 'object' ? { ...entry, ...entry.ours } : entry;
};

function selectionOf(options: JsonObject = {}): {
  readonly selection: GeneratedSelection;
  readonly defaults: 'all' | 'none';
} {
  const { includeGenerated = [], excludeGenerated = [], defaultObjectExclusions = 'all', ...unknown } = options;
  if (Object.keys(unknown).length > 0)
    throw new Error(`options this runner does not know: ${Object.keys(unknown).join(', ')}`);
  return {
    selection: { include: includeGenerated as readonly string[], exclude: excludeGenerated as readonly string[] },
    defaults: defaultObjectExclusions === 'none' ? 'none' : 'all',
  };
}

(folder === undefined ? describe.skip : describe)('sanitizer corpus', () => {
  it('is there', () => {
    expect(cases.length).toBeGreaterThan(0);
  });

  for (const { id, why, live, options, expect: wanted } of cases) {
    const entry = judged(id);
    const isUnsure = entry?.verdict === 'unsure' || entry?.ours === 'unsure';
    (isUnsure ? it.skip : it)(`${id}: ${why}`, () => {
      const { selection, defaults } = selectionOf(options);
      const sanitizer = createSanitizer({ defaultObjectExclusions: defaults });

      const sanitized = sanitizer.sanitize(deepFreeze(live), typeOf(live), selection);

      // The echo of finalizers is no part of the document.
      const found: JsonObject =
        sanitized.kind === 'keep'
          ? { object: Object.fromEntries(Object.entries(sanitized.object)) }
          : { drop: sanitized.reason };
      expect(found).toEqual(wanted);
      if (sanitized.kind === 'keep')
        expect(sanitizer.sanitize(sanitized.object, typeOf(live), selection)).toEqual(sanitized);
      if (entry?.verdict !== undefined) expect(sanitized.kind).toBe(entry.verdict === 'dropped' ? 'drop' : 'keep');
      if (entry?.reason !== undefined) expect(sanitized).toMatchObject({ reason: entry.reason });
    });
  }
});
