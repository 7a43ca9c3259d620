import { createHash } from 'node:crypto';

/** Of one document: what it is and where it lies, in one line. */
export interface Identified {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly path: string;
}

/** Equal for equal sets of documents, in whatever order; so that ten thousand need not be carried between processes. */
export function digestOf(documents: Iterable<Identified>): string {
  const lines = Array.from(documents, ({ group, kind, namespace = '', name, path }) =>
    [group, kind, namespace, name, path].join(' '),
  );
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}
