import type { JsonValue } from '@gitops-reverser/kernel-api';
import { encodeInFlow } from '../encode.js';
import { applySplices, type Splice } from './splices.js';
import type { ListNode, MapNode, Node } from './tree.js';

interface Entry {
  readonly start: number;
  readonly end: number;
}

/** A list or map in brackets: rebuilt from the texts of its entries and of what stands between them. */
export class FlowContainer {
  /** Every string is in double quotes, as in JSON. */
  readonly isJson: boolean;
  private readonly text: string;
  private readonly node: MapNode | ListNode;
  private readonly entries: readonly Entry[];

  constructor(text: string, node: MapNode | ListNode) {
    this.text = text;
    this.node = node;
    this.isJson = looksLikeJson(node);
    this.entries =
      node.kind === 'map'
        ? node.pairs.map(({ keyStart, slot, value }) => ({ start: keyStart, end: value?.end ?? slot }))
        : node.items.map(({ start, value }) => ({ start, end: value?.end ?? start }));
  }

  entryText(at: number, splices: readonly Splice[]): string {
    const { start, end } = this.entries[at] as Entry;
    return applySplices(this.text, splices, start, end);
  }

  valueText(value: JsonValue): string | undefined {
    const padding = /^.[ \t]/.test(this.text.slice(this.node.start, this.node.start + 2)) ? ' ' : '';
    const isMap = this.node.kind === 'map';
    const style = { json: this.isJson, mapPadding: isMap ? padding : '', listPadding: isMap ? '' : padding };
    const encoded = encodeInFlow(value, style);
    return encoded.ok ? encoded.value : undefined;
  }

  pairText(key: string, value: JsonValue): string | undefined {
    const encoded = encodeInFlow(key, { json: this.isJson, mapPadding: '', listPadding: '' });
    const text = this.valueText(value);
    return encoded.ok && text !== undefined ? `${encoded.value}: ${text}` : undefined;
  }

  /** With these entries in this order; `at` says which one of the old it is. Undefined when comments stand between. */
  rebuilt(entries: readonly { readonly at?: number; readonly text: string }[]): Splice | undefined {
    const { node, text } = this;
    const first = this.entries[0];
    const last = this.entries.at(-1);
    if (first === undefined || last === undefined || entries.length === 0) return undefined;
    const opening = text.slice(node.start, first.start);
    const closing = text.slice(last.end, node.end);
    const between = this.entries.slice(1).map(({ start }, at) => text.slice(this.entries[at]?.end, start));
    if ([opening, closing, ...between].some((gap) => gap.includes('#'))) return undefined;
    const usual = between.at(-1) ?? (opening.includes('\n') ? `,${opening.slice(1)}` : ', ');
    const gapBefore = (at: number | undefined): string =>
      at === undefined || at === 0 ? usual : (between[at - 1] ?? usual);
    const inside = entries
      .map(({ at, text: entry }, order) => (order === 0 ? entry : `${gapBefore(at)}${entry}`))
      .join('');
    return { start: node.start, end: node.end, text: `${opening}${inside}${closing}` };
  }
}

function looksLikeJson(node: MapNode | ListNode): boolean {
  if (node.kind === 'map') return node.pairs.length > 0 && node.pairs.every(({ isKeyQuoted }) => isKeyQuoted);
  const isQuoted = (value: Node | undefined): boolean => {
    if (value?.kind === 'map' || value?.kind === 'list') return looksLikeJson(value);
    return value?.kind === 'scalar' && value.style === 'double';
  };
  return node.items.length > 0 && node.items.every(({ value }) => isQuoted(value));
}
