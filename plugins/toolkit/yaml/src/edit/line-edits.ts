import type { Extents } from './extents.js';
import { lineStart } from './lines.js';
import type { Splice } from './splices.js';
import type { Item, ListNode } from './tree.js';

/** Whole lines of a document that come and go. */
export class LineEdits {
  private readonly text: string;
  private readonly lineBreak: string;
  private readonly extents: Extents;

  constructor(text: string, lineBreak: string, extents: Extents) {
    this.text = text;
    this.lineBreak = lineBreak;
    this.extents = extents;
  }

  /** Puts lines in front of a list that begins behind another dash, or the item that stays where the first one goes. */
  lead(node: ListNode, lines: string, staying: ReadonlySet<number | undefined>, out: Splice[]): void {
    const { start } = node.items[0] as Item;
    const indent = ' '.repeat(node.column);
    const take = (from: number, to: number): void => void out.push({ start: from, end: to, text: '' });
    let blank = start;
    while (this.text.charCodeAt(blank - 1) === 0x20) blank -= 1;
    if (lines !== '') {
      const rest = staying.has(0) ? indent : '';
      if (lines.startsWith(`${indent}-`)) out.push({ start, end: start, text: lines.slice(node.column) + rest });
      else {
        out.push({ start: blank, end: blank, text: this.lineBreak + lines + rest });
        take(blank, start);
      }
      const end = this.extents.itemEnd(node, 0);
      if (!staying.has(0)) take(start, end + this.takenBlanks(lines, end));
    } else if (!staying.has(0)) {
      const next = node.items.findIndex((_, at) => staying.has(at));
      const heir = node.items[next] as Item;
      const end = this.extents.itemEnd(node, next - 1);
      const isClose = end === lineStart(this.text, heir.start);
      if (!isClose) out.push({ start: blank, end: blank, text: this.lineBreak });
      take(isClose ? start : blank, isClose ? heir.start : end);
    }
  }

  removeItem(node: ListNode, at: number, out: Splice[]): void {
    this.remove(
      this.extents.itemStart(node, at),
      this.extents.itemEnd(node, at),
      at === 0 ? 0 : this.extents.itemEnd(node, at - 1),
      out,
    );
  }

  /** Takes whole lines away. `before` is where the entry above ends. */
  remove(start: number, end: number, before: number, out: Splice[]): void {
    // A text above that keeps its blank lines would take those below for its own.
    const isKept = before === start && /\n\r?\n$/.test(this.text.slice(Math.max(0, start - 3), start));
    out.push({ start, end: isKept ? end + blankLines(this.text, end) : end, text: '' });
  }

  /** Puts whole lines before the line at `at`. */
  insert(at: number, lines: string, out: Splice[], hasLineBreaks = false): void {
    const text = hasLineBreaks ? lines : this.withLineBreaks(lines);
    out.push({ start: at, end: at, text });
    const blank = this.takenBlanks(text, at);
    if (blank > 0) out.push({ start: at, end: at + blank, text: '' });
  }

  /** Length of the blank lines at `at` that would become part of a text above that keeps its own. */
  takenBlanks(text: string, at: number): number {
    return /\n\r?\n$/.test(text) ? blankLines(this.text, at) : 0;
  }

  withLineBreaks(text: string): string {
    return this.lineBreak === '\n' ? text : text.replaceAll('\n', this.lineBreak);
  }
}

/** Length of the lines at `at` that hold nothing. */
function blankLines(text: string, at: number): number {
  return /^(?:[ \t]*\r?\n)*/.exec(text.slice(at))?.[0].length ?? 0;
}
