import type { ObjectRef } from './model.js';

/** A named "no": nothing was written because of it. */
export interface Refusal {
  /** Kebab-case code of chapter 20, 10.4, or a PascalCase reason of the API. Registered by the plugin that returns it. */
  readonly code: string;
  /** What it is about, what was expected, what was found, what to do next. One line; no object content. */
  readonly message: string;
  /** File within the folder the refusal is about. */
  readonly path?: string;
  /** Place of the document in that file, from 0. */
  readonly index?: number;
  readonly ref?: ObjectRef;
  /** The document is left as it is, visibly; what else the same write holds goes on without it. */
  readonly skip?: true;
  /** Nothing of the target is written while this holds, not even a snapshot without the object. */
  readonly whole?: true;
}

/**
 * One text for many problems: the first in sorted order and a count, so that equal problems give equal texts.
 * @param others how many more there are that never come first
 */
export function summarize(refusals: readonly Refusal[], others = 0): string {
  const sorted = [...refusals].sort(
    (a, b) => compare(a.path ?? '', b.path ?? '') || compare(a.code, b.code) || compare(a.message, b.message),
  );
  const first = sorted[0];
  if (first === undefined) return '';
  const left = sorted.length - 1 + others;
  return left === 0 ? first.message : `${first.message} and ${left} more`;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
