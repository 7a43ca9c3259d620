import * as fc from 'fast-check';
import { cutMessage, eventOf, rollUp, sameConditions, trio, type Condition, type Gate } from './conditions.js';
import { sharedRows, type Level } from './conditions-table.js';
import { kindNames, kindOf, type KindName } from './kinds/kinds.js';

const now = new Date('2026-01-01T00:00:00.000Z');
const later = new Date('2026-01-01T00:10:00.000Z');
const statusOf = (conditions: readonly Condition[], type: string): string | undefined =>
  conditions.find((one) => one.type === type)?.status;
const trioOf = (conditions: readonly Condition[]): string =>
  trio.map((type) => `${type}=${statusOf(conditions, type)}`).join(' ');
const reasonOf = (conditions: readonly Condition[]): string | undefined => conditions[0]?.reason;

const goodBranch: readonly Gate<'GitBranch'>[] = [
  { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'fine' },
  { type: 'BranchAllowed', status: 'True', reason: 'Granted', message: 'fine' },
  { type: 'GitProviderReady', status: 'True', reason: 'Succeeded', message: 'fine' },
  { type: 'ParentBranchResolved', status: 'True', reason: 'NotNeeded', message: 'fine' },
  { type: 'Writable', status: 'Unknown', reason: 'NotAttempted', message: 'no push yet' },
  { type: 'Publishing', status: 'True', reason: 'Succeeded', message: 'fine' },
];
const withGate = (gate: Gate<'GitBranch'>): readonly Gate<'GitBranch'>[] => [
  ...goodBranch.filter(({ type }) => type !== gate.type),
  gate,
];

describe('the roll-up of conditions', () => {
  it('settled, nothing wrong: Ready, and the explicit False of ST-2', () => {
    const conditions = rollUp('GitBranch', goodBranch, [], 3, now, {
      settled: { reason: 'Succeeded', message: '2 targets' },
    });

    expect(trioOf(conditions)).toBe('Ready=True Reconciling=False Stalled=False');
    expect(conditions[0]).toEqual({
      type: 'Ready',
      status: 'True',
      observedGeneration: 3,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'Succeeded',
      message: '2 targets',
    });
  });

  it('ST-3: the trio first, then the gates in the order of the table, whatever the order they came in', () => {
    const conditions = rollUp('GitBranch', [...goodBranch].reverse(), [], 1, now);

    expect(conditions.map(({ type }) => type)).toEqual([
      ...trio,
      'Validated',
      'BranchAllowed',
      'GitProviderReady',
      'ParentBranchResolved',
      'Writable',
      'Publishing',
    ]);
  });

  it('a person must change something: the reason of the gate becomes the reason of the trio', () => {
    const conditions = rollUp(
      'GitBranch',
      withGate({ type: 'Writable', status: 'False', reason: 'ProtectedBranch', message: 'unprotect main' }),
      [],
      1,
      now,
    );

    expect(trioOf(conditions)).toBe('Ready=False Reconciling=False Stalled=True');
    expect(conditions.slice(0, 3).map(({ reason, message }) => `${reason}: ${message}`)).toEqual(
      Array(3).fill('ProtectedBranch: unprotect main'),
    );
  });

  it('ST-1: a later gate that stalls beats an earlier one that progresses', () => {
    const gates = withGate({
      type: 'GitProviderReady',
      status: 'False',
      reason: 'GitProviderNotReady',
      message: 'down',
      level: 'progress',
    }).map((gate) =>
      gate.type === 'Publishing'
        ? ({ type: 'Publishing', status: 'False', reason: 'BacklogFull', message: 'full' } as const)
        : gate,
    );

    expect(reasonOf(rollUp('GitBranch', gates, [], 1, now))).toBe('BacklogFull');
  });

  it('ST-1: of two that stall, the earlier gate decides', () => {
    const gates = withGate({ type: 'BranchAllowed', status: 'False', reason: 'NotAllowed', message: 'no' }).map(
      (gate) =>
        gate.type === 'Publishing'
          ? ({ type: 'Publishing', status: 'False', reason: 'BacklogFull', message: 'full' } as const)
          : gate,
    );

    expect(reasonOf(rollUp('GitBranch', gates, [], 1, now))).toBe('NotAllowed');
  });

  it('first reconcile not finished: Ready is Unknown', () => {
    const conditions = rollUp('GitBranch', goodBranch.slice(0, 2), [], 1, now);

    expect(trioOf(conditions)).toBe('Ready=Unknown Reconciling=True Stalled=False');
    expect(statusOf(conditions, 'Publishing')).toBe('Unknown');
  });

  it('retrying what only time cures: Ready is False once it was known', () => {
    const ready = rollUp('GitBranch', goodBranch, [], 1, now);
    const conditions = rollUp(
      'GitBranch',
      withGate({ type: 'Publishing', status: 'False', reason: 'RemoteUnavailable', message: 'down' }),
      ready,
      1,
      later,
    );

    expect(trioOf(conditions)).toBe('Ready=False Reconciling=True Stalled=False');
  });

  it('a gate that found something decides before one nobody looked at', () => {
    const gates = withGate({ type: 'Publishing', status: 'False', reason: 'BranchMoving', message: 'moved' }).filter(
      ({ type }) => type !== 'ParentBranchResolved',
    );

    expect(reasonOf(rollUp('GitBranch', gates, [], 1, now))).toBe('BranchMoving');
  });

  it('suspended: settled on purpose, unless a gate stalls', () => {
    const validated = { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'fine' } as const;
    const options = { suspended: 'spec.suspend is true' };
    const notFound: Gate<'GitReceiver'> = {
      type: 'Validated',
      status: 'False',
      reason: 'SecretNotFound',
      message: 'no Secret',
    };

    expect(reasonOf(rollUp('GitReceiver', [validated], [], 1, now, options))).toBe('Suspended');
    expect(trioOf(rollUp('GitReceiver', [validated], [], 1, now, options))).toBe(
      'Ready=True Reconciling=False Stalled=False',
    );
    expect(reasonOf(rollUp('GitReceiver', [notFound], [], 1, now, options))).toBe('SecretNotFound');
  });

  it('suspended beats progress: nothing is asked of a target that is told to rest', () => {
    const gates: readonly Gate<'GitTarget'>[] = [
      { type: 'Validated', status: 'True', reason: 'Succeeded', message: '' },
      { type: 'GitPathAccepted', status: 'Unknown', reason: 'NotScanned', message: '' },
    ];

    expect(reasonOf(rollUp('GitTarget', gates, [], 1, now, { suspended: 'resting' }))).toBe('Suspended');
  });

  it('being deleted: Ready stays as it was, Reconciling is True', () => {
    const ready = rollUp('GitBranch', goodBranch, [], 1, now);
    const conditions = rollUp('GitBranch', goodBranch, ready, 1, later, { deleting: true });

    expect(trioOf(conditions)).toBe('Ready=True Reconciling=True Stalled=False');
    expect(conditions[0]?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
  });

  it('a release that is blocked stalls the deletion', () => {
    const conditions = rollUp(
      'FluxClaim',
      [{ type: 'Ready', status: 'False', reason: 'ReleaseBlocked', message: 'restore spec.suspend by hand' }],
      [],
      1,
      now,
      { deleting: true },
    );

    expect(trioOf(conditions)).toBe('Ready=Unknown Reconciling=True Stalled=True');
    expect(reasonOf(conditions)).toBe('ReleaseBlocked');
  });

  it('a CommitRequest carries its outcome on the trio', () => {
    const committed = rollUp(
      'CommitRequest',
      [{ type: 'Ready', status: 'True', reason: 'Committed', message: 'on main' }],
      [],
      1,
      now,
    );
    const waiting = rollUp(
      'CommitRequest',
      [{ type: 'Ready', status: 'False', reason: 'WaitingForWindow', message: '' }],
      [],
      1,
      now,
    );
    const failed = rollUp(
      'CommitRequest',
      [{ type: 'Ready', status: 'False', reason: 'TargetSuspended', message: '' }],
      [],
      1,
      now,
    );

    expect([trioOf(committed), reasonOf(committed)]).toEqual([
      'Ready=True Reconciling=False Stalled=False',
      'Committed',
    ]);
    expect([trioOf(waiting), reasonOf(waiting)]).toEqual([
      'Ready=False Reconciling=True Stalled=False',
      'WaitingForWindow',
    ]);
    expect([trioOf(failed), reasonOf(failed)]).toEqual([
      'Ready=False Reconciling=False Stalled=True',
      'TargetSuspended',
    ]);
  });

  it('ST-3: lastTransitionTime moves only with the status', () => {
    const first = rollUp(
      'GitBranch',
      withGate({ type: 'Publishing', status: 'False', reason: 'RemoteUnavailable', message: 'a' }),
      [],
      1,
      now,
    );
    const second = rollUp(
      'GitBranch',
      withGate({ type: 'Publishing', status: 'False', reason: 'BranchMoving', message: 'b' }),
      first,
      2,
      later,
    );
    const publishing = second.find(({ type }) => type === 'Publishing');

    expect(publishing).toMatchObject({
      reason: 'BranchMoving',
      observedGeneration: 2,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
  });

  it('ST-4: the same findings give the same conditions', () => {
    const first = rollUp('GitBranch', goodBranch, [], 1, now);
    const second = rollUp('GitBranch', goodBranch, first, 1, later);

    expect(second).toEqual(first);
    expect(sameConditions(first, second)).toBe(true);
    expect(sameConditions(first, rollUp('GitBranch', goodBranch, first, 2, later))).toBe(false);
  });

  it('ST-5: a message is one line of at most 1024 characters', () => {
    expect(cutMessage('a\n  b\r\nc')).toBe('a b c');
    expect([...cutMessage('ü'.repeat(2000))]).toHaveLength(1024);
    expect(cutMessage('ü'.repeat(1024))).toHaveLength(1024);
  });

  it('ST-6: an event for a change of Ready or of its reason, Warning when it stalled', () => {
    const ready = rollUp('GitBranch', goodBranch, [], 1, now);
    const stalled = rollUp(
      'GitBranch',
      withGate({ type: 'Writable', status: 'False', reason: 'PushForbidden', message: 'no' }),
      ready,
      1,
      later,
    );

    expect(eventOf([], ready)).toMatchObject({ type: 'Normal', reason: 'Succeeded' });
    expect(eventOf(ready, rollUp('GitBranch', goodBranch, ready, 2, later))).toBeUndefined();
    expect(eventOf(ready, stalled)).toEqual({ type: 'Warning', reason: 'PushForbidden', message: 'no' });
  });

  it('refuses what the table of the kind does not know', () => {
    const unknown = {
      type: 'Validated',
      status: 'False',
      reason: 'Made-up',
      message: '',
    } as unknown as Gate<'GitBranch'>;
    const stranger = {
      type: 'Elsewhere',
      status: 'True',
      reason: 'Succeeded',
      message: '',
    } as unknown as Gate<'GitBranch'>;
    const tooMild = {
      type: 'Writable',
      status: 'False',
      reason: 'PushForbidden',
      message: '',
      level: 'progress',
    } as unknown as Gate<'GitBranch'>;

    expect(() => rollUp('GitBranch', [unknown], [], 1, now)).toThrow(
      'condition Validated has no False with reason Made-up',
    );
    expect(() => rollUp('GitBranch', [stranger], [], 1, now)).toThrow('GitBranch has no condition Elsewhere');
    expect(() => rollUp('GitBranch', [tooMild], [], 1, now)).toThrow(
      'Writable PushForbidden is stalled, never progress',
    );
    expect(() => rollUp('GitBranch', [...goodBranch, ...goodBranch], [], 1, now)).toThrow('contributed twice');
  });
});

/** Any findings the table of a kind allows. */
const findings = (kind: KindName): fc.Arbitrary<readonly Gate<KindName>[]> => {
  const rows = kindOf(kind).conditions.map((row) => {
    const verdicts = (row.mirrors ? [] : row.rows).concat(sharedRows).flatMap(({ status, reasons, levels }) =>
      reasons.flatMap((reason) =>
        levels.map((level: Level) => ({
          type: row.type,
          status,
          reason,
          level,
          message: `${row.type} is ${reason}`,
        })),
      ),
    );
    return fc.option(fc.constantFrom(...verdicts), { nil: undefined });
  });
  return fc
    .tuple(...rows)
    .map((gates) => gates.filter((gate) => gate !== undefined) as unknown as readonly Gate<KindName>[]);
};

describe('20.3: over any findings', () => {
  it.each(kindNames)('%s: exactly one of the trio is True, all with one reason, in any order', (kind) => {
    fc.assert(
      fc.property(
        findings(kind),
        fc.option(fc.constant('resting'), { nil: undefined }),
        fc.infiniteStream(fc.nat()),
        (gates, suspended, random) => {
          const options = suspended === undefined ? {} : { suspended };
          const shuffled = [...gates]
            .map((gate) => ({ gate, at: random.next().value as number }))
            .sort((a, b) => a.at - b.at);

          const conditions = rollUp(kind, gates, [], 1, now, options);
          const others = rollUp(
            kind,
            shuffled.map(({ gate }) => gate),
            [],
            1,
            now,
            options,
          );

          expect(trio.filter((type) => statusOf(conditions, type) === 'True')).toHaveLength(1);
          expect(new Set(conditions.slice(0, 3).map(({ reason, message }) => `${reason} ${message}`)).size).toBe(1);
          expect(others).toEqual(conditions);
          expect(rollUp(kind, gates, conditions, 1, later, options).map(({ type }) => type)).toEqual(
            conditions.map(({ type }) => type),
          );
        },
      ),
    );
  });
});
