import { readFileSync } from 'node:fs';
import { at, describeSuite } from './corpus.fixture.js';
import { scanRepo } from './scan-repo.js';

const withoutTexts = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === 'detail' ? '' : each)));

describeSuite('scan-repo', ({ path, input = '', expected = '', verdict }) => {
  if (verdict === 'unsure') return;
  it(`${path}: ${verdict}`, async () => {
    const { candidates, summary } = (await scanRepo(at(path, input))).status;

    expect(withoutTexts({ candidates, summary })).toEqual(
      withoutTexts(JSON.parse(readFileSync(at(path, expected), 'utf8'))),
    );
  });
});

describeSuite('layouts', ({ path, input = '', candidates = [], readEdges, verdict, ours }) => {
  if (verdict === 'unsure' || ours === 'unsure') return;
  it(`${path}: ${verdict}`, async () => {
    const { status } = await scanRepo(at(path, input));

    const found = status.candidates.map((candidate) => ({
      path: candidate.path,
      layout: candidate.layout,
      accepted: candidate.acceptedByOperator,
      ...(candidate.inferredNamespace === undefined ? {} : { inferredNamespace: candidate.inferredNamespace }),
      resources: candidate.resources,
      ...(candidate.refusalReasons === undefined
        ? {}
        : { reasons: candidate.refusalReasons.map(({ code, solvable }) => ({ code, solvable })) }),
    }));
    const wanted = candidates.map(({ reasons, ...candidate }) => ({
      ...candidate,
      ...(reasons === undefined ? {} : { reasons: reasons.map(({ code, solvable }) => ({ code, solvable })) }),
    }));
    expect(found).toEqual(wanted);
    if (readEdges !== undefined) expect(status.summary.readEdges).toEqual(readEdges);
  });
});
