import type { Actor, Attribution, ObservedChange, Plugin } from '@gitops-reverser/kernel-api';
import type { FakeClock } from '../fake-clock.js';
import { within } from '../waiting.js';
import { everyPoint } from './every-point.js';
import { ReasonBook, withStarted, type Instance, type SuiteFacts, type Surroundings } from './instance.js';

/** What becomes known about who did what. */
export type FactKind =
  /** The request that made `change`. */
  | 'match'
  /** As `match`, but the API server refused it. */
  | 'failed'
  /** As `match`, but only tried. */
  | 'dry-run'
  /** Another object, by somebody else. */
  | 'other';

export interface AttributorWorld extends Surroundings {
  /** The clock the attributor was given, if it needs one. */
  readonly clock: FakeClock;
  readonly change: ObservedChange;
  /** Who the `match` fact names. */
  readonly actor: Actor;
  /** Makes a fact known to the attributor. */
  deliver(fact: FactKind): Promise<void>;
}

export interface AttributorSuite extends SuiteFacts {
  readonly world: () => Promise<AttributorWorld>;
}

const GRACE_MS = 3_000;

/** The contract of an attributor. */
export function describeAttributor(plugin: Plugin, suite: AttributorSuite): void {
  describe(`attributor of ${plugin.id}`, () => {
    everyPoint(plugin, 'attributor', suite, suite.world);
    const reasons = new ReasonBook(plugin);
    const over = (act: (attributor: Instance<'attributor'>, world: AttributorWorld) => Promise<void>): Promise<void> =>
      withStarted(plugin, 'attributor', suite, suite.world, act);
    const deadlineOf = (world: AttributorWorld): Date => new Date(world.clock.now().getTime() + GRACE_MS);
    const never = new AbortController().signal;
    /** Asks, lets the whole grace pass, and takes the answer: silence is a failure. */
    const ask = async (
      attributor: Instance<'attributor'>,
      world: AttributorWorld,
      meanwhile: () => Promise<void> = () => Promise.resolve(),
    ): Promise<Attribution> => {
      const answer = attributor.attribute(world.change, deadlineOf(world), never);
      await world.clock.settle();
      await meanwhile();
      await world.clock.advance(GRACE_MS);
      return within(answer, 'an answer at the deadline', 1_000);
    };

    it('answers "unresolved", with a registered reason, when nothing is known by the deadline', async () => {
      await over(async (attributor, world) => {
        const answer = await ask(attributor, world);

        expect(answer.kind).toBe('unresolved');
        if (answer.kind === 'unresolved') reasons.check(answer.reason);
        expect(world.clock.sleeping).toBe(0);
      });
    });

    it('answers at once when the deadline has passed', async () => {
      await over(async (attributor, world) => {
        const answer = attributor.attribute(world.change, new Date(world.clock.now().getTime() - 1), never);
        await world.clock.settle();

        expect((await within(answer, 'an answer after the deadline', 1_000)).kind).toBe('unresolved');
      });
    });

    it('names the actor of a fact that came before the question', async () => {
      await over(async (attributor, world) => {
        await world.deliver('match');

        expect(await ask(attributor, world)).toMatchObject({ kind: 'actor', actor: world.actor });
      });
    });

    it('names the actor of a fact that comes while it is waited for', async () => {
      await over(async (attributor, world) => {
        expect(await ask(attributor, world, () => world.deliver('match'))).toMatchObject({
          kind: 'actor',
          actor: world.actor,
        });
        expect(world.clock.sleeping).toBe(0);
      });
    });

    it.each([
      { fact: 'failed', why: 'a refused request changed nothing' },
      { fact: 'dry-run', why: 'a tried request changed nothing' },
      { fact: 'other', why: 'somebody else changed something else' },
    ] as const)('ignores the fact "$fact": $why', async ({ fact }) => {
      await over(async (attributor, world) => {
        await world.deliver(fact);

        expect((await ask(attributor, world)).kind).toBe('unresolved');
      });
    });

    it.each([
      { order: ['match', 'match', 'other'] },
      { order: ['other', 'failed', 'match'] },
      { order: ['dry-run', 'match', 'failed', 'match'] },
    ] as const)('gives the same actor whatever the order and however often facts repeat: $order', async ({ order }) => {
      await over(async (attributor, world) => {
        for (const fact of order) await world.deliver(fact);

        expect(await ask(attributor, world)).toMatchObject({ kind: 'actor', actor: world.actor });
      });
    });

    it('ends promptly and quietly when the question is aborted', async () => {
      await over(async (attributor, world) => {
        const stop = new AbortController();
        const answer = attributor
          .attribute(world.change, deadlineOf(world), stop.signal)
          .catch((error: unknown) => reasons.checkError(error));
        await world.clock.settle();
        stop.abort();

        await within(answer, 'the end of an aborted question', 1_000);
        expect(world.clock.sleeping).toBe(0);
      });
    });
  });
}
