import {
  refKey,
  type Collection,
  type Cursor,
  type KubeObject,
  type Plugin,
  type SourceEvent,
} from '@gitops-reverser/kernel-api';
import { Reader, whileTicking } from '../waiting.js';
import { everyPoint } from './every-point.js';
import { ReasonBook, withStarted, type Instance, type SuiteFacts, type Surroundings } from './instance.js';

/** A cluster the suite can move. It begins with nothing in `collection`. */
export interface SourceWorld extends Surroundings {
  readonly collection: Collection;
  /** Creates the object, or changes it. `value` must be visible to `valueOf` in what the source delivers. */
  put(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
  valueOf(object: KubeObject): unknown;
  /** Breaks every open connection; the cluster stays. Absent: no such test. */
  cut?(): Promise<void>;
  /** Makes every cursor handed out so far too old. Absent: no such test. */
  expire?(): Promise<void>;
  /** Called again and again while the suite waits: where time is fake, move it here. */
  tick?(): Promise<void>;
}

export interface SourceSuite extends SuiteFacts {
  readonly world: () => Promise<SourceWorld>;
}

type Upsert = SourceEvent & { readonly kind: 'upsert' };

/** The contract of a source. */
export function describeSource(plugin: Plugin, suite: SourceSuite): void {
  describe(`source of ${plugin.id}`, () => {
    everyPoint(plugin, 'source', suite, suite.world);
    const reasons = new ReasonBook(plugin);
    const over = (act: (source: Instance<'source'>, world: SourceWorld) => Promise<void>): Promise<void> =>
      withStarted(plugin, 'source', suite, suite.world, act);
    /** Follows until `act` is done; the stream must then end within a second, without a word more than it had begun. */
    const following = async (
      source: Instance<'source'>,
      world: SourceWorld,
      from: Cursor | undefined,
      act: (reader: Reader<SourceEvent>) => Promise<void>,
    ): Promise<void> => {
      const stop = new AbortController();
      const reader = new Reader(source.follow(world.collection, from, stop.signal), world.tick);
      try {
        await act(reader);
      } finally {
        stop.abort();
        await reader.rest('the end of an aborted stream', 1_000);
      }
    };
    const seen = (world: SourceWorld, events: readonly SourceEvent[]): readonly unknown[] =>
      events
        .filter((event) => event.kind === 'upsert')
        .map((event) => [event.ref.name, world.valueOf(event.object), event.via]);

    it('brackets a snapshot of everything that is there, and puts a cursor at its end', async () => {
      await over(async (source, world) => {
        await world.put('one', 'a');
        await world.put('two', 'b');

        await following(source, world, undefined, async (reader) => {
          const events = await reader.until(isSnapshotEnd, 'the end of the first snapshot');

          expect(kinds(events)).toEqual(['snapshot-begin', 'upsert', 'upsert', 'snapshot-end']);
          expect(new Set(seen(world, events))).toEqual(
            new Set([
              ['one', 'a', 'snapshot'],
              ['two', 'b', 'snapshot'],
            ]),
          );
          expect(lastCursor(events)).toMatch(/./);
        });
      });
    });

    it('brackets an empty snapshot too', async () => {
      await over(async (source, world) => {
        await following(source, world, undefined, async (reader) => {
          expect(kinds(await reader.until(isSnapshotEnd, 'the end of an empty snapshot'))).toEqual([
            'snapshot-begin',
            'snapshot-end',
          ]);
        });
      });
    });

    it('tells later changes live, in the order they happened', async () => {
      await over(async (source, world) => {
        await following(source, world, undefined, async (reader) => {
          await reader.until(isSnapshotEnd, 'the end of the first snapshot');
          for (const value of ['1', '2', '3']) await world.put('one', value);
          await world.put('two', 'last');

          const events = await reader.until((event) => isUpsert(event, 'two'), 'the change of two');

          // A source may fold states it never saw; it may not reorder them or invent one.
          const values = seen(world, events).map((each) => JSON.stringify(each));
          expect(values.at(-1)).toBe('["two","last","live"]');
          expect(values.slice(0, -1)).toEqual(
            ['["one","1","live"]', '["one","2","live"]', '["one","3","live"]'].slice(-values.length + 1),
          );
        });
      });
    });

    it('tells a removal once, as a deletion', async () => {
      await over(async (source, world) => {
        await world.put('one', 'a');
        await following(source, world, undefined, async (reader) => {
          await reader.until(isSnapshotEnd, 'the end of the first snapshot');
          await world.remove('one');
          await world.put('two', 'after');

          const events = await reader.until((event) => isUpsert(event, 'two'), 'a change after the removal');

          const removals = events.filter((event) => event.kind === 'delete');
          expect(removals.map(({ ref, removal }) => [ref.name, removal])).toEqual([['one', 'deletion']]);
        });
      });
    });

    it('names each object as its metadata does', async () => {
      await over(async (source, world) => {
        await world.put('one', 'a');
        await following(source, world, undefined, async (reader) => {
          const events = await reader.until(isSnapshotEnd, 'the end of the first snapshot');

          const upsert = events.find((event): event is Upsert => event.kind === 'upsert');
          const { type } = world.collection;
          const { name, namespace } = upsert?.object.metadata ?? { name: '' };
          expect(upsert === undefined ? '' : refKey(upsert.ref)).toBe(
            `${type.group}/${type.resource}/${namespace ?? ''}/${name}`,
          );
        });
      });
    });

    it('resumes from a cursor: what changed since arrives, and absence is claimed only inside a bracket', async () => {
      await over(async (source, world) => {
        await world.put('one', 'a');
        let cursor: Cursor | undefined;
        await following(source, world, undefined, async (reader) => {
          cursor = lastCursor(await reader.until(isSnapshotEnd, 'the end of the first snapshot'));
        });
        await world.put('two', 'while away');

        await following(source, world, cursor, async (reader) => {
          const events = await reader.until((event) => isUpsert(event, 'two'), 'the change made while away');

          expectBrackets(events);
        });
      });
    });

    it('falls back to a snapshot when the cursor means nothing to it', async () => {
      await over(async (source, world) => {
        await world.put('one', 'a');

        await following(source, world, 'never issued' as Cursor, async (reader) => {
          const events = await reader.until(isSnapshotEnd, 'the end of a snapshot');

          expectBrackets(events);
          expect(seen(world, events)).toEqual([['one', 'a', 'snapshot']]);
        });
      });
    });

    it('falls back to a snapshot when its cursor is too old', async () => {
      await over(async (source, world) => {
        if (world.expire === undefined) return;
        await world.put('one', 'a');
        await world.put('gone', 'a');
        let cursor: Cursor | undefined;
        await following(source, world, undefined, async (reader) => {
          cursor = lastCursor(await reader.until(isSnapshotEnd, 'the end of the first snapshot'));
        });
        await world.remove('gone');
        await world.expire();

        await following(source, world, cursor, async (reader) => {
          const events = await reader.until(isSnapshotEnd, 'the end of the snapshot that replaces the old cursor');

          expectBrackets(events);
          expect(seen(world, events)).toEqual([['one', 'a', 'snapshot']]);
        });
      });
    });

    it('reconnects by itself after a cut and loses nothing', async () => {
      await over(async (source, world) => {
        if (world.cut === undefined) return;
        await following(source, world, undefined, async (reader) => {
          const before = await reader.until(isSnapshotEnd, 'the end of the first snapshot');
          await world.cut?.();
          await world.put('one', 'after the cut');

          const events = await reader.until((event) => isUpsert(event, 'one'), 'a change made after the cut');

          expectBrackets([...before, ...events]);
        });
      });
    });

    it('ends within a second of an abort, without a snapshot-end that it did not earn', async () => {
      await over(async (source, world) => {
        for (let at = 0; at < 20; at += 1) await world.put(`object-${at}`, 'a');
        const stop = new AbortController();
        const reader = new Reader(source.follow(world.collection, undefined, stop.signal), world.tick);
        const first = await reader.until(({ kind }) => kind === 'upsert', 'the first object');
        stop.abort();

        const rest = await reader.rest('the end of an aborted stream', 1_000);

        const events = [...first, ...rest];
        if (events.some(isSnapshotEnd)) expect(events.filter(({ kind }) => kind === 'upsert').length).toBe(20);
      });
    });

    it('ends at once when its signal was aborted before', async () => {
      await over(async (source, world) => {
        const reader = new Reader(source.follow(world.collection, undefined, AbortSignal.abort()), world.tick);

        expect((await reader.rest('the end of a stream that never began', 1_000)).filter(isSnapshotEnd)).toEqual([]);
      });
    });

    it('follows one collection twice without one disturbing the other', async () => {
      await over(async (source, world) => {
        await world.put('one', 'a');
        await following(source, world, undefined, async (first) => {
          await first.until(isSnapshotEnd, 'the end of the first snapshot');
          await following(source, world, undefined, async (second) => {
            await second.until(isSnapshotEnd, 'the end of the second snapshot');
          });
          await world.put('two', 'b');

          await first.until((event) => isUpsert(event, 'two'), 'a change after the other stream had stopped');
        });
      });
    });

    it('says what the cluster serves at once, the followed type among it, with registered reasons', async () => {
      await over(async (source, world) => {
        const stop = new AbortController();
        const reader = new Reader(source.surface(stop.signal), world.tick);
        const { type } = world.collection;

        const surfaces = await reader.until(
          ({ types }) =>
            types.some((served) => served.type.resource === type.resource && served.type.group === type.group),
          `a surface that serves ${type.resource}`,
        );

        for (const { types, reach } of surfaces) {
          if (reach.state === 'unreachable') reasons.check(reach.reason);
          for (const { refusal } of types) if (refusal !== undefined) reasons.check(refusal.reason);
        }
        const generations = surfaces.map(({ generation }) => generation);
        expect(generations).toEqual([...new Set(generations)].sort((a, b) => a - b));
        stop.abort();
        await whileTicking(
          reader.rest('the end of an aborted surface', 1_000),
          undefined,
          'the end of an aborted surface',
        );
      });
    });
  });
}

const isSnapshotEnd = ({ kind }: SourceEvent): boolean => kind === 'snapshot-end';
const isUpsert = (event: SourceEvent, name: string): boolean => event.kind === 'upsert' && event.ref.name === name;
/** Without what may come at any time. */
const kinds = (events: readonly SourceEvent[]): readonly string[] =>
  events.map(({ kind }) => kind).filter((kind) => kind !== 'progress' && kind !== 'streaming' && kind !== 'trouble');

function lastCursor(events: readonly SourceEvent[]): Cursor | undefined {
  const last = events.findLast((event) => 'cursor' in event);
  return last !== undefined && 'cursor' in last ? last.cursor : undefined;
}

/** A snapshot is begun before it ends; its objects lie inside; nothing live lies inside. */
function expectBrackets(events: readonly SourceEvent[]): void {
  let isInside = false;
  for (const event of events) {
    if (event.kind === 'snapshot-begin') isInside = true;
    else if (event.kind === 'snapshot-end') {
      expect(['snapshot-end', isInside]).toEqual(['snapshot-end', true]);
      isInside = false;
    } else if (event.kind === 'upsert')
      expect([event.ref.name, event.via]).toEqual([event.ref.name, isInside ? 'snapshot' : 'live']);
  }
}
