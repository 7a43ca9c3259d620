import type { Splice } from './splices.js';

interface Body {
  readonly start: number;
  readonly end: number;
  /** Of its content. */
  readonly column: number;
}

/** The lines of a literal block that must change to hold `value`; undefined: none. Lines that stay keep their bytes. */
export function literalBody(text: string, body: Body, value: string, lineBreak: string): Splice | undefined {
  const raw = text.slice(body.start, body.end).split(/(?<=\n)/);
  if (raw.length === 1 && raw[0] === '') raw.length = 0;
  const before = raw.map((line) => line.replace(/\r?\n$/, '').slice(body.column));
  const after = (value.endsWith('\n') ? value.slice(0, -1) : value).split('\n');
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const old = before.slice(head, before.length - tail);
  const fresh = after.slice(head, after.length - tail);
  if (old.length === 0 && fresh.length === 0) return undefined;
  const lines = fresh.map((line, at) => {
    const isSame = old.length === fresh.length && old[at] === line;
    return isSame ? (raw[head + at] as string) : `${line === '' ? '' : ' '.repeat(body.column)}${line}${lineBreak}`;
  });
  const lengthOf = (from: number, to: number): number => raw.slice(from, to).join('').length;
  const start = body.start + lengthOf(0, head);
  return { start, end: start + lengthOf(head, raw.length - tail), text: lines.join('') };
}
