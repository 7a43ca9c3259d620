import type { StandingRefusal, TargetStatus } from '@gitops-reverser/kernel-api';
import type { Notice } from '../controller.js';

/** What people are told about single documents, once for as long as it holds. */
export function noticesOf({ refused, skipped, plaintext }: TargetStatus): readonly Notice[] {
  return [
    ...refused.map((found) => notice('WriteRefused', found, `${found.code}: ${found.message}${writtenBy(found)}`)),
    ...skipped.map((found) => notice('DocumentSkipped', found, `${placeOf(found)}${found.code}: ${found.message}`)),
    ...plaintext.map((found) => notice('PlaintextSecretInHistory', found, found.message)),
  ];
}

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
