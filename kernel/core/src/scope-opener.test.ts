import {
  definePlugin,
  option,
  provide,
  token,
  type Contribution,
  type OpenScope,
  type Plugin,
  type PointName,
  type ReverserError,
  type Sanitizer,
  type Source,
} from '@gitops-reverser/kernel-api';
import { fakeClock, fakeLogger, fakeMetrics, type FakeClock, type FakeLogger } from '@gitops-reverser/kernel-testing';
import { openKernel, type BuiltInPlugin, type Kernel } from './index.js';

const connection = token<string, 'cluster'>('connection', 'cluster');
const store = token<string, 'branch'>('store', 'branch');
const keys = token<string, 'target'>('keys', 'target');
const offers = [{ token: connection }, { token: store }, { token: keys }];

interface Bench {
  readonly kernel: Kernel;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
}

async function bench(...plugins: readonly Plugin[]): Promise<Bench> {
  const around = { clock: fakeClock(), logger: fakeLogger(), metrics: fakeMetrics() };
  const builtIn = Object.fromEntries(
    plugins.map((plugin): [string, BuiltInPlugin] => [
      plugin.id,
      {
        plugin,
        manifest: {
          id: plugin.id,
          kernelApi: plugin.kernelApi,
          points: [...new Set(plugin.contributions().map(({ point }) => point))],
        },
      },
    ]),
  );
  const kernel = await openKernel({
    entries: plugins.map(({ id }) => ({ use: id })),
    from: '/nowhere',
    builtIn,
    offers,
    ...around,
  });
  return { kernel, clock: around.clock, logger: around.logger };
}

const keepAll: Sanitizer = { sanitize: (object) => ({ kind: 'keep', object }) };
const silent: Source = {
  async *surface() {
    // Nothing to tell.
  },
  async *follow() {
    // Nothing to tell.
  },
};

/** A plugin with one sanitizer that writes down what happens to it. */
function diarist(id: string, diary: string[], order?: Contribution<PointName, unknown, unknown>['order']): Plugin {
  return definePlugin({ id, kernelApi: '^1.0', options: {} }, (on) => {
    on.sanitizer({
      ...(order === undefined ? {} : { order }),
      needs: {},
      create: () => {
        diary.push(`${id} created`);
        return {
          ...keepAll,
          start: () => Promise.resolve(void diary.push(`${id} started`)),
          [Symbol.asyncDispose]: () => Promise.resolve(void diary.push(`${id} disposed`)),
        };
      },
    });
  });
}

/** A plugin with a writer that writes down what happens to it. */
function targetDiarist(id: string, diary: string[]): Plugin {
  return definePlugin({ id, kernelApi: '^1.0', options: {} }, (on) => {
    on.writer({
      needs: { connection, store, keys },
      create: ({ needs }) => ({
        encrypts: false,
        accepts: () => false,
        render: () => Promise.reject(new Error('never asked')),
        start: () => Promise.resolve(void diary.push(`${id} started with ${Object.values(needs).join(', ')}`)),
        [Symbol.asyncDispose]: () => Promise.resolve(void diary.push(`${id} disposed`)),
      }),
    });
  });
}

const cluster = (kernel: Kernel, id = 'prod', serving: Record<string, string> = {}): Promise<OpenScope> =>
  kernel.scopes.open({
    scope: 'cluster',
    id,
    given: [provide(connection, `connection of ${id}`)],
    leases: [],
    serving,
  });
const branch = (kernel: Kernel, id = 'demo/main'): Promise<OpenScope> =>
  kernel.scopes.open({ scope: 'branch', id, given: [provide(store, `store of ${id}`)], leases: [] });
const target = (kernel: Kernel, leases: readonly OpenScope[], id = 'demo/app'): Promise<OpenScope> =>
  kernel.scopes.open({ scope: 'target', id, given: [provide(keys, `keys of ${id}`)], leases });
const errorOf = async (promise: Promise<unknown>): Promise<ReverserError & AggregateError> => {
  try {
    await promise;
  } catch (error) {
    return error as ReverserError & AggregateError;
  }
  throw new Error('expected an error');
};

describe('the order of instances', () => {
  it('is bucket, then configuration; starts follow creation, disposal reverses it', async () => {
    const diary: string[] = [];
    const { kernel } = await bench(
      diarist('late', diary, 'last'),
      diarist('plain-one', diary),
      diarist('early', diary, 'first'),
      diarist('plain-two', diary),
    );
    const scope = await cluster(kernel);

    const order = scope.instances('sanitizer').map(({ plugin }) => plugin);
    await scope.close();

    const inOrder = ['early', 'plain-one', 'plain-two', 'late'];
    expect(order).toEqual(inOrder);
    expect(diary).toEqual([
      ...inOrder.map((id) => `${id} created`),
      ...inOrder.map((id) => `${id} started`),
      ...[...inOrder].reverse().map((id) => `${id} disposed`),
    ]);
  });

  it('two contributions of one plugin keep their own order', async () => {
    const twice = definePlugin({ id: 'twice', kernelApi: '^1.0', options: {} }, (on) => {
      for (const name of ['one', 'two'])
        on.sanitizer({
          needs: {},
          create: () => ({ ...keepAll, health: () => ({ state: 'ok', reason: name, message: '' }) }),
        });
    });
    const { kernel } = await bench(twice);
    await cluster(kernel);

    expect(kernel.health().instances.map(({ scope, plugin, reason }) => [scope, plugin, reason])).toEqual([
      ['cluster prod', 'twice', 'one'],
      ['cluster prod', 'twice', 'two'],
    ]);
  });

  it('every scope has instances of its own', async () => {
    const diary: string[] = [];
    const { kernel } = await bench(diarist('each', diary));
    const [a, b] = [await cluster(kernel, 'a'), await cluster(kernel, 'b')];

    expect(a.instances('sanitizer')[0]?.instance).not.toBe(b.instances('sanitizer')[0]?.instance);
    expect(diary).toEqual(['each created', 'each started', 'each created', 'each started']);
  });
});

describe('leases', () => {
  it('a target sees the values and the instances of its cluster and branch', async () => {
    const diary: string[] = [];
    const { kernel } = await bench(diarist('sanitizer', diary), targetDiarist('writer', diary));
    const [lender, other] = [await cluster(kernel), await branch(kernel)];

    const holder = await target(kernel, [lender, other]);

    expect(diary.at(-1)).toBe('writer started with connection of prod, store of demo/main, keys of demo/app');
    expect(holder.instances('sanitizer')[0]?.instance).toBe(lender.instances('sanitizer')[0]?.instance);
    expect(diary.filter((line) => line === 'sanitizer created').length).toBe(1);
  });

  it('a lender closes its holders first, then itself', async () => {
    const diary: string[] = [];
    const { kernel } = await bench(diarist('sanitizer', diary), targetDiarist('writer', diary));
    const lender = await cluster(kernel);
    const other = await branch(kernel);
    const holders = [await target(kernel, [lender, other], 'demo/a'), await target(kernel, [lender, other], 'demo/b')];
    diary.length = 0;

    await lender.close();

    expect(diary).toEqual(['writer disposed', 'writer disposed', 'sanitizer disposed']);
    expect(holders.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(other.signal.aborted).toBe(false);
  });

  it('a holder that closed before is not closed again', async () => {
    const diary: string[] = [];
    const { kernel } = await bench(targetDiarist('writer', diary));
    const lender = await cluster(kernel);
    const holder = await target(kernel, [lender, await branch(kernel)]);
    await holder.close();

    await lender.close();

    expect(diary.filter((line) => line === 'writer disposed').length).toBe(1);
  });

  it('a lease on what is closed is refused: ScopeClosed asks to try again', async () => {
    const { kernel } = await bench(targetDiarist('writer', []));
    const lender = await cluster(kernel);
    await lender.close();

    const error = await errorOf(target(kernel, [lender, await branch(kernel)]));

    expect([error.reason, error.retry]).toEqual(['ScopeClosed', 'backoff']);
    expect(error.message).toContain('target demo/app cannot be opened: cluster prod, which it would use, is closing');
  });

  it('a lender that closes while a holder is being opened takes it along', async () => {
    const started: string[] = [];
    const slow = definePlugin({ id: 'slow', kernelApi: '^1.0', options: {} }, (on) => {
      on.writer({
        needs: {},
        create: () => ({
          encrypts: false,
          accepts: () => false,
          render: () => Promise.reject(new Error('never asked')),
          start: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
          [Symbol.asyncDispose]: () => Promise.resolve(void started.push('disposed')),
        }),
      });
    });
    const { kernel, clock } = await bench(slow);
    const lender = await cluster(kernel);
    const opening = errorOf(target(kernel, [lender]));
    await clock.settle();

    await lender.close();

    expect([(await opening).reason, started]).toEqual(['ScopeClosed', ['disposed']]);
  });

  it('a value that the owner forgot: PluginNeedsMissing names plugin, value and scope', async () => {
    const { kernel } = await bench(targetDiarist('writer', []));

    const error = await errorOf(target(kernel, [await cluster(kernel)]));

    expect([error.reason, error.message]).toEqual([
      'PluginNeedsMissing',
      'plugin writer (writer): its writer in target demo/app needs store of the branch scope, which this scope was neither given nor leased',
    ]);
  });
});

describe('what is opened for what', () => {
  const serving = (id: string, dialect: string): Plugin =>
    definePlugin({ id, kernelApi: '^1.0', options: {} }, (on) => {
      on.source({ serves: [dialect], needs: {}, create: () => silent });
    });

  it('creates only the source that serves the dialect', async () => {
    const { kernel } = await bench(serving('one', 'kubernetes'), serving('two', 'other'), diarist('sanitizer', []));

    const scope = await cluster(kernel, 'prod', { source: 'other' });

    expect(scope.instances('source').map(({ plugin, serves }) => [plugin, serves])).toEqual([['two', ['other']]]);
    expect(scope.instances('sanitizer').length).toBe(1);
  });

  it('PL-4: PluginUnavailable names the value, what is loaded and what to do', async () => {
    const { kernel } = await bench(serving('one', 'kubernetes'), serving('two', 'other'));

    const error = await errorOf(cluster(kernel, 'prod', { source: 'kcp' }));

    expect([error.reason, error.retry, error.message]).toEqual([
      'PluginUnavailable',
      'when-changed',
      'cluster prod: no loaded plugin serves kcp (source); loaded: kubernetes, other; add the package that serves it to plugins in the configuration',
    ]);
  });

  it('creates a writer that serves something only where that is asked for', async () => {
    const writer = (id: string, serves?: readonly string[]): Plugin =>
      definePlugin({ id, kernelApi: '^1.0', options: {} }, (on) => {
        on.writer({
          ...(serves === undefined ? {} : { serves }),
          needs: {},
          create: () => ({
            encrypts: serves !== undefined,
            accepts: () => true,
            render: () => Promise.reject(new Error()),
          }),
        });
      });
    const { kernel } = await bench(writer('sealing', ['seal']), writer('plain'));
    const open = async (id: string, serving: Record<string, string>): Promise<readonly string[]> =>
      (await kernel.scopes.open({ scope: 'target', id, given: [], leases: [], serving }))
        .instances('writer')
        .map(({ plugin }) => plugin);

    expect([await open('a', {}), await open('b', { writer: 'seal' })]).toEqual([['plain'], ['sealing', 'plain']]);
  });

  it('one name twice at a time is a mistake, one after the other is not', async () => {
    const { kernel } = await bench(diarist('sanitizer', []));
    const first = await cluster(kernel);

    await expect(cluster(kernel)).rejects.toThrow('cluster prod is open already');
    await first.close();

    await expect(cluster(kernel)).resolves.toBeDefined();
  });

  it('hands options over parsed, and values of the process', async () => {
    let seen: unknown;
    const plugin = definePlugin(
      {
        id: 'seeing',
        kernelApi: '^1.0',
        options: { waitMs: option.duration({ default: '3s', max: '1m', doc: 'How long it waits for something.' }) },
      },
      (on) => {
        on.sanitizer({
          needs: { connection },
          create: ({ options, needs, signal }) => {
            seen = {
              options,
              needs: { ...needs },
              isFrozen: Object.isFrozen(options) && Object.isFrozen(needs),
              aborted: signal.aborted,
            };
            return keepAll;
          },
        });
      },
    );
    const { kernel } = await bench(plugin);
    await cluster(kernel);

    expect(seen).toEqual({
      options: { waitMs: 3_000 },
      needs: { connection: 'connection of prod' },
      isFrozen: true,
      aborted: false,
    });
  });
});

describe('failures', () => {
  const failing = (id: string, diary: string[], where: 'create' | 'start' | 'dispose' | 'promise'): Plugin =>
    definePlugin({ id, kernelApi: '^1.0', options: {} }, (on) => {
      on.sanitizer({
        needs: {},
        create: () => {
          if (where === 'create') throw new Error(`${id} cannot be created`);
          if (where === 'promise') return Promise.resolve(keepAll) as unknown as Sanitizer;
          return {
            ...keepAll,
            start: () => (where === 'start' ? Promise.reject(new Error(`${id} cannot start`)) : Promise.resolve()),
            [Symbol.asyncDispose]: () => {
              diary.push(`${id} disposed`);
              return where === 'dispose' ? Promise.reject(new Error(`${id} cannot stop`)) : Promise.resolve();
            },
          };
        },
      });
    });

  it.each([
    {
      where: 'create',
      says: 'creating its sanitizer in cluster prod failed: bad cannot be created; it had logged nothing',
    },
    { where: 'start', says: 'starting its sanitizer in cluster prod failed: bad cannot start; it had logged nothing' },
    {
      where: 'promise',
      says: 'creating its sanitizer in cluster prod failed: create returned a promise; it is synchronous',
    },
  ] as const)(
    '$where: PluginStartFailed names the plugin, and what was made before is disposed',
    async ({ where, says }) => {
      const diary: string[] = [];
      const { kernel } = await bench(diarist('good', diary), failing('bad', [], where));

      const error = await errorOf(cluster(kernel));

      expect([error.reason, error.message]).toEqual([
        'PluginStartFailed',
        expect.stringContaining(`plugin bad (bad): ${says}`),
      ]);
      expect(diary.at(-1)).toBe('good disposed');
      await expect(cluster(kernel).catch((again: unknown) => (again as ReverserError).reason)).resolves.toBe(
        'PluginStartFailed',
      );
    },
  );

  it('disposal: everything is disposed, and failures come as one AggregateError that names the plugins', async () => {
    const diary: string[] = [];
    const { kernel } = await bench(
      failing('one', diary, 'dispose'),
      diarist('good', diary),
      failing('two', diary, 'dispose'),
    );
    const scope = await cluster(kernel);

    const error = await errorOf(scope.close());

    expect(error).toBeInstanceOf(AggregateError);
    expect(error.errors.map((each: Error) => each.message)).toEqual([
      'disposing the sanitizer of plugin two in cluster prod failed: two cannot stop',
      'disposing the sanitizer of plugin one in cluster prod failed: one cannot stop',
    ]);
    expect(diary.filter((line) => line.endsWith('disposed'))).toEqual([
      'two disposed',
      'good disposed',
      'one disposed',
    ]);
  });

  it('a health check that throws is down, and harms nobody', async () => {
    const plugin = definePlugin({ id: 'unwell', kernelApi: '^1.0', options: {} }, (on) => {
      on.sanitizer({
        needs: {},
        create: () => ({
          ...keepAll,
          health: () => {
            throw new Error('no pulse');
          },
        }),
      });
    });
    const { kernel } = await bench(plugin);
    await cluster(kernel);

    expect(kernel.health()).toMatchObject({
      isReady: true,
      instances: [{ plugin: 'unwell', state: 'down', message: 'no pulse' }],
    });
  });
});

describe('loops', () => {
  it('closing aborts first, waits for every loop, and only then disposes', async () => {
    const diary: string[] = [];
    const { kernel, clock } = await bench(diarist('sanitizer', diary));
    const scope = await cluster(kernel);
    diary.length = 0;
    scope.run('counting', async (signal) => {
      while (!signal.aborted) await clock.sleep(1_000, signal);
      diary.push('loop aborted');
      await clock.sleep(500, new AbortController().signal);
      diary.push('loop ended');
    });

    const closed = scope.close();
    await clock.advance(499);
    expect(diary).toEqual(['loop aborted']);
    await clock.advance(1);
    await closed;

    expect(diary).toEqual(['loop aborted', 'loop ended', 'sanitizer disposed']);
  });

  it('a loop that fails is logged with its name, and the scope lives on', async () => {
    const { kernel, clock, logger } = await bench(diarist('sanitizer', []));
    const scope = await cluster(kernel);

    scope.run('counting', () => Promise.reject(new Error('lost count')));
    await clock.settle();

    expect(
      logger
        .said('a loop ended with a fault')
        .map(({ level, fields }) => [level, fields['scope'], fields['loop'], (fields['err'] as Error).message]),
    ).toEqual([['error', 'cluster prod', 'counting', 'lost count']]);
    expect(scope.signal.aborted).toBe(false);
  });

  it('a loop that ends by the abort is no fault', async () => {
    const { kernel, logger } = await bench(diarist('sanitizer', []));
    const scope = await cluster(kernel);
    scope.run(
      'waiting',
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );

    await scope.close();

    expect(logger.said('a loop ended with a fault')).toEqual([]);
  });

  it('no loop starts in a closed scope', async () => {
    const { kernel } = await bench(diarist('sanitizer', []));
    const scope = await cluster(kernel);
    await scope.close();

    expect(() => scope.run('late', () => Promise.resolve())).toThrow('cluster prod is closed; late cannot run in it');
  });

  it('closing twice is closing once', async () => {
    const diary: string[] = [];
    const { kernel } = await bench(diarist('sanitizer', diary));
    const scope = await cluster(kernel);

    await Promise.all([scope.close(), scope.close()]);
    await scope.close();

    expect(diary.filter((line) => line === 'sanitizer disposed').length).toBe(1);
  });
});

describe('closing the kernel', () => {
  it('follows the river: steps in order, clusters with their targets, branches, then one last line', async () => {
    const diary: string[] = [];
    const { kernel, logger } = await bench(diarist('sanitizer', diary), targetDiarist('writer', diary));
    const [lender, other] = [await cluster(kernel), await branch(kernel)];
    await target(kernel, [lender, other]);
    other.run(
      'publishing',
      (signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(void diary.push('branch aborted')))),
    );
    kernel.process.run(
      'serving',
      (signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(void diary.push('process aborted')))),
    );
    diary.length = 0;
    kernel.beforeClose('inlets', () => Promise.resolve(void diary.push('inlets closed')));
    kernel.beforeClose('publish', () => Promise.resolve(void diary.push('published')));

    await kernel.close(25_000);

    expect(diary).toEqual([
      'inlets closed',
      'published',
      'writer disposed',
      'sanitizer disposed',
      'branch aborted',
      'process aborted',
    ]);
    expect(logger.lines.at(-1)).toMatchObject({ level: 'info', message: 'stopped' });
    expect(kernel.health()).toMatchObject({ isReady: false, reason: 'Stopping' });
  });

  it('opens nothing any more', async () => {
    const { kernel } = await bench(diarist('sanitizer', []));
    await kernel.close(1_000);

    expect((await errorOf(cluster(kernel))).reason).toBe('ScopeClosed');
  });

  it('a step that fails stops nobody', async () => {
    const diary: string[] = [];
    const { kernel, logger } = await bench(diarist('sanitizer', diary));
    await cluster(kernel);
    kernel.beforeClose('publish', () => Promise.reject(new Error('no network')));

    await kernel.close(1_000);

    expect(diary.at(-1)).toBe('sanitizer disposed');
    expect(logger.said('a step of stopping failed').map(({ fields }) => fields['step'])).toEqual(['publish']);
  });

  it('names what remains when the budget is over: a step', async () => {
    const { kernel, clock, logger } = await bench(diarist('sanitizer', []));
    await cluster(kernel);
    let told = false;
    kernel.beforeClose('publish', (signal) => new Promise(() => signal.addEventListener('abort', () => (told = true))));

    const closed = kernel.close(25_000);
    await clock.advance(25_000);
    await closed;

    expect(logger.lines.at(-1)).toMatchObject({
      level: 'error',
      message: 'stopped before everything had ended',
      fields: { durationMs: 25_000, remaining: ['publish', 'cluster prod'] },
    });
    expect(told).toBe(true);
  });

  it('names what remains when the budget is over: a loop and a disposal', async () => {
    const stuck = definePlugin({ id: 'stuck', kernelApi: '^1.0', options: {} }, (on) => {
      on.sanitizer({
        needs: {},
        create: () => ({ ...keepAll, [Symbol.asyncDispose]: () => new Promise<void>(() => undefined) }),
      });
    });
    const { kernel, clock, logger } = await bench(stuck);
    await cluster(kernel, 'a');
    (await cluster(kernel, 'b')).run('deaf', () => new Promise(() => undefined));

    const closed = kernel.close(1_000);
    await clock.advance(1_000);
    await closed;

    expect(logger.lines.at(-1)?.fields['remaining']).toEqual([
      'cluster a: disposing the sanitizer of plugin stuck',
      'cluster b: loop deaf',
    ]);
    expect(clock.sleeping).toBe(0);
  });
});
