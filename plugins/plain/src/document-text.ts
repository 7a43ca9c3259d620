import { parseDocuments, type YamlDocument } from '@gitops-reverser/toolkit-yaml';
import { documentKey, parseApiVersion } from '@gitops-reverser/toolkit-manifests';
import {
  ok,
  refuse,
  type JsonObject,
  type JsonValue,
  type ObjectRef,
  type Refusal,
  type Result,
} from '@gitops-reverser/kernel-api';

const isMap = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A file as its documents, with the text of each. */
export interface DocumentFile {
  readonly text: string;
  readonly documents: readonly YamlDocument[];
}

/** Refused when any of it cannot be read: what does not parse cannot be told from the document that is meant. */
export function openFile(path: string, bytes: Uint8Array): Result<DocumentFile, Refusal> {
  const read = parseDocuments(bytes);
  const problem = read.ok ? read.value.find((each) => each.state === 'invalid') : undefined;
  if (!read.ok || problem?.state === 'invalid') {
    const what = read.ok ? problem?.problem.message : read.error.message;
    return refuse({
      code: 'invalid-yaml',
      path,
      message: `${path}: ${what ?? 'does not parse'}; repair or remove the file`,
    });
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return ok({ text, documents: read.value });
}

/** The document that is this object, whatever its version. */
export function findDocument(
  file: DocumentFile,
  ref: Pick<ObjectRef, 'group' | 'kind' | 'namespace' | 'name'>,
): YamlDocument | undefined {
  const wanted = documentKey(ref);
  return file.documents.find((document) => {
    if (document.state !== 'read' || !isMap(document.value)) return false;
    const { apiVersion, kind, metadata } = document.value;
    if (
      typeof apiVersion !== 'string' ||
      typeof kind !== 'string' ||
      !isMap(metadata) ||
      typeof metadata['name'] !== 'string'
    )
      return false;
    const { group } = parseApiVersion(apiVersion);
    const { name, namespace } = metadata;
    return (
      documentKey({
        group,
        kind,
        name,
        ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
      }) === wanted
    );
  });
}

/** The file with the content of one document replaced; every other byte stays. */
export function replaceDocument({ text }: DocumentFile, document: YamlDocument, content: string): string {
  const tail = text.slice(document.end);
  return text.slice(0, document.bodyStart) + (tail === '' || content.endsWith('\n') ? content : `${content}\n`) + tail;
}

/** The file with one more document at its end. */
export function appendDocument(text: string, content: string): string {
  if (text.trim() === '') return content;
  return `${text.endsWith('\n') ? text : `${text}\n`}---\n${content}`;
}

/** The file without one document; undefined when none is left. */
export function dropDocument(file: DocumentFile, document: YamlDocument): string | undefined {
  if (!file.documents.some((other) => other !== document && other.state !== 'empty')) return undefined;
  const before = file.text.slice(0, document.start);
  const after = file.text.slice(document.end);
  // The first document gone: the separator of the second would start the file.
  return before === '' ? after.replace(/^---[ \t]*\r?\n/, '') : before + after;
}
