import type { DesiredChange, ObjectRef } from '@gitops-reverser/kernel-api';

/** Key of chapter 20, 1.2: a cluster-scoped object omits the namespace, the core group is empty. */
export function objectKey({ group, version, resource, namespace, name }: ObjectRef): string {
  return `${group}/${version}/${resource}/${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** What a batch makes of a folder must not depend on who was heard first (I10). */
export function inKeyOrder<T extends { readonly desired: DesiredChange }>(changes: readonly T[]): readonly T[] {
  const keyed = changes.map((change) => ({ change, key: objectKey(change.desired.ref) }));
  const isOrdered = keyed.every(({ key }, at) => at === 0 || (keyed[at - 1]?.key ?? '') <= key);
  if (isOrdered) return changes;
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ change }) => change);
}
