import { isUtf8 } from 'node:buffer';
import { ok, refuse, type JsonObject, type JsonValue, type Result } from '@gitops-reverser/kernel-api';
import { readFull, type IdentityText } from './full-reader.js';
import { readSimpleIdentity, type SimpleIdentity } from './identity-reader.js';
import { maxDepth, maxDocuments, maxFileBytes } from './limits.js';
import { invalidYaml, type YamlProblem } from './problem.js';
import { hasUnusualCharacter, readSimple } from './simple-reader.js';
import { splitDocuments, type DocumentPiece, type SplitText } from './split.js';

export type YamlReading =
  | { readonly state: 'read'; readonly value: JsonValue }
  /** Only white space or comments. */
  | { readonly state: 'empty' }
  /** Holds a construct that no edit may touch; `identity` is what its text says, for warnings only. */
  | { readonly state: 'non-editable'; readonly construct: string; readonly identity: IdentityText }
  | { readonly state: 'invalid'; readonly problem: YamlProblem };

export type YamlDocument = DocumentPiece & { readonly index: number } & YamlReading;

/**
 * Reads a file as the appliers do (chapter 20, 4.2). Fails as a whole only for what concerns the file: encoding, size,
 * number of documents. A document that does not parse is reported in its place.
 */
export function parseDocuments(input: string | Uint8Array): Result<readonly YamlDocument[], YamlProblem> {
  const split = openText(input);
  if (!split.ok) return split;
  const isSimple = !hasUnusualCharacter(split.value.text);
  return ok(
    split.value.pieces.map((piece, index) => ({ ...piece, index, ...readPiece(split.value.text, piece, isSimple) })),
  );
}

/** Identity and nature of one document, without its content. */
export interface IdentifiedDocument extends DocumentPiece {
  readonly index: number;
  readonly state: YamlReading['state'];
  /** Present when `apiVersion`, `kind` and `metadata.name` are all there: a document with an identity. */
  readonly identity?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
  };
  /** For a non-editable document only: what its text says. */
  readonly claimed?: IdentityText;
  readonly construct?: string;
  readonly problem?: YamlProblem;
  /** A top-level `sops` map is there. */
  readonly isEncrypted: boolean;
}

/** What an inventory needs of a file. Nothing of the content is kept. */
export function identifyDocuments(input: string | Uint8Array): Result<readonly IdentifiedDocument[], YamlProblem> {
  const split = openText(input);
  if (!split.ok) return split;
  const isSimple = !hasUnusualCharacter(split.value.text);
  const { text, pieces } = split.value;
  return ok(
    pieces.map((piece, index) => {
      const simple = mayBeSimple(text, piece, isSimple)
        ? readSimpleIdentity(text, piece.bodyStart, piece.end)
        : undefined;
      if (simple === undefined) return identify(piece, index, readPiece(text, piece, isSimple));
      return toIdentified(piece, index, 'read', simple.isEncrypted, wholeIdentity(simple));
    }),
  );
}

/** Spelled out: a folder makes tens of thousands of these. */
function toIdentified(
  { start, end, bodyStart, byteStart, byteEnd, line, hasDirectives }: DocumentPiece,
  index: number,
  state: YamlReading['state'],
  isEncrypted = false,
  identity?: IdentifiedDocument['identity'],
): IdentifiedDocument {
  const base = { start, end, bodyStart, byteStart, byteEnd, line, hasDirectives, index, state, isEncrypted };
  return identity === undefined ? base : { ...base, identity };
}

function wholeIdentity({ apiVersion, kind, name, namespace }: SimpleIdentity): IdentifiedDocument['identity'] {
  if (apiVersion === undefined || kind === undefined || name === undefined) return undefined;
  return namespace === undefined ? { apiVersion, kind, name } : { apiVersion, kind, namespace, name };
}

function identify(piece: DocumentPiece, index: number, reading: YamlReading): IdentifiedDocument {
  const base = toIdentified(piece, index, reading.state);
  switch (reading.state) {
    case 'empty':
      return base;
    case 'invalid':
      return { ...base, problem: reading.problem };
    case 'non-editable':
      return { ...base, construct: reading.construct, claimed: reading.identity };
    case 'read': {
      const isEncrypted = isFields(reading.value) && isFields(reading.value['sops']);
      return toIdentified(piece, index, 'read', isEncrypted, identityOf(reading.value));
    }
  }
}

function identityOf(value: JsonValue): IdentifiedDocument['identity'] {
  if (!isFields(value)) return undefined;
  const { apiVersion, kind, metadata } = value;
  if (!isText(apiVersion) || !isText(kind) || !isFields(metadata)) return undefined;
  const { name, namespace } = metadata;
  if (!isText(name)) return undefined;
  return isText(namespace) ? { apiVersion, kind, namespace, name } : { apiVersion, kind, name };
}

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string' && value !== '';

function isFields(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One document of a file that was opened with {@link openText}. */
export function readDocument({ text, pieces }: SplitText, index: number): YamlReading {
  const piece = pieces[index];
  if (piece === undefined) return { state: 'empty' };
  return readPiece(text, piece, !hasUnusualCharacter(text.slice(piece.start, piece.end)));
}

/** Outside the simple subset for sure when it has directives or begins on its separator's line. */
function mayBeSimple(text: string, { start, bodyStart, hasDirectives }: DocumentPiece, isSimple: boolean): boolean {
  return isSimple && !hasDirectives && (bodyStart === start || text.charCodeAt(bodyStart - 1) === 0x0a);
}

function readPiece(text: string, piece: DocumentPiece, isSimple: boolean): YamlReading {
  if (mayBeSimple(text, piece, isSimple)) {
    const simple = readSimple(text, piece.bodyStart, piece.end);
    if (simple !== undefined) return { state: 'read', value: simple.value };
  }
  // A byte order mark behind a separator, where files were joined; the library takes it for content.
  const hasMark = piece.bodyStart > piece.start && text.charCodeAt(piece.bodyStart - 1) === 0xfeff;
  const source = hasMark
    ? `${text.slice(piece.start, piece.bodyStart - 1)}${text.slice(piece.bodyStart, piece.end)}`
    : text.slice(piece.start, piece.end);
  const reading = readFull(source, piece.hasDirectives);
  if (reading.state !== 'invalid') return reading;
  const before = source.slice(0, reading.offset);
  const line = piece.line + (before.match(/\n/g)?.length ?? 0);
  return { state: 'invalid', problem: invalidYaml(reading.what, line, before.length - before.lastIndexOf('\n')) };
}

/** Decodes and splits a file within the limits, without reading any document. */
export function openText(input: string | Uint8Array): Result<SplitText, YamlProblem> {
  const bytes = typeof input === 'string' ? Buffer.byteLength(input) : input.byteLength;
  if (bytes > maxFileBytes) return refuse(invalidYaml(`the file has ${bytes} bytes, the limit is ${maxFileBytes}`));
  const text = typeof input === 'string' ? input : decode(input);
  if (text === undefined || text.includes('\0')) return refuse(invalidYaml('not valid UTF-8 text'));
  const split = splitDocuments(text, maxDocuments + 1);
  if (split.pieces.length > maxDocuments)
    return refuse(invalidYaml(`the file has more than ${maxDocuments} documents`));
  return ok(split);
}

function decode(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  // The replacement character may be in the file itself.
  return text.includes('\ufffd') && !isUtf8(buffer) ? undefined : text;
}

export const limits = { maxFileBytes, maxDocuments, maxDepth } as const;
