import type { StandingRefusal, TargetStatus } from '@gitops-reverser/kernel-api';
import type { Notice } from '../controller.js';

/** What people are told about parts of a target, once for as long as it holds. */
export function noticesOf({ refused, skipped, plaintext, wording }: TargetStatus): readonly Notice[] {
  return [
    ...(wording === undefined ? [] : [fallback(wording)]),
    ...refused.map((found) => notice('WriteRefused', found, `${found.code}: ${found.message}${writtenBy(found)}`)),
    ...skipped.map((found) => notice('DocumentSkipped', found, `${placeOf(found)}${found.code}: ${found.message}`)),
    ...plaintext.map((found) => notice('PlaintextSecretInHistory', found, found.message)),
  ];
}

const fallback = ({ problem, since }: NonNullable<TargetStatus['wording']>): Notice => ({
  id: `CommitMessageFallback ${since.getTime()}`,
  reason: 'CommitMessageFallback',
  message: `a template of spec.commit.message failed on real changes and the built-in wording was used: ${problem}; repair it`,
});

function notice(reason: string, found: StandingRefusal, message: string): Notice {
  const { ref, since, code, path, index } = found;
  const about = ref === undefined ? [code] : [code, ref.group, ref.resource, ref.namespace, ref.name];
  return { id: JSON.stringify([reason, ...about, path, index, since.getTime()]), reason, message };
}

const writtenBy = ({ author }: StandingRefusal): string => (author === undefined ? '' : ` (written by ${author})`);

function placeOf({ path, index }: StandingRefusal): string {
  if (path === undefined) return '';
  return index === undefined ? `${path}: ` : `${path}, document ${index}: `;
}
