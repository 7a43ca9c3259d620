import fc from 'fast-check';
import { aConfigMap, configMaps } from '@gitops-reverser/kernel-testing';
import type { Actor, TargetSettings } from '@gitops-reverser/kernel-api';
import { alice, bob, openRig, type Rig } from './rig.fixture.js';

/** One thing that happens, to the cluster, to the repository or to the wire between. */
type Happening =
  | { readonly do: 'edit'; readonly object: number; readonly who: number }
  | { readonly do: 'delete'; readonly object: number }
  | { readonly do: 'foreign'; readonly where: number; readonly isInRace: boolean }
  | { readonly do: 'fail'; readonly what: 'observe' | 'publish'; readonly times: number }
  | { readonly do: 'cut' }
  | { readonly do: 'cluster-cut' }
  | { readonly do: 'wait'; readonly ms: number };

const PEOPLE: readonly (Actor | undefined)[] = [alice, bob, undefined];
const edit = fc.record({ do: fc.constant('edit' as const), object: fc.nat(2), who: fc.nat(2) });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: edit },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), object: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('foreign' as const), where: fc.nat(2), isInRace: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      what: fc.constantFrom('observe' as const, 'publish' as const),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'cut' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'cluster-cut' as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 100, 1_000, 3_000, 6_000, 20_000),
    }),
  },
);

const WINDOWS: readonly TargetSettings['window'][] = [
  { idleMs: 5_000, maxMs: 60_000 },
  { idleMs: 0, maxMs: 0 },
  { idleMs: 1_000, maxMs: 2_000 },
];
const nameOf = (object: number): string => `object-${object}`;
const pathOf = (object: number): string => `app/demo/configmap-${nameOf(object)}.jsonl`;

/** What was said to the API, in order; values are numbered, so that order can be read off a commit. */
class Story {
  readonly #rig: Rig;
  readonly live = new Map<number, number>();
  readonly said: { readonly object: number; readonly value: number; readonly who: number }[] = [];
  #value = 0;
  #foreign = 0;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  edit(object: number, who: number): void {
    this.#value += 1;
    this.live.set(object, this.#value);
    this.said.push({ object, value: this.#value, who });
    this.#rig.write(aConfigMap({ name: nameOf(object), data: { value: String(this.#value) } }), PEOPLE[who]);
  }

  async tell(happening: Happening): Promise<void> {
    const { cluster, remote, clock } = this.#rig;
    switch (happening.do) {
      case 'edit':
        return this.edit(happening.object, happening.who);
      case 'delete': {
        if (!this.live.delete(happening.object)) return;
        return cluster.remove(configMaps, nameOf(happening.object));
      }
      case 'foreign': {
        this.#foreign += 1;
        const files = [
          { 'other.txt': `${this.#foreign}\n` },
          { [`app/foreign-${this.#foreign}.jsonl`]: '' },
          { [pathOf(0)]: undefined },
        ][happening.where];
        const act = (): void => void remote.foreignPush(files ?? {});
        return happening.isInRace ? remote.beforeNextPublish(act) : act();
      }
      case 'fail':
        return remote.failNext(happening.what, { reason: 'RemoteUnavailable' }, happening.times);
      case 'cut':
        return remote.cutNextPublishAfterLanding();
      case 'cluster-cut':
        return cluster.cut();
      case 'wait':
        return clock.advance(happening.ms);
    }
  }
}

const valueIn = (text: string | undefined): number | undefined => {
  const found = /"value":"(\d+)"/.exec(text ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Values of one object in the order in which commits first showed them. */
function firstShown(rig: Rig, object: number): readonly number[] {
  const shown: number[] = [];
  for (const { tree } of [...rig.remote.log('main')].reverse()) {
    const file = tree.get(pathOf(object));
    const value = file === undefined ? undefined : valueIn(Buffer.from(file.bytes).toString());
    if (value !== undefined && !shown.includes(value)) shown.push(value);
  }
  return shown;
}

describe('whatever happens in between', () => {
  it('no accepted edit is lost or overtaken, and Git ends as the API says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 30 }), fc.nat(2), async (happenings, window) => {
        const rig = await openRig({ isAttributed: true, settings: { window: WINDOWS[window] ?? WINDOWS[0]! } });
        const story = new Story(rig);

        for (const happening of happenings) {
          await story.tell(happening);
          await rig.clock.settle();
        }
        // A last word about each object, so that nothing a foreign commit did to it stands.
        for (const object of [...story.live.keys()]) story.edit(object, 0);
        await rig.clock.advance(10_800_000);

        for (const [object, value] of story.live)
          expect([object, valueIn(rig.remote.files('main')[pathOf(object)])]).toEqual([object, value]);
        for (const object of [0, 1, 2]) {
          if (!story.live.has(object)) expect(rig.remote.files('main')[pathOf(object)]).toBeUndefined();
          const shown = firstShown(rig, object);
          expect(shown).toEqual([...shown].sort((a, b) => a - b));
        }
        expect(rig.branchHandle.status()).toMatchObject({ state: 'Idle', publishing: { status: 'True' } });
        expect(new Set(rig.remote.log('main').map(({ commit }) => commit)).size).toBe(rig.remote.log('main').length);
        await rig.runtime.close(0);
        expect(rig.clock.sleeping).toBe(0);
      }),
      { numRuns: 80 },
    );
  }, 60_000);

  it('every run of one author becomes a commit of that author, in the order of the runs', async () => {
    const quiet = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: edit },
        {
          weight: 2,
          arbitrary: fc.record({
            do: fc.constant('fail' as const),
            what: fc.constant('publish' as const),
            times: fc.constant(1),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ do: fc.constant('foreign' as const), where: fc.constant(0), isInRace: fc.boolean() }),
        },
      ),
      { minLength: 1, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(quiet, async (happenings) => {
        const rig = await openRig({ isAttributed: true });
        const story = new Story(rig);

        for (const happening of happenings) await story.tell(happening);
        await rig.clock.advance(10_800_000);

        const runs = story.said.filter(({ who }, index) => story.said[index + 1]?.who !== who);
        const names = ['Alice A', 'bob', 'unknown (attribution unresolved)'];
        expect(rig.commits().map(({ author }) => author)).toEqual(runs.map(({ who }) => names[who]));
        await rig.runtime.close(0);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
