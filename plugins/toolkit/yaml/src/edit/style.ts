import type { BlockStyle } from '../encode.js';
import type { ListNode, MapNode, Node } from './tree.js';

interface Seen {
  readonly step: number[];
  readonly dash: number[];
  readonly dashWidth: number[];
}

const widest = 9;

/** How a document indents, from what it holds: the first example of each counts. */
export function styleOf(root: Node): BlockStyle {
  const seen = look(root, { step: [], dash: [], dashWidth: [] }, true);
  const step = seen.step[0] ?? 2;
  return { step, dash: seen.dash[0] ?? step, dashWidth: seen.dashWidth[0] ?? 2 };
}

/** The same within one collection, which may have ways of its own. */
export function styleWithin(node: MapNode | ListNode, whole: BlockStyle): BlockStyle {
  const seen = look(node, { step: [], dash: [], dashWidth: [] }, false);
  return {
    step: seen.step[0] ?? whole.step,
    dash: seen.dash[0] ?? whole.dash,
    dashWidth: seen.dashWidth[0] ?? whole.dashWidth,
  };
}

function look(node: Node, seen: Seen, isDeep: boolean): Seen {
  if (node.kind === 'map' && !node.isFlow)
    for (const { value } of node.pairs) {
      if (value?.kind === 'map' && !value.isFlow) note(seen.step, value.column - node.column, 1);
      if (value?.kind === 'list' && !value.isFlow) note(seen.dash, value.column - node.column, 0);
      if (isDeep && value !== undefined) look(value, seen, true);
    }
  if (node.kind === 'list' && !node.isFlow)
    for (const { start, value } of node.items) {
      const isOnDashLine = value !== undefined && value.start - start <= widest;
      if (isOnDashLine && (value.kind === 'map' || value.kind === 'scalar'))
        note(seen.dashWidth, value.start - start, 2);
      if (isDeep && value !== undefined) look(value, seen, true);
    }
  return seen;
}

function note(list: number[], width: number, least: number): void {
  if (width >= least && width <= widest) list.push(width);
}
