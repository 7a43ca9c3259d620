import { readDocument } from '../documents.js';
import type { DocumentPiece, SplitText } from '../split.js';
import { lineBreakOf } from './lines.js';

const separatorLine = /^---(?=[ \t\r\n]|$)/m;
const endMarkerLine = /(?<=^|\n)\.\.\.(?:[ \t][^\n]*)?\r?\n?$/;

/** The file without one document and one separator (chapter 20, 6.6). */
export function removeDocument({ text, pieces }: SplitText, index: number): string {
  const piece = pieces[index];
  if (piece === undefined) return text;
  const rest = text.slice(piece.end);
  if (index > 0) return text.slice(0, piece.start) + partingEnd(text, pieces, index) + rest;
  const marker = separatorLine.exec(text.slice(piece.start, piece.bodyStart));
  // What stands above a separator of its own is the file's, not the document's; what directs its reader is the document's.
  if (marker !== null) return text.slice(0, piece.start + marker.index).replace(/^%[^\n]*\n/gm, '') + rest;
  const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
  // A separator that says something stays, and leads the file.
  return mark + rest.replace(/^---[ \t]*\r?\n/, '');
}

/** The end marker of a document that goes, where only it parts the one above from the one below. */
function partingEnd(text: string, pieces: readonly DocumentPiece[], index: number): string {
  const below = pieces[index + 1];
  if (below === undefined) return '';
  const isParted = !below.hasDirectives && separatorLine.test(text.slice(below.start, below.bodyStart));
  const textOf = ({ start, end }: DocumentPiece): string => text.slice(start, end);
  if (isParted || endMarkerLine.test(textOf(pieces[index - 1] as DocumentPiece))) return '';
  return endMarkerLine.exec(textOf(pieces[index] as DocumentPiece))?.[0] ?? '';
}

/** The file with one more document at its end. */
export function appendDocument({ text, pieces, tail }: SplitText, encoded: string): string {
  const lineBreak = lineBreakOf(text);
  const document = lineBreak === '\n' ? encoded : encoded.replaceAll('\n', lineBreak);
  const rest = text.slice(tail.start);
  const hasSeparator = separatorLine.test(rest);
  const whole = text === '' || text.endsWith('\n') || text === '\ufeff' ? text : text + lineBreak;
  const isFirst = pieces.length === 0;
  return isFirst || hasSeparator ? whole + document : `${whole}---${lineBreak}${document}`;
}

/**
 * The file with another text for one document, as splitting it anew would give it. The text must be one document that starts and
 * ends as the old one did, which is what an edit gives.
 */
export function withDocumentText(file: SplitText, index: number, document: string): SplitText {
  const { text, pieces, tail } = file;
  const old = pieces[index];
  if (old === undefined) return file;
  const chars = document.length - (old.end - old.start);
  const bytes = Buffer.byteLength(document) - (old.byteEnd - old.byteStart);
  const lines = linesOf(document) - linesOf(text.slice(old.start, old.end));
  // Spelled out: a spread takes five times as long, and there may be ten thousand of them.
  const moved = pieces.slice(index + 1).map((piece): DocumentPiece => ({
    start: piece.start + chars,
    end: piece.end + chars,
    bodyStart: piece.bodyStart + chars,
    byteStart: piece.byteStart + bytes,
    byteEnd: piece.byteEnd + bytes,
    line: piece.line + lines,
    hasDirectives: piece.hasDirectives,
  }));
  return {
    text: text.slice(0, old.start) + document + text.slice(old.end),
    pieces: [...pieces.slice(0, index), { ...old, end: old.end + chars, byteEnd: old.byteEnd + bytes }, ...moved],
    tail: { start: tail.start + chars, byteStart: tail.byteStart + bytes },
  };
}

const linesOf = (text: string): number => text.match(/\n/g)?.length ?? 0;

/** The file with one document replaced as a whole; its separator and all others stay. */
export function replaceDocument({ text, pieces }: SplitText, index: number, encoded: string): string {
  const piece = pieces[index];
  if (piece === undefined) return text;
  const lineBreak = lineBreakOf(text);
  const document = lineBreak === '\n' ? encoded : encoded.replaceAll('\n', lineBreak);
  const mark = piece.bodyStart === 0 && text.startsWith('\ufeff') ? '\ufeff' : '';
  return text.slice(0, piece.bodyStart) + mark + document + text.slice(piece.end);
}

/** Whether anything but white space and comments is left besides one document. */
export function hasOtherContent(file: SplitText, index: number): boolean {
  return file.pieces.some((_, at) => at !== index && readDocument(file, at).state !== 'empty');
}
