import { parseCpuSeconds } from './cpu-time.js';

it('adds user and system time, whatever the process is called', () => {
  const stat = '42 (node) R (x) S 1 42 42 0 -1 4194560 100 0 0 0 150 25 0 0 20 0 11 0 1000 1 1';

  expect(parseCpuSeconds(stat)).toBe(1.75);
});

it('refuses what is no such line', () => {
  expect(() => parseCpuSeconds('42 (node) S 1')).toThrow(/does not have the fields/);
});
