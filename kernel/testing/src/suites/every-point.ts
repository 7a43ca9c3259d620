import {
  KERNEL_API_VERSION,
  isPlugin,
  parseOptions,
  type AnyContribution,
  type Plugin,
  type PointName,
} from '@gitops-reverser/kernel-api';
import { withoutLeaks } from '../leak-guard.js';
import { normalizedTable, optionsTable } from '../options-table.js';
import { within } from '../waiting.js';
import { ReasonBook, contributionOf, create, type SuiteFacts, type Surroundings } from './instance.js';

/** What holds for a contribution to any point. Called inside the `describe` of a point's suite. */
export function everyPoint(
  plugin: Plugin,
  point: PointName,
  facts: SuiteFacts,
  open: () => Promise<Surroundings> | Surroundings,
): void {
  const over = async (act: (surroundings: Surroundings) => Promise<void>): Promise<void> => {
    await withoutLeaks(async () => {
      const surroundings = await open();
      try {
        await act(surroundings);
      } finally {
        await surroundings[Symbol.asyncDispose]?.();
      }
    });
  };
  const bounded = (promise: PromiseLike<void> | undefined, what: string): Promise<void> =>
    within(Promise.resolve(promise), what, 10_000);

  it('is declared with a mark, an id and a kernel API range', () => {
    expect(isPlugin(plugin)).toBe(true);
    expect(plugin.id).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
    expect(plugin.id.length).toBeLessThanOrEqual(63);
    expect(plugin.kernelApi).toMatch(new RegExp(`^\\^${KERNEL_API_VERSION.split('.')[0]}\\.\\d+(\\.\\d+)?$`));
  });

  it('only declares: the same declaration every time, and nothing is opened by it', async () => {
    await withoutLeaks(async () => {
      const [first, second] = [plugin.contributions(), plugin.contributions()];

      expect(second.map(shape)).toEqual(first.map(shape));
    });
  });

  it('is born cold: create opens nothing', async () => {
    await withoutLeaks(async () => {
      const surroundings = await open();
      await withoutLeaks(async () => {
        const { instance } = create(plugin, point, facts, surroundings);

        expect(typeof (instance as { then?: unknown }).then).not.toBe('function');
      });
      await surroundings[Symbol.asyncDispose]?.();
    });
  });

  it('is disposed without having been started', async () => {
    await over(async (surroundings) => {
      const born = create(plugin, point, facts, surroundings);

      await bounded(born[Symbol.asyncDispose](), 'disposal');
    });
  });

  it('is started once, says how it is, and is disposed', async () => {
    await over(async (surroundings) => {
      const born = create(plugin, point, facts, surroundings);

      await bounded(born.instance.start?.(born.stop.signal), 'start');
      const health = born.instance.health?.();
      await bounded(born[Symbol.asyncDispose](), 'disposal');

      expect(['ok', 'degraded', 'down', undefined]).toContain(health?.state);
    });
  });

  it('is disposed after its start was cut short', async () => {
    await over(async (surroundings) => {
      const born = create(plugin, point, facts, surroundings);
      born.stop.abort();

      try {
        await bounded(born.instance.start?.(born.stop.signal), 'a start whose signal is aborted');
      } catch (error) {
        new ReasonBook(plugin).checkError(error);
      }
      await bounded(born[Symbol.asyncDispose](), 'disposal');
    });
  });

  it('has an options schema that says what it means and accepts its own defaults', () => {
    for (const [name, spec] of Object.entries(plugin.options)) {
      expect(name).toMatch(/^[a-z][A-Za-z0-9]*$/);
      expect(`${name}: ${spec.doc}`).toMatch(/: .{10,}/);
      // A duration is read into milliseconds, so its default is no input.
      if (spec.type !== 'duration')
        expect([name, spec.parse(spec.default)]).toEqual([name, { ok: true, value: spec.default }]);
    }
    expect(parseOptions(plugin.options, facts.options).ok).toBe(true);
    expect(parseOptions(plugin.options, { definitelyNoOption: 1 }).ok).toBe(false);
  });

  if (facts.readme !== undefined && Object.keys(plugin.options).length > 0) {
    it('has a README whose options table matches the schema', () => {
      expect(normalizedTable(facts.readme ?? '')).toContain(normalizedTable(optionsTable(plugin.options)));
    });
  }

  it('registers reasons as words with a cause and a remedy', () => {
    for (const [reason, meaning] of Object.entries(plugin.reasons)) {
      expect(reason).toMatch(/^([A-Z][A-Za-z0-9]*|[a-z][a-z0-9]*([-_][a-z0-9]+)*)$/);
      expect(`${reason}: ${meaning}`).toMatch(/: .{10,}/);
    }
  });

  it('needs only what its scope can see, and nothing twice', () => {
    const tokens = Object.values(contributionOf(plugin, point, facts).needs).map(
      ({ name, scope }) => `${scope}/${name}`,
    );

    expect(new Set(tokens).size).toBe(tokens.length);
  });
}

function shape({ point, serves, order, needs }: AnyContribution): unknown {
  return { point, serves, order, needs: Object.entries(needs).map(([key, { name, scope }]) => [key, name, scope]) };
}
