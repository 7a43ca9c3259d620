import type { Devcluster } from '@gitops-reverser/devcluster';

import { describeConditions, isMirrored } from './conditions.js';

const reporting = (status: string): Pick<Devcluster, 'get'> => ({
  get: (apiVersion, kind, name) =>
    ({
      apiVersion,
      kind,
      metadata: { name },
      ...(kind === 'WatchRule' && status === 'nothing'
        ? {}
        : { status: { conditions: [{ type: 'Ready', status, reason: 'Because', message: 'of this' }] } }),
    }) as unknown as ReturnType<Devcluster['get']>,
});

it.each([
  ['all are Ready', 'True', true],
  ['one waits', 'Unknown', false],
  ['one says nothing yet', 'nothing', false],
])('is mirrored when every object says so: %s', (_why, status, expected) => {
  expect(isMirrored(reporting(status))).toBe(expected);
});

it('describes each object with its conditions', () => {
  const text = describeConditions(reporting('False'));

  expect(text).toContain('GitTarget live\n  Ready=False Because: of this');
});

it('an object that reports nothing is named too', () => {
  expect(describeConditions(reporting('nothing'))).toContain('WatchRule basics reports nothing yet');
});
