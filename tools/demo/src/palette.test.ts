import { choosePalette, coloured, plain } from './palette.js';

it.each([
  { why: 'a terminal', env: {}, isTty: true, expected: coloured },
  { why: 'a pipe', env: {}, isTty: false, expected: plain },
  { why: 'a terminal that knows no colours', env: { TERM: 'dumb' }, isTty: true, expected: plain },
  { why: 'a pipe that wants colours', env: { FORCE_COLOR: '1' }, isTty: false, expected: coloured },
  { why: 'FORCE_COLOR=0', env: { FORCE_COLOR: '0' }, isTty: true, expected: plain },
  { why: 'NO_COLOR on a terminal', env: { NO_COLOR: '1' }, isTty: true, expected: plain },
  { why: 'NO_COLOR wins', env: { NO_COLOR: '1', FORCE_COLOR: '1' }, isTty: true, expected: plain },
  { why: 'an empty NO_COLOR says nothing', env: { NO_COLOR: '' }, isTty: true, expected: coloured },
])('chooses colours: $why', ({ env, isTty, expected }) => {
  expect(choosePalette(env, isTty)).toBe(expected);
});
