import { parseArguments } from './arguments.js';

it.each([
  { why: 'nothing asked', args: [], expected: { once: false, port: 0 } },
  { why: 'a folder', args: ['--dir', 'here'], expected: { once: false, port: 0, dir: 'here' } },
  { why: 'one edit', args: ['--once'], expected: { once: true, port: 0 } },
  {
    why: 'all together',
    args: ['--once', '--dir=d', '--port', '6443'],
    expected: { once: true, port: 6443, dir: 'd' },
  },
])('reads the command line: $why', ({ args, expected }) => {
  expect(parseArguments(args)).toEqual({ kind: 'run', options: expected });
});

it.each([['--help'], ['-h']])('%s asks for help', (flag) => {
  expect(parseArguments([flag])).toEqual({ kind: 'help' });
});

it.each([
  { why: 'an unknown flag', args: ['--twice'], problem: /--twice/ },
  { why: 'a folder without its flag', args: ['here'], problem: /here/ },
  { why: 'a flag without its value', args: ['--dir'], problem: /--dir/ },
  { why: 'an empty folder', args: ['--dir', ''], problem: /--dir needs the name of a folder/ },
  { why: 'a port that is no number', args: ['--port', 'https'], problem: /--port needs a number .*"https"/ },
  { why: 'a port that does not exist', args: ['--port', '70000'], problem: /--port needs a number/ },
])('refuses, and says what: $why', ({ args, problem }) => {
  expect(parseArguments(args)).toEqual({ kind: 'refused', problem: expect.stringMatching(problem) });
});
