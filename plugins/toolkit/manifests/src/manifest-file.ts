import type { JsonObject, JsonValue, KubeObject } from '@gitops-reverser/kernel-api';
import { identifyDocuments, parseDocuments, type IdentifiedDocument } from '@gitops-reverser/toolkit-yaml';
import { parseApiVersion, type DocumentIdentity } from './identity.js';

export type DocumentNature =
  /** A manifest that may be edited. */
  | 'manifest'
  /** A manifest whose constructs no edit may touch; its identity is only claimed. */
  | 'non-editable'
  /** Encrypted; identity is known unless it is encrypted as well. */
  | 'encrypted'
  | 'not-krm'
  | 'empty'
  | 'invalid';

export interface FileDocument {
  readonly index: number;
  readonly nature: DocumentNature;
  /** 1-based. */
  readonly line: number;
  readonly identity?: DocumentIdentity;
  /** Of an invalid document: what is wrong, with its place. */
  readonly problem?: string;
  /** Of a non-editable document: which construct. */
  readonly construct?: string;
  /** For tools alone: Kustomize leaves it out of what it builds. */
  readonly isLocal?: true;
}

/** One blob as manifests. Depends on its bytes alone and holds none of them, so it is kept by blob id. */
export interface ManifestFile {
  readonly documents: readonly FileDocument[];
  /** A `sops` map anywhere encrypts the whole file. */
  readonly isEncrypted: boolean;
  /** The file as a whole cannot be read. */
  readonly problem?: string;
}

export function readManifestFile(bytes: Uint8Array): ManifestFile {
  const identified = identifyDocuments(bytes);
  if (!identified.ok) return { documents: [], isEncrypted: false, problem: identified.error.message };
  const isEncrypted = identified.value.some((document) => document.isEncrypted);
  const local = localDocuments(bytes);
  const documents = identified.value.map((document): FileDocument => {
    const read = toDocument(document, isEncrypted);
    return local.has(document.index) ? { ...read, isLocal: true } : read;
  });
  return { documents, isEncrypted };
}

const localConfig = 'config.kubernetes.io/local-config';

/** Indexes of documents annotated as local configuration. Few files say the word, and only those are read for it. */
function localDocuments({ buffer, byteOffset, byteLength }: Uint8Array): ReadonlySet<number> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const parsed = bytes.includes(localConfig) ? parseDocuments(bytes) : undefined;
  if (parsed?.ok !== true) return new Set();
  return new Set(
    parsed.value.flatMap((document) => (document.state === 'read' && isLocal(document.value) ? [document.index] : [])),
  );
}

function isLocal(value: JsonValue): boolean {
  const annotations = fieldOf(fieldOf(value, 'metadata'), 'annotations');
  const stated = fieldOf(annotations, localConfig);
  return stated !== undefined && stated !== 'false';
}

function fieldOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? (value as JsonObject)[key] : undefined;
}

/** What reading the file of this one document would say; undefined where only reading can tell. */
export function manifestFileOf(object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): ManifestFile | undefined {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, annotations } = metadata;
  if (Object.hasOwn(object, 'sops') || (annotations && Object.hasOwn(annotations, localConfig))) return undefined;
  if (isList({ kind }) || name === '') return undefined;
  const identity = toIdentity({
    apiVersion,
    kind,
    name,
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
  });
  return { documents: [{ index: 0, line: 1, nature: 'manifest', identity }], isEncrypted: false };
}

function toDocument(document: IdentifiedDocument, isEncrypted: boolean): FileDocument {
  const { index, line } = document;
  switch (document.state) {
    case 'empty':
      return { index, line, nature: 'empty' };
    case 'invalid':
      return { index, line, nature: 'invalid', problem: document.problem?.message ?? 'does not parse' };
    case 'non-editable': {
      const { apiVersion, kind, name, namespace } = document.claimed ?? {};
      if (!apiVersion || !kind || !name) return { index, line, nature: 'not-krm' };
      const identity = toIdentity({ apiVersion, kind, name, ...(namespace ? { namespace } : {}) });
      return { index, line, nature: 'non-editable', identity, construct: document.construct ?? 'construct' };
    }
    case 'read': {
      const nature = isEncrypted ? 'encrypted' : 'manifest';
      if (document.identity === undefined || isList(document.identity)) return { index, line, nature: 'not-krm' };
      const identity = toIdentity(document.identity);
      // Metadata may be encrypted as well; then nothing tells what it is.
      const isSealed = isEncrypted && Object.values(identity).some((text) => text.startsWith('ENC['));
      return isSealed ? { index, line, nature } : { index, line, nature, identity };
    }
  }
}

function isList({ kind }: { readonly kind: string }): boolean {
  return kind === 'List';
}

function toIdentity(text: NonNullable<IdentifiedDocument['identity']>): DocumentIdentity {
  const { group, version } = typeOf(text.apiVersion);
  const kind = shared(text.kind);
  const name = detached(text.name);
  return text.namespace === undefined
    ? { group, version, kind, name }
    : { group, version, kind, namespace: shared(text.namespace), name };
}

/** Texts that many documents have in common, each held once; forgotten when a repository makes up too many. */
const mostShared = 10_000;
const sharedTexts = new Map<string, string>();
const typeByApiVersion = new Map<string, ReturnType<typeof parseApiVersion>>();

function shared(text: string): string {
  const known = sharedTexts.get(text);
  if (known !== undefined) return known;
  if (sharedTexts.size >= mostShared) sharedTexts.clear();
  const own = detached(text);
  sharedTexts.set(own, own);
  return own;
}

function typeOf(apiVersion: string): ReturnType<typeof parseApiVersion> {
  const known = typeByApiVersion.get(apiVersion);
  if (known !== undefined) return known;
  if (typeByApiVersion.size >= mostShared) typeByApiVersion.clear();
  const type = parseApiVersion(detached(apiVersion));
  typeByApiVersion.set(detached(apiVersion), type);
  return type;
}

/** What the engine does not copy when it cuts a text out of another: such a part keeps the whole alive. */
const longestCopied = 12;

/** The same text, holding no other one in memory. */
function detached(text: string): string {
  return text.length <= longestCopied ? text : Buffer.from(text).toString();
}

/** What keeping it costs, roughly; the bound is about memory, not about exactness. */
export function bytesOf(file: ManifestFile): number {
  let bytes = 160 + (file.problem?.length ?? 0);
  for (const { identity, problem } of file.documents) {
    bytes += 200 + (problem?.length ?? 0);
    if (identity !== undefined)
      bytes +=
        2 * (identity.name.length + identity.kind.length + identity.group.length + (identity.namespace?.length ?? 0));
  }
  return bytes;
}
