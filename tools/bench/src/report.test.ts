import { renderSingleEdit, renderSnapshot, toJson } from './report.js';

const snapshot = { seconds: 2.41239, peakRssMiB: 181.26, commits: 1, breakdown: ['ref visible at 2.412 s'] };
const singleEdit = {
  p50Ms: 95.04,
  p99Ms: 401,
  gitCliP50Ms: 60,
  samplesMs: [90, 95.04, 401],
  gitCliSamplesMs: [59, 60, 61],
  breakdown: [],
};

it('writes exactly the agreed figures', () => {
  expect(toJson({ snapshot, singleEdit })).toEqual({
    W1: { seconds: 2.412, peakRssMiB: 181.3 },
    W2: { p50Ms: 95, p99Ms: 401, gitCliP50Ms: 60 },
  });
});

it('leaves out what was not measured', () => {
  expect(toJson({ singleEdit })).toEqual({ W2: { p50Ms: 95, p99Ms: 401, gitCliP50Ms: 60 } });
});

it('prints each figure beside its gate', () => {
  expect(renderSnapshot(snapshot, 10_000)).toContain('2.412 s  (gate 2.5 s: met)');
  expect(renderSingleEdit(singleEdit, 10_000)).toContain('p50 95.0 ms  (gate 120 ms: met)');
  expect(renderSingleEdit(singleEdit, 10_000)).toContain('p99 401.0 ms  (gate 400 ms: missed)');
});
