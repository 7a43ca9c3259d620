import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  clusterId,
  definePlugin,
  token,
  type ReverserError,
  type ScopeName,
  type Token,
} from '@gitops-reverser/kernel-api';
import {
  aConfigMap,
  configMaps,
  fakeClock,
  fakeLogger,
  fakeMetrics,
  jsonLines,
  memorySource,
  simpleSanitizer,
} from '@gitops-reverser/kernel-testing';
import {
  PluginsBroken,
  openKernel,
  type BuiltInPlugin,
  type Kernel,
  type KernelRequest,
  type PluginEntry,
} from './index.js';

const FIXTURES = join(import.meta.dirname, '../fixtures/plugins');
const KERNEL_API = realpathSync(join(import.meta.dirname, '../../api'));

let from: string;
beforeAll(() => {
  from = realpathSync(mkdtempSync(join(tmpdir(), 'gitops-reverser-plugins-')));
  const modules = join(from, 'node_modules');
  mkdirSync(join(modules, '@gitops-reverser'), { recursive: true });
  symlinkSync(KERNEL_API, join(modules, '@gitops-reverser/kernel-api'), 'dir');
  for (const name of FIXTURE_NAMES)
    cpSync(join(FIXTURES, name), join(modules, `reverser-plugin-${name}`), { recursive: true });
});
afterAll(() => rmSync(from, { recursive: true, force: true }));

const FIXTURE_NAMES = [
  'double-life',
  'from-the-future',
  'misspelt',
  'needy',
  'never-ending',
  'next-major',
  'no-export',
  'not-a-plugin',
  'serving-nothing',
  'slow-start',
  'stamp',
  'stamp-again',
  'throwing-create',
  'throwing-import',
  'throwing-register',
] as const;
type FixtureName = (typeof FIXTURE_NAMES)[number];

const use = (name: FixtureName, more: Partial<PluginEntry> = {}): PluginEntry => ({
  use: `reverser-plugin-${name}`,
  ...more,
});
const targetKeys = token<unknown, 'target'>('target-keys', 'target');
const offer = (key: Token<unknown, ScopeName>): { readonly token: Token<unknown, ScopeName> } => ({ token: key });

function surroundings(): {
  readonly clock: ReturnType<typeof fakeClock>;
  readonly logger: ReturnType<typeof fakeLogger>;
  readonly metrics: ReturnType<typeof fakeMetrics>;
} {
  return { clock: fakeClock(), logger: fakeLogger(), metrics: fakeMetrics() };
}
const open = (
  entries: readonly PluginEntry[],
  around = surroundings(),
  more: Partial<KernelRequest> = {},
): Promise<Kernel> => openKernel({ entries, from, ...around, offers: [offer(targetKeys)], ...more });

/** Drives the clock until the promise settles: a limit has to pass. */
async function late<T>(promise: Promise<T>, clock: ReturnType<typeof fakeClock>): Promise<T> {
  let isDone = false;
  const done = promise.finally(() => (isDone = true));
  done.catch(() => undefined);
  while (!isDone) {
    // Importing is real I/O: it takes real time, not the clock's.
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (clock.sleeping > 0) await clock.advance(10_000);
  }
  return done;
}

async function problemsOf(opening: Promise<Kernel>): Promise<readonly ReverserError[]> {
  try {
    await opening;
  } catch (error) {
    if (error instanceof PluginsBroken) return error.problems;
    throw error;
  }
  throw new Error('expected the plugins to be refused');
}

describe('loadPlugins: a broken plugin ends in a clear error that names it and the remedy', () => {
  it.each([
    {
      what: 'a package that is not installed',
      entry: { use: '@acme/reverser-plugin-nowhere' },
      reason: 'PluginNotFound',
      says: ['@acme/reverser-plugin-nowhere', 'FROM', 'npm install --prefix FROM @acme/reverser-plugin-nowhere'],
    },
    {
      what: 'a path instead of a package',
      entry: { use: './my/plugin.js' },
      reason: 'PluginNotFound',
      says: ['./my/plugin.js', 'expected the name of an npm package'],
    },
    {
      what: 'a package that is no plugin',
      entry: use('not-a-plugin'),
      reason: 'PluginManifestInvalid',
      says: ['not-a-plugin', 'package.json', 'no gitopsReverser block', 'Expected a block such as'],
    },
    {
      what: 'a manifest with every mistake at once',
      entry: use('misspelt'),
      reason: 'PluginManifestInvalid',
      says: [
        'kernelAPI is unknown; did you mean kernelApi?',
        'found "Miss Spelt"',
        'expected ^MAJOR.MINOR, found "latest"',
        '"sanitiser" is none of source',
      ],
    },
    {
      what: 'a minor above ours',
      entry: use('from-the-future'),
      reason: 'PluginApiMismatch',
      says: ['from-the-future', 'asks for kernel API ^1.99', 'offers 1.0', 'upgrade the operator'],
    },
    {
      what: 'another major',
      entry: use('next-major'),
      reason: 'PluginApiMismatch',
      says: ['next-major', '^2.0', 'upgrade the operator'],
    },
    {
      what: 'no plugin exported',
      entry: use('no-export'),
      reason: 'PluginManifestInvalid',
      says: ['no-export', 'an export named plugin', 'export const plugin = definePlugin'],
    },
    {
      what: 'a manifest that says something else than the code',
      entry: use('double-life'),
      reason: 'PluginManifestInvalid',
      says: [
        'double-life',
        'id is double-life in the manifest and other-life in the code',
        'points is attributor in the manifest and sanitizer in the code',
      ],
    },
    {
      what: 'an import that throws',
      entry: use('throwing-import'),
      reason: 'PluginStartFailed',
      says: ['throwing-import', 'a dependency is missing'],
    },
    {
      what: 'a declaration that throws',
      entry: use('throwing-register'),
      reason: 'PluginStartFailed',
      says: ['throwing-register', 'declared too much', 'only declares'],
    },
    {
      what: 'a source that nothing can select',
      entry: use('serving-nothing'),
      reason: 'PluginManifestInvalid',
      says: ['serving-nothing', 'serves nothing'],
    },
    {
      what: 'options it does not know and values it does not take',
      entry: use('stamp', { options: { lable: 'x', count: 10, label: 3 } }),
      reason: 'PluginOptionsInvalid',
      says: [
        'stamp',
        'options.lable: unknown option; did you mean label?',
        'options.count: expected 1..9, found 10',
        'options.label: expected a string, found a number',
      ],
    },
    {
      what: 'needs that nobody provides, or that its scope cannot see',
      entry: use('needy'),
      reason: 'PluginNeedsMissing',
      says: [
        'needy',
        'attributor needs moon of the cluster scope, which nobody provides',
        'sanitizer needs target-keys of the target scope, which a cluster cannot see',
      ],
    },
    {
      what: '`continue` for a sanitizer',
      entry: use('stamp', { whenBroken: 'continue' }),
      reason: 'PluginOptionsInvalid',
      says: ['stamp', 'whenBroken: expected stop', 'offers a sanitizer'],
    },
  ] satisfies readonly { what: string; entry: PluginEntry; reason: string; says: readonly string[] }[])(
    '$what: $reason',
    async ({ entry, reason, says }) => {
      const problems = await problemsOf(open([entry]));

      expect(problems.map((problem) => problem.reason)).toEqual([reason]);
      for (const text of says) expect(problems[0]?.message).toContain(text.replaceAll('FROM', from));
    },
  );

  it('runs no code of a plugin made for another kernel', async () => {
    await problemsOf(open([use('from-the-future'), use('next-major')]));

    expect('fromTheFutureRan' in globalThis).toBe(false);
  });

  it('a top-level await that never ends: PluginStartTimeout after 30 s', async () => {
    const around = surroundings();

    const problems = await late(problemsOf(open([use('never-ending')], around)), around.clock);

    expect(problems.map(({ reason }) => reason)).toEqual(['PluginStartTimeout']);
    expect(problems[0]?.message).toMatch(
      /reverser-plugin-never-ending: importing it did not end within 30 s.*start\(\)/,
    );
    expect(around.clock.sleeping).toBe(0);
  });

  it('reports all problems of all plugins together', async () => {
    const opening = open([
      { use: 'nowhere' },
      use('from-the-future'),
      use('stamp', { options: { count: 0 } }),
      use('stamp-again'),
      use('throwing-import'),
    ]);

    const problems = await problemsOf(opening);

    expect(problems.map(({ reason }) => reason)).toEqual([
      'PluginNotFound',
      'PluginApiMismatch',
      'PluginOptionsInvalid',
      'PluginStartFailed',
    ]);
    await expect(opening).rejects.toMatchObject({
      reason: 'PluginsBroken',
      message: expect.stringContaining('plugins: 4 problems') as string,
    });
  });

  it('two packages with one id: PluginDuplicate names both', async () => {
    const problems = await problemsOf(open([use('stamp'), use('stamp-again')]));

    expect(problems.map(({ reason, message }) => [reason, message])).toEqual([
      [
        'PluginDuplicate',
        'reverser-plugin-stamp and reverser-plugin-stamp-again both are the id stamp; remove one of them from the configuration',
      ],
    ]);
  });

  it('one package named twice: PluginDuplicate', async () => {
    const [problem] = await problemsOf(open([use('stamp'), use('stamp')]));

    expect([problem?.reason, problem?.message]).toEqual([
      'PluginDuplicate',
      'reverser-plugin-stamp is the id stamp twice; configure it once',
    ]);
  });

  it('two plugins that serve one value: PluginDuplicate', async () => {
    const rival = definePlugin({ id: 'rival', kernelApi: '^1.0', options: {} }, (on) => {
      on.source({ serves: ['memory'], needs: {}, create: () => ({ surface: nothing, follow: nothing }) });
    });
    const builtIn: Record<string, BuiltInPlugin> = {
      a: { plugin: memorySource, manifest: { id: 'memory-source', kernelApi: '^1.0', points: ['source'] } },
      b: { plugin: rival, manifest: { id: 'rival', kernelApi: '^1.0', points: ['source'] } },
    };
    const [problem] = await problemsOf(
      open([{ use: 'a' }, { use: 'b' }], surroundings(), {
        builtIn,
        offers: [offer(token('memory-cluster', 'cluster'))],
      }),
    );

    expect([problem?.reason, problem?.message]).toEqual([
      'PluginDuplicate',
      'a and b both are the source of memory; remove one of them from the configuration',
    ]);
  });

  it('a create that throws: PluginStartFailed with the plugin, the place and the last thing it logged', async () => {
    const kernel = await open([use('throwing-create')]);

    const opening = kernel.scopes.open({ scope: 'cluster', id: 'prod', given: [], leases: [] });

    await expect(opening).rejects.toMatchObject({
      reason: 'PluginStartFailed',
      message:
        'plugin throwing-create (reverser-plugin-throwing-create): creating its attributor in cluster prod failed: the moon is not there; the last thing it logged: looking for the moon',
    });
  });

  it('a start that never ends: PluginStartTimeout after 30 s, and the scope is given up', async () => {
    const around = surroundings();
    const kernel = await open([use('slow-start')], around);

    const opening = late(kernel.scopes.open({ scope: 'cluster', id: 'prod', given: [], leases: [] }), around.clock);

    await expect(opening).rejects.toMatchObject({
      reason: 'PluginStartTimeout',
      retry: 'backoff',
      message: expect.stringMatching(
        /plugin slow-start .*cluster prod did not end within 30 s; the last thing it logged: dialling the audit log/,
      ) as string,
    });
    expect(around.clock.sleeping).toBe(0);
  });
});

describe('loadPlugins: whenBroken continue', () => {
  it('goes on without it, says so at once and keeps saying it', async () => {
    const around = surroundings();
    const entries = [
      use('stamp'),
      use('from-the-future', { whenBroken: 'continue' }),
      { use: '@acme/nowhere', whenBroken: 'continue' } as const,
    ];

    const kernel = await open(entries, around);

    expect(around.metrics.samples('plugin_up')).toEqual([
      { labels: { plugin: 'stamp' }, value: 1 },
      { labels: { plugin: 'from-the-future' }, value: 0 },
      { labels: { plugin: '@acme/nowhere' }, value: 0 },
    ]);
    expect(
      around.logger
        .said('plugin broken, continuing without it')
        .map(({ level, fields }) => [level, fields['plugin'], fields['reason']]),
    ).toEqual([
      ['error', 'from-the-future', 'PluginApiMismatch'],
      ['error', '@acme/nowhere', 'PluginNotFound'],
    ]);
    expect(kernel.health()).toMatchObject({
      isReady: true,
      plugins: [
        { isUp: true },
        { isUp: false, reason: 'PluginApiMismatch' },
        { isUp: false, reason: 'PluginNotFound' },
      ],
    });
  });

  it('is void for a plugin that offers a sanitizer, whatever else is wrong with it', async () => {
    const problems = await problemsOf(open([use('stamp', { whenBroken: 'continue', options: { count: 0 } })]));

    expect(problems.map(({ message }) => message.split(':')[1]?.trim())).toEqual(['whenBroken', 'options.count']);
  });

  it('PL-4: an object that needs it waits with PluginUnavailable, which names the broken package', async () => {
    const kernel = await open([use('from-the-future', { whenBroken: 'continue' })], surroundings(), {
      usualPackage: (_point, value) => `@gitops-reverser/plugin-${value}`,
    });

    const opening = kernel.scopes.open({
      scope: 'branch',
      id: 'demo/main',
      given: [],
      leases: [],
      serving: { applier: 'some-tool' },
    });

    await expect(opening).rejects.toMatchObject({
      reason: 'PluginUnavailable',
      message:
        'branch demo/main: no loaded plugin serves some-tool (applier); loaded: none; broken: reverser-plugin-from-the-future (PluginApiMismatch); it usually comes with @gitops-reverser/plugin-some-tool: add that to plugins in the configuration',
    });
  });
});

describe('loadPlugins: what works', () => {
  it('loads a package installed beside the configuration, and its sanitizer acts with its options', async () => {
    const kernel = await open([use('stamp', { options: { label: 'seen' } })]);
    const scope = await kernel.scopes.open({ scope: 'cluster', id: clusterId('prod'), given: [], leases: [] });

    const [placed] = scope.instances('sanitizer');
    const sanitized = placed?.instance.sanitize(aConfigMap('app'), configMaps, { include: [], exclude: [] });

    expect(placed?.plugin).toBe('stamp');
    expect(sanitized).toMatchObject({ kind: 'keep', object: { metadata: { name: 'app', labels: { seen: 'yes' } } } });
  });

  it('takes what is built in without looking for it, in the order of the configuration', async () => {
    const around = surroundings();
    const builtIn: Record<string, BuiltInPlugin> = {
      '@gitops-reverser/plugin-simple': {
        plugin: simpleSanitizer,
        manifest: { id: 'simple-sanitizer', kernelApi: '^1.0', points: ['sanitizer'] },
        version: '9.9.9',
      },
      '@gitops-reverser/plugin-json-lines': {
        plugin: jsonLines,
        manifest: { id: 'json-lines', kernelApi: '^1.0', points: ['layout', 'writer'] },
      },
    };

    const kernel = await open(
      [use('stamp'), { use: '@gitops-reverser/plugin-simple' }, { use: '@gitops-reverser/plugin-json-lines' }],
      around,
      { builtIn },
    );

    expect(kernel.registry.plugins.map(({ id, version }) => [id, version])).toEqual([
      ['stamp', '1.2.3'],
      ['simple-sanitizer', '9.9.9'],
      ['json-lines', ''],
    ]);
    // `stamp` asked to be last; the configuration names it first.
    expect(
      around.logger.said('plugin loaded').map(({ fields }) => [fields['plugin'], fields['points'], fields['order']]),
    ).toEqual([
      ['stamp', ['sanitizer'], { sanitizer: '2 of 2' }],
      ['simple-sanitizer', ['sanitizer'], { sanitizer: '1 of 2' }],
      ['json-lines', ['layout', 'writer'], { layout: '1 of 1', writer: '1 of 1' }],
    ]);
  });

  it('loads nothing that is not named, and freezes what it decided', async () => {
    const kernel = await open([use('stamp')]);

    expect(kernel.registry.plugins.length).toBe(1);
    expect(
      [kernel.registry, kernel.registry.plugins, kernel.registry.plugins[0], kernel.registry.plugins[0]?.options].map(
        (value) => Object.isFrozen(value),
      ),
    ).toEqual([true, true, true, true]);
  });
});

async function* nothing(): AsyncIterable<never> {
  // Nothing to tell.
}
