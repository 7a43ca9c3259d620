import type { JsonValue } from '@gitops-reverser/kernel-api';
import { encodeInFlow, type FlowStyle } from '../encode.js';
import { columnOf, commentColumn, lineStart } from './lines.js';
import { applySplices, type Splice } from './splices.js';
import type { ListNode, MapNode, Node, Pair } from './tree.js';

/** An entry with what belongs to it, and the comma it may need. */
interface Entry {
  readonly start: number;
  readonly end: number;
  /** Between the entry above and this one: blanks, or the comments above it and its indentation. */
  readonly before: string;
  /** Up to the comma, rarely anything. */
  readonly toComma: string;
  /** What remains of the line behind the comma, its line end included; empty when another entry follows on the line. */
  readonly tail: string;
  readonly isFirstOnLine: boolean;
}

/** How a document writes what it has in brackets. */
export interface FlowDialect {
  /** The document is JSON text. */
  readonly isJson: boolean;
  /** No blank behind colons. */
  readonly isDense: boolean;
}

export function flowDialectOf(root: Node): FlowDialect {
  const isJson = root.kind === 'map' && root.isFlow && looksLikeJson(root);
  const pair = firstFlowPair(root);
  return { isJson, isDense: pair?.isKeyQuoted === true && pair.value?.start === pair.slot };
}

/** A list or map in brackets. What changes the number or the order of its entries writes its gaps anew and no entry. */
export class FlowContainer {
  /** Every string is in double quotes, as in JSON. */
  readonly isJson: boolean;
  private readonly text: string;
  private readonly node: MapNode | ListNode;
  private readonly dialect: FlowDialect;
  private readonly lineBreak: string;
  private readonly entries: readonly Entry[];
  /** The bracket, and what remains of its line when the first entry stands below. */
  private readonly opening: string;
  private readonly closing: string;
  private readonly hasFinalComma: boolean;

  constructor(text: string, node: MapNode | ListNode, dialect: FlowDialect, lineBreak: string) {
    this.text = text;
    this.node = node;
    this.dialect = dialect;
    this.lineBreak = lineBreak;
    this.isJson = dialect.isJson || looksLikeJson(node);
    const ranges =
      node.kind === 'map'
        ? node.pairs.map(({ keyStart, slot, value }) => ({ start: keyStart, end: value?.end ?? slot }))
        : node.items.map(({ start, value }) => ({ start, end: value?.end ?? start }));
    const bracket = node.start + /[[{]/.exec(text.slice(node.start))!.index + 1;
    const first = splitGap(text.slice(bracket, ranges[0]?.start ?? bracket));
    this.opening = text.slice(node.start, bracket) + first.tail;
    let before = first.rest;
    let isFirstOnLine = first.tail !== '';
    let closing = text.slice(bracket, node.end);
    let hasComma = false;
    this.entries = ranges.map(({ start, end }, at) => {
      const gap = splitGap(text.slice(end, ranges[at + 1]?.start ?? node.end));
      const entry = { start, end, before, toComma: gap.toComma, tail: gap.tail, isFirstOnLine };
      before = gap.rest;
      isFirstOnLine = gap.tail !== '';
      closing = gap.rest;
      hasComma = gap.hasComma;
      return entry;
    });
    this.closing = closing;
    this.hasFinalComma = hasComma;
  }

  entryText(at: number, splices: readonly Splice[]): string {
    const { start, end } = this.entries[at] as Entry;
    return applySplices(this.text, splices, start, end);
  }

  valueText(value: JsonValue): string | undefined {
    const { node, isJson } = this;
    const map =
      node.kind === 'map'
        ? node
        : node.items.map(({ value }) => value).find((each) => each?.kind === 'map' && each.isFlow);
    const style: FlowStyle = {
      json: isJson,
      isDense: isJson && this.dialect.isDense,
      mapPadding: this.paddingOf(map ?? node),
      listPadding: node.kind === 'list' ? this.paddingOf(node) : '',
      lines: this.linesForValues(),
    };
    const encoded = encodeInFlow(value, style);
    return encoded.ok ? this.withLineBreaks(encoded.value) : undefined;
  }

  pairText(key: string, value: JsonValue): string | undefined {
    const encoded = encodeInFlow(key, { json: this.isJson, mapPadding: '', listPadding: '' });
    const text = this.valueText(value);
    const blank = this.isJson && this.dialect.isDense ? '' : ' ';
    return encoded.ok && text !== undefined ? `${encoded.value}:${blank}${text}` : undefined;
  }

  /** With these entries in this order; `at` says which one of the old it is. Undefined when none is left. */
  rebuilt(entries: readonly { readonly at?: number; readonly text: string }[]): Splice | undefined {
    const { node, lineBreak } = this;
    const last = this.entries.at(-1);
    if (last === undefined || entries.length === 0) return undefined;
    let out = this.opening;
    const endLine = (): void => {
      if (!out.endsWith('\n')) out += lineBreak;
    };
    entries.forEach(({ at, text }, order) => {
      const old = at === undefined ? undefined : this.entries[at];
      const isFirstOnLine = old?.isFirstOnLine ?? this.isOnLines;
      if (isFirstOnLine && (order > 0 || old?.before.includes('#') === true)) endLine();
      out += this.gapBefore(old, at, order, out.endsWith('\n')) + text + (old?.toComma ?? '');
      if (order < entries.length - 1 || this.hasFinalComma) out += ',';
      out += old?.tail ?? '';
    });
    if (last.tail !== '') endLine();
    else if (entries.at(-1)?.at !== undefined) out = out.replace(/(?<!#[^\n]*)[ \t]*\r?\n$/, '');
    return { start: node.start, end: node.end, text: out + this.closing };
  }

  private gapBefore(old: Entry | undefined, at: number | undefined, order: number, isNewLine: boolean): string {
    if (isNewLine) return old?.isFirstOnLine === true ? old.before : ' '.repeat(this.entryColumn);
    if (order === 0) return this.entries[0]?.before ?? '';
    return old !== undefined && !old.isFirstOnLine && at !== 0 ? old.before : this.usualGap;
  }

  private paddingOf({ start }: Node): string {
    return /^.[ \t]+[^ \t#\r\n]/.test(this.text.slice(start, start + 80)) ? ' ' : '';
  }

  /** Every entry begins a line. */
  private get isOnLines(): boolean {
    return this.entries.every(({ isFirstOnLine }) => isFirstOnLine);
  }

  /** Where an entry on a line of its own begins. */
  private get entryColumn(): number {
    const first = this.entries.find(({ isFirstOnLine }) => isFirstOnLine) ?? this.entries[0];
    return columnOf(this.text, first?.start ?? this.node.start);
  }

  private get usualGap(): string {
    const inLine = this.entries.slice(1).filter(({ isFirstOnLine }) => !isFirstOnLine);
    return inLine.at(-1)?.before ?? (this.isJson && this.dialect.isDense ? '' : ' ');
  }

  /** Values spread over lines where those beside them do; in JSON text also where nothing stands beside them. */
  private linesForValues(): FlowStyle['lines'] {
    const { node, text } = this;
    if (this.entries.length === 0 || !this.isOnLines) return undefined;
    const values = node.kind === 'map' ? node.pairs.map(({ value }) => value) : node.items.map(({ value }) => value);
    const filled = values.filter((value) => isFilled(value));
    const isSpread = filled.some((value) => value !== undefined && text.slice(value.start, value.end).includes('\n'));
    if (!isSpread && (filled.length > 0 || !this.isJson)) return undefined;
    const line = lineStart(text, node.start);
    const own = commentColumn(text, line) ?? /[^ ]|$/.exec(text.slice(line))?.index ?? 0;
    const column = this.entryColumn;
    return column > own ? { column, step: column - own } : undefined;
  }

  private withLineBreaks(text: string): string {
    return this.lineBreak === '\n' ? text : text.replaceAll('\n', this.lineBreak);
  }
}

const isFilled = (node: Node | undefined): boolean =>
  (node?.kind === 'map' && node.pairs.length > 0) || (node?.kind === 'list' && node.items.length > 0);

/** What stands between two entries: up to the comma, the rest of that line, and what belongs to the next entry. */
function splitGap(gap: string): {
  readonly hasComma: boolean;
  readonly toComma: string;
  readonly tail: string;
  readonly rest: string;
} {
  const comma = /^(?:\s|(?<=\s)#[^\n]*\n)*,/.exec(gap)?.[0];
  const behind = comma === undefined ? gap : gap.slice(comma.length);
  const tail = /^[ \t]*(?:(?<=[ \t])#[^\n]*)?\n|^[ \t]*\r\n/.exec(behind)?.[0] ?? '';
  const toComma = comma === undefined ? '' : comma.slice(0, -1);
  return { hasComma: comma !== undefined, toComma, tail, rest: behind.slice(tail.length) };
}

function firstFlowPair(node: Node | undefined): Pair | undefined {
  if (node?.kind === 'map') {
    if (node.isFlow && node.pairs.length > 0) return node.pairs[0];
    return firstOf(node.pairs.map(({ value }) => value));
  }
  return node?.kind === 'list' ? firstOf(node.items.map(({ value }) => value)) : undefined;
}

function firstOf(nodes: readonly (Node | undefined)[]): Pair | undefined {
  for (const node of nodes) {
    const found = firstFlowPair(node);
    if (found !== undefined) return found;
  }
  return undefined;
}

function looksLikeJson(node: MapNode | ListNode): boolean {
  if (node.kind === 'map') return node.pairs.length > 0 && node.pairs.every(({ isKeyQuoted }) => isKeyQuoted);
  const isQuoted = (value: Node | undefined): boolean => {
    if (value?.kind === 'map' || value?.kind === 'list') return looksLikeJson(value);
    return value?.kind === 'scalar' && value.style === 'double';
  };
  return node.items.length > 0 && node.items.every(({ value }) => isQuoted(value));
}
