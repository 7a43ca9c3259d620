import {
  echoOf,
  ok,
  refuse,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type ObjectRef,
  type Refusal,
  type Result,
} from '@gitops-reverser/kernel-api';
import { parseApiVersion } from '@gitops-reverser/toolkit-manifests';
import { openText, readDocument, type EditOptions, type SplitText } from '@gitops-reverser/toolkit-yaml';

export type Identity = Pick<ObjectRef, 'group' | 'kind' | 'namespace' | 'name'>;

/** Opens a file without reading its documents. */
export function openFile(path: string, bytes: Uint8Array): Result<SplitText, Refusal> {
  const split = openText(bytes);
  return split.ok ? split : refuse(unreadable(path, split.error.message));
}

export function unreadable(path: string, what: string): Refusal {
  return { code: 'invalid-yaml', path, message: `${path}: ${what}; repair or remove the file` };
}

/** What is known of the object besides what it holds. */
export function editOptions(object: KubeObject): EditOptions {
  const { finalizers, listKeys } = echoOf(object) ?? {};
  return {
    ...(finalizers === undefined ? {} : { liveFinalizers: finalizers }),
    ...(listKeys === undefined ? {} : { listKeys }),
  };
}

export interface Found {
  readonly index: number;
  readonly isEditable: boolean;
}

/**
 * The document that is, or claims to be, this object. Reads the documents that hold its name first, so that one of a thousand
 * costs little; the others may spell it with escapes.
 */
export function findDocument(file: SplitText, identity: Identity): Found | undefined {
  const { text, pieces } = file;
  const judged = new Set<number>();
  for (let at = nextName(text, identity.name, 0); at !== -1;) {
    const index = pieceAt(pieces, at);
    if (index === pieces.length) break;
    const found = judge(file, index, identity);
    if (found !== undefined) return found;
    judged.add(index);
    at = nextName(text, identity.name, pieces[index]?.end ?? text.length);
  }
  // Without a backslash no name is spelled in another way.
  if (!text.includes('\\')) return undefined;
  for (let index = 0; index < pieces.length; index += 1) {
    const found = judged.has(index) ? undefined : judge(file, index, identity);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The document that holds an offset; the number of documents when none does. */
function pieceAt(pieces: SplitText['pieces'], at: number): number {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.end ?? 0) > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

const isPartOfName = (char: string | undefined): boolean => char !== undefined && /[\w.-]/.test(char);

/** Where the name stands next, not as a part of a longer one. */
function nextName(text: string, name: string, from: number): number {
  let at = text.indexOf(name, from);
  while (at !== -1 && (isPartOfName(text[at - 1]) || isPartOfName(text[at + name.length])))
    at = text.indexOf(name, at + 1);
  return at;
}

function judge(file: SplitText, index: number, identity: Identity): Found | undefined {
  const reading = readDocument(file, index);
  if (reading.state === 'read')
    return isMap(reading.value) && isAbout(textsOf(reading.value), identity) ? { index, isEditable: true } : undefined;
  if (reading.state !== 'non-editable') return undefined;
  return isAbout(reading.identity, identity) ? { index, isEditable: false } : undefined;
}

interface Texts {
  readonly apiVersion?: JsonValue | undefined;
  readonly kind?: JsonValue | undefined;
  readonly name?: JsonValue | undefined;
  readonly namespace?: JsonValue | undefined;
}

function textsOf({ apiVersion, kind, metadata }: JsonObject): Texts {
  return isMap(metadata) ? { apiVersion, kind, name: metadata['name'], namespace: metadata['namespace'] } : {};
}

function isAbout({ apiVersion, kind, name, namespace }: Texts, identity: Identity): boolean {
  return (
    kind === identity.kind &&
    name === identity.name &&
    typeof apiVersion === 'string' &&
    parseApiVersion(apiVersion).group === identity.group &&
    (typeof namespace === 'string' ? namespace : '') === (identity.namespace ?? '')
  );
}

/** Every document reads, so that one more may join them. */
export function checkReadable(path: string, file: SplitText): Result<undefined, Refusal> {
  for (let index = 0; index < file.pieces.length; index += 1) {
    const reading = readDocument(file, index);
    if (reading.state === 'invalid') return refuse(unreadable(path, reading.problem.message));
  }
  return ok(undefined);
}

export function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A `sops` map anywhere encrypts the whole file. */
export function isEncrypted(file: SplitText): boolean {
  if (!file.text.includes('sops')) return false;
  return file.pieces.some((_, index) => {
    const reading = readDocument(file, index);
    return reading.state === 'read' && isMap(reading.value) && isMap(reading.value['sops']);
  });
}
