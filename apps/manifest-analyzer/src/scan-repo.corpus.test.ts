import { readFileSync } from 'node:fs';
import { codesOf, describeSuite, type CorpusCase, type ExpectedCandidate } from './corpus.fixture.js';
import type { Candidate, RepoReport } from './report.js';
import { scanRepo } from './scan-repo.js';

const withoutTexts = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === 'detail' ? '' : each)));

/** A candidate in the words of the index, as far as the index speaks of it. */
function asIndexed(candidate: Candidate, wanted: ExpectedCandidate | undefined): object {
  const { path, layout, acceptedByOperator: accepted, inferredNamespace, resources, renderedTypes } = candidate;
  const reasons = (candidate.refusalReasons ?? []).map(({ code, solvable }, at) =>
    wanted?.reasons?.[at]?.solvable === undefined ? { code } : { code, solvable },
  );
  const all = { path, layout, accepted, inferredNamespace, resources, renderedTypes, reasons };
  const named = new Set(['path', 'layout', 'accepted', 'reasons', ...Object.keys(wanted ?? {})]);
  return Object.fromEntries(Object.entries(all).filter(([key]) => named.has(key)));
}

function asWanted({ reasons = [], ...candidate }: ExpectedCandidate): object {
  const compared = reasons.map(({ code, solvable }) => (solvable === undefined ? { code } : { code, solvable }));
  return { ...candidate, reasons: compared };
}

/** What the index says of every candidate, and of all together. */
function compare({ status }: RepoReport, each: CorpusCase): void {
  const { candidates, verdict } = each;
  const known = new Map(candidates?.map((candidate) => [candidate.path, candidate]));
  if (candidates !== undefined)
    expect(status.candidates.map((candidate) => asIndexed(candidate, known.get(candidate.path)))).toEqual(
      candidates.map(asWanted),
    );
  if (verdict === undefined) return;
  const { accepted, refused } = status.summary;
  const found = accepted === 0 ? (refused === 0 ? 'none' : 'refused') : refused === 0 ? 'accepted' : 'mixed';
  const codes = status.candidates.flatMap(({ refusalReasons = [] }) => refusalReasons.map(({ code }) => code));
  expect({ verdict: found, reasons: [...new Set(codes)].sort() }).toEqual({ verdict, reasons: codesOf(each) });
}

describeSuite('scan-repo', ['input', 'expected', 'candidates'], (each, { at }) => {
  const { path, input = '', expected, verdict, isOverridden } = each;
  (verdict === undefined ? it.skip : it)(`${path}: ${verdict ?? 'unsure'}`, async () => {
    const report = await scanRepo(at(each, input));

    compare(report, each);
    if (expected === undefined || isOverridden) return;
    const { candidates, summary } = report.status;
    const golden: unknown = JSON.parse(readFileSync(at(each, expected), 'utf8'));
    expect(withoutTexts({ candidates, summary })).toEqual(withoutTexts(golden));
  });
});

describeSuite('layouts', ['input', 'candidates', 'readEdges'], (each, { at }) => {
  const { path, input = '', readEdges, verdict, isOverridden } = each;
  (verdict === undefined && !isOverridden ? it.skip : it)(`${path}: ${verdict ?? 'unsure'}`, async () => {
    const report = await scanRepo(at(each, input));

    compare(report, each);
    if (readEdges !== undefined || !isOverridden) expect(report.status.summary.readEdges).toEqual(readEdges);
    for (const candidate of report.status.candidates) {
      const wanted = each.candidates?.find((other) => other.path === candidate.path);
      if (wanted !== undefined && !isOverridden) expect(candidate.inferredNamespace).toBe(wanted.inferredNamespace);
    }
  });
});
