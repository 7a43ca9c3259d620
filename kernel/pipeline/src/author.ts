import type { Actor, Signature } from '@gitops-reverser/kernel-api';
import type { Authorship } from './item.js';

export type AuthorKind = 'user' | 'serviceaccount' | 'committer' | 'unresolved';

const UNRESOLVED = {
  name: 'unknown (attribution unresolved)',
  email: 'attribution-unresolved@gitops-reverser.invalid',
};
const UNKNOWN = 'unknown-user';
const EMAIL = /^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$/;
/** 254: longest name a Git host shows whole; also the longest legal e-mail address. */
const NAME_CHARACTERS = 254;
const UNSAFE = /[\u0000-\u001f\u007f-\u009f<>]/;
const ALL_UNSAFE = /[\u0000-\u001f\u007f-\u009f<>]/g;

/** Name and address of a commit's author. No field anywhere lets a person type one. */
export function authorOf(
  author: Authorship,
  committer: { readonly name: string; readonly email: string },
  at: Date,
): { readonly signature: Signature; readonly kind: AuthorKind } {
  switch (author.outcome) {
    case 'not_attempted':
      return { signature: { ...safe(committer), at }, kind: 'committer' };
    case 'unresolved':
      return { signature: { ...UNRESOLVED, at }, kind: 'unresolved' };
    case 'resolved':
      return resolved(author.actor, at);
  }
}

function resolved(actor: Actor, at: Date): { readonly signature: Signature; readonly kind: AuthorKind } {
  const isServiceAccount = actor.username.startsWith('system:serviceaccount:');
  const name = isServiceAccount
    ? cleanName(actor.username)
    : (safeName(actor.displayName) ?? cleanName(actor.username));
  const email =
    !isServiceAccount && actor.email !== undefined && EMAIL.test(actor.email)
      ? actor.email
      : derivedEmail(actor.username);
  return { signature: { name, email, at }, kind: isServiceAccount ? 'serviceaccount' : 'user' };
}

/** The committer, checked again as an injection boundary whatever its declaration went through. */
export const safe = (who: {
  readonly name: string;
  readonly email: string;
}): { readonly name: string; readonly email: string } => ({
  name: cleanName(who.name),
  email: who.email.replace(ALL_UNSAFE, '').trim(),
});

function safeName(name: string | undefined): string | undefined {
  const trimmed = name?.trim() ?? '';
  return trimmed === '' || UNSAFE.test(trimmed) || [...trimmed].length > NAME_CHARACTERS ? undefined : trimmed;
}

function cleanName(username: string): string {
  const cleaned = [...username.replace(ALL_UNSAFE, '').trim()].slice(0, NAME_CHARACTERS).join('').trim();
  return cleaned === '' ? UNKNOWN : cleaned;
}

function derivedEmail(username: string): string {
  if (EMAIL.test(username)) return username;
  const local = username.toLowerCase().replace(/[^a-z0-9.-]/g, '');
  return `${local === '' ? UNKNOWN : local}@noreply.cluster.local`;
}
