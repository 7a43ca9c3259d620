import { createHash } from 'node:crypto';
import type { JsonValue } from '@gitops-reverser/kernel-api';

/** One text per value: keys sorted, integers beyond the safe range as they are. */
export function canonical(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return JSON.stringify(value);
  if (typeof value === 'bigint') return value.toString();
  if (isList(value)) {
    let text = '[';
    for (let index = 0; index < value.length; index += 1)
      text += (index === 0 ? '' : ',') + canonical(value[index] ?? null);
    return `${text}]`;
  }
  let text = '{';
  for (const key of Object.keys(value).sort()) {
    const below = value[key];
    if (below === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${canonical(below)}`;
  }
  return `${text}}`;
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

export interface Fingerprint {
  readonly hash: string;
  /** Size of the canonical text: what the object is charged against memory limits. */
  readonly bytes: number;
}

export function fingerprint(value: JsonValue): Fingerprint {
  const text = canonical(value);
  return { hash: createHash('sha256').update(text).digest('base64'), bytes: text.length };
}
