/** One replacement of `[start, end)`; `start === end` inserts. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The text of `[from, to)` with its splices applied. At one offset insertions come first, in the order they were made, then what
 * replaces. What two of them only take away is taken once, and may have an insertion within.
 */
export function applySplices(text: string, splices: readonly Splice[], from = 0, to = text.length): string {
  const inOrder = splices
    .map((splice, order) => ({ splice, order, isInsertion: splice.start === splice.end }))
    .sort(
      (a, b) => a.splice.start - b.splice.start || Number(b.isInsertion) - Number(a.isInsertion) || a.order - b.order,
    );
  let out = '';
  let at = from;
  let isTaken = false;
  for (const { splice, isInsertion } of inOrder) {
    const isInTaken: boolean = isTaken && splice.start < at && (splice.text === '' || isInsertion);
    if ((splice.start < at && !isInTaken) || splice.end > to) throw new OverlappingSplices();
    out += text.slice(Math.min(at, splice.start), splice.start) + splice.text;
    isTaken = isInTaken || splice.text === '';
    at = Math.max(at, splice.end);
  }
  return out + text.slice(at, to);
}

/** Two edits want the same bytes; nothing is written. */
export class OverlappingSplices extends Error {}
