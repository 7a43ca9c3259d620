import { hash } from 'node:crypto';
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

/**
 * Servers write the same object in the same key order, so the text as it is stands for the content; where they did not, an
 * update passes the filter and Git finds it equal. Sorting every object of a large replay would cost more than that saves.
 */
export function fingerprint(value: JsonValue): Fingerprint {
  const text = textOf(value);
  return { hash: hash('sha256', text, 'base64'), bytes: text.length };
}

function textOf(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Integers beyond the safe range are bigint, which JSON.stringify refuses.
    return canonical(value);
  }
}
