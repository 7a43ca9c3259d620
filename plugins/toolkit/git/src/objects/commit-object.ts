import type { Signature } from '@gitops-reverser/kernel-api';
import { MalformedData } from './delta.js';
import { malformedCommit } from '../errors.js';
import type { Oid } from './oid.js';

export interface CommitFields {
  readonly tree: Oid;
  readonly parent: Oid | undefined;
  readonly author: Signature;
  readonly committer: Signature;
  /** Byte-exact. */
  readonly message: string;
}

/**
 * The bytes of a commit object, without its header.
 *
 * @throws ReverserError CommitMalformed when a name, an e-mail address, a date or the message would break out of its line
 */
export function encodeCommit({ tree, parent, author, committer, message }: CommitFields): Buffer {
  if (message.includes('\0')) throw malformedCommit('message', 'a NUL character');
  const lines = [
    `tree ${tree}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${identity('author', author)}`,
    `committer ${identity('committer', committer)}`,
    '',
    message,
  ];
  return Buffer.from(lines.join('\n'), 'utf8');
}

/** The injection boundary: whatever attribution did, these lines hold exactly one identity (chapter 40, 3.5). */
function identity(role: string, { name, email, at }: Signature): string {
  for (const [what, value] of [
    [`${role} name`, name],
    [`${role} e-mail address`, email],
  ] as const) {
    if (/[\0-\x1f\x7f<>]/.test(value)) throw malformedCommit(what, 'a control character, < or >');
  }
  // Git strips these from both ends of what it reads back, and fsck asks for a name.
  if (/^[\s.,:;"'\\]*$/.test(name)) throw malformedCommit(`${role} name`, 'nothing but blanks and punctuation');
  if (/\s/.test(email)) throw malformedCommit(`${role} e-mail address`, 'a blank');
  const seconds = Math.floor(at.getTime() / 1000);
  if (!Number.isSafeInteger(seconds) || seconds < 0)
    throw malformedCommit(`${role} date`, 'a time outside 1970 and later');
  return `${name.trim()} <${email}> ${seconds} +0000`;
}

export interface ParsedCommit {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  /** Seconds since the epoch; 0 when the line cannot be read. */
  readonly committedAtSeconds: number;
}

/** @throws MalformedData when there is no tree line */
export function parseCommit(oid: Oid, data: Buffer): ParsedCommit {
  const end = data.indexOf('\n\n');
  const lines = data.toString('latin1', 0, end === -1 ? data.length : end).split('\n');
  const tree = /^tree ([0-9a-f]{40})$/.exec(lines[0] ?? '')?.[1];
  if (tree === undefined) throw new MalformedData(`commit ${oid} has no tree`);
  const parents = lines.flatMap((line) => /^parent ([0-9a-f]{40})$/.exec(line)?.[1] ?? []);
  const committer = lines.find((line) => line.startsWith('committer ')) ?? '';
  return { tree, parents, committedAtSeconds: Number(/ (\d+) [-+]\d{4}$/.exec(committer)?.[1] ?? 0) };
}
