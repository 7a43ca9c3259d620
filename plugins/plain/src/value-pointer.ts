/** One value of one document of a YAML file. */
export interface ValuePointer {
  /** Which of several documents; absent: the only one. */
  readonly document?: {
    readonly group: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
  };
  /** Keys and indexes from the root of the document. */
  readonly path: readonly string[];
}

const documentName = /^(?<kind>[^./#]+)(?:\.(?<group>[^/#]+))?\/(?<namespace>[^/]*)\/(?<name>[^/]+)$/;

/**
 * `[DOCUMENT#]POINTER`: a JSON pointer (RFC 6901) below the root, and before it `Kind.group/namespace/name` where the file holds
 * several documents (`Deployment.apps/shop/web#/spec/replicas`, `ConfigMap//a#/data/k`). Undefined: it is none.
 */
export function parseValuePointer(pointer: string): ValuePointer | undefined {
  // No name holds a slash, so the first `#/` ends the document's.
  const cut = pointer.startsWith('/') ? -1 : pointer.indexOf('#/');
  const tokens = pointer.slice(cut + 1);
  if (!tokens.startsWith('/') || /~(?![01])/.test(tokens)) return undefined;
  const path = tokens
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (cut === -1) return { path };
  const parts = documentName.exec(pointer.slice(0, cut))?.groups;
  if (parts === undefined) return undefined;
  const { kind = '', group = '', namespace = '', name = '' } = parts;
  return { path, document: { group, kind, name, ...(namespace === '' ? {} : { namespace }) } };
}
