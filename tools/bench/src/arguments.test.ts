import { parseArguments } from './arguments.js';

const usual = { isReal: false, objects: 10_000, namespaces: 50, documents: 1_000, files: 10_000, entries: 50_000 };

it.each([
  { why: 'nothing named is the main job', args: [], expected: { ...usual, workloads: new Set(['W1', 'W2']) } },
  { why: 'one workload', args: ['W1'], expected: { ...usual, workloads: new Set(['W1']) } },
  { why: 'files alone', args: ['edit'], expected: { ...usual, workloads: new Set(['edit']) } },
  {
    why: 'all options',
    args: [
      ...['W1', 'W2', '--json', 'f', '--real', '--samples=3', '--objects=20', '--namespaces=2', '--profile=p'],
      ...['--documents=9', '--files=10', '--entries=11'],
    ],
    expected: {
      workloads: new Set(['W1', 'W2']),
      json: 'f',
      isReal: true,
      samples: 3,
      objects: 20,
      namespaces: 2,
      documents: 9,
      files: 10,
      entries: 11,
      profile: 'p',
    },
  },
])('reads the command line: $why', ({ args, expected }) => {
  expect(parseArguments(args)).toEqual({ kind: 'run', options: expected });
});

it('asks for help', () => {
  expect(parseArguments(['--help'])).toEqual({ kind: 'help' });
});

it.each([
  { why: 'an unknown workload', args: ['W9'], problem: /no workload W9; there are W1, W2, edit/ },
  { why: 'an unknown option', args: ['--fast'], problem: /--fast/ },
  { why: 'no samples', args: ['--samples', '0'], problem: /--samples needs a number .*"0"/ },
  { why: 'a number that is none', args: ['--objects', '10k'], problem: /--objects needs a number .*"10k"/ },
  { why: 'an empty file name', args: ['--json', ''], problem: /--json needs a name/ },
])('refuses, and says what: $why', ({ args, problem }) => {
  expect(parseArguments(args)).toEqual({ kind: 'refused', problem: expect.stringMatching(problem) });
});
