import { ok, refKey, refuse, type Refusal, type Result } from '@gitops-reverser/kernel-api';
import { describeDocument, key } from './identity.js';
import { PathIndex } from './path-index.js';
import {
  encodePathValue,
  isNamedEncrypted,
  longestPath,
  notNamedEncrypted,
  toSafePath,
  withHash,
} from './path-safety.js';
import type { PlacementPolicy } from './placement-policy.js';
import { directoryInRoot, governing, type RenderRoot } from './render-roots.js';
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
  | 'namespace_mismatch'
  | 'unclassified'
  | 'ambiguous-layout'
  | 'ignore-shadows-managed'
  | 'unrendered-placement';

export type PlacementRefusal = Refusal & { readonly code: PlacementRefusalReason };

export interface Placement {
  readonly path: string;
  readonly source: PlacementSource;
  readonly disposition: 'new_file' | 'appended';
  /** The kustomization that has to list the file; one that is not there is to be created. */
  readonly registersIn?: string;
  /** That kustomization's root gives the object its namespace. */
  readonly isNamespaceSupplied?: true;
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
  /** Of a folder that Kustomize builds: its writable supported render roots. */
  readonly renderRoots?: readonly RenderRoot[];
}

/**
 * Where new documents go: `byType`, else `default`, else the one render root, else beside their siblings, else the canonical
 * path (chapter 20, 7.1). The first rung that applies is final. Answers are in the order of `subjects` and do not depend on it. One
 * object that is asked for in two versions has one place.
 */
export function placeAll(
  subjects: readonly PlacementSubject[],
  policy: PlacementPolicy,
  site: PlacementSite,
  bareNamespace?: string,
): readonly Result<Placement, PlacementRefusal>[] {
  const batch = new Batch(policy, site, bareNamespace);
  const inKeyOrder = subjects
    .map((subject, at) => ({ subject, at, identity: key(subject.ref) }))
    .sort((a, b) => (a.identity < b.identity ? -1 : a.identity > b.identity ? 1 : a.at - b.at));
  for (const { subject, identity } of inKeyOrder) batch.add(subject, identity);
  const answers = batch.answers();
  return subjects.flatMap(({ ref }) => answers.get(refKey(ref)) ?? []);
}

/** An object on its way to a path. */
interface Traveller {
  readonly subject: PlacementSubject;
  readonly identity: string;
  readonly source: PlacementSource;
  readonly template?: PlacementTemplate;
}
/** Rungs 1 to 3: somebody declared it, and what shares a path shares a file. */
const isDeclared = ({ source }: Traveller): boolean => source !== 'sibling' && source !== 'canonical';

interface Proposal extends Traveller {
  readonly path: string;
  readonly inference?: Placement['inference'];
  readonly problem?: string;
}

/** What is placed together. Declared templates are obeyed first, so that what we choose ourselves can keep out of their way. */
class Batch {
  private readonly policy: PlacementPolicy;
  private readonly site: PlacementSite;
  private readonly roots: readonly RenderRoot[];
  private readonly findSiblings: SiblingSearch | undefined;
  private readonly planned: PathIndex;
  private readonly travellers = new Map<string, Traveller>();
  /** Canonical paths of this batch, by path: nobody else's sibling takes one. */
  private readonly homes = new Map<string, Traveller>();

  constructor(policy: PlacementPolicy, site: PlacementSite, bareNamespace: string | undefined) {
    this.policy = policy;
    this.site = site;
    this.roots = site.renderRoots ?? [];
    this.findSiblings = policy.default === undefined ? site.siblings?.(bareNamespace) : undefined;
    this.planned = new PathIndex([], site.paths);
  }

  add(subject: PlacementSubject, identity: string): void {
    const id = refKey(subject.ref);
    if (!this.travellers.has(id))
      this.travellers.set(id, { subject, identity, ...choose(subject, this.policy, this.roots) });
  }

  answers(): ReadonlyMap<string, Result<Placement, PlacementRefusal>> {
    const travellers = [...this.travellers.values()];
    const declared = travellers.filter(isDeclared);
    const others = travellers.filter((each) => !isDeclared(each));
    const proposals = declared.map((each) => this.plan(this.proposeDeclared(each)));
    for (const each of others) this.homes.set(safePath(canonicalPath(each.subject), each), each);
    for (const each of others) proposals.push(this.plan(this.proposeOwn(each)));

    const sharersByPath = new Map<string, Proposal[]>();
    for (const proposal of proposals) {
      if (proposal.problem !== undefined) continue;
      const sharers = sharersByPath.get(proposal.path);
      if (sharers === undefined) sharersByPath.set(proposal.path, [proposal]);
      else sharers.push(proposal);
    }
    return new Map(
      proposals.map((proposal) => [
        refKey(proposal.subject.ref),
        judge(proposal, sharersByPath.get(proposal.path) ?? [], this.site),
      ]),
    );
  }

  private plan(proposal: Proposal): Proposal {
    if (proposal.problem === undefined) this.planned.add(proposal.path);
    return proposal;
  }

  private proposeDeclared(traveller: Traveller): Proposal {
    const { subject, source, template } = traveller;
    if (template === undefined) return this.proposeInRoot(traveller);
    const rendered = renderTemplate(template, subject, encodePathValue);
    const path = isNamedEncrypted(template.text)
      ? toSafePath(rendered, traveller.identity)
      : safePath(rendered, traveller);
    const isDefault = source === 'default';
    if (!subject.sensitive || isIdentityComplete(template, isDefault)) return this.finish(traveller, path);
    const needed = isDefault ? '{namespace}, {name}, {groupPath} and {resource}' : '{namespace} and {name}';
    const problem = `template "${template.text}" does not tell sensitive objects apart: it needs ${needed}`;
    return { ...traveller, path, problem };
  }

  /** Beside the kustomization; a sensitive object joins no file that is there already. */
  private proposeInRoot(traveller: Traveller): Proposal {
    const { ref, sensitive } = traveller.subject;
    const [root] = this.roots;
    const directory = root === undefined ? '' : directoryInRoot(root, ref);
    const at = (fileName: string): string => {
      const path = `${encodePathValue(fileName)}${sensitive ? '.sops.yaml' : '.yaml'}`;
      return safePath(directory === '' ? path : `${directory}/${path}`, traveller);
    };
    const path = at(ref.name);
    const isTaken = sensitive && (this.planned.has(path) || this.site.existing(path) !== undefined);
    return this.finish(traveller, isTaken ? at(`${ref.name}-${ref.resource}`) : path);
  }

  /** Beside its siblings, or at the canonical path, which starts with the object's own namespace. */
  private proposeOwn(traveller: Traveller): Proposal {
    const { subject } = traveller;
    const place = subject.sensitive ? undefined : this.findSiblings?.(subject.ref);
    const home = (): Proposal => this.finish(traveller, safePath(canonicalPath(subject), traveller));
    if (place === undefined) return home();
    const { step, evidenceCount } = place;
    const path = this.apart(safePath(place.path, traveller), traveller);
    const guard = this.guardOf(place, path, traveller);
    if (guard !== undefined) return { ...home(), inference: { step, evidenceCount, guard } };
    return { ...traveller, path, source: 'sibling', inference: { step, evidenceCount } };
  }

  private guardOf(place: SiblingPlace, path: string, traveller: Traveller): SiblingGuard | undefined {
    if (place.isForeign) return 'foreign-directory';
    const home = this.homes.get(path);
    if (this.planned.has(path) || (home !== undefined && home !== traveller)) return 'exists';
    // A directory that would have to be spelled in another way is not the one where the siblings are.
    const isMoved = directoryOf(path) !== directoryOf(place.path);
    return isMoved || checkPath(path, this.planned) !== undefined || this.site.ignores(path) ? 'path' : undefined;
  }

  private finish(traveller: Traveller, safe: string): Proposal {
    const path = this.apart(safe, traveller);
    const problem = checkPath(path, this.planned) ?? this.checkSuffix(path, traveller);
    return problem === undefined ? { ...traveller, path } : { ...traveller, path, problem };
  }

  private checkSuffix(path: string, { subject }: Traveller): string | undefined {
    if (subject.sensitive || !isNamedEncrypted(path) || this.site.existing(path) !== undefined) return undefined;
    return `${path} is named as encrypted and the object is not; let the template end in {sensitiveSuffix}`;
  }

  private apart(path: string, { identity }: Traveller): string {
    return this.planned.clashes(path) ? withHash(path, identity) : path;
  }
}

type SiblingGuard = NonNullable<NonNullable<Placement['inference']>['guard']>;

const directoryOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

function safePath(rendered: string, { subject, identity }: Traveller): string {
  const path = toSafePath(rendered, identity);
  return subject.sensitive ? path : notNamedEncrypted(path);
}

function choose(
  { ref }: PlacementSubject,
  policy: PlacementPolicy,
  roots: readonly RenderRoot[],
): Pick<Traveller, 'source' | 'template'> {
  const type = ref.group === '' ? `${ref.version}/${ref.resource}` : `${ref.group}/${ref.version}/${ref.resource}`;
  const byType = policy.byType.get(type);
  if (byType !== undefined) return { source: 'by_type', template: byType };
  if (policy.default !== undefined) return { source: 'default', template: policy.default };
  return { source: roots.length > 0 || policy.useKustomize ? 'kustomize_root' : 'canonical' };
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
  const home = homeOf(proposal, site.renderRoots ?? []);
  const placed = (disposition: Placement['disposition']): Result<Placement, PlacementRefusal> =>
    ok({ path, source, disposition, ...home.placed, ...(inference === undefined ? {} : { inference }) });
  const no = (code: PlacementRefusalReason, why: string): Result<Placement, PlacementRefusal> =>
    refuse({ code, path, ref: subject.ref, message: `cannot place ${describeDocument(subject.ref)}: ${why}` });
  if (home.refused !== undefined) return no(home.refused.reason, home.refused.why);
  if (problem !== undefined) return no('invalid_path', problem);
  if (site.ignores(path))
    return no('ignore-shadows-managed', `${path} is hidden by .gittargetignore; remove the pattern or place elsewhere`);
  const existing = site.existing(path);
  if (existing === undefined) {
    // Only what somebody declared may share a file.
    const declared = sharers.filter(isDeclared);
    if (!isDeclared(proposal))
      return sharers.length === 1
        ? placed('new_file')
        : no('unclassified', `${path} is where another new object goes; declare a placement`);
    if (declared.length === 1) return placed('new_file');
    if (declared.every((each) => each.subject.sensitive))
      return no('sensitive_append', `${declared.length} sensitive objects share ${path}; each needs a file of its own`);
    if (declared.some((each) => each.subject.sensitive))
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

interface Home {
  readonly placed: Pick<Placement, 'registersIn' | 'isNamespaceSupplied'>;
  readonly refused?: {
    readonly reason: 'ambiguous-layout' | 'unrendered-placement' | 'namespace_mismatch';
    readonly why: string;
  };
}

/** What Kustomize makes of a file at the path; nothing where nothing is built (chapter 20, 7.6 and 7.8). */
function homeOf({ subject: { ref }, source, path }: Proposal, roots: readonly RenderRoot[]): Home {
  const refused = (reason: NonNullable<Home['refused']>['reason'], why: string): Home => ({
    placed: {},
    refused: { reason, why },
  });
  if (roots.length === 0) return { placed: source === 'kustomize_root' ? { registersIn: 'kustomization.yaml' } : {} };
  if (roots.length > 1 && source === 'kustomize_root') {
    const names = roots.map(({ directory }) => directory).join(', ');
    return refused('ambiguous-layout', `the folder has ${roots.length} render roots (${names}); declare a placement`);
  }
  const found = governing(roots, path);
  if (found === undefined)
    return refused('unrendered-placement', `no kustomization of the folder builds ${path}; place it below one`);
  const { kustomization, root } = found;
  const isRewritten = ref.namespace !== undefined && root.namespace !== undefined && root.namespace !== ref.namespace;
  if (isRewritten)
    return refused(
      'namespace_mismatch',
      `${kustomization} puts everything into namespace ${root.namespace ?? ''}; place it where another root builds it`,
    );
  const isSupplied = ref.namespace !== undefined && root.namespace === ref.namespace;
  return { placed: { registersIn: kustomization, ...(isSupplied ? { isNamespaceSupplied: true } : {}) } };
}
