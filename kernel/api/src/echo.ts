import type { KubeObject } from './model.js';

const mark = Symbol.for('gitops-reverser.echo');

/** Live values that are never written, and yet decide what of Git may stay (chapter 20, 3.6). */
export interface Echo {
  readonly finalizers?: readonly string[];
}

/**
 * The object with what it echoes. It rides along with every copy made by a spread; nothing that reads JSON sees it. A sanitizer
 * that takes such values away says so here; without it they count as unknown.
 */
export function withEcho<T extends KubeObject>(object: T, echo: Echo): T {
  return { ...object, [mark]: echo };
}

export function echoOf(object: KubeObject): Echo | undefined {
  return (object as { readonly [mark]?: Echo })[mark];
}
