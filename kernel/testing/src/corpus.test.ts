import { expectationOf } from './corpus.js';

describe('what an entry of a corpus asks for', () => {
  const entry = { path: 'a/b', suite: 'a', input: 'input', verdict: 'accepted', features: ['x'] };

  it.each([
    ['is what was recorded', {}, entry],
    ['is nothing of a verdict nobody verified', { verdict: 'unsure' }, { ...entry, verdict: undefined }],
    [
      'is our own answer where we have one',
      { ours: { verdict: 'refused', reason: 'r' } },
      { ...entry, verdict: 'refused', reason: 'r', isOverridden: true },
    ],
    [
      'is only what our answer names where that is unsure',
      { ours: { verdict: 'unsure', diagnostics: ['d'] } },
      { path: 'a/b', suite: 'a', input: 'input', diagnostics: ['d'], isOverridden: true },
    ],
    [
      'is nothing where we are unsure',
      { ours: 'unsure' },
      { path: 'a/b', suite: 'a', input: 'input', isOverridden: true },
    ],
  ])('%s', (_, more, expected) => {
    expect(expectationOf({ ...entry, ...more })).toEqual({ isOverridden: false, ...expected });
  });
});
