import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import {
  encodeInFlow,
  encodeKey,
  encodeQuoted,
  encodeValueAt,
  isLiteralSafe,
  literalIndicators,
  type BlockStyle,
} from '../encode.js';
import { sortedKeys } from '../key-order.js';
import { FlowContainer } from './flow-container.js';
import { isAsAbsent, isEmptyMetadata, isMap, isSameIntent, placeBelow, type Place } from './intent.js';
import { contentEnd, footEnd, headStart, lineBreakOf, lineEnd, lineStart } from './lines.js';
import { literalBody } from './literal-body.js';
import { longestRising, pairItems, type ListKeys } from './pairing.js';
import { applySplices, type Splice } from './splices.js';
import { styleOf, styleWithin } from './style.js';
import type { BlockScalarNode, Item, ListNode, MapNode, Node, Pair, ScalarNode } from './tree.js';

/** No splice at this level; whoever holds the value writes all of it. */
class Unspliceable extends Error {}
const unspliceable = new Unspliceable();

/** Where a value hangs: behind a colon or a dash. */
type Slot =
  | {
      readonly in: 'block';
      readonly of: 'key' | 'item';
      readonly at: number;
      readonly column: number;
      readonly style: BlockStyle;
    }
  | { readonly in: 'flow'; readonly at: number; readonly container: FlowContainer };

/** What is to be changed in the text of one document so that it means `desired`. */
export function spliceDocument(
  text: string,
  root: Node,
  desired: JsonObject,
  place: Place,
  listKeys: ListKeys | undefined,
): readonly Splice[] | undefined {
  if (root.kind !== 'map') return undefined;
  const splices: Splice[] = [];
  try {
    new Splicer(text, root, listKeys).map(root, desired, place, 1, splices);
    return splices;
  } catch (error) {
    if (error instanceof Unspliceable) return undefined;
    throw error;
  }
}

class Splicer {
  private readonly text: string;
  private readonly lineBreak: string;
  private readonly style: BlockStyle;
  private readonly listKeys: ListKeys | undefined;

  constructor(text: string, root: Node, listKeys: ListKeys | undefined) {
    this.text = text;
    this.lineBreak = lineBreakOf(text);
    this.style = styleOf(root);
    this.listKeys = listKeys;
  }

  private value(
    slot: Slot,
    node: Node | undefined,
    desired: JsonValue,
    place: Place,
    depth: number,
    out: Splice[],
  ): void {
    const mark = out.length;
    try {
      if (node?.kind === 'map' && isMap(desired)) return this.map(node, desired, place, depth, out);
      if (node?.kind === 'list' && Array.isArray(desired))
        return this.list(node, desired as readonly JsonValue[], place, depth, out);
      if (node?.kind === 'scalar' && (typeof desired !== 'object' || desired === null))
        return this.scalar(slot, node, desired, out);
      if (node?.kind === 'block' && typeof desired === 'string') return this.literal(slot, node, desired, out);
    } catch (error) {
      if (!(error instanceof Unspliceable)) throw error;
      out.length = mark;
    }
    this.whole(slot, node, desired, depth, out);
  }

  map(node: MapNode, desired: JsonObject, place: Place, depth: number, out: Splice[]): void {
    const { pairs } = node;
    const added = sortedKeys(desired).filter(
      (key) => !Object.hasOwn(node.value, key) && !isEmptyMetadata(desired[key], key, place),
    );
    const isKept = pairs.map(({ key }) => Object.hasOwn(desired, key) || isAsAbsent(node.value[key], key, place));
    if (!isKept.includes(true)) throw unspliceable;
    const container = node.isFlow ? new FlowContainer(this.text, node) : undefined;
    const style = styleWithin(node, this.style);
    const edit = ({ key, slot: at, value }: Pair, into: Splice[]): void => {
      if (!Object.hasOwn(desired, key)) return;
      const below = placeBelow(place, key);
      const wanted = desired[key] as JsonValue;
      if (isSameIntent(node.value[key], wanted, below)) return;
      const slot: Slot =
        container === undefined
          ? { in: 'block', of: 'key', at, column: node.column, style }
          : { in: 'flow', at, container };
      this.value(slot, value, wanted, below, depth + 1, into);
    };
    if (container !== undefined) {
      if (added.length === 0 && !isKept.includes(false)) return pairs.forEach((pair) => edit(pair, out));
      const kept = pairs.flatMap((pair, at) =>
        isKept[at] === true ? [this.flowEntry(container, at, pair, edit)] : [],
      );
      const texts = added.map((key) => ({ text: container.pairText(key, desired[key] as JsonValue) ?? fail() }));
      out.push(container.rebuilt([...kept, ...texts]) ?? fail());
      return;
    }
    pairs.forEach((pair, at) => {
      if (isKept[at] === true) edit(pair, out);
    });
    this.removePairs(node, isKept, out);
    const last = pairs.at(-1);
    if (last === undefined || added.length === 0) return;
    const lines = added.map((key) => {
      const value = encodeValueAt(desired[key] as JsonValue, { of: 'key', column: node.column, depth, style });
      return `${' '.repeat(node.column)}${encodeKey(key)}:${value.ok ? value.value : fail()}`;
    });
    this.insert(this.pairEnd(node, last), lines.join(''), out);
  }

  private flowEntry(
    container: FlowContainer,
    at: number,
    pair: Pair,
    edit: (pair: Pair, into: Splice[]) => void,
  ): { readonly at: number; readonly text: string } {
    const splices: Splice[] = [];
    edit(pair, splices);
    return { at, text: container.entryText(at, splices) };
  }

  private removePairs(node: MapNode, isKept: readonly boolean[], out: Splice[]): void {
    const { pairs } = node;
    let from = 0;
    const first = pairs[0];
    if (first !== undefined && isKept[0] === false && !this.isFirstOnLine(first.keyStart)) {
      // The first key of an item stands behind its dash: the first one that stays takes its place.
      from = isKept.indexOf(true);
      const heir = pairs[from] as Pair;
      const removedEnd = this.pairEnd(node, pairs[from - 1] as Pair);
      const isClose =
        !/\S/.test(this.text.slice(removedEnd, heir.keyStart)) && removedEnd === lineStart(this.text, heir.keyStart);
      if (isClose) out.push({ start: first.keyStart, end: heir.keyStart, text: '' });
      else {
        let start = first.keyStart;
        while (this.text.charCodeAt(start - 1) === 0x20) start -= 1;
        out.push({ start, end: removedEnd, text: this.lineBreak });
      }
    }
    for (let at = from; at < pairs.length; at += 1) {
      if (isKept[at] !== false) continue;
      const pair = pairs[at] as Pair;
      const floor = at === 0 ? 0 : this.pairEnd(node, pairs[at - 1] as Pair);
      const start = headStart(this.text, lineStart(this.text, pair.keyStart), node.column, floor);
      this.remove(start, this.pairEnd(node, pair), floor, out);
    }
  }

  private list(node: ListNode, desired: readonly JsonValue[], place: Place, depth: number, out: Splice[]): void {
    const { items } = node;
    const pairs = pairItems(node.value, desired, place, this.listKeys);
    if (!pairs.some((at) => at !== -1)) throw unspliceable;
    const container = node.isFlow ? new FlowContainer(this.text, node) : undefined;
    const style = styleWithin(node, this.style);
    const edit = (gitAt: number, liveAt: number, into: Splice[]): void => {
      const wanted = desired[liveAt] as JsonValue;
      const { slot: at, value } = items[gitAt] as Item;
      if (isSameIntent(node.value[gitAt], wanted, place)) return;
      const slot: Slot =
        container === undefined
          ? { in: 'block', of: 'item', at, column: node.column, style }
          : { in: 'flow', at, container };
      this.value(slot, value, wanted, place, depth + 1, into);
    };
    const isInPlace = pairs.length === items.length && pairs.every((gitAt, liveAt) => gitAt === liveAt);
    if (isInPlace) return pairs.forEach((gitAt, liveAt) => edit(gitAt, liveAt, out));
    if (container !== undefined) {
      const entries = pairs.map((gitAt, liveAt) => {
        if (gitAt === -1) return { text: container.valueText(desired[liveAt] as JsonValue) ?? fail() };
        const splices: Splice[] = [];
        edit(gitAt, liveAt, splices);
        return { at: gitAt, text: container.entryText(gitAt, splices) };
      });
      out.push(container.rebuilt(entries) ?? fail());
      return;
    }
    this.arrange(node, desired, pairs, style, depth, edit, out);
  }

  /** Items that keep their order among each other stay; the others, comments and all, move to where they belong. */
  private arrange(
    node: ListNode,
    desired: readonly JsonValue[],
    pairs: readonly number[],
    style: BlockStyle,
    depth: number,
    edit: (gitAt: number, liveAt: number, into: Splice[]) => void,
    out: Splice[],
  ): void {
    const { items, column } = node;
    const paired = pairs.flatMap((gitAt, liveAt) => (gitAt === -1 ? [] : [{ gitAt, liveAt }]));
    const staying = new Set(longestRising(paired.map(({ gitAt }) => gitAt)).map((at) => paired[at]?.gitAt));
    const first = items[0] as Item;
    // Behind another dash there is no line of its own to insert before.
    if (!this.isFirstOnLine(first.start) && (!staying.has(0) || pairs[0] !== 0)) throw unspliceable;
    items.forEach((_, gitAt) => {
      if (staying.has(gitAt)) return;
      const before = gitAt === 0 ? 0 : this.itemEnd(node, gitAt - 1);
      this.remove(this.itemStart(node, gitAt), this.itemEnd(node, gitAt), before, out);
    });
    let at = this.itemStart(node, 0);
    pairs.forEach((gitAt, liveAt) => {
      if (staying.has(gitAt)) {
        edit(gitAt, liveAt, out);
        at = this.itemEnd(node, gitAt);
      } else if (gitAt === -1) {
        const value = encodeValueAt(desired[liveAt] as JsonValue, { of: 'item', column, depth, style });
        this.insert(at, `${' '.repeat(column)}-${value.ok ? value.value : fail()}`, out);
      } else {
        const own: Splice[] = [];
        edit(gitAt, liveAt, own);
        const moved = applySplices(this.text, own, this.itemStart(node, gitAt), this.itemEnd(node, gitAt));
        this.insert(at, moved.endsWith('\n') ? moved : `${moved}${this.lineBreak}`, out, true);
      }
    });
  }

  private scalar(slot: Slot, node: ScalarNode, desired: JsonValue, out: Splice[]): void {
    const inFlow = slot.in === 'flow';
    if (typeof desired === 'string') {
      const style = inFlow && slot.container.isJson ? 'double' : node.style;
      const text = encodeQuoted(desired, style, inFlow);
      if (text !== undefined) {
        out.push({ start: node.start, end: node.end, text });
        return;
      }
      if (!inFlow && desired.includes('\n')) throw unspliceable;
    }
    const encoded = encodeInFlow(desired, { json: inFlow && slot.container.isJson, mapPadding: '', listPadding: '' });
    if (!encoded.ok) throw unspliceable;
    const text = !inFlow && typeof desired === 'string' ? encodeKey(desired) : encoded.value;
    out.push({ start: node.start, end: node.end, text });
  }

  /** A literal block stays one, and keeps the bytes of the lines that stay. */
  private literal(slot: Slot, node: BlockScalarNode, desired: string, out: Splice[]): void {
    if (slot.in === 'flow' || node.style !== 'literal' || node.column === undefined) throw unspliceable;
    if (desired === '' || !isLiteralSafe(desired)) throw unspliceable;
    const { needsIndent, chomp } = literalIndicators(desired);
    const width = node.column - slot.column;
    if (needsIndent && (width < 1 || width > 9)) throw unspliceable;
    const header = `|${needsIndent ? width : ''}${chomp}`;
    if (header !== this.text.slice(node.headerStart, node.headerEnd))
      out.push({ start: node.headerStart, end: node.headerEnd, text: header });
    const end = chomp === '+' ? node.blankEnd : node.end;
    const body = literalBody(this.text, { start: node.bodyStart, end, column: node.column }, desired, this.lineBreak);
    if (body === undefined) return;
    if (body.start === body.end && body.start === this.text.length) this.insert(body.start, body.text, out, true);
    else out.push(body);
  }

  /** Writes all of a value anew; a comment on the line of its key stays there. */
  private whole(slot: Slot, node: Node | undefined, desired: JsonValue, depth: number, out: Splice[]): void {
    if (slot.in === 'flow') {
      const text = slot.container.valueText(desired) ?? fail();
      if (node === undefined) out.push({ start: slot.at, end: slot.at, text: ` ${text}` });
      else out.push({ start: node.start, end: node.end, text });
      return;
    }
    const encoded = encodeValueAt(desired, { of: slot.of, column: slot.column, depth, style: slot.style });
    if (!encoded.ok) throw unspliceable;
    const cut = encoded.value.indexOf('\n');
    const first = encoded.value.slice(0, cut);
    const rest = encoded.value.slice(cut + 1);
    const replace = (start: number, end: number, text: string): void => void out.push({ start, end, text });
    const lines = (at: number): void => {
      if (rest !== '') this.insert(at, rest, out);
    };
    const slotLineEnd = lineEnd(this.text, slot.at);
    if (node === undefined) {
      replace(slot.at, slot.at, first);
      return lines(slotLineEnd);
    }
    const isOnSlotLine = node.start < slotLineEnd;
    const isInline =
      node.kind === 'scalar' ||
      ((node.kind === 'map' || node.kind === 'list' || node.kind === 'opaque') && node.isFlow);
    if (node.kind === 'block' && isOnSlotLine) {
      replace(slot.at, node.headerEnd, first);
      replace(node.bodyStart, rest.endsWith('\n\n') ? node.blankEnd : node.end, this.withLineBreaks(rest));
    } else if (isInline && isOnSlotLine) {
      replace(slot.at, node.end, first);
      lines(lineEnd(this.text, node.end));
    } else if (isOnSlotLine) {
      const end = contentEnd(this.text, this.nodeEnd(node) - 1);
      replace(slot.at, end, first);
      lines(lineEnd(this.text, end));
    } else {
      const isLiteral = /^ *\|/.test(first);
      const start = isLiteral ? slotLineEnd : lineStart(this.text, node.start);
      replace(slot.at, slot.at, first);
      lines(start);
      replace(start, this.nodeEnd(node), '');
    }
  }

  private isFirstOnLine(at: number): boolean {
    return !/\S/.test(this.text.slice(lineStart(this.text, at), at));
  }

  /** Behind the line that holds the last of it. */
  private nodeEnd(node: Node): number {
    if (node.kind === 'block') return node.end > node.bodyStart ? node.end : lineEnd(this.text, node.headerEnd);
    if (node.kind === 'map' && !node.isFlow) return this.pairEnd(node, node.pairs.at(-1) as Pair);
    if (node.kind === 'list' && !node.isFlow) return this.itemEnd(node, node.items.length - 1);
    return lineEnd(this.text, node.end);
  }

  private pairEnd(node: MapNode, { slot, value }: Pair): number {
    return footEnd(this.text, value === undefined ? lineEnd(this.text, slot) : this.nodeEnd(value), node.column);
  }

  private itemStart(node: ListNode, at: number): number {
    const floor = at === 0 ? 0 : this.itemEnd(node, at - 1);
    const { start } = node.items[at] as Item;
    return headStart(this.text, lineStart(this.text, start), node.column, floor);
  }

  private itemEnd(node: ListNode, at: number): number {
    const { slot, value } = node.items[at] as Item;
    return footEnd(this.text, value === undefined ? lineEnd(this.text, slot) : this.nodeEnd(value), node.column);
  }

  /** Takes whole lines away. `before` is where the entry above ends. */
  private remove(start: number, end: number, before: number, out: Splice[]): void {
    // A text above that keeps its blank lines would take those below for its own.
    const isKept = before === start && /\n\r?\n$/.test(this.text.slice(Math.max(0, start - 3), start));
    out.push({ start, end: isKept ? end + blankLines(this.text, end) : end, text: '' });
  }

  /** Puts whole lines before the line at `at`, or behind a last line that does not end. */
  private insert(at: number, lines: string, out: Splice[], hasLineBreaks = false): void {
    const text = hasLineBreaks ? lines : this.withLineBreaks(lines);
    const isOpenEnd = at === this.text.length && at > 0 && !this.text.endsWith('\n');
    const open = isOpenEnd ? this.lineBreak + text.slice(0, text.length - this.lineBreak.length) : text;
    out.push({ start: at, end: at, text: open });
    // Blank lines below would become part of a text that keeps its own.
    const blank = /\n\r?\n$/.test(text) ? blankLines(this.text, at) : 0;
    if (blank > 0) out.push({ start: at, end: at + blank, text: '' });
  }

  private withLineBreaks(text: string): string {
    return this.lineBreak === '\n' ? text : text.replaceAll('\n', this.lineBreak);
  }
}

/** Length of the lines at `at` that hold nothing. */
function blankLines(text: string, at: number): number {
  return /^(?:[ \t]*\r?\n)*/.exec(text.slice(at))?.[0].length ?? 0;
}

function fail(): never {
  throw unspliceable;
}
