import type { GeneratedSelection, JsonObject, KubeObject } from '@gitops-reverser/kernel-api';
import { deepFreeze, describeCorpus } from '@gitops-reverser/kernel-testing';
import { parseFirst } from './corpus.fixture.js';
import { openChain, type Chain } from './default-chain.fixture.js';

interface Case {
  readonly id: string;
  readonly why?: string;
  readonly options?: JsonObject;
  readonly live: KubeObject;
  readonly expect: JsonObject;
}

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
const chains = new Map<string, Chain>();
beforeAll(async () => {
  for (const defaults of ['all', 'none'])
    chains.set(defaults, await openChain({ source: { defaultObjectExclusions: defaults } }));
});
afterAll(async () => {
  for (const chain of chains.values()) await chain[Symbol.asyncDispose]();
});

describeCorpus({ suite: 'sanitizer', parse: parseFirst, fields: [] }, (each, { at, read }) => {
  const { path, verdict, reason } = each;
  const table = read(at(each)) as unknown as { readonly cases: readonly Case[] };
  const found = table.cases.find(({ id }) => path.endsWith(`#${id}`));

  (verdict === undefined ? it.skip : it)(`${path}: ${found?.why ?? ''}`, () => {
    if (found === undefined) throw new Error('the table has no case of that id');
    const { options, live, expect: wanted } = found;
    const { selection, defaults } = selectionOf(options);
    const chain = chains.get(defaults);
    if (chain === undefined) throw new Error(`defaultObjectExclusions: ${defaults} is no value this runner knows`);

    const sanitized = chain.sanitize(deepFreeze(live), selection);

    // The echo of finalizers is no part of the document.
    const answer: JsonObject =
      sanitized.kind === 'keep'
        ? { object: Object.fromEntries(Object.entries(sanitized.object)) }
        : { drop: sanitized.reason };
    if (!each.isOverridden) expect(answer).toEqual(wanted);
    if (sanitized.kind === 'keep') expect(chain.sanitize(sanitized.object, selection)).toEqual(sanitized);
    expect(sanitized.kind).toBe(verdict === 'dropped' ? 'drop' : 'keep');
    if (reason !== undefined) expect(sanitized).toMatchObject({ reason });
  });
});
