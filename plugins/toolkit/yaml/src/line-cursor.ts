/** Thrown at the first thing outside the simple subset; one instance, because a folder may throw it ten thousand times. */
export const unusual = new Error('outside the simple subset');

/** Where a reader stands in a document of the simple subset: on the content of one line, or at the end. */
export class LineCursor {
  readonly text: string;
  readonly to: number;
  /** Start of the current line's content, and its column; `column` is -1 at the end. */
  at: number;
  column = -1;
  /** Where {@link advance} goes on. */
  next: number;

  constructor(text: string, from: number, to: number) {
    this.text = text;
    this.to = to;
    this.at = from;
    this.next = from;
  }

  get isAtEnd(): boolean {
    return this.column === -1;
  }

  /** Moves to the next line that holds content. */
  advance(): void {
    const { text, to } = this;
    let at = this.next;
    while (at < to) {
      const start = at;
      while (at < to && text.charCodeAt(at) === 0x20) at += 1;
      if (at >= to) break;
      const code = text.charCodeAt(at);
      if (code === 0x0a) at += 1;
      else if (code === 0x23) at = this.lineEnd(at) + 1;
      else {
        this.at = at;
        this.column = at - start;
        return;
      }
    }
    this.next = to;
    this.column = -1;
  }

  lineEnd(at: number): number {
    const end = this.text.indexOf('\n', at);
    return end === -1 || end > this.to ? this.to : end;
  }

  skipSpaces(at: number): number {
    while (at < this.to && this.text.charCodeAt(at) === 0x20) at += 1;
    return at;
  }

  isDash(at: number): boolean {
    return this.text.charCodeAt(at) === 0x2d && this.isBlank(at + 1);
  }

  isBlank(at: number): boolean {
    const code = this.text.charCodeAt(at);
    return at >= this.to || code === 0x20 || code === 0x0a;
  }

  /** Nothing but a comment may follow. */
  endLine(at: number): void {
    const content = this.skipSpaces(at);
    const isComment = content > at && this.text.charCodeAt(content) === 0x23;
    if (content < this.to && this.text.charCodeAt(content) !== 0x0a && !isComment) throw unusual;
    this.next = this.lineEnd(content) + 1;
  }
}
