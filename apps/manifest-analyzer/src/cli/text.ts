import type { Analysis } from '../analyze.js';
import type { Candidate, FolderReport, RepoReport } from '../report.js';

/** Names come from strangers: nothing in them may steer a terminal. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

export function* folderText({ spec, status }: FolderReport): Generator<string> {
  yield `${spec.root ?? '.'}: ${status.accepted ? 'accepted' : 'refused'}`;
  for (const { kind, message, solvable, actor } of status.issues)
    yield `  ${kind}: ${message} [${remedy(solvable, actor)}]`;
  for (const { path, unsupported } of status.retained) if (unsupported !== true) yield `  read only: ${path}`;
}

function remedy(solvable: boolean, actor?: string): string {
  if (!solvable) return 'cannot be cleared with this version';
  return actor === undefined ? 'can be cleared' : `can be cleared by the ${actor}`;
}

export function* repoText({ spec, status }: RepoReport): Generator<string> {
  const { candidates, summary } = status;
  yield `${spec.root ?? '.'}: ${candidates.length} folders, ${summary.accepted} accepted, ${summary.refused} refused`;
  for (const candidate of candidates) yield* candidateText(candidate);
  for (const { ancestor, descendant } of summary.overlapConflicts ?? [])
    yield `overlap: ${descendant} is inside ${ancestor}; point a target at one of them`;
  if (summary.unsupportedConstructs !== undefined)
    yield `unsupported in this repository: ${summary.unsupportedConstructs.join(', ')}`;
}

function* candidateText(candidate: Candidate): Generator<string> {
  const { path, layout, acceptedByOperator, inferredNamespace, resources, readScope, readBy } = candidate;
  const { rendered, editable, nonKrm, encrypted } = resources;
  const counts = [
    `${rendered} objects`,
    `${editable} editable`,
    ...(encrypted === undefined ? [] : [`${encrypted} encrypted`]),
    ...(nonKrm === 0 ? [] : [`${nonKrm} not Kubernetes`]),
  ];
  const namespace = inferredNamespace === undefined ? '' : `, namespace ${inferredNamespace}`;
  yield `${acceptedByOperator ? 'accepted' : 'refused '}  ${path}  ${layout}${namespace}, ${counts.join(', ')}`;
  for (const { code, detail, solvable, actor } of candidate.refusalReasons ?? [])
    yield `    ${code}: ${detail} [${remedy(solvable, actor)}]`;
  if (readScope !== undefined) yield `    reads ${readScope.join(', ')}`;
  if (readBy !== undefined) yield `    read by ${readBy.join(', ')}`;
}

export function* analysisText({ root, documents, diagnostics, summary }: Analysis): Generator<string> {
  for (const { path, documentIndex, class: kind, identity } of documents) {
    const name =
      identity === undefined
        ? ''
        : `  ${identity.apiVersion} ${identity.kind} ${identity.namespace === undefined ? '' : `${identity.namespace}/`}${identity.name}`;
    yield `${kind.padEnd(12)}  ${path}${documentIndex === 0 ? '' : `#${documentIndex}`}${name}`;
  }
  for (const { level, path, documentIndex, reason, message } of diagnostics)
    yield `${level.padEnd(7)}  ${path}${documentIndex === 0 ? '' : `#${documentIndex}`}  ${reason}: ${message}`;
  const counts = Object.entries(summary.documents).map(([kind, number]) => `${number} ${kind}`);
  yield `${root ?? '.'}: ${summary.files} files; ${counts.join(', ')}`;
}
