import { EMPTY_TREE_OID, type Oid } from './oid.js';
import type { ObjectStore } from './object-store.js';
import { parseTree, TreeNode } from './tree.js';

/** Entries over all nodes: about 70 MB, several times the largest folder we promise to be quick with. */
const MAX_ENTRIES = 500_000;
const EMPTY = new TreeNode(EMPTY_TREE_OID, []);

/** Directories by tree id, shared between the base, our commits and every target of the branch; loaded when first asked for. */
export class TreeCache {
  readonly #objects: ObjectStore;
  readonly #nodeByOid = new Map<Oid, TreeNode>();
  #entryCount = 0;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /** @throws ReverserError ObjectMissing when the tree is not held or damaged */
  load(oid: Oid): TreeNode {
    const known = this.#nodeByOid.get(oid);
    if (known !== undefined) {
      this.#nodeByOid.delete(oid);
      this.#nodeByOid.set(oid, known);
      return known;
    }
    if (oid === EMPTY_TREE_OID) return EMPTY;
    const node = parseTree(oid, this.#objects.read(oid, 'tree'));
    this.add(node);
    return node;
  }

  add(node: TreeNode): void {
    if (this.#nodeByOid.has(node.oid)) return;
    this.#nodeByOid.set(node.oid, node);
    this.#entryCount += node.entries.length;
    for (const [oid, oldest] of this.#nodeByOid) {
      if (this.#entryCount <= MAX_ENTRIES || oid === node.oid) break;
      this.#nodeByOid.delete(oid);
      this.#entryCount -= oldest.entries.length;
    }
  }

  clear(): void {
    this.#nodeByOid.clear();
    this.#entryCount = 0;
  }
}
