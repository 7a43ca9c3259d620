import { codesOf, describeSuite, memorySource } from './corpus.fixture.js';
import { toJSON, toYAML, type FolderReport, type RepoReport } from './report.js';
import { scanFolder } from './scan-folder.js';
import { scanRepo } from './scan-repo.js';

/** Texts are no contract, and neither is the version that reports or where the copy lies. */
function comparable(report: unknown): unknown {
  return JSON.parse(
    JSON.stringify(report, (key, value: unknown) =>
      ['message', 'detail', 'version', 'root'].includes(key) ? '' : value,
    ),
  );
}

const codesIn = ({ status }: FolderReport | RepoReport): readonly string[] =>
  'issues' in status
    ? status.issues.map(({ kind }) => kind)
    : status.candidates.flatMap(({ refusalReasons = [] }) => refusalReasons.map(({ code }) => code));

describeSuite('report', ['input', 'expected', 'mode'], (each, { at, read }) => {
  const { path, input = '', expected, mode = 'scan-folder', verdict, isOverridden } = each;
  (verdict === undefined ? it.skip : it)(`${path}: the published document`, async () => {
    const root = at(each, input);
    const golden = expected === undefined ? undefined : (read(at(each, expected)) as unknown as FolderReport);
    // One that names no root scanned memory.
    const source = golden?.spec.root === undefined ? memorySource(root) : root;

    const report = mode === 'scan-folder' ? await scanFolder(source) : await scanRepo(source);

    const { status } = report;
    const isAccepted = 'accepted' in status ? status.accepted : status.summary.refused === 0;
    expect({ isAccepted, codes: [...new Set(codesIn(report))].sort() }).toEqual({
      isAccepted: verdict === 'accepted' || verdict === 'none',
      codes: codesOf(each),
    });
    if (golden !== undefined && !isOverridden) expect(comparable(report)).toEqual(comparable(golden));
    expect(JSON.parse(toJSON(report))).toEqual(report);
  });
});

describe('the published document', () => {
  it('is the same in JSON and in YAML', async () => {
    const report = await scanFolder({
      async *list() {
        await Promise.resolve();
        yield { path: 'notes.txt', mode: 'file' as const };
      },
      read: () => Promise.resolve(new Uint8Array()),
    });

    expect(JSON.parse(toJSON(report))).toEqual(report);
    expect(toYAML(report)).toContain('kind: FolderReport\nspec:\n  mode: scan-folder\nstatus:\n  accepted: false\n');
  });
});
