import { KINDS, trio, type Level } from '@gitops-reverser/crd-types';
import type { Reconciled } from '../objects.js';
import { CANARY, KEYS, openWorld, type World } from './world.fixture.js';

/** One reachable row of the condition tables of chapter 10. */
export interface ConditionCase {
  /** `Type Status Reason`. */
  readonly row: string;
  readonly why: string;
  /** What it does to the trio; `none`: the object is as ready as without it. */
  readonly level: Level;
  /** What the message must hold: object, expected, found, what to do. */
  readonly says: readonly (string | RegExp)[];
  /** Before the reconcilers start. */
  readonly given?: (world: World) => void;
  /** After they have settled. */
  readonly when?: (world: World) => void | Promise<void>;
  /** Default: the quick-start object of the kind. */
  readonly of?: string;
  /** The trio is decided by another gate: its reason. */
  readonly decidedBy?: string;
}

/**
 * Drives every case through all reconcilers in memory, and checks that no reason of the kind's table was forgotten.
 *
 * @param unreachable `Type Reason` nothing can lead to in this version, each with why
 */
export function conditionTable(
  kind: Reconciled,
  cases: readonly ConditionCase[],
  unreachable: Readonly<Record<string, string>>,
): void {
  it.each(cases)('$row: $why', async ({ row, level, says, given, when, of = KEYS[kind], decidedBy }) => {
    await using world = openWorld();
    given?.(world);
    await world.start();
    await when?.(world);
    await world.settle();
    const [type = '', status, reason] = row.split(' ');

    const condition = world.condition(kind, type, of);
    expect(condition).toMatchObject({ type, status, reason });
    for (const part of says) expect(condition?.message).toEqual(expect.stringMatching(asPattern(part)));
    expect(condition?.message).toMatch(/^[^\n\r]{1,1024}$/);
    expectTrio(world, kind, of, level, decidedBy ?? reason);
    expect(JSON.stringify(world.cluster.written) + world.logger.text()).not.toContain(CANARY);
    const generation = world.cluster.get(kind, of)?.metadata.generation;
    expect(new Set(world.conditions(kind, of).map(({ observedGeneration }) => observedGeneration))).toEqual(
      new Set([generation]),
    );
  });

  it('10, 20.2: has a case for every reason of the table, or says why nothing leads there', () => {
    const declared = KINDS[kind].conditions.flatMap(({ type, rows }) =>
      rows.flatMap(({ reasons }) => reasons.map((reason) => `${type} ${reason}`)),
    );
    const shown = new Set(cases.map(({ row }) => row.split(' ')).map(([type, , reason]) => `${type} ${reason}`));

    const forgotten = declared.filter((row) => !shown.has(row) && unreachable[row] === undefined);
    const wrong = Object.keys(unreachable).filter((row) => shown.has(row) || !declared.includes(row));
    expect({ forgotten, wrong }).toEqual({ forgotten: [], wrong: [] });
  });
}

function expectTrio(world: World, kind: Reconciled, key: string, level: Level, reason: string | undefined): void {
  const conditions = world.conditions(kind, key);
  const [ready, reconciling, stalled] = trio.map((type) => conditions.find((condition) => condition.type === type));
  const statuses = [ready, reconciling, stalled].map((condition) => condition?.status);
  expect(statuses.filter((status) => status === 'True')).toHaveLength(1);
  expect(new Set([ready, reconciling, stalled].map((condition) => condition?.message)).size).toBe(1);
  switch (level) {
    case 'ok':
    case 'none':
      return expect(statuses).toEqual(['True', 'False', 'False']);
    case 'stalled':
      expect(statuses).toEqual(['False', 'False', 'True']);
      return expect(stalled?.reason).toBe(reason);
    case 'progress':
      expect(statuses.slice(1)).toEqual(['True', 'False']);
      return expect(reconciling?.reason).toBe(reason);
  }
}

const asPattern = (part: string | RegExp): RegExp =>
  part instanceof RegExp ? part : new RegExp(part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
