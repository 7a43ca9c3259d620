import { createHash } from 'node:crypto';

/** Object id: 40 lower-case hex digits. */
export type Oid = string;
export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** What the wire calls "no such ref". */
export const ZERO_OID: Oid = '0'.repeat(40);
/** Every git knows it, whether or not anybody stored it. */
export const EMPTY_TREE_OID: Oid = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export const isOid = (value: string): boolean => /^[0-9a-f]{40}$/.test(value);

export function hashObject(type: ObjectType, data: Uint8Array): Oid {
  return createHash('sha1').update(`${type} ${data.byteLength}\0`).update(data).digest('hex');
}
