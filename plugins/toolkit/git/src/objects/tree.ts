import { MalformedData } from './delta.js';
import { hashObject, type Oid } from './oid.js';

/** `name` holds the bytes of the name, one per character: names need not be UTF-8, and byte order is `<` on them. */
export interface TreeEntry {
  /** As written in the tree: `100644`, `40000`, and what older writers left (`100664`). */
  readonly mode: string;
  readonly name: string;
  readonly oid: Oid;
}

export const DIRECTORY_MODE = '40000';
export const FILE_MODE = '100644';
const SYMLINK_MODE = '120000';
const SUBMODULE_MODE = '160000';

export type EntryKind = 'directory' | 'file' | 'executable' | 'symlink' | 'submodule';

export function kindOf(mode: string): EntryKind {
  if (mode === DIRECTORY_MODE || mode === '040000') return 'directory';
  if (mode === SYMLINK_MODE) return 'symlink';
  if (mode === SUBMODULE_MODE) return 'submodule';
  return (Number.parseInt(mode, 8) & 0o100) !== 0 ? 'executable' : 'file';
}

/** Git compares directories as if their name ended in a slash. */
const sortKey = (entry: TreeEntry): string => (kindOf(entry.mode) === 'directory' ? `${entry.name}/` : entry.name);

export const compareEntries = (a: TreeEntry, b: TreeEntry): number => {
  const left = sortKey(a);
  const right = sortKey(b);
  return left < right ? -1 : left > right ? 1 : 0;
};

/** Most names are ASCII, and then both forms are one string. */
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
export const toNameBytes = (text: string): string =>
  isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** `undefined` for a name that is not UTF-8. */
export function toNameText(name: string): string | undefined {
  if (isAscii(name)) return name;
  try {
    return strictUtf8.decode(Buffer.from(name, 'latin1'));
  } catch {
    return undefined;
  }
}

/** A directory: entries in git's order. Immutable. */
export class TreeNode {
  readonly oid: Oid;
  readonly entries: readonly TreeEntry[];

  constructor(oid: Oid, entries: readonly TreeEntry[]) {
    this.oid = oid;
    this.entries = entries;
  }

  /** @param name its bytes, see `TreeEntry` */
  find(name: string): TreeEntry | undefined {
    return this.#search(name, name) ?? this.#search(`${name}/`, name);
  }

  #search(key: string, name: string): TreeEntry | undefined {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.entries[middle];
      if (entry === undefined) return undefined;
      const found = sortKey(entry);
      if (found === key) return entry.name === name ? entry : undefined;
      if (found < key) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }
}

/** @throws MalformedData when these bytes are no tree */
export function parseTree(oid: Oid, data: Buffer): TreeNode {
  const entries: TreeEntry[] = [];
  let at = 0;
  let isSorted = true;
  while (at < data.length) {
    const space = data.indexOf(0x20, at);
    const nul = space === -1 ? -1 : data.indexOf(0, space);
    if (nul === -1 || nul + 21 > data.length) throw new MalformedData(`tree ${oid} ends inside an entry`);
    const entry = {
      mode: internMode(data.toString('latin1', at, space)),
      name: data.toString('latin1', space + 1, nul),
      oid: data.toString('hex', nul + 1, nul + 21),
    };
    const before = entries.at(-1);
    if (before !== undefined && compareEntries(before, entry) >= 0) isSorted = false;
    entries.push(entry);
    at = nul + 21;
  }
  // Servers accept unsorted trees; lookups here need order.
  if (!isSorted) entries.sort(compareEntries);
  return new TreeNode(oid, entries);
}

const MODES = new Map(['100644', '100755', '40000', '120000', '160000', '100664'].map((mode) => [mode, mode]));
const internMode = (mode: string): string => MODES.get(mode) ?? mode;

export function encodeTree(entries: readonly TreeEntry[]): { readonly oid: Oid; readonly data: Buffer } {
  let length = 0;
  for (const { mode, name } of entries) length += mode.length + name.length + 22;
  const data = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { mode, name, oid } of entries) {
    at += data.write(`${mode} ${name}\0`, at, 'latin1');
    at += data.write(oid, at, 'hex');
  }
  return { oid: hashObject('tree', data), data };
}
