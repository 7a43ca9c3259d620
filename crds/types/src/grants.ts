import { isDnsLabel, isFolderPath } from './formats.js';
import { isGlob, matchesFolderPattern, matchesGlob, namespaceVariable } from './glob.js';
import { selectorFault, selects, type Labels, type LabelSelector } from './label-selector.js';
import type { SpecOf } from './kinds/kinds.js';

/** Authorization between objects (chapter 10, section 12): one pure function decides every grant. */
type GrantsOf<K extends 'GitProvider' | 'GitBranch' | 'KubeProvider', F extends keyof SpecOf<K>> = SpecOf<K>[F];

export interface GitProviderLender {
  readonly kind: 'GitProvider';
  readonly namespace: string;
  readonly name: string;
  readonly allowedGitBranches?: GrantsOf<'GitProvider', 'allowedGitBranches'>;
}
export interface GitBranchLender {
  readonly kind: 'GitBranch';
  readonly namespace: string;
  readonly name: string;
  readonly allowedGitTargets?: GrantsOf<'GitBranch', 'allowedGitTargets'>;
}
export interface KubeProviderLender {
  readonly kind: 'KubeProvider';
  readonly name: string;
  readonly allowedGitTargets?: GrantsOf<'KubeProvider', 'allowedGitTargets'>;
  readonly allowedApplierClaims?: GrantsOf<'KubeProvider', 'allowedApplierClaims'>;
}
export interface GitBranchBorrower {
  readonly kind: 'GitBranch';
  readonly namespace: string;
  readonly branch: string;
}
/** Borrows a branch (`path` counts) and, from a KubeProvider, a connection. */
export interface GitTargetBorrower {
  readonly kind: 'GitTarget';
  readonly namespace: string;
  readonly path: string;
}
/** One entry of a rule: reads `sourceNamespace` through the connection of its target. */
export interface WatchRuleBorrower {
  readonly kind: 'WatchRule';
  readonly namespace: string;
  readonly sourceNamespace: string;
}
export interface ClaimBorrower {
  readonly kind: 'FluxClaim' | 'ArgoCDClaim';
  readonly namespace: string;
  readonly applierNamespace: string;
}

/** Labels of the borrower's Namespace as they were read; a Namespace that does not exist has none. */
export type NamespaceLabels =
  | { readonly kind: 'known'; readonly labels: Labels }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly cause: string };

/** Source namespaces a granted target may read; all matching entries added up. */
export interface SourceScope {
  readonly any: boolean;
  readonly namespaces: readonly string[];
}
export type GrantPart =
  'list' | 'namespaces' | 'branches' | 'paths' | 'sourceNamespaces' | 'kinds' | 'applierNamespaces';
export interface Granted {
  readonly kind: 'granted';
  /** Index of the first entry that matched. */
  readonly entry: number;
  /** Of a `KubeProvider`'s `allowedGitTargets` only. */
  readonly scope?: SourceScope;
  /** Why another entry could not be read: the scope may be larger than it says, so do not narrow an earlier one. */
  readonly incomplete?: string;
}
export interface Denied {
  readonly kind: 'denied';
  readonly part: GrantPart;
  readonly message: string;
  /** The smallest entry that would admit the borrower, as YAML flow text. */
  readonly grant: string;
}
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly cause: string;
  readonly message: string;
}
export type Decision = Granted | Denied | Unreadable;

interface Entry {
  readonly namespaces?: unknown;
}
type Lender = GitProviderLender | GitBranchLender | KubeProviderLender;
type Borrower = GitBranchBorrower | GitTargetBorrower | WatchRuleBorrower | ClaimBorrower;
/** One of the four rows of section 12.1, made comparable. */
interface Row {
  readonly field: 'allowedGitBranches' | 'allowedGitTargets' | 'allowedApplierClaims';
  readonly entries: readonly Entry[];
  /** Absent for a cluster-scoped lender: then every entry must say which namespaces it means. */
  readonly ownNamespace?: string;
  readonly subject: string;
  readonly parts: readonly Part[];
  readonly smallest: Readonly<Record<string, unknown>>;
}
interface Part {
  readonly name: GrantPart;
  readonly found: string;
  test(entry: Entry): Match;
}
type Match = { readonly kind: 'yes' } | { readonly kind: 'no' } | { readonly kind: 'unclear'; readonly cause: string };
const yes: Match = { kind: 'yes' };
const no: Match = { kind: 'no' };
const unclear = (cause: string): Match => ({ kind: 'unclear', cause });

export function decide(lender: GitProviderLender, borrower: GitBranchBorrower, labels: NamespaceLabels): Decision;
export function decide(lender: GitBranchLender, borrower: GitTargetBorrower, labels: NamespaceLabels): Decision;
export function decide(
  lender: KubeProviderLender,
  borrower: GitTargetBorrower | WatchRuleBorrower | ClaimBorrower,
  labels: NamespaceLabels,
): Decision;
/**
 * Whether a lender admits a borrower. Deny by default; entries are alternatives, all parts of an entry must match, scopes
 * of matching entries add up. No I/O, no clock.
 *
 * @param labels labels of the borrower's Namespace; needed only where `needsNamespaceLabels` says so
 */
export function decide(lender: Lender, borrower: Borrower, labels: NamespaceLabels): Decision {
  const row = toRow(lender, borrower);
  const where =
    lender.kind === 'KubeProvider'
      ? `KubeProvider ${lender.name}`
      : `${lender.kind} ${lender.namespace}/${lender.name}`;
  let first: number | undefined;
  let cause: string | undefined;
  let nearest = -1;
  let any = false;
  const namespaces = new Set<string>();
  for (const [index, entry] of row.entries.entries()) {
    const { passed, unclear: why } = weigh(entry, row, borrower.namespace, labels);
    if (why !== undefined) cause ??= why;
    else if (passed === row.parts.length + 1) {
      first ??= index;
      for (const namespace of sourceNamespacesOf(entry)) {
        if (namespace === '*') any = true;
        else namespaces.add(namespace.replaceAll(namespaceVariable, borrower.namespace));
      }
    } else nearest = Math.max(nearest, passed);
  }
  if (first !== undefined) {
    const scope =
      lender.kind === 'KubeProvider' && row.field === 'allowedGitTargets'
        ? { scope: { any, namespaces: [...namespaces].sort() } }
        : {};
    return { kind: 'granted', entry: first, ...scope, ...(cause === undefined ? {} : { incomplete: cause }) };
  }
  if (cause !== undefined) {
    return {
      kind: 'unreadable',
      cause,
      message: `${where}: whether spec.${row.field} admits ${row.subject} cannot be told: ${cause}`,
    };
  }
  const grant = toFlow(row.smallest);
  const remedy = `the smallest entry of its spec.${row.field} that would: ${grant}`;
  if (row.entries.length === 0) {
    return {
      kind: 'denied',
      part: 'list',
      grant,
      message: `${where} admits nobody: spec.${row.field} is empty; it does not admit ${row.subject}; ${remedy}`,
    };
  }
  const failing = nearest <= 0 ? undefined : row.parts[nearest - 1];
  const part = failing?.name ?? 'namespaces';
  const found = failing?.found ?? `namespace ${borrower.namespace}`;
  return {
    kind: 'denied',
    part,
    grant,
    message: `${where} does not admit ${row.subject}: no entry of spec.${row.field} has ${part} that match ${found}; ${remedy}`,
  };
}

/** Whether `decide` would read the labels: an entry has a selector and no exact name that matches. */
export function needsNamespaceLabels(lender: Lender, borrower: Borrower): boolean {
  const row = toRow(lender, borrower);
  return row.entries.some(({ namespaces }) => {
    if (typeof namespaces !== 'object' || namespaces === null) return false;
    const { names, selector } = namespaces as { readonly names?: unknown; readonly selector?: unknown };
    if (selector === undefined || (Array.isArray(names) && names.includes(borrower.namespace))) return false;
    return typeof selector !== 'object' || selector === null || Object.keys(selector).length > 0;
  });
}

/** Whether a granted scope holds a source namespace; `*` asks for every one. */
export const admitsSourceNamespace = (scope: SourceScope, namespace: string): boolean =>
  scope.any || (namespace !== '*' && scope.namespaces.includes(namespace));

/** How many parts of an entry match, in order, namespaces first; or why that cannot be told. */
function weigh(
  entry: Entry,
  row: Row,
  namespace: string,
  labels: NamespaceLabels,
): { readonly passed: number; readonly unclear?: string } {
  let cause: string | undefined;
  let passed = 0;
  for (const match of [
    matchNamespaces(entry, row.ownNamespace, namespace, labels),
    ...row.parts.map((part) => part.test(entry)),
  ]) {
    // what certainly fails is no longer unclear: the entry cannot admit whatever the rest says
    if (match.kind === 'no') return { passed };
    if (match.kind === 'unclear') cause ??= match.cause;
    passed += 1;
  }
  return cause === undefined ? { passed } : { passed, unclear: cause };
}

function matchNamespaces(entry: Entry, own: string | undefined, namespace: string, labels: NamespaceLabels): Match {
  const { namespaces } = entry;
  if (namespaces === undefined)
    return own === undefined ? unclear('an entry lacks namespaces') : own === namespace ? yes : no;
  if (typeof namespaces !== 'object' || namespaces === null) return unclear('namespaces is no object');
  const { names = [], selector } = namespaces as { readonly names?: unknown; readonly selector?: unknown };
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string' && isDnsLabel(name))) {
    return unclear('namespaces.names holds what is no namespace name');
  }
  if (selector !== undefined) {
    const fault = selectorFault(selector);
    // the text of a selector is not the borrower's business
    if (fault !== undefined) return unclear('namespaces.selector is malformed');
  }
  if (names.includes(namespace)) return yes;
  if (selector === undefined) return no;
  if (Object.keys(selector as object).length === 0) return yes;
  switch (labels.kind) {
    case 'unreadable':
      return unclear(`Namespace ${namespace} could not be read: ${labels.cause}`);
    case 'missing':
      return selects(selector as LabelSelector, {}) ? yes : no;
    case 'known':
      return selects(selector as LabelSelector, labels.labels) ? yes : no;
  }
}

function listPart(
  name: GrantPart,
  found: string,
  absent: readonly string[],
  isLegal: (item: string) => boolean,
  matches: (item: string) => boolean,
): Part {
  return {
    name,
    found,
    test: (entry) => {
      const value = (entry as Readonly<Record<string, unknown>>)[name];
      const items = value === undefined ? absent : value;
      if (!Array.isArray(items) || !items.every((item) => typeof item === 'string' && isLegal(item)))
        return unclear(`${name} is malformed`);
      return items.some(matches) ? yes : no;
    },
  };
}
const sourceNamespacesOf = (entry: Entry): readonly string[] =>
  (entry as { readonly sourceNamespaces?: readonly string[] }).sourceNamespaces ?? [namespaceVariable];
const isSourceNamespace = (item: string): boolean => item === '*' || item === namespaceVariable || isDnsLabel(item);

function toRow(lender: Lender, borrower: Borrower): Row {
  const { namespace } = borrower;
  const elsewhere = (own: string): object => (own === namespace ? {} : { namespaces: { names: [namespace] } });
  if (lender.kind === 'GitProvider' && borrower.kind === 'GitBranch') {
    const { branch } = borrower;
    return {
      field: 'allowedGitBranches',
      entries: lender.allowedGitBranches ?? [],
      ownNamespace: lender.namespace,
      subject: `branch ${branch} from namespace ${namespace}`,
      parts: [listPart('branches', `branch ${branch}`, [], isGlob, (glob) => matchesGlob(glob, branch, namespace))],
      smallest: { ...elsewhere(lender.namespace), branches: [branch] },
    };
  }
  if (lender.kind === 'GitBranch' && borrower.kind === 'GitTarget') {
    const { path } = borrower;
    const legal = (pattern: string): boolean => isFolderPath(pattern);
    return {
      field: 'allowedGitTargets',
      entries: lender.allowedGitTargets ?? [],
      ownNamespace: lender.namespace,
      subject: `folder ${path} from namespace ${namespace}`,
      parts: [
        listPart('paths', `folder ${path}`, ['.'], legal, (pattern) => matchesFolderPattern(pattern, path, namespace)),
      ],
      smallest: { ...elsewhere(lender.namespace), paths: [path] },
    };
  }
  if (lender.kind === 'KubeProvider' && (borrower.kind === 'GitTarget' || borrower.kind === 'WatchRule')) {
    const wanted = borrower.kind === 'WatchRule' ? borrower.sourceNamespace : undefined;
    const admits = (item: string): boolean => item === '*' || item.replaceAll(namespaceVariable, namespace) === wanted;
    return {
      field: 'allowedGitTargets',
      entries: lender.allowedGitTargets ?? [],
      subject:
        wanted === undefined ? `namespace ${namespace}` : `source namespace ${wanted} for namespace ${namespace}`,
      parts: [
        wanted === undefined
          ? listPart('sourceNamespaces', 'any namespace', [namespaceVariable], isSourceNamespace, () => true)
          : listPart('sourceNamespaces', `source namespace ${wanted}`, [namespaceVariable], isSourceNamespace, admits),
      ],
      smallest: {
        namespaces: { names: [namespace] },
        ...(wanted === undefined || wanted === namespace ? {} : { sourceNamespaces: [wanted] }),
      },
    };
  }
  if (lender.kind === 'KubeProvider' && (borrower.kind === 'FluxClaim' || borrower.kind === 'ArgoCDClaim')) {
    const { kind, applierNamespace } = borrower;
    return {
      field: 'allowedApplierClaims',
      entries: lender.allowedApplierClaims ?? [],
      subject: `${kind} for appliers in namespace ${applierNamespace} from namespace ${namespace}`,
      parts: [
        listPart(
          'kinds',
          `kind ${kind}`,
          ['FluxClaim', 'ArgoCDClaim'],
          () => true,
          (item) => item === kind,
        ),
        listPart('applierNamespaces', `applier namespace ${applierNamespace}`, [namespaceVariable], isGlob, (glob) =>
          matchesGlob(glob, applierNamespace, namespace),
        ),
      ],
      smallest: {
        namespaces: { names: [namespace] },
        kinds: [kind],
        ...(applierNamespace === namespace ? {} : { applierNamespaces: [applierNamespace] }),
      },
    };
  }
  throw new TypeError(`${lender.kind} lends nothing to a ${borrower.kind}`);
}

/** Compact YAML: `{namespaces: {names: [t-plum]}, branches: [main]}`. */
function toFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toFlow).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}: ${toFlow(item)}`)
      .join(', ')}}`;
  }
  const text = String(value);
  const isPlain = /^[A-Za-z][A-Za-z0-9_./-]*$/u.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/iu.test(text);
  return isPlain ? text : JSON.stringify(text);
}
