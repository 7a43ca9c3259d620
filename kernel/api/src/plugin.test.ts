import { definePlugin, isPlugin, type Plugin } from './plugin.js';
import { option } from './options.js';
import type { Applier, Attributor, Layout, Sanitizer, Source, Writer } from './points.js';
import { clock, logger, provide, targetSettings, token } from './tokens.js';
import type { Clock, Logger } from './ports.js';
import type { TargetSettings } from './runtime.js';

const connection = token<{ readonly url: string }, 'cluster'>('connection', 'cluster');
const store = token<{ readonly branch: string }, 'branch'>('store', 'branch');
const keys = token<readonly string[], 'target'>('keys', 'target');

const never = <T>(): T => {
  throw new Error('declared, not created');
};
const expectType = <T>(value: T): T => value;

describe('definePlugin', () => {
  it('records what the callback declares, and creates nothing', () => {
    const plugin = definePlugin(
      { id: 'sample', kernelApi: '^1.0', options: {}, reasons: { Why: 'because of this; do that' } },
      (on) => {
        on.source({ serves: ['kubernetes'], needs: { connection }, create: () => never<Source>() });
        on.writer({ order: 'first', needs: { clock, keys }, create: () => never<Writer>() });
      },
    );

    expect(isPlugin(plugin)).toBe(true);
    expect({
      ...plugin,
      contributions: plugin.contributions().map(({ create: _create, ...rest }) => rest),
    }).toMatchObject({
      id: 'sample',
      kernelApi: '^1.0',
      reasons: { Why: 'because of this; do that' },
      contributions: [
        {
          point: 'source',
          serves: ['kubernetes'],
          order: 'normal',
          needs: { connection: { name: 'connection', scope: 'cluster' } },
        },
        { point: 'writer', serves: [], order: 'first', needs: { clock, keys } },
      ],
    });
  });

  it('tells refusals in detail, and as reasons like any other', () => {
    const meaning = { level: 'object', cause: 'Because of this', remedy: 'do that' } as const;
    const { reasons, refusals } = definePlugin(
      {
        ...{ id: 'sample', kernelApi: '^1.0', options: {} },
        reasons: { Why: 'it is so; wait' },
        refusals: { 'no-way': meaning },
      },
      () => undefined,
    );

    expect(reasons).toEqual({ Why: 'it is so; wait', 'no-way': 'Because of this; do that' });
    expect(refusals).toEqual({ 'no-way': meaning });
  });

  it('declares the same however often it is asked', () => {
    let runs = 0;
    const plugin = definePlugin({ id: 'sample', kernelApi: '^1.0', options: {} }, (on) => {
      runs += 1;
      on.attributor({ needs: {}, create: () => never<Attributor>() });
    });

    expect([plugin.contributions().length, plugin.contributions().length, runs]).toEqual([1, 1, 2]);
  });

  it('hands create what it was given, and returns what it makes', () => {
    const made: Sanitizer = { sanitize: (object) => ({ kind: 'keep', object }) };
    let given: unknown;
    const plugin = definePlugin(
      {
        id: 'sample',
        kernelApi: '^1.0',
        options: { size: option.integer({ default: 1, min: 0, max: 9, doc: 'A size.' }) },
      },
      (on) => {
        on.sanitizer({
          needs: { connection },
          create: (all) => {
            given = all;
            return made;
          },
        });
      },
    );
    const handed = {
      options: { size: 7 },
      needs: { connection: { url: 'https://example.test' } },
      signal: new AbortController().signal,
    };

    const [contribution] = plugin.contributions();

    expect([contribution?.create(handed), given]).toEqual([made, handed]);
  });

  it.each([[undefined], [null], ['plugin'], [{ id: 'x', contributions: () => [] }]])(
    'takes %j for no plugin',
    (value) => {
      expect(isPlugin(value)).toBe(false);
    },
  );

  it('knows a plugin made by another copy of this package by its mark', () => {
    const foreign: unknown = { [Symbol.for('gitops-reverser.plugin')]: true, id: 'foreign' };

    expect(isPlugin(foreign)).toBe(true);
  });
});

describe('the types of definePlugin', () => {
  /** Compiled, not run: what matters is what the compiler refuses. */
  const declares = (plugin: Plugin): void => expect(isPlugin(plugin)).toBe(true);

  it('infers options and needs', () => {
    const options = {
      graceMs: option.duration({ default: '3s', max: '60s', doc: 'How long a change waits.' }),
      keys: option.list({ default: [], maxItems: 3, doc: 'Some words.' }),
    };
    declares(
      definePlugin({ id: 'sample', kernelApi: '^1.0', options }, (on) => {
        on.layout({
          needs: { clock, logger, connection, store, targetSettings, keys },
          create: ({ options: given, needs, signal }) => {
            expectType<number>(given.graceMs);
            expectType<readonly string[]>(given.keys);
            expectType<Clock>(needs.clock);
            expectType<Logger>(needs.logger);
            expectType<string>(needs.connection.url);
            expectType<string>(needs.store.branch);
            expectType<TargetSettings>(needs.targetSettings);
            expectType<readonly string[]>(needs.keys);
            expectType<AbortSignal>(signal);
            // @ts-expect-error an option that was not declared
            expectType<unknown>(given.nothing);
            // @ts-expect-error a need that was not declared
            expectType<unknown>(needs.metrics);
            // @ts-expect-error a duration is read into a number
            expectType<string>(given.graceMs);
            return never<Layout>();
          },
        });
      }),
    );
  });

  it('a contribution cannot need what its scope does not see', () => {
    declares(
      definePlugin({ id: 'sample', kernelApi: '^1.0', options: {} }, (on) => {
        // @ts-expect-error a cluster does not see a target's values
        on.sanitizer({ needs: { keys }, create: () => never<Sanitizer>() });
        // @ts-expect-error nor a branch's
        on.attributor({ needs: { store }, create: () => never<Attributor>() });
        // @ts-expect-error a branch does not see a cluster's values
        on.applier({ serves: ['SomeClaim'], needs: { connection }, create: () => never<Applier>() });
        // @ts-expect-error nor a target's
        on.applier({ serves: ['SomeClaim'], needs: { targetSettings }, create: () => never<Applier>() });
        on.source({ serves: ['some'], needs: { clock, connection }, create: () => never<Source>() });
        on.applier({ serves: ['SomeClaim'], needs: { clock, store }, create: () => never<Applier>() });
        on.writer({ needs: { clock, connection, store, keys }, create: () => never<Writer>() });
      }),
    );
  });

  it('create returns an instance of the point, at once', () => {
    declares(
      definePlugin({ id: 'sample', kernelApi: '^1.0', options: {} }, (on) => {
        // @ts-expect-error a writer is no sanitizer
        on.sanitizer({ needs: {}, create: () => never<Writer>() });
        // @ts-expect-error waiting belongs in start()
        on.writer({ needs: {}, create: () => never<Promise<Writer>>() });
        // @ts-expect-error there is no seventh point
        expect(() => on.publisher({ needs: {}, create: () => never() })).toThrow(TypeError);
      }),
    );
  });

  it('a value is provided for its own token, in its own scope', () => {
    expect(provide(connection, { url: 'https://example.test' }).token.scope).toBe('cluster');
    // @ts-expect-error not what the token stands for
    provide(connection, 'https://example.test');
    // @ts-expect-error `keys` is a value of a target
    expectType<readonly { readonly token: { readonly scope: 'cluster' } }[]>([provide(keys, [])]);
  });
});
