import { CST, Lexer, Parser } from 'yaml';
import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { readPlainScalar } from '../plain-scalar.js';
import { columnOf } from './lines.js';

/** A value with its place in the source. Offsets are those of the document's own text. */
export type Node = ScalarNode | BlockScalarNode | MapNode | ListNode | OpaqueNode;

interface Placed {
  /** Of the value, its tag included. */
  readonly start: number;
  /** Behind its last character; of a block scalar behind its last line. */
  readonly end: number;
}
export interface ScalarNode extends Placed {
  readonly kind: 'scalar';
  readonly style: 'plain' | 'single' | 'double';
  readonly isTagged: boolean;
  readonly value: JsonValue;
}
export interface BlockScalarNode extends Placed {
  readonly kind: 'block';
  readonly style: 'literal' | 'folded';
  readonly isTagged: boolean;
  readonly headerStart: number;
  readonly headerEnd: number;
  readonly bodyStart: number;
  /** Behind the blank lines that may follow the content. */
  readonly blankEnd: number;
  /** Column of the content, as its first line shows it; undefined when there is none. */
  readonly column: number | undefined;
  /** The indentation its header names: columns from what holds the block. */
  readonly indicator: number | undefined;
  readonly value: string;
}
export interface Pair {
  readonly key: string;
  /** The `?` of an explicit key. */
  readonly keyStart: number;
  readonly isKeyQuoted: boolean;
  /** `? key` with its colon on a line below: the value hangs from that colon as an item does from its dash. */
  readonly isExplicit: boolean;
  /** Behind the colon; in brackets behind a key that has none. */
  readonly slot: number;
  readonly hasColon: boolean;
  readonly value: Node | undefined;
}
export interface MapNode extends Placed {
  readonly kind: 'map';
  readonly isFlow: boolean;
  readonly column: number;
  readonly pairs: readonly Pair[];
  readonly value: JsonObject;
}
export interface Item {
  /** The dash; in brackets the value. */
  readonly start: number;
  /** Behind the dash. */
  readonly slot: number;
  readonly value: Node | undefined;
}
export interface ListNode extends Placed {
  readonly kind: 'list';
  readonly isFlow: boolean;
  readonly column: number;
  readonly items: readonly Item[];
  readonly value: readonly JsonValue[];
}
/** Legal, and too rare to be edited in parts: an explicit key without a colon, a pair within a list in brackets. */
export interface OpaqueNode extends Placed {
  readonly kind: 'opaque';
  readonly isFlow: boolean;
  readonly value: JsonValue;
}

/** The text means something else than the reader said; no edit may build on it. */
export class TreeMismatch extends Error {}

/** Places every value of one document in its text. `value` is what the reader made of the same text. */
export function readTree(source: string, value: JsonValue): Node {
  const parser = new Parser();
  let root: CST.Token | undefined;
  const take = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens) if (token.type === 'document' && token.value !== undefined) root ??= token.value;
  };
  for (const lexeme of new Lexer().lex(source)) take(parser.next(lexeme));
  take(parser.end());
  if (root === undefined) throw new TreeMismatch('no content');
  return new TreeReader(source).node(root, [], value);
}

type FlowItems = readonly CST.CollectionItem[];

class TreeReader {
  private readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  node(token: CST.Token, before: readonly CST.SourceToken[], value: JsonValue): Node {
    const tag = before.find(({ type }) => type === 'tag');
    const start = tag?.offset ?? token.offset;
    const isTagged = tag !== undefined;
    switch (token.type) {
      case 'scalar':
      case 'single-quoted-scalar':
      case 'double-quoted-scalar': {
        const end = token.offset + token.source.length;
        const style = token.type === 'scalar' ? 'plain' : token.type === 'single-quoted-scalar' ? 'single' : 'double';
        return { kind: 'scalar', start, end, style, isTagged, value };
      }
      case 'block-scalar':
        return this.block(token, start, isTagged, value);
      case 'block-map':
      case 'block-seq':
      case 'flow-collection': {
        const node = this.collection(token, start, value);
        const isFlow = token.type === 'flow-collection';
        return node ?? { kind: 'opaque', isFlow, start, end: this.tokenEnd(token), value };
      }
      default:
        throw new TreeMismatch(token.type);
    }
  }

  private collection(
    token: CST.BlockMap | CST.BlockSequence | CST.FlowCollection,
    start: number,
    value: JsonValue,
  ): MapNode | ListNode | undefined {
    const placed = { start, end: this.tokenEnd(token) };
    if (token.type === 'block-seq') return this.list(placed, token.items, false, value);
    if (token.type === 'block-map') return this.map(placed, token.items, false, value);
    // A trailing comma makes an item of nothing.
    const items = token.items.filter(
      (item) => item.key !== undefined || item.value !== undefined || item.sep !== undefined,
    );
    return token.start.source === '[' ? this.list(placed, items, true, value) : this.map(placed, items, true, value);
  }

  private map(
    { start: nodeStart, end }: Placed,
    items: FlowItems,
    isFlow: boolean,
    value: JsonValue,
  ): MapNode | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TreeMismatch('map');
    const fields = value as JsonObject;
    const pairs: Pair[] = [];
    for (const { start, key, sep, value: below } of items) {
      // Comments behind the last pair.
      if (key === undefined && sep === undefined && below === undefined) continue;
      const colon = sep?.find(({ type }) => type === 'map-value-ind');
      const mark = start.find(({ type }) => type === 'explicit-key-ind' || type === 'tag');
      if ((colon === undefined && !isFlow) || !CST.isScalar(key)) return undefined;
      const name = keyText(key);
      if (!Object.hasOwn(fields, name)) throw new TreeMismatch('key');
      pairs.push({
        key: name,
        keyStart: mark?.offset ?? key.offset,
        isKeyQuoted: key.type === 'double-quoted-scalar',
        isExplicit: mark?.type === 'explicit-key-ind',
        slot: colon === undefined ? this.tokenEnd(key) : colon.offset + 1,
        hasColon: colon !== undefined,
        value: below === undefined ? this.absent(sep ?? []) : this.node(below, sep ?? [], fields[name] as JsonValue),
      });
    }
    if (pairs.length !== Object.keys(fields).length) throw new TreeMismatch('keys');
    const column = columnOf(this.source, pairs[0]?.keyStart ?? nodeStart);
    return { kind: 'map', isFlow, column, pairs, start: nodeStart, end, value: fields };
  }

  private list(
    { start: nodeStart, end }: Placed,
    items: FlowItems,
    isFlow: boolean,
    value: JsonValue,
  ): ListNode | undefined {
    if (!Array.isArray(value)) throw new TreeMismatch('list');
    const found: Item[] = [];
    const values = value as readonly JsonValue[];
    for (const { start, key, sep, value: below } of items) {
      const dash = start.find(({ type }) => type === 'seq-item-ind');
      if (!isFlow && dash === undefined && key === undefined) continue;
      const itemValue = values[found.length];
      if (itemValue === undefined) throw new TreeMismatch('item');
      if (key !== undefined || sep !== undefined) {
        const pair = this.pairWithin({ start, key, sep, value: below } as CST.CollectionItem, itemValue);
        found.push({ start: pair.start, slot: pair.start, value: pair });
        continue;
      }
      const node = below === undefined ? this.absent(start) : this.node(below, start, itemValue);
      const itemStart = dash?.offset ?? node?.start;
      if (itemStart === undefined) return undefined;
      found.push({ start: itemStart, slot: dash === undefined ? itemStart : dash.offset + 1, value: node });
    }
    if (found.length !== values.length) throw new TreeMismatch('items');
    const column = columnOf(this.source, found[0]?.start ?? nodeStart);
    return { kind: 'list', isFlow, column, items: found, start: nodeStart, end, value: values };
  }

  /** `[key: value]`, a map without brackets of its own. */
  private pairWithin(item: CST.CollectionItem, value: JsonValue): OpaqueNode {
    const solid = [...item.start, ...(item.sep ?? [])].filter(({ type }) => !isFiller(type) && type !== 'comma');
    const start = Math.min(...solid.map(({ offset }) => offset), item.key?.offset ?? Infinity);
    return { kind: 'opaque', isFlow: true, start, end: this.itemsEnd([item]), value };
  }

  /** A tag without a value is one. */
  private absent(before: readonly CST.SourceToken[]): Node | undefined {
    const tag = before.find(({ type }) => type === 'tag');
    if (tag === undefined) return undefined;
    return { kind: 'opaque', isFlow: true, start: tag.offset, end: tag.offset + tag.source.length, value: null };
  }

  private block(token: CST.BlockScalar, start: number, isTagged: boolean, value: JsonValue): BlockScalarNode {
    const header = token.props.find(({ type }) => type === 'block-scalar-header') as CST.SourceToken | undefined;
    if (header === undefined || typeof value !== 'string') throw new TreeMismatch('block scalar');
    const last = token.props.at(-1) as CST.SourceToken;
    const bodyStart = last.offset + last.source.length;
    const tokenEnd = bodyStart + token.source.length;
    const blanks = /^(?: *\r?\n)*/.exec(this.source.slice(tokenEnd))?.[0].length ?? 0;
    const blankEnd = tokenEnd + blanks;
    const headerEnd = header.offset + header.source.length;
    const style = header.source.startsWith('>') ? 'folded' : 'literal';
    const indicator = /[1-9]/.exec(header.source)?.[0];
    const first = /^(?:[ ]*\r?\n)*([ ]*)[^ \r\n]/.exec(token.source);
    const column = first?.[1]?.length;
    const isKept = header.source.includes('+');
    const end = isKept ? blankEnd : bodyStart + withoutBlankEnd(token.source, column ?? 0);
    return {
      ...{ kind: 'block', start, end, style, isTagged, headerStart: header.offset, headerEnd, bodyStart, blankEnd },
      ...{ column, indicator: indicator === undefined ? undefined : Number(indicator), value },
    };
  }

  private tokenEnd(token: CST.Token): number {
    switch (token.type) {
      case 'flow-collection': {
        const end = token.end.find(({ type }) => type === 'flow-map-end' || type === 'flow-seq-end');
        if (end === undefined) throw new TreeMismatch('unclosed');
        return end.offset + 1;
      }
      case 'block-scalar': {
        const last = token.props.at(-1) as CST.SourceToken;
        return last.offset + last.source.length + token.source.length;
      }
      case 'block-map':
      case 'block-seq':
        return this.itemsEnd(token.items);
      case 'scalar':
      case 'single-quoted-scalar':
      case 'double-quoted-scalar':
        return token.offset + token.source.length;
      default:
        throw new TreeMismatch(token.type);
    }
  }

  private itemsEnd(items: readonly CST.CollectionItem[]): number {
    for (const { start, key, sep, value } of [...items].reverse()) {
      if (value !== undefined) return this.tokenEnd(value);
      const solid = [...start, ...(sep ?? [])].filter(({ type }) => !isFiller(type));
      const last = solid.at(-1);
      if (last !== undefined) return Math.max(last.offset + last.source.length, key ? this.tokenEnd(key) : 0);
    }
    throw new TreeMismatch('empty collection');
  }
}

const isFiller = (type: string): boolean => type === 'space' || type === 'comment' || type === 'newline';

/** Length of the body without the lines at its end that hold nothing. */
function withoutBlankEnd(body: string, column: number): number {
  let end = body.length;
  while (end > 0) {
    const start = body.lastIndexOf('\n', end - 2) + 1;
    const line = body.slice(start, end).replace(/\r?\n$/, '');
    if (!/^ *$/.test(line) || line.length > column) return end;
    end = start;
  }
  return 0;
}

function keyText(token: CST.FlowScalar | CST.BlockScalar): string {
  const scalar = CST.resolveAsScalar(token);
  if (scalar === null) throw new TreeMismatch('key');
  return scalar.type === 'PLAIN' ? String(readPlainScalar(scalar.value)) : scalar.value;
}
