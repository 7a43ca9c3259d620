/** Offset of the start of the line that holds `at`. A byte order mark belongs to no line. */
export function lineStart(text: string, at: number): number {
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  return start === 0 && text.charCodeAt(0) === 0xfeff ? 1 : start;
}

/** Offset behind the line feed of the line that holds `at`, or the end of the text. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** The same, before the line end. */
export function contentEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  if (end === -1) return text.length;
  return end > at && text.charCodeAt(end - 1) === 0x0d ? end - 1 : end;
}

export const columnOf = (text: string, at: number): number => at - lineStart(text, at);

/** Column of the `#` when the line that starts at `start` is nothing but a comment. */
export function commentColumn(text: string, start: number): number | undefined {
  let at = start;
  while (text.charCodeAt(at) === 0x20) at += 1;
  return text.charCodeAt(at) === 0x23 ? at - start : undefined;
}

/** Start of the comments that stand directly above the line at `start`, in the same column and not above `floor`. */
export function headStart(text: string, start: number, column: number, floor: number): number {
  let at = start;
  while (at > floor) {
    const above = lineStart(text, at - 1);
    if (above >= at || above < floor || commentColumn(text, above) !== column) return at;
    at = above;
  }
  return at;
}

/** End of the comments that directly follow a line end at `end` and stand further in than `column`. */
export function footEnd(text: string, end: number, column: number): number {
  let at = end;
  while (at < text.length && at > 0 && text.charCodeAt(at - 1) === 0x0a) {
    const found = commentColumn(text, at);
    if (found === undefined || found <= column) return at;
    at = lineEnd(text, at);
  }
  return at;
}

/** The line ending of the first line; what is inserted uses it. */
export function lineBreakOf(text: string): '\n' | '\r\n' {
  const first = text.indexOf('\n');
  return first > 0 && text.charCodeAt(first - 1) === 0x0d ? '\r\n' : '\n';
}
