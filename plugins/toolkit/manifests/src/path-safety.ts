import { createHash } from 'node:crypto';
import { isArtifactName } from './folder-roles.js';

const unsafeInValue = /[%/\\:*?"<>|\x00-\x1f\x7f-\x9f]/g;
const mayBeUnsafe = /[^A-Za-z0-9._-]/;

/** Encodes, within one value of a template, what no path segment may hold: a slash and what other systems refuse. */
export function encodePathValue(value: string): string {
  return mayBeUnsafe.test(value) ? value.replace(unsafeInValue, percent) : value;
}

function percent(text: string): string {
  let out = '';
  for (const byte of Buffer.from(text)) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return out;
}

const longestSegment = 200;
const cutSegmentAt = 180;
export const longestPath = 900;

/** Drops empty segments and makes the others safe on every file system. `identity` feeds the hash of a cut segment. */
export function toSafePath(rendered: string, identity: string): string {
  const segments = rendered.split('/').filter((segment) => segment !== '');
  return segments.map((segment, at) => toSafeSegment(segment, at === segments.length - 1, identity)).join('/');
}

/** The directory that a value alone names. */
export function toDirectoryName(value: string): string {
  return mayBeUnsafe.test(value) || reservedStem.test(value) ? unreserved(encodePathValue(value), false) : value;
}

function toSafeSegment(segment: string, isFile: boolean, identity: string): string {
  const safe = unreserved(segment, isFile);
  // A segment of 66 UTF-16 units has at most 198 bytes.
  if (safe.length <= 66 || Buffer.byteLength(safe) <= longestSegment) return safe;
  const { stem, extension } = isFile ? splitExtension(safe) : { stem: safe, extension: '' };
  return `${cut(stem, cutSegmentAt)}-${hash(identity, 12)}${extension}`;
}

function unreserved(segment: string, isFile: boolean): string {
  let safe = segment;
  if (safe.endsWith('.') || safe.endsWith(' ')) safe = `${safe.slice(0, -1)}${percent(safe.slice(-1))}`;
  if (isReserved(safe) || (isFile && isArtifactName(safe))) {
    const first = String.fromCodePoint(safe.codePointAt(0) ?? 0);
    safe = `${percent(first)}${safe.slice(first.length)}`;
  }
  return safe;
}

/** Code points that one file system drops before it compares names. */
const ignorable = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
/** One system drops blanks before an extension and reads a superscript digit as a digit. */
const reservedStem = /^(?:con|prn|aux|nul|(?:com|lpt)[1-9\u00b9\u00b2\u00b3]) *$/i;
const gitNames = /^(?:\.git(?:\..*)?|git~1)$/i;

/** Device names and `.git`, with any extension, and every spelling that some system takes for them. */
function isReserved(segment: string): boolean {
  const dot = segment.indexOf('.');
  return (
    reservedStem.test(dot === -1 ? segment : segment.slice(0, dot)) || gitNames.test(segment.replace(ignorable, ''))
  );
}

/** Cuts on a code point boundary. */
function cut(text: string, bytes: number): string {
  let length = 0;
  let end = 0;
  for (const char of text) {
    length += Buffer.byteLength(char);
    if (length > bytes) break;
    end += char.length;
  }
  return text.slice(0, end);
}

const sopsName = /\.sops\.ya?ml$/;

/** A file of this name is taken for an encrypted one. */
export function isNamedEncrypted(path: string): boolean {
  return sopsName.test(path);
}

/** The name of a plain object may end like that of an encrypted file: its file must not. */
export function notNamedEncrypted(path: string): string {
  return path.replace(sopsName, (end) => `%2E${end.slice(1)}`);
}

function splitExtension(fileName: string): { readonly stem: string; readonly extension: string } {
  const extension = /(?:\.sops)?\.ya?ml$/.exec(fileName)?.[0] ?? '';
  return { stem: fileName.slice(0, fileName.length - extension.length), extension };
}

/** Sets a path apart from one that differs in case or composition only. */
export function withHash(path: string, identity: string): string {
  const { stem, extension } = splitExtension(path);
  return `${stem}-${hash(identity, 8)}${extension}`;
}

/** Without `.yaml` or `.yml`, and `.sops` before it. */
export function stemOf(fileName: string): string {
  return splitExtension(fileName).stem;
}

function hash(identity: string, digits: number): string {
  return createHash('sha256').update(identity).digest('hex').slice(0, digits);
}

const nonAscii = /[^\0-\x7f]/;

/** Equal for paths that a file system without case or composition takes for one. */
export function foldPath(path: string): string {
  if (!nonAscii.test(path)) return path.toLowerCase();
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
