import {
  createBookkeepingSanitizer,
  definePlugin,
  keyRules,
  option,
  stripRules,
  type Bookkeeping,
  type KeyRule,
  type ReverserError,
  type StripRules,
} from '@gitops-reverser/kernel-api';
import { fakeClock, fakeLogger, fakeMetrics } from '@gitops-reverser/kernel-testing';
import { PluginsBroken, openKernel, type BuiltInPlugin, type Kernel } from './index.js';

const knowing = (id: string, bookkeeping: Partial<Bookkeeping>): BuiltInPlugin => {
  const whole = { strips: [], keeps: [], ...bookkeeping };
  return {
    manifest: { id, kernelApi: '^1.0', points: ['sanitizer'] },
    plugin: definePlugin({ id, kernelApi: '^1.0', options: {} }, (on) => {
      on.sanitizer({ bookkeeping: () => whole, needs: {}, create: () => createBookkeepingSanitizer(whole) });
    }),
  };
};
function open(...plugins: readonly BuiltInPlugin[]): Promise<Kernel> {
  return openKernel({
    entries: plugins.map(({ manifest }) => ({ use: manifest.id })),
    builtIn: Object.fromEntries(plugins.map((plugin) => [plugin.manifest.id, plugin])),
    from: import.meta.dirname,
    clock: fakeClock(),
    logger: fakeLogger(),
    metrics: fakeMetrics(),
  });
}
async function problemsOf(...plugins: readonly BuiltInPlugin[]): Promise<readonly ReverserError[]> {
  const problems = await open(...plugins).then(
    () => [],
    (error: unknown) => (error instanceof PluginsBroken ? error.problems : Promise.reject(error)),
  );
  return problems;
}

const flux: Partial<Bookkeeping> = {
  strips: keyRules('annotations', 'flux.example.test/'),
  keeps: keyRules('annotations', 'flux.example.test/prune'),
};
const argo: Partial<Bookkeeping> = {
  strips: keyRules('annotations', 'argo.example.test/tracking-id'),
  keeps: keyRules('annotations', 'argo.example.test/'),
};

describe('20, 3.7: a rule that would match a key somebody vouches for ends the start', () => {
  it.each([
    {
      what: 'a prefix over a kept key',
      strips: keyRules('annotations', 'flux.example.test/'),
      says: ['annotation flux.example.test/*', 'flux keeps annotation flux.example.test/prune'],
    },
    {
      what: 'a kept key itself',
      strips: keyRules('annotations', 'flux.example.test/prune'),
      says: ['strips annotation flux.example.test/prune', 'flux keeps annotation flux.example.test/prune'],
    },
    {
      what: 'a key below a kept prefix',
      strips: keyRules('annotations', 'argo.example.test/sync-wave'),
      says: ['annotation argo.example.test/sync-wave', 'argo keeps annotation argo.example.test/*'],
    },
    {
      what: 'a kept prefix itself',
      strips: keyRules('annotations', 'argo.example.test/'),
      says: ['strips annotation argo.example.test/*', 'argo keeps annotation argo.example.test/*'],
    },
  ])('$what', async ({ strips, says }) => {
    const problems = await problemsOf(knowing('flux', flux), knowing('argo', argo), knowing('greedy', { strips }));

    expect(problems.map(({ reason }) => reason)).toEqual(['PluginRulesConflict']);
    for (const text of ['greedy', ...says]) expect(problems[0]?.message).toContain(text);
  });

  it.each([
    { what: 'the same key twice', strips: keyRules('annotations', 'argo.example.test/tracking-id') },
    { what: 'another key of a prefix with exceptions', strips: keyRules('annotations', 'flux.example.test/checksum') },
    { what: 'a label of the same name', strips: keyRules('labels', 'flux.example.test/prune', 'argo.example.test/') },
    { what: 'a subdomain', strips: keyRules('annotations', 'my.argo.example.test/') },
    {
      what: 'the same prefix with the same exception',
      strips: keyRules('annotations', 'flux.example.test/'),
      keeps: keyRules('annotations', 'flux.example.test/prune'),
    },
  ])('but not $what', async ({ what: _what, ...bookkeeping }) => {
    expect(await problemsOf(knowing('flux', flux), knowing('argo', argo), knowing('modest', bookkeeping))).toEqual([]);
  });

  it('every one is told, with whatever else is wrong', async () => {
    const strips = keyRules('annotations', 'argo.example.test/', 'flux.example.test/prune');

    const problems = await problemsOf(
      knowing('greedy', { strips }),
      knowing('flux', flux),
      knowing('argo', argo),
      knowing('argo', argo),
    );

    expect(problems.map(({ reason }) => reason).sort()).toEqual([
      'PluginDuplicate',
      'PluginRulesConflict',
      'PluginRulesConflict',
      'PluginRulesConflict',
    ]);
  });

  it('a plugin that keeps and strips one key is told so', async () => {
    const same = keyRules('labels', 'own.example.test/');

    const [problem] = await problemsOf(knowing('torn', { strips: same, keeps: same }));

    expect(problem?.message).toContain('torn both strips and keeps label own.example.test/*');
  });

  it.each([
    { rule: { scope: 'labels', match: 'prefix', value: 'own.example.test' }, says: 'ends in /' },
    { rule: { scope: 'labels', match: 'prefix', value: '/' }, says: 'ends in /' },
    { rule: { scope: 'labels', match: 'prefix', value: 'a.test/b/' }, says: 'ends in /' },
    { rule: { scope: 'labels', match: 'exact', value: 'own.example.test/' }, says: 'name or domain/name' },
    { rule: { scope: 'labels', match: 'exact', value: '' }, says: 'name or domain/name' },
    { rule: { scope: 'label', match: 'exact', value: 'a' }, says: 'labels|annotations' },
    { rule: { scope: 'labels', match: 'suffix', value: 'a' }, says: 'exact|prefix' },
    { rule: { scope: 'labels', match: 'exact', value: 7 }, says: 'no text' },
    { rule: null, says: 'labels|annotations' },
  ])('a rule that can match nothing is refused: $rule', async ({ rule, says }) => {
    const broken = [rule as unknown as KeyRule];

    const problems = await problemsOf(knowing('odd', { strips: broken, keeps: broken }));

    expect(problems.map(({ reason }) => reason)).toEqual(['PluginRulesInvalid']);
    expect(problems[0]?.message).toContain(says);
    expect(problems[0]?.message).toMatch(/^odd: strips: .*; keeps: /);
  });

  it('a plugin that cannot tell its rules is named', async () => {
    const plugin = definePlugin({ id: 'mute', kernelApi: '^1.0', options: {} }, (on) => {
      on.sanitizer({
        bookkeeping: () => {
          throw new Error('out of words');
        },
        needs: {},
        create: () => createBookkeepingSanitizer({ strips: [], keeps: [] }),
      });
    });

    const [problem] = await problemsOf({ plugin, manifest: { id: 'mute', kernelApi: '^1.0', points: ['sanitizer'] } });

    expect([problem?.reason, problem?.message]).toEqual([
      'PluginStartFailed',
      'mute: telling its bookkeeping failed: out of words; ask its author',
    ]);
  });
});

it('20, 3.7: the rules of every plugin are one value that any plugin may need', async () => {
  let given: StripRules | undefined;
  const reader: BuiltInPlugin = {
    manifest: { id: 'reader', kernelApi: '^1.0', points: ['layout'] },
    plugin: definePlugin({ id: 'reader', kernelApi: '^1.0', options: {} }, (on) => {
      on.layout({
        needs: { rules: stripRules },
        create: ({ needs }) => {
          given = needs.rules;
          return { recognise: () => ({ kind: 'mine' }), documents: () => [], plan: () => [] };
        },
      });
    }),
  };
  const kernel = await open(knowing('flux', flux), reader, knowing('argo', argo));

  await kernel.scopes.open({ scope: 'target', id: 'demo/app', given: [], leases: [] });

  expect(given?.strippedBy('annotations', 'flux.example.test/checksum')?.value).toBe('flux.example.test/');
  expect(given?.strippedBy('annotations', 'argo.example.test/tracking-id')?.match).toBe('exact');
  expect(given?.strippedBy('annotations', 'argo.example.test/sync-wave')).toBeUndefined();
  await kernel.close(1_000);
});

it('20, 3.7: rules may come from the options of a plugin', async () => {
  const prefixed = definePlugin(
    { id: 'notes', kernelApi: '^1.0', options: { prefix: option.string({ default: '', doc: 'Keys of notes.' }) } },
    (on) => {
      on.sanitizer({
        bookkeeping: ({ prefix }) => ({ strips: keyRules('labels', prefix), keeps: [] }),
        needs: {},
        create: () => createBookkeepingSanitizer({ strips: [], keeps: [] }),
      });
    },
  );
  const kernel = await openKernel({
    entries: [{ use: 'notes', options: { prefix: 'notes.example.test/' } }],
    builtIn: { notes: { plugin: prefixed, manifest: { id: 'notes', kernelApi: '^1.0', points: ['sanitizer'] } } },
    from: import.meta.dirname,
    clock: fakeClock(),
    logger: fakeLogger(),
    metrics: fakeMetrics(),
  });

  expect(kernel.registry.stripRules.strippedBy('labels', 'notes.example.test/a')).toBeDefined();
  await kernel.close(1_000);
});
