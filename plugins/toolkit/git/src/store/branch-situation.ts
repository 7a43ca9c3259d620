import type { Oid } from '../objects/oid.js';
import { gitError } from '../errors.js';
import type { RemoteRefs } from '../protocol/advertisement.js';

/** Where the next commit of a branch starts (chapter 40, 4.7 and 4.8). */
export type Situation =
  | { readonly kind: 'branch'; readonly oid: Oid }
  | { readonly kind: 'parent'; readonly branch: string; readonly oid: Oid }
  | { readonly kind: 'root' }
  /** Only a list of every ref tells an empty repository from a dangling HEAD. */
  | { readonly kind: 'ask-whole' };

const HEADS = 'refs/heads/';
export const refOf = (branch: string): string => `${HEADS}${branch}`;

/** The branch an empty repository is taken to begin with when it does not say (git's own default). */
const FALLBACK_DEFAULT = 'main';

/**
 * Pure: decides on what a remote said.
 *
 * @param parent the branch to start from; `undefined` for the remote's default branch
 * @throws ReverserError ParentBranchNotFound, ParentBranchUnborn, DefaultBranchUnresolved
 */
export function situationOf(
  refs: RemoteRefs,
  branch: string,
  parent: string | undefined,
  displayUrl: string,
): Situation {
  const own = refs.oidByRef.get(refOf(branch));
  if (own !== undefined) return { kind: 'branch', oid: own };
  if (parent !== undefined && parent !== branch) {
    const oid = refs.oidByRef.get(refOf(parent));
    if (oid !== undefined) return { kind: 'parent', branch: parent, oid };
  }
  if (parent === undefined && refs.head.kind === 'branch' && refs.head.ref.startsWith(HEADS))
    return { kind: 'parent', branch: refs.head.ref.slice(HEADS.length), oid: refs.head.oid };
  if (refs.isEmpty === undefined) return { kind: 'ask-whole' };

  const cannotStart = `${displayUrl}: branch ${branch} cannot start`;
  if (refs.isEmpty) {
    const unborn =
      refs.head.kind === 'unborn' && refs.head.ref.startsWith(HEADS)
        ? refs.head.ref.slice(HEADS.length)
        : FALLBACK_DEFAULT;
    if (parent === branch || (parent === undefined && branch === unborn)) return { kind: 'root' };
    throw gitError(
      'ParentBranchUnborn',
      `${cannotStart}: the repository is empty and ${parent ?? `its default branch ${unborn}`} has no commit; push a first commit to ${parent ?? unborn}, or write to ${unborn}, or set parentBranch to ${branch} for a history of its own`,
      { branch, default: unborn },
    );
  }
  if (parent !== undefined) {
    throw gitError(
      'ParentBranchNotFound',
      parent === branch
        ? `${cannotStart}: parentBranch names the branch itself, which is only possible in an empty repository, and this one has refs; name an existing branch`
        : `${cannotStart}: its parent branch ${parent} does not exist; create it, or name another in parentBranch`,
      { branch, parent },
    );
  }
  throw gitError(
    'DefaultBranchUnresolved',
    `${cannotStart}: ${whyUnresolved(refs)}; name a branch in parentBranch, or set the default branch on the host`,
    { branch },
  );
}

function whyUnresolved({ head }: RemoteRefs): string {
  switch (head.kind) {
    case 'unborn':
      return `the default branch ${head.ref.replace(/^refs\/heads\//, '')} does not exist (HEAD is dangling)`;
    case 'detached':
      return 'HEAD is detached and names no branch';
    case 'branch':
      return `HEAD points at ${head.ref}, which is no branch`;
    case 'unknown':
      return 'the remote does not say where HEAD points';
  }
}
