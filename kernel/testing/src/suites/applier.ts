import type { ApplyRequest, CommitSha, HoldOwner, HoldResult, Plugin, WindowHooks } from '@gitops-reverser/kernel-api';
import { Reader, whileTicking } from '../waiting.js';
import { everyPoint } from './every-point.js';
import { ReasonBook, withStarted, type Instance, type SuiteFacts, type Surroundings } from './instance.js';

/** A tool that applies commits, as the suite sees it from outside. */
export interface ApplierWorld extends Surroundings {
  /** Two commits the tool could apply; at the beginning it has applied neither. */
  readonly commits: readonly [CommitSha, CommitSha];
  /** The state of the tool's own object that a hold changes and a release restores. Compared whole. */
  held(): Promise<unknown>;
  /** Commits the tool has applied so far, in order. */
  applied(): Promise<readonly CommitSha[]>;
  /** Somebody else takes the hold. */
  holdByOther(): Promise<void>;
  /** The next apply fails in the tool. Absent: no such test. */
  failNextApply?(): Promise<void>;
  /** Where time is fake, move it here. */
  tick?(): Promise<void>;
}

export interface ApplierSuite extends SuiteFacts {
  readonly world: () => Promise<ApplierWorld>;
}

const OWNER: HoldOwner = { uid: '3f1d2a60-0000-4000-8000-000000000001', name: 'demo/claim' };

/** The contract of an applier. */
export function describeApplier(plugin: Plugin, suite: ApplierSuite): void {
  describe(`applier of ${plugin.id}`, () => {
    everyPoint(plugin, 'applier', suite, suite.world);
    const reasons = new ReasonBook(plugin);
    const over = (act: (applier: Instance<'applier'>, world: ApplierWorld) => Promise<void>): Promise<void> =>
      withStarted(plugin, 'applier', suite, suite.world, act);
    /** A second life over the same world: what a restart of the operator is. */
    const restarted = (world: ApplierWorld, act: (applier: Instance<'applier'>) => Promise<void>): Promise<void> =>
      withStarted(plugin, 'applier', suite, () => ({ given: { ...world.given } }), act);
    const never = new AbortController().signal;
    const waiting = <T>(world: ApplierWorld, promise: Promise<T>, what: string): Promise<T> =>
      whileTicking(promise, world.tick?.bind(world), what);
    const hold = (applier: Instance<'applier'>, world: ApplierWorld): Promise<HoldResult> =>
      waiting(world, applier.hold(OWNER, never), 'the hold');
    const originalOf = (result: HoldResult): string => {
      if (result.kind !== 'held')
        throw new Error(`expected the hold, found it contested by ${result.by}: ${result.message}`);
      return result.original;
    };
    const request = (commit: CommitSha): ApplyRequest => ({
      applyId: `apply-${commit.slice(0, 7)}`,
      commit,
      reason: 'ForeignCommit',
      deadline: new Date('2100-01-01T00:00:00Z'),
    });
    const recorder = (said: string[]): WindowHooks => ({
      opened: () => Promise.resolve(void said.push('opened')),
      closed: () => Promise.resolve(void said.push('closed')),
    });

    it.each(['Restore', 'Resume'] as const)('gives the hold back under %s', async (policy) => {
      await over(async (applier, world) => {
        const before = await world.held();
        const original = originalOf(await hold(applier, world));
        expect(await world.held()).not.toEqual(before);

        const released = await waiting(world, applier.release(policy, original, never), 'the release');

        expect(released.kind).toBe('released');
        if (policy === 'Restore') expect(await world.held()).toEqual(before);
      });
    });

    it('keeps the hold under KeepHeld', async () => {
      await over(async (applier, world) => {
        const original = originalOf(await hold(applier, world));
        const during = await world.held();

        await waiting(world, applier.release('KeepHeld', original, never), 'the release');

        expect(await world.held()).toEqual(during);
      });
    });

    it('keeps the hold when it is disposed, and adopts its own after a restart', async () => {
      await over(async (first, world) => {
        const before = await world.held();
        const original = originalOf(await hold(first, world));
        const during = await world.held();
        await first[Symbol.asyncDispose]?.();
        expect(await world.held()).toEqual(during);

        await restarted(world, async (second) => {
          const adopted = originalOf(await hold(second, world));
          expect(adopted).toBe(original);
          await waiting(world, second.release('Restore', adopted, never), 'the release');
        });

        expect(await world.held()).toEqual(before);
      });
    });

    it('holding twice is holding once', async () => {
      await over(async (applier, world) => {
        const first = originalOf(await hold(applier, world));
        const during = await world.held();

        expect(originalOf(await hold(applier, world))).toBe(first);
        expect(await world.held()).toEqual(during);
      });
    });

    it('leaves a foreign owner alone', async () => {
      await over(async (applier, world) => {
        await world.holdByOther();
        const theirs = await world.held();

        const result = await hold(applier, world);
        const released = await waiting(world, applier.release('Restore', '', never), 'the release of what is not ours');

        expect([result.kind, released.kind]).toEqual(['contested', 'not-ours']);
        expect(await world.held()).toEqual(theirs);
      });
    });

    it('applies the requested commit and no other, telling when its writes begin and end', async () => {
      await over(async (applier, world) => {
        const [commit] = world.commits;
        await hold(applier, world);
        const said: string[] = [];

        const outcome = await waiting(world, applier.apply(request(commit), recorder(said), never), 'the apply');

        expect(outcome).toEqual({ kind: 'applied', commit });
        expect(await world.applied()).toEqual([commit]);
        expect(said).toEqual(['opened', 'closed']);
      });
    });

    it('does not retry a failed apply itself: it returns the outcome with a registered reason', async () => {
      await over(async (applier, world) => {
        if (world.failNextApply === undefined) return;
        await hold(applier, world);
        await world.failNextApply();
        const said: string[] = [];

        const outcome = await waiting(
          world,
          applier.apply(request(world.commits[0]), recorder(said), never),
          'the failing apply',
        );

        expect(outcome.kind).toBe('failed');
        if (outcome.kind === 'failed') reasons.check(outcome.reason);
        expect(said.filter((word) => word === 'opened').length).toBe(said.filter((word) => word === 'closed').length);
        expect(await world.applied()).toEqual([]);
      });
    });

    it('stays held after an apply', async () => {
      await over(async (applier, world) => {
        await hold(applier, world);
        const during = await world.held();
        await waiting(world, applier.apply(request(world.commits[0]), recorder([]), never), 'the apply');

        expect(await world.held()).toEqual(during);
      });
    });

    it('tells what is applied and whether it is held, and ends within a second of an abort', async () => {
      await over(async (applier, world) => {
        await hold(applier, world);
        await waiting(world, applier.apply(request(world.commits[1]), recorder([]), never), 'the apply');
        const stop = new AbortController();
        const reader = new Reader(applier.observe(stop.signal), world.tick?.bind(world));

        await reader.until(
          ({ applied, held, busy }) => applied === world.commits[1] && held && !busy,
          'a state that shows the applied commit',
        );
        stop.abort();

        await reader.rest('the end of an aborted observation', 1_000);
      });
    });

    it('ends promptly when a hold or an apply is aborted', async () => {
      await over(async (applier, world) => {
        const quiet = (error: unknown): void => reasons.checkError(error);
        const ends = [
          applier.hold(OWNER, AbortSignal.abort()).then(() => undefined, quiet),
          applier.apply(request(world.commits[0]), recorder([]), AbortSignal.abort()).then(() => undefined, quiet),
        ];

        await waiting(world, Promise.all(ends), 'the end of what was aborted');
      });
    });
  });
}
