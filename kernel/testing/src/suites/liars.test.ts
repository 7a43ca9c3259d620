import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FIXTURES = join(import.meta.dirname, '../../fixtures/liars');
const JEST = join(import.meta.dirname, '../../../../node_modules/jest/bin/jest.js');

/** Each lie, and the test that has to find it. */
const LIES = [
  { liar: 'born-warm', found: 'is born cold: create opens nothing' },
  { liar: 'leaves-a-timer', found: 'is started once, says how it is, and is disposed' },
  { liar: 'dies-unstarted', found: 'is disposed without having been started' },
  { liar: 'mutates', found: 'works on a deep-frozen object, at once: a plain object' },
  { liar: 'adds-each-time', found: 'changes nothing the second time: a plain object' },
  { liar: 'counts', found: 'gives equal answers to equal objects: a plain object' },
  { liar: 'loses-spec', found: 'keeps the intent of what it keeps: a workload' },
  { liar: 'declares-what-it-leaves', found: 'strips what its bookkeeping strips, and nothing that it keeps' },
  { liar: 'unknown-reason', found: 'works on a deep-frozen object, at once: a Secret' },
  { liar: 'no-brackets', found: 'brackets an empty snapshot too' },
  { liar: 'removes-twice', found: 'tells a removal once, as a deletion' },
  { liar: 'all-live', found: 'brackets a snapshot of everything that is there, and puts a cursor at its end' },
  { liar: 'ends-early', found: 'ends within a second of an abort, without a snapshot-end that it did not earn' },
  { liar: 'trusts-any-cursor', found: 'falls back to a snapshot when the cursor means nothing to it' },
  { liar: 'silent', found: 'answers "unresolved", with a registered reason, when nothing is known by the deadline' },
  { liar: 'believes-failures', found: 'ignores the fact "failed": a refused request changed nothing' },
  {
    liar: 'last-one-wins',
    found: 'gives the same actor whatever the order and however often facts repeat: ["match", "match", "other"]',
  },
  { liar: 'leaves-the-folder', found: 'plans nothing outside the folder' },
  { liar: 'moves-documents', found: 'edits an existing document where it lies' },
  { liar: 'never-the-same', found: 'plans the same steps for the same folder and change' },
  { liar: 'always-writes', found: 'plans nothing for an object the folder already means' },
  {
    liar: 'sets-up-the-neighbour',
    found: 'names only files beside its documents, the same ones every time, and the folder stays its own with them',
  },
  {
    liar: 'sets-up-documents',
    found: 'names only files beside its documents, the same ones every time, and the folder stays its own with them',
  },
  { liar: 'sets-up-anything', found: 'names only files beside its documents, the same ones every time' },
  { liar: 'never-the-same-bytes', found: 'renders an unchanged step over its own output to the very same bytes' },
  { liar: 'forgets-siblings', found: 'keeps sibling documents byte for byte, while it puts and when it drops' },
  { liar: 'encrypts-nothing', found: 'never lets plaintext out when it encrypts' },
  { liar: 'lets-go-at-exit', found: 'keeps the hold when it is disposed, and adopts its own after a restart' },
  { liar: 'takes-what-is-not-its-own', found: 'leaves a foreign owner alone' },
  {
    liar: 'applies-twice',
    found: 'applies the requested commit and no other, telling when its writes begin and end',
  },
  { liar: 'forgets-a-field', found: 'gives the hold back under Restore' },
] as const;

interface Assertion {
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: string;
}

/** Titles of the failed tests of each liar: runs the fixtures in a Jest of their own, where they may fail. Only tests that matter are run: a liar makes others wait. */
async function failuresByLiar(): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'gitops-reverser-liars-'));
  const report = join(folder, 'report.json');
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    JEST,
    '--config',
    join(FIXTURES, 'jest.config.mjs'),
    '--runInBand',
    `--testNamePattern=(${LIES.map(({ found }) => found.replaceAll(/[^\w ]/g, '.')).join('|')})$`,
    '--watchman=false',
    '--json',
    `--outputFile=${report}`,
  ];
  const { TEST_TALLY_DIR: _tally, ...env } = process.env;
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, { env, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    ),
  );
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      readonly testResults: readonly { readonly assertionResults: readonly Assertion[]; readonly message: string }[];
    };
    const failures = new Map<string, string[]>();
    for (const { ancestorTitles, title, status } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
      const liar = ancestorTitles[0]?.split(' of ')[1] ?? '';
      failures.set(liar, [...(failures.get(liar) ?? []), ...(status === 'failed' ? [title] : [])]);
    }
    if (failures.size === 0) throw new Error(testResults.map(({ message }) => message).join('\n'));
    return failures;
  } catch (error) {
    throw new Error(`the liars did not run:\n${output}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let failures: ReadonlyMap<string, readonly string[]>;
beforeAll(async () => void (failures = await failuresByLiar()), 120_000);

describe('the contract suites find a liar', () => {
  it.each(LIES)('$liar: $found', ({ liar, found }) => {
    expect(failures.get(liar)).toContain(found);
  });
});
