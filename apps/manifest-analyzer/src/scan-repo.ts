import {
  directoryOf,
  findRenderRoots,
  isKustomizationPath,
  kustomizationDirectories,
} from '@gitops-reverser/toolkit-manifests';
import { compareCodePoints } from '@gitops-reverser/toolkit-yaml';
import { judgeCandidate, type JudgedCandidate } from './candidate.js';
import { Gate } from './gate.js';
import { openDirectory, openSource, pause, type ScanOptions } from './open-repository.js';
import { findOverlaps, findReaders } from './relations.js';
import { generator, reportApiVersion, type Candidate, type CandidateLayout, type RepoReport } from './report.js';
import type { Repository } from './repository.js';
import { manifestPaths } from './scan-folder.js';
import type { Source } from './source.js';

/**
 * Which folders of a repository could be a target's `spec.path`, and what the operator would say of each.
 *
 * @throws ScanFailed when the root is no directory or cannot be read; refused folders are part of the report
 */
export async function scanRepo(source: string | Source, options: ScanOptions = {}): Promise<RepoReport> {
  const repository =
    typeof source === 'string' ? await openDirectory(source, options) : await openSource(source, options);
  const gate = new Gate(repository);
  const { roots, plain } = await findCandidates(repository, gate, options);
  const paths = [...roots, ...plain].sort(compareCodePoints);
  const judged: JudgedCandidate[] = [];
  for (const path of paths) {
    judged.push(judgeCandidate(gate, path, roots.has(path)));
    if (judged.length % 20 === 0) await pause({ stage: 'judged', done: judged.length, total: paths.length }, options);
  }
  return {
    apiVersion: reportApiVersion,
    kind: 'RepoReport',
    spec: { ...(typeof source === 'string' ? { root: source } : {}), mode: 'scan-repo' },
    status: { generator: generator(), ...summarize(judged) },
  };
}

/** Render roots, and folders of manifests that no kustomization owns (chapter 20, 11.3). */
async function findCandidates(
  repository: Repository,
  gate: Gate,
  options: ScanOptions,
): Promise<{ readonly roots: ReadonlySet<string>; readonly plain: readonly string[] }> {
  const kustomizations = repository.entries.flatMap(({ path, mode }) =>
    isKustomizationPath(path) && (mode === 'file' || mode === 'executable') ? [path] : [],
  );
  const directories = kustomizationDirectories(kustomizations);
  const owned = new Set(directories);
  const isOwned = (directory: string): boolean => {
    if (owned.has('.')) return true;
    for (let at = directory; at !== '.'; at = directoryOf(at)) if (owned.has(at)) return true;
    return false;
  };
  const withManifests = await gate.readAll('.', manifestPaths(repository, '.'), options);
  const plain = [...new Set(withManifests.map(directoryOf))].filter((directory) => !isOwned(directory));
  return { roots: new Set(findRenderRoots(gate.tree, directories).roots), plain };
}

function summarize(judged: readonly JudgedCandidate[]): Pick<RepoReport['status'], 'candidates' | 'summary'> {
  const overlaps = findOverlaps(judged.map(({ path }) => path));
  const readersByPath = findReaders(judged);
  const candidates = judged.map(({ outsideDirectories: _, features: __, ...candidate }): Candidate => {
    const readBy = readersByPath.get(candidate.path);
    const overlapsWith = overlaps.byPath.get(candidate.path);
    return {
      ...candidate,
      ...(readBy === undefined ? {} : { readBy }),
      ...(overlapsWith === undefined ? {} : { overlapsWith }),
    };
  });
  const readEdges = candidates.flatMap(({ path, readScope = [] }) => readScope.map((to) => ({ from: path, to })));
  const constructs = [...new Set(judged.flatMap(({ features }) => features))].sort();
  const accepted = candidates.filter(({ acceptedByOperator }) => acceptedByOperator).length;
  return {
    candidates,
    summary: {
      candidatesByLayout: countLayouts(candidates),
      accepted,
      refused: candidates.length - accepted,
      ...(overlaps.pairs.length === 0 ? {} : { overlapConflicts: overlaps.pairs }),
      ...(readEdges.length === 0 ? {} : { readEdges }),
      ...(constructs.length === 0 ? {} : { unsupportedConstructs: constructs }),
    },
  };
}

function countLayouts(candidates: readonly Candidate[]): Partial<Record<CandidateLayout, number>> {
  const counts: Partial<Record<CandidateLayout, number>> = {};
  for (const { layout } of candidates) counts[layout] = (counts[layout] ?? 0) + 1;
  return counts;
}
