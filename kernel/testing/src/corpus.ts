import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';

/** One entry of a conformance corpus: what its index says, with what this project answers on purpose in place of what was recorded. */
export interface CorpusEntry {
  readonly path: string;
  readonly suite: string;
  /** Absent: nobody verified it. */
  readonly verdict?: string;
  readonly reason?: string | readonly string[];
  /** Part of the recorded answer is not ours, so a whole recorded document is no measure. */
  readonly isOverridden: boolean;
}

export interface Corpus<E> {
  readonly folder: string;
  readonly cases: readonly (E & CorpusEntry)[];
  /** A path within a case. */
  at(entry: CorpusEntry, ...names: readonly string[]): string;
  /** The only document of a file. */
  read(path: string): JsonValue;
}

export interface CorpusSuite {
  readonly suite: string;
  /** The only document of a file of YAML. */
  readonly parse: (bytes: Uint8Array) => JsonValue;
  /** Fields of an entry that this runner asserts or needs. Any other one is named in the log, so that nothing passes unseen. */
  readonly fields: readonly string[];
}

/** What says nothing about how the code must behave. */
const descriptive = ['path', 'suite', 'origin', 'verifiedBy', 'notes', 'ours'];
/** What of an entry tells how to run it, whatever its answer. */
const structural = ['path', 'suite', 'origin', 'notes', 'input', 'live', 'case', 'mode'];
const unsure = 'unsure';

export const corpusFolder = (): string =>
  process.env['CORPUS_DIR'] ?? resolve(import.meta.dirname, '../../../../shared/corpus');

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * The cases of one suite of the corpus at `CORPUS_DIR`. A corpus, suite or case that is not there is skipped, and the log says so.
 *
 * @param run declares the tests of one case
 */
export function describeCorpus<E>(
  { suite, parse, fields }: CorpusSuite,
  run: (each: E & CorpusEntry, corpus: Corpus<E>) => void,
): void {
  const folder = corpusFolder();
  const read = (path: string): JsonValue => parse(readFileSync(path));
  const listed = entriesOf(folder, read).filter((entry) => entry['suite'] === suite);
  if (listed.length === 0) {
    say(`SKIPPED: no corpus suite ${suite} at ${folder}; set CORPUS_DIR to the folder that holds index.yaml`);
    describe.skip(`corpus suite ${suite}`, () => {
      it('has cases', () => undefined);
    });
    return;
  }
  const known = new Set([...descriptive, 'verdict', 'reason', ...fields]);
  const unknown = new Set(
    listed
      .flatMap((entry) => [...Object.keys(entry), ...Object.keys(ownOf(entry) ?? {})])
      .filter((field) => !known.has(field)),
  );
  if (unknown.size > 0) say(`NOT ASSERTED: field(s) ${[...unknown].join(', ')} of the corpus suite ${suite}`);
  const cases = listed.map((entry) => expectationOf(entry) as unknown as E & CorpusEntry);
  const at = (entry: CorpusEntry, ...names: readonly string[]): string =>
    join(folder, entry.path.replace(/#.*$/, ''), ...names);
  describe(`corpus suite ${suite}`, () => {
    for (const each of cases) {
      if (existsSync(at(each))) run(each, { folder, cases, at, read });
      else {
        say(`SKIPPED: ${each.path} is in the index and not at ${at(each)}`);
        it.skip(`${each.path}: is not there`, () => undefined);
      }
    }
  });
}

function entriesOf(folder: string, read: (path: string) => JsonValue): readonly JsonObject[] {
  const path = join(folder, 'index.yaml');
  if (!existsSync(path)) return [];
  const { cases } = read(path) as { readonly cases?: readonly JsonObject[] };
  if (!Array.isArray(cases)) throw new Error(`${path}: expected a list under "cases", found ${typeof cases}`);
  return cases as readonly JsonObject[];
}

/** Our own answer wins. Where parts of it are unsure, only what it names is fixed; where nobody verified it, nothing is. */
export function expectationOf(entry: JsonObject): JsonObject & { readonly isOverridden: boolean } {
  const { ours } = entry;
  const own = ownOf(entry);
  const isPartial = ours === unsure || (own !== undefined && mentionsUnsure(own));
  const recorded = isPartial ? pick(entry, structural) : entry;
  const merged = { ...recorded, ...own };
  const fixed = Object.entries(merged).filter(([key, value]) => value !== unsure && key !== unsure && key !== 'ours');
  return { ...(Object.fromEntries(fixed) as JsonObject), isOverridden: ours !== undefined };
}

function ownOf({ ours }: JsonObject): JsonObject | undefined {
  return typeof ours === 'object' && ours !== null && !Array.isArray(ours) ? (ours as JsonObject) : undefined;
}

const mentionsUnsure = (own: JsonObject): boolean =>
  Object.entries(own).some(([key, value]) => key === unsure || value === unsure);

const pick = (entry: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(entry).filter(([key]) => keys.includes(key)));
