/** First `length` characters on one line: for messages. */
export function excerpt(text: string, length = 200): string {
  const line = text.replace(/[\0-\x1f\x7f]+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
