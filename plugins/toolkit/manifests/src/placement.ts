import { ok, refuse, type Refusal, type Result } from '@gitops-reverser/kernel-api';
import { describeDocument, key } from './identity.js';
import { PathIndex } from './path-index.js';
import { encodePathValue, longestPath, toSafePath, withHash } from './path-safety.js';
import type { PlacementPolicy } from './placement-policy.js';
import type { SiblingPlace, SiblingSearch, SiblingStep } from './siblings.js';
import {
  isIdentityComplete,
  renderTemplate,
  type PlacementSubject,
  type PlacementTemplate,
} from './placement-template.js';

export type PlacementSource = 'by_type' | 'default' | 'kustomize_root' | 'sibling' | 'canonical';

export type PlacementRefusalReason =
  | 'invalid_path'
  | 'sensitive_append'
  | 'plaintext_onto_encrypted'
  | 'mixed_sensitivity_new_file'
  | 'multi_document_target'
  | 'unclassified'
  | 'ignore-shadows-managed';

export type PlacementRefusal = Refusal & { readonly code: PlacementRefusalReason };

export interface Placement {
  readonly path: string;
  readonly source: PlacementSource;
  readonly disposition: 'new_file' | 'appended';
  /** What siblings said, whether it was followed or not. */
  readonly inference?: {
    readonly step: SiblingStep;
    readonly evidenceCount: number;
    /** Why it was not followed. */
    readonly guard?: 'foreign-directory' | 'exists' | 'path';
  };
}

/** What stands at a path already. */
export interface ExistingFile {
  /** A plain manifest, or a file without documents, that may take one more. */
  readonly isAppendable: boolean;
  readonly isEncrypted: boolean;
  readonly documentCount: number;
}

/** The folder as far as placement must know it. Paths are relative to it. */
export interface PlacementSite {
  readonly paths: PathIndex;
  existing(path: string): ExistingFile | undefined;
  ignores(path: string): boolean;
  /** Where documents of one kind lie. `bareNamespace`: what those without a namespace stand for. */
  siblings?(bareNamespace?: string): SiblingSearch;
}

/**
 * Where new documents go: `byType`, else `default`, else beside their siblings, else the canonical path (chapter 20, 7.1 rungs
 * 1, 2, 4 and 5). The first rung that applies is final. Answers are in the order of `subjects` and do not depend on it.
 */
export function placeAll(
  subjects: readonly PlacementSubject[],
  policy: PlacementPolicy,
  site: PlacementSite,
  bareNamespace?: string,
): readonly Result<Placement, PlacementRefusal>[] {
  const findSiblings = policy.default === undefined ? site.siblings?.(bareNamespace) : undefined;
  const planned = new PathIndex([], site.paths);
  const inKeyOrder = subjects
    .map((subject, at) => ({ subject, at, identity: key(subject.ref) }))
    .sort((a, b) => (a.identity < b.identity ? -1 : a.identity > b.identity ? 1 : a.at - b.at));
  const placed: Proposal[] = [];
  for (const { subject, at, identity } of inKeyOrder) {
    const proposal = { subject, at, ...propose(subject, identity, policy, planned, site, findSiblings) };
    if (proposal.problem === undefined) planned.add(proposal.path);
    placed.push(proposal);
  }
  const sharersByPath = new Map<string, Proposal[]>();
  for (const proposal of placed) {
    if (proposal.problem !== undefined) continue;
    const sharers = sharersByPath.get(proposal.path);
    if (sharers === undefined) sharersByPath.set(proposal.path, [proposal]);
    else sharers.push(proposal);
  }
  const answers = new Array<Result<Placement, PlacementRefusal>>(subjects.length);
  for (const proposal of placed) answers[proposal.at] = judge(proposal, sharersByPath.get(proposal.path) ?? [], site);
  return answers;
}

interface Proposal {
  readonly subject: PlacementSubject;
  readonly at: number;
  readonly path: string;
  readonly source: PlacementSource;
  readonly inference?: Placement['inference'];
  readonly problem?: string;
}

function propose(
  subject: PlacementSubject,
  identity: string,
  policy: PlacementPolicy,
  planned: PathIndex,
  site: PlacementSite,
  findSiblings: SiblingSearch | undefined,
): Omit<Proposal, 'subject' | 'at'> {
  const { source, template } = choose(subject, policy);
  const place = source === 'canonical' && !subject.sensitive ? findSiblings?.(subject.ref) : undefined;
  if (place === undefined) return proposeBy(subject, identity, source, template, planned);
  const path = toSafePath(place.path, identity);
  const guard = guardOf(place, path, planned, site);
  const { step, evidenceCount } = place;
  if (guard === undefined) return { path, source: 'sibling', inference: { step, evidenceCount } };
  const canonical = proposeBy(subject, identity, source, template, planned);
  return { ...canonical, inference: { step, evidenceCount, guard } };
}

/** Why the canonical path is safer, which starts with the object's own namespace. */
function guardOf(
  place: SiblingPlace,
  path: string,
  planned: PathIndex,
  site: PlacementSite,
): NonNullable<Placement['inference']>['guard'] {
  if (place.isForeign) return 'foreign-directory';
  if (planned.has(path)) return 'exists';
  return planned.clashes(path) || checkPath(path, planned) !== undefined || site.ignores(path) ? 'path' : undefined;
}

function proposeBy(
  subject: PlacementSubject,
  identity: string,
  source: PlacementSource,
  template: PlacementTemplate | undefined,
  planned: PathIndex,
): Omit<Proposal, 'subject' | 'at'> {
  const rendered = template === undefined ? canonicalPath(subject) : renderTemplate(template, subject, encodePathValue);
  let path = toSafePath(rendered, identity);
  if (planned.clashes(path)) path = withHash(path, identity);
  const incomplete = template !== undefined && subject.sensitive && !isIdentityComplete(template, source === 'default');
  const problem = incomplete
    ? `template "${template.text}" does not tell sensitive objects apart: it needs {namespace} and {name}${source === 'default' ? ', {groupPath} and {resource}' : ''}`
    : checkPath(path, planned);
  return problem === undefined ? { path, source } : { path, source, problem };
}

function choose(
  { ref }: PlacementSubject,
  policy: PlacementPolicy,
): { readonly source: PlacementSource; readonly template?: PlacementTemplate } {
  const type = ref.group === '' ? `${ref.version}/${ref.resource}` : `${ref.group}/${ref.version}/${ref.resource}`;
  const byType = policy.byType.get(type);
  if (byType !== undefined) return { source: 'by_type', template: byType };
  return policy.default === undefined ? { source: 'canonical' } : { source: 'default', template: policy.default };
}

/** `{namespace|_cluster}/{group}/{resource}/{name}.yaml`, without a version, before it is made safe. */
function canonicalPath({ ref, sensitive }: PlacementSubject): string {
  const directory = [ref.namespace ?? '_cluster', ref.group, ref.resource].map(encodePathValue).join('/');
  return `${directory}/${encodePathValue(ref.name)}${sensitive ? '.sops.yaml' : '.yaml'}`;
}

function checkPath(path: string, planned: PathIndex): string | undefined {
  const bytes = Buffer.byteLength(path);
  if (bytes > longestPath) return `path of ${bytes} bytes is longer than ${longestPath}`;
  if (!/\.ya?ml$/.test(path)) return `path ${path} does not end in .yaml or .yml`;
  const file = planned.fileAbove(path);
  return file === undefined ? undefined : `path ${path} leads through ${file}, which is no directory`;
}

function judge(
  proposal: Proposal,
  sharers: readonly Proposal[],
  site: PlacementSite,
): Result<Placement, PlacementRefusal> {
  const { subject, path, source, problem, inference } = proposal;
  const placed = (disposition: Placement['disposition']): Result<Placement, PlacementRefusal> =>
    ok(inference === undefined ? { path, source, disposition } : { path, source, disposition, inference });
  const no = (code: PlacementRefusalReason, why: string): Result<Placement, PlacementRefusal> =>
    refuse({ code, path, ref: subject.ref, message: `cannot place ${describeDocument(subject.ref)}: ${why}` });
  if (problem !== undefined) return no('invalid_path', problem);
  if (site.ignores(path))
    return no('ignore-shadows-managed', `${path} is hidden by .gittargetignore; remove the pattern or place elsewhere`);
  const existing = site.existing(path);
  if (existing === undefined) {
    if (sharers.length === 1) return placed('new_file');
    if (sharers.some((each) => each.source === 'sibling'))
      return no('unclassified', `${path} is where another new object goes; declare a placement`);
    if (sharers.every((each) => each.subject.sensitive))
      return no('sensitive_append', `${sharers.length} sensitive objects share ${path}; each needs a file of its own`);
    if (sharers.some((each) => each.subject.sensitive))
      return no(
        'mixed_sensitivity_new_file',
        `${path} would hold sensitive and plain objects; give the sensitive ones a path of their own`,
      );
    return placed('new_file');
  }
  if (subject.sensitive) return no('sensitive_append', `${path} exists; a sensitive object needs a file of its own`);
  if (existing.isEncrypted)
    return no('plaintext_onto_encrypted', `${path} is encrypted; a plain object needs another file`);
  if (!existing.isAppendable)
    return no('multi_document_target', `${path} holds something that is no editable plain manifest`);
  if (source === 'canonical' && existing.documentCount > 0)
    return no('unclassified', `${path} exists and holds another object; move that file or declare a placement`);
  return placed('appended');
}
