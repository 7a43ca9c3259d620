import type { JsonObject, JsonValue, ListMapKeys } from '@gitops-reverser/kernel-api';
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
import { Extents } from './extents.js';
import { FlowContainer, flowDialectOf, type FlowDialect } from './flow-container.js';
import { isAsAbsent, isEmptyMetadata, isMap, isSameIntent, placeBelow, type Place } from './intent.js';
import { LineEdits } from './line-edits.js';
import { contentEnd, headStart, lineBreakOf, lineEnd, lineStart } from './lines.js';
import { literalBody } from './literal-body.js';
import { longestRising, pairItems } from './pairing.js';
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
  | { readonly in: 'flow'; readonly at: number; readonly container: FlowContainer; readonly hasColon: boolean };

/** What is to be changed in the text of one document so that it means `desired`. */
export function spliceDocument(
  text: string,
  root: Node,
  desired: JsonObject,
  place: Place,
  listKeys: ListMapKeys | undefined,
): readonly Splice[] | undefined {
  if (root.kind !== 'map') return undefined;
  const splices: Splice[] = [];
  try {
    new Splicer(text, root, listKeys).map(undefined, root, desired, place, 1, splices);
    return splices;
  } catch (error) {
    if (error instanceof Unspliceable) return undefined;
    throw error;
  }
}

class Splicer {
  private readonly text: string;
  private readonly lineBreak: string;
  private readonly extents: Extents;
  private readonly edits: LineEdits;
  private readonly style: BlockStyle;
  private readonly dialect: FlowDialect;
  private readonly listKeys: ListMapKeys | undefined;

  constructor(text: string, root: Node, listKeys: ListMapKeys | undefined) {
    this.text = text;
    this.lineBreak = lineBreakOf(text);
    this.extents = new Extents(text);
    this.edits = new LineEdits(text, this.lineBreak, this.extents);
    this.style = styleOf(root);
    this.dialect = flowDialectOf(root);
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
      if (node?.kind === 'map' && isMap(desired)) return this.map(slot, node, desired, place, depth, out);
      if (node?.kind === 'list' && Array.isArray(desired))
        return this.list(slot, node, desired as readonly JsonValue[], place, depth, out);
      if (node?.kind === 'scalar' && (typeof desired !== 'object' || desired === null))
        return this.scalar(slot, node, desired, out);
      if (node?.kind === 'block' && typeof desired === 'string') return this.literal(slot, node, desired, out);
    } catch (error) {
      if (!(error instanceof Unspliceable)) throw error;
      out.length = mark;
    }
    this.whole(slot, node, desired, depth, out);
  }

  map(slot: Slot | undefined, node: MapNode, desired: JsonObject, place: Place, depth: number, out: Splice[]): void {
    const { pairs } = node;
    const added = sortedKeys(desired).filter(
      (key) => !Object.hasOwn(node.value, key) && !isEmptyMetadata(desired[key], key, place),
    );
    const isKept = pairs.map(({ key }) => Object.hasOwn(desired, key) || isAsAbsent(node.value[key], key, place));
    const container = this.containerOf(node);
    const style = styleWithin(node, this.style);
    const edit = ({ key, slot: at, isExplicit, hasColon, value }: Pair, into: Splice[]): void => {
      if (!Object.hasOwn(desired, key)) return;
      const below = placeBelow(place, key);
      const wanted = desired[key] as JsonValue;
      if (isSameIntent(node.value[key], wanted, below)) return;
      const own: Slot =
        container === undefined
          ? { in: 'block', of: isExplicit ? 'item' : 'key', at, column: node.column, style }
          : { in: 'flow', at, container, hasColon };
      this.value(own, value, wanted, below, depth + 1, into);
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
    if (!isKept.includes(true)) {
      if (pairs[0] === undefined || !this.extents.isFirstOnLine(pairs[0].keyStart)) throw unspliceable;
      if (added.length === 0) this.empty(slot, node, '{}', out);
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
    this.edits.insert(this.extents.pairEnd(node, last), lines.join(''), out);
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
    if (first !== undefined && isKept[0] === false && !this.extents.isFirstOnLine(first.keyStart)) {
      // The first key of an item stands behind its dash: the first one that stays takes its place.
      from = isKept.indexOf(true);
      const heir = pairs[from] as Pair;
      const removedEnd = this.extents.pairEnd(node, pairs[from - 1] as Pair);
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
      const floor = at === 0 ? 0 : this.extents.pairEnd(node, pairs[at - 1] as Pair);
      const start = headStart(this.text, lineStart(this.text, pair.keyStart), node.column, floor);
      this.edits.remove(start, this.extents.pairEnd(node, pair), floor, out);
    }
  }

  private list(
    slot: Slot,
    node: ListNode,
    desired: readonly JsonValue[],
    place: Place,
    depth: number,
    out: Splice[],
  ): void {
    const { items } = node;
    const pairs = pairItems(node.value, desired, place, this.listKeys);
    const container = this.containerOf(node);
    if (desired.length === 0 && container === undefined) {
      this.empty(slot, node, '[]', out);
      items.forEach((_, at) => {
        this.edits.removeItem(node, at, out);
      });
      return;
    }
    if (!pairs.some((at) => at !== -1)) throw unspliceable;
    const style = styleWithin(node, this.style);
    const edit = (gitAt: number, liveAt: number, into: Splice[]): void => {
      const wanted = desired[liveAt] as JsonValue;
      const { slot: at, value } = items[gitAt] as Item;
      if (isSameIntent(node.value[gitAt], wanted, place)) return;
      const own: Slot =
        container === undefined
          ? { in: 'block', of: 'item', at, column: node.column, style }
          : { in: 'flow', at, container, hasColon: true };
      this.value(own, value, wanted, place, depth + 1, into);
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
    const { column } = node;
    const indent = ' '.repeat(column);
    const paired = pairs.flatMap((gitAt, liveAt) => (gitAt === -1 ? [] : [{ gitAt, liveAt }]));
    const staying = new Set(longestRising(paired.map(({ gitAt }) => gitAt)).map((at) => paired[at]?.gitAt));
    const { start } = node.items[0] as Item;
    // Behind another dash there is no line of its own to insert before.
    const isBehindDash = !this.extents.isFirstOnLine(start);
    node.items.forEach((_, gitAt) => {
      if (!staying.has(gitAt) && !(isBehindDash && gitAt === 0)) this.edits.removeItem(node, gitAt, out);
    });
    let leading = '';
    let at: number | undefined = isBehindDash ? undefined : this.extents.itemStart(node, 0);
    const put = (lines: string): void => {
      if (at === undefined) leading += lines;
      else this.edits.insert(at, lines, out, true);
    };
    pairs.forEach((gitAt, liveAt) => {
      if (staying.has(gitAt)) {
        edit(gitAt, liveAt, out);
        at = this.extents.itemEnd(node, gitAt);
      } else if (gitAt === -1) {
        const value = encodeValueAt(desired[liveAt] as JsonValue, { of: 'item', column, depth, style });
        put(this.edits.withLineBreaks(`${indent}-${value.ok ? value.value : fail()}`));
      } else {
        const own: Splice[] = [];
        edit(gitAt, liveAt, own);
        const isBare = isBehindDash && gitAt === 0;
        const from = isBare ? start : this.extents.itemStart(node, gitAt);
        put((isBare ? indent : '') + applySplices(this.text, own, from, this.extents.itemEnd(node, gitAt)));
      }
    });
    if (isBehindDash) this.edits.lead(node, leading, staying, out);
  }

  private containerOf(node: MapNode | ListNode): FlowContainer | undefined {
    return node.isFlow ? new FlowContainer(this.text, node, this.dialect, this.lineBreak) : undefined;
  }

  /** Writes `{}` or `[]` where a collection hung whose entries stand on lines of their own and all go. */
  private empty(slot: Slot | undefined, node: MapNode | ListNode, text: string, out: Splice[]): void {
    if (slot?.in !== 'block' || node.start < lineEnd(this.text, slot.at)) throw unspliceable;
    out.push({ start: slot.at, end: slot.at, text: ` ${text}` });
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
      // A comment above a value on a line of its own leaves no place for the header of a block.
      const isBelowComment = this.text.slice(slot.at, node.start).includes('#');
      if (!inFlow && desired.includes('\n') && !isBelowComment) throw unspliceable;
    }
    const encoded = encodeInFlow(desired, { json: inFlow && slot.container.isJson, mapPadding: '', listPadding: '' });
    if (!encoded.ok) throw unspliceable;
    const text = !inFlow && typeof desired === 'string' ? encodeKey(desired) : encoded.value;
    out.push({ start: node.start, end: node.end, text });
  }

  /** A literal block stays one, and keeps the bytes of the lines that stay. */
  private literal(slot: Slot, node: BlockScalarNode, desired: string, out: Splice[]): void {
    if (slot.in === 'flow' || node.style !== 'literal') throw unspliceable;
    const column = node.indicator === undefined ? node.column : slot.column + node.indicator;
    if (column === undefined || desired === '' || !isLiteralSafe(desired)) throw unspliceable;
    const { needsIndent, chomp } = literalIndicators(desired);
    const width = column - slot.column;
    if (needsIndent && (width < 1 || width > 9)) throw unspliceable;
    const header = `|${needsIndent || node.indicator !== undefined ? width : ''}${chomp}`;
    if (header !== this.text.slice(node.headerStart, node.headerEnd))
      out.push({ start: node.headerStart, end: node.headerEnd, text: header });
    const end = chomp === '+' ? node.blankEnd : node.end;
    const body = literalBody(this.text, { start: node.bodyStart, end, column }, desired, this.lineBreak);
    if (body !== undefined) out.push(body);
  }

  /** Writes all of a value anew; a comment on the line of its key stays there. */
  private whole(slot: Slot, node: Node | undefined, desired: JsonValue, depth: number, out: Splice[]): void {
    if (slot.in === 'flow') {
      const text = slot.container.valueText(desired) ?? fail();
      if (node === undefined) {
        const end = slot.at + (/^[ \t]*(?=[,\]}])/.exec(this.text.slice(slot.at))?.[0].length ?? 0);
        out.push({ start: slot.at, end, text: `${slot.hasColon ? '' : ':'} ${text}` });
      } else out.push({ start: node.start, end: node.end, text });
      return;
    }
    const encoded = encodeValueAt(desired, { of: slot.of, column: slot.column, depth, style: slot.style });
    if (!encoded.ok) throw unspliceable;
    const cut = encoded.value.indexOf('\n');
    const first = encoded.value.slice(0, cut);
    const rest = encoded.value.slice(cut + 1);
    const replace = (start: number, end: number, text: string): void => void out.push({ start, end, text });
    const lines = (at: number): void => {
      if (rest !== '') this.edits.insert(at, rest, out);
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
      replace(node.bodyStart, rest.endsWith('\n\n') ? node.blankEnd : node.end, this.edits.withLineBreaks(rest));
    } else if (isInline && isOnSlotLine) {
      replace(slot.at, node.end, first);
      lines(lineEnd(this.text, node.end));
    } else if (isOnSlotLine) {
      const end = contentEnd(this.text, this.extents.nodeEnd(node) - 1);
      replace(slot.at, end, first);
      lines(lineEnd(this.text, end));
    } else {
      const isLiteral = /^ *\|/.test(first);
      const start = isLiteral ? slotLineEnd : this.extents.startBelow(node, slotLineEnd);
      // What stands behind a value on a line of its own moves up behind the colon, if nothing is there.
      const comment = isInline ? this.text.slice(node.end, contentEnd(this.text, node.end)).trim() : '';
      const isFree = !/\S/.test(this.text.slice(slot.at, slotLineEnd));
      replace(slot.at, slot.at, comment.startsWith('#') && isFree ? `${first} ${comment}` : first);
      lines(start);
      const end = this.extents.nodeEnd(node);
      replace(start, end + this.edits.takenBlanks(rest, end), '');
    }
  }
}

function fail(): never {
  throw unspliceable;
}
