import { at, describeSuite, memorySource, readYaml } from './corpus.fixture.js';
import { toJSON, toYAML, type FolderReport, type RepoReport } from './report.js';
import { scanFolder } from './scan-folder.js';
import { scanRepo } from './scan-repo.js';

/** Texts are no contract, and neither is which build reports. */
function comparable(report: FolderReport | RepoReport): unknown {
  return JSON.parse(
    JSON.stringify(report, (key, value: unknown) =>
      ['message', 'detail', 'generator', 'root'].includes(key) ? '' : value,
    ),
  );
}

describeSuite('report', ({ path, input = '', expected = '', mode, verdict }) => {
  if (verdict === 'unsure') return;
  it(`${path}: the published document`, async () => {
    const source = memorySource(at(path, input));

    const report = mode === 'scan-folder' ? await scanFolder(source) : await scanRepo(source);

    const { spec, ...rest } = comparable(report) as { spec: object };
    const { spec: expectedSpec, ...wanted } = comparable(readYaml(at(path, expected)) as unknown as RepoReport) as {
      spec: { mode: string };
    };
    expect(rest).toEqual(wanted);
    expect(spec).toEqual({ mode: expectedSpec.mode });
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
