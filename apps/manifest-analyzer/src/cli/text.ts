import type { Analysis } from '../analyze.js';
import type { Candidate, FolderReport, RepoReport } from '../report.js';

/** Names come from strangers: nothing in them may steer a terminal. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** What the structure of a folder does not tell: whether the operator of today has a layout for it. */
const kustomizeNote = (folders: string): string =>
  `note: ${folders} built with Kustomize. Its structure is understood, which is what this verdict is about; the operator of this version writes to plain folders only.`;

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** @param usesKustomize the folder holds a kustomization that counts */
export function* folderText({ spec, status }: FolderReport, usesKustomize: boolean): Generator<string> {
  const { accepted, issues, retained } = status;
  const root = spec.root ?? '.';
  yield accepted ? `${root}: accepted` : `${root}: refused, for ${count(issues.length, 'reason')}`;
  for (const { kind, message, solvable } of issues) yield `  ${reasonText(kind, message, solvable)}`;
  for (const { path, unsupported } of retained) if (unsupported !== true) yield `  read only: ${path}`;
  if (!accepted) yield nextStep(issues);
  else if (usesKustomize) yield kustomizeNote('this folder is');
}

/** The message says what to do; whether anything can be done goes without saying, unless it cannot. */
function reasonText(code: string, message: string, solvable: boolean): string {
  return `${code}: ${message}${solvable ? '' : ' [cannot be cleared with this version]'}`;
}

function nextStep(issues: readonly { readonly solvable: boolean }[]): string {
  const stuck = issues.filter(({ solvable }) => !solvable).length;
  if (stuck === 0)
    return 'Nothing is written to it until all of this is put right in the repository. Then scan it again.';
  const what = stuck === issues.length ? 'It' : 'Some of it';
  return `${what} cannot be cleared with this version: point a target at another folder.`;
}

export function* repoText({ spec, status }: RepoReport): Generator<string> {
  const { candidates, summary } = status;
  const root = spec.root ?? '.';
  if (candidates.length === 0) {
    yield `${root}: no folder here holds Kubernetes manifests`;
    return;
  }
  yield `${root}: ${count(candidates.length, 'folder')}, ${summary.accepted} accepted, ${summary.refused} refused`;
  for (const candidate of candidates) yield* candidateText(candidate);
  for (const { ancestor, descendant } of summary.overlapConflicts ?? [])
    yield `overlap: ${descendant} is inside ${ancestor}; point a target at one of them`;
  if (summary.unsupportedConstructs !== undefined)
    yield `not understood in this repository: ${summary.unsupportedConstructs.join(', ')}`;
  const built = candidates.filter(({ acceptedByOperator, layout }) => acceptedByOperator && layout !== 'plain').length;
  if (built > 0) yield kustomizeNote(`${count(built, 'accepted folder')} ${built === 1 ? 'is' : 'are'}`);
}

function* candidateText(candidate: Candidate): Generator<string> {
  const { path, layout, acceptedByOperator, inferredNamespace, resources, readScope, readBy } = candidate;
  const { rendered, editable, nonKrm, encrypted } = resources;
  const counts = [
    count(rendered, 'object'),
    `${editable} editable`,
    ...(encrypted === undefined ? [] : [`${encrypted} encrypted`]),
    ...(nonKrm === 0 ? [] : [`${nonKrm} not Kubernetes`]),
  ];
  const namespace = inferredNamespace === undefined ? '' : `, namespace ${inferredNamespace}`;
  yield `${acceptedByOperator ? 'accepted' : 'refused '}  ${path}  ${layout}${namespace}, ${counts.join(', ')}`;
  const reasons = candidate.refusalReasons ?? [];
  for (const { code, detail, solvable } of reasons.slice(0, mostReasons))
    yield `    ${reasonText(code, detail, solvable)}`;
  if (reasons.length > mostReasons)
    yield `    and ${reasons.length - mostReasons} more; --mode scan-folder names them all`;
  if (readScope !== undefined) yield `    reads ${readScope.join(', ')}`;
  if (readBy !== undefined) yield `    read by ${readBy.join(', ')}`;
}

/** Of one folder among many. */
const mostReasons = 10;

/** What the class of a document says already. */
const saidByClass = new Set(['not-krm', 'empty-document']);

export function* analysisText({ root, documents, diagnostics, summary }: Analysis): Generator<string> {
  for (const { path, documentIndex, class: kind, identity } of documents) {
    const name =
      identity === undefined
        ? ''
        : `  ${identity.apiVersion} ${identity.kind} ${identity.namespace === undefined ? '' : `${identity.namespace}/`}${identity.name}`;
    yield `${kind.padEnd(12)}  ${path}${documentIndex === 0 ? '' : `#${documentIndex}`}${name}`;
  }
  for (const { level, path, documentIndex, reason, message } of diagnostics)
    if (!saidByClass.has(reason))
      yield `${level.padEnd(7)}  ${path}${documentIndex === 0 ? '' : `#${documentIndex}`}  ${reason}: ${message}`;
  const counts = Object.entries(summary.documents).map(([kind, number]) => `${number} ${kind}`);
  const { error = 0, warning = 0 } = summary.diagnostics;
  const found =
    error + warning === 0 ? 'nothing to put right' : `${count(error, 'error')}, ${count(warning, 'warning')}`;
  yield `${root ?? '.'}: ${[count(summary.files, 'file'), ...counts].join(', ')}; ${found}`;
}
