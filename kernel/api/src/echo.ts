import type { KubeObject } from './model.js';

const mark = Symbol.for('gitops-reverser.echo');

/**
 * Fields that tell the items of a list apart, by where the list stands: field names joined by `/`, items of lists left out
 * (`spec/listeners/routes`).
 */
export type ListMapKeys = Readonly<Record<string, readonly string[]>>;

/** What is known of a live object and never written. */
export interface Echo {
  /** Decide which finalizers in Git may stay (chapter 20, 3.6). */
  readonly finalizers?: readonly string[];
  /** Decide which item of a list an edit is about (chapter 20, 6.4). */
  readonly listKeys?: ListMapKeys;
}

/**
 * The object with what it echoes, beside what it echoed already. It rides along with every copy made by a spread; nothing that
 * reads JSON sees it. A sanitizer that takes such values away says so here; without it they count as unknown.
 */
export function withEcho<T extends KubeObject>(object: T, echo: Echo): T {
  return { ...object, [mark]: { ...echoOf(object), ...echo } };
}

export function echoOf(object: KubeObject): Echo | undefined {
  return (object as { readonly [mark]?: Echo })[mark];
}
