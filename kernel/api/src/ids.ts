declare const brand: unique symbol;
type Branded<B extends string> = string & { readonly [brand]: B };

/** Name of a source cluster: the name of the object that declares its connection. */
export type ClusterId = Branded<'ClusterId'>;
/** `namespace/name` of the object that declares a branch. */
export type BranchId = Branded<'BranchId'>;
/** `namespace/name` of the object that declares a target. */
export type TargetId = Branded<'TargetId'>;
/** 40 lower-case hex digits. */
export type CommitSha = Branded<'CommitSha'>;
/** Where a stream resumes. Opaque: stored and returned byte for byte. */
export type Cursor = Branded<'Cursor'>;

export const clusterId = (name: string): ClusterId => name as ClusterId;
export const branchId = (namespace: string, name: string): BranchId => `${namespace}/${name}` as BranchId;
export const targetId = (namespace: string, name: string): TargetId => `${namespace}/${name}` as TargetId;
export const cursor = (value: string): Cursor => value as Cursor;

/** @throws TypeError when `value` is not 40 lower-case hex digits */
export function commitSha(value: string): CommitSha {
  if (!/^[0-9a-f]{40}$/.test(value))
    throw new TypeError(`expected a commit id of 40 lower-case hex digits, found ${value.length} characters`);
  return value as CommitSha;
}
