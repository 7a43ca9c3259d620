import type { JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';

/** The first document of a file of YAML. */
export function parseFirst(bytes: Uint8Array): JsonValue {
  const documents = parseDocuments(bytes);
  const first = documents.ok ? documents.value[0] : undefined;
  if (first?.state !== 'read') throw new Error('expected a document that can be read');
  return first.value;
}
