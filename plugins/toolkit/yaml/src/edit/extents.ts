import { footEnd, headStart, lineEnd, lineStart } from './lines.js';
import type { Item, ListNode, MapNode, Node, Pair } from './tree.js';

/** Which whole lines belong to what: comments above and below it included. */
export class Extents {
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Where a value begins that stands below its key, the comments of its first entry included. */
  startBelow(node: Node, floor: number): number {
    const start = lineStart(this.text, node.start);
    return node.kind === 'map' || node.kind === 'list' ? headStart(this.text, start, node.column, floor) : start;
  }

  isFirstOnLine(at: number): boolean {
    return !/\S/.test(this.text.slice(lineStart(this.text, at), at));
  }

  /** Behind the line that holds the last of it. */
  nodeEnd(node: Node): number {
    if (node.kind === 'block') return node.end > node.bodyStart ? node.end : lineEnd(this.text, node.headerEnd);
    if (node.kind === 'map' && !node.isFlow) return this.pairEnd(node, node.pairs.at(-1) as Pair);
    if (node.kind === 'list' && !node.isFlow) return this.itemEnd(node, node.items.length - 1);
    return lineEnd(this.text, node.end);
  }

  pairEnd(node: MapNode, { slot, value }: Pair): number {
    return footEnd(this.text, value === undefined ? lineEnd(this.text, slot) : this.nodeEnd(value), node.column);
  }

  itemStart(node: ListNode, at: number): number {
    const floor = at === 0 ? 0 : this.itemEnd(node, at - 1);
    const { start } = node.items[at] as Item;
    return headStart(this.text, lineStart(this.text, start), node.column, floor);
  }

  itemEnd(node: ListNode, at: number): number {
    const { slot, value } = node.items[at] as Item;
    return footEnd(this.text, value === undefined ? lineEnd(this.text, slot) : this.nodeEnd(value), node.column);
  }
}
