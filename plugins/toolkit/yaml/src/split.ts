/**
 * One document of a file, by position. `[start, end)` is its text with its separator line; the pieces and the tail,
 * concatenated, are the file.
 */
export interface DocumentPiece {
  /** UTF-16 offsets into the decoded text. */
  readonly start: number;
  readonly end: number;
  /** Where the content starts: after `---`, the white space or line end that follows it and a byte order mark, else `start`. */
  readonly bodyStart: number;
  readonly byteStart: number;
  readonly byteEnd: number;
  /** 1-based line of `start`. */
  readonly line: number;
  /** A `%` line stands before the document. */
  readonly hasDirectives: boolean;
}

export interface SplitText {
  readonly text: string;
  readonly pieces: readonly DocumentPiece[];
  /** What follows the last document and is none: white space after a final separator, or the whole of an empty file. */
  readonly tail: { readonly start: number; readonly byteStart: number };
}

/**
 * Splits at column-0 markers (chapter 20, 5.2): `---` starts a document, `...` ends one. Comments and blank lines before
 * the first separator belong to the first document, so that a licence header makes no document of its own.
 *
 * @param most where to stop: a caller that finds as many documents knows that the file is too long
 */
export function splitDocuments(text: string, most = Infinity): SplitText {
  const pieces = new Pieces(text);
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length && pieces.count < most) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline + 1;
    pieces.line(at, next);
    at = next;
  }
  return pieces.finish();
}

class Pieces {
  private readonly text: string;
  private readonly isAscii: boolean;
  private readonly pieces: DocumentPiece[] = [];
  private start = 0;
  private startLine = 1;
  private lineNumber = 0;
  private byteAt = 0;
  /** `between`: only comments, blanks and directives since the last end. */
  private state: 'between' | 'inside' = 'between';
  private bodyStart = -1;
  private hasDirectives = false;
  private hasContent = false;

  constructor(text: string) {
    this.text = text;
    this.isAscii = Buffer.byteLength(text) === text.length;
  }

  get count(): number {
    return this.pieces.length;
  }

  line(from: number, next: number): void {
    this.lineNumber += 1;
    const first = this.text.charCodeAt(from);
    if (first === 0x2d && this.isMarker(from, next, '---')) return this.separator(from, next);
    if (first === 0x2e && this.isMarker(from, next, '...')) return this.endMarker(next);
    if (this.state === 'between') {
      if (first === 0x23 || this.isBlank(from, next)) return;
      if (first === 0x25) {
        this.hasDirectives = true;
        return;
      }
      this.state = 'inside';
      this.bodyStart = this.start;
      this.hasContent = true;
    } else if (!this.hasContent && !this.isBlank(from, next)) this.hasContent = true;
  }

  private separator(from: number, next: number): void {
    if (this.state === 'inside') this.close(from, this.lineNumber);
    this.state = 'inside';
    this.bodyStart = this.isBlank(from + 3, next) ? next : from + 4;
    this.hasContent = this.bodyStart !== next;
    // Where files were joined, the second may bring a byte order mark along.
    if (this.text.charCodeAt(this.bodyStart) === 0xfeff) this.bodyStart += 1;
  }

  private endMarker(next: number): void {
    if (this.state === 'inside') this.close(next, this.lineNumber + 1);
  }

  private close(end: number, nextLine: number): void {
    const byteEnd = this.isAscii ? end : this.byteAt + Buffer.byteLength(this.text.slice(this.start, end));
    this.pieces.push({
      start: this.start,
      end,
      bodyStart: this.bodyStart,
      byteStart: this.byteAt,
      byteEnd,
      line: this.startLine,
      hasDirectives: this.hasDirectives,
    });
    this.byteAt = byteEnd;
    this.start = end;
    this.startLine = nextLine;
    this.state = 'between';
    this.hasDirectives = false;
    this.hasContent = false;
  }

  finish(): SplitText {
    // A final separator with nothing after it is no document, and neither is what holds only comments from the start.
    if (this.state === 'inside' && this.hasContent) this.close(this.text.length, this.lineNumber + 1);
    return { text: this.text, pieces: this.pieces, tail: { start: this.start, byteStart: this.byteAt } };
  }

  private isMarker(from: number, next: number, marker: string): boolean {
    if (!this.text.startsWith(marker, from)) return false;
    const after = from + 3;
    if (after >= next) return true;
    const code = this.text.charCodeAt(after);
    return (
      code === 0x0a || code === 0x20 || code === 0x09 || (code === 0x0d && this.text.charCodeAt(after + 1) === 0x0a)
    );
  }

  private isBlank(from: number, next: number): boolean {
    for (let at = from; at < next; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x09 && code !== 0x0d) return false;
    }
    return true;
  }
}
