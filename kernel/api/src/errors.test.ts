import { runInNewContext } from 'node:vm';
import { ReverserError, hasReason, isReverserError, messageOf, reasonOf } from './errors.js';

const moved = new ReverserError({
  reason: 'BranchMoved',
  retry: 'backoff',
  message: 'branch main moved',
  details: { branch: 'main' },
  cause: new Error('why'),
});

/** What another copy of this package, or another realm, would have thrown. */
const foreign: unknown = runInNewContext(
  `Object.assign(new Error('from afar'), { [Symbol.for('gitops-reverser.error')]: true, reason: 'FromAfar', retry: 'never', details: {} })`,
);

describe('ReverserError', () => {
  it('carries its reason, the advice to its caller, and its cause', () => {
    const { name, reason, retry, message, details, cause } = moved;

    expect({ name, reason, retry, message, details, cause }).toEqual({
      name: 'BranchMoved',
      reason: 'BranchMoved',
      retry: 'backoff',
      message: 'branch main moved',
      details: { branch: 'main' },
      cause: new Error('why'),
    });
  });

  it('is known by its mark, across copies and realms', () => {
    expect([
      isReverserError(moved),
      isReverserError(foreign),
      hasReason(foreign, 'FromAfar'),
      hasReason(foreign, 'Other'),
    ]).toEqual([true, true, true, false]);
    expect(foreign instanceof Error).toBe(false);
  });

  it.each([[new Error('x')], ['text'], [undefined], [null], [{ reason: 'BranchMoved' }]])(
    'is nothing else: %s',
    (value) => {
      expect([isReverserError(value), hasReason(value, 'BranchMoved')]).toEqual([false, false]);
    },
  );

  it('every thrown value has a reason and a message', () => {
    expect(
      [moved, foreign, new Error('plain'), 'text', undefined].map((value) => [reasonOf(value), messageOf(value)]),
    ).toEqual([
      ['BranchMoved', 'branch main moved'],
      ['FromAfar', 'from afar'],
      ['Unexpected', 'plain'],
      ['Unexpected', 'text'],
      ['Unexpected', 'undefined'],
    ]);
  });
});
