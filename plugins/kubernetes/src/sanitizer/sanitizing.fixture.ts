import {
  compileStripRules,
  type GeneratedSelection,
  type JsonObject,
  type KubeObject,
  type ResourceType,
  type Sanitized,
} from '@gitops-reverser/kernel-api';
import { bookkeeping } from './bookkeeping.js';
import { createSanitizer } from './sanitizer.js';

const PLURALS: Readonly<Record<string, string>> = {
  NetworkPolicy: 'networkpolicies',
  StorageClass: 'storageclasses',
  PriorityClass: 'priorityclasses',
  Endpoints: 'endpoints',
};
export function typeOf(object: JsonObject): ResourceType {
  const [group, version] = String(object['apiVersion']).includes('/')
    ? (String(object['apiVersion']).split('/') as [string, string])
    : ['', String(object['apiVersion'])];
  const kind = String(object['kind']);
  return { group, version, kind, resource: PLURALS[kind] ?? `${kind.toLowerCase()}s`, namespaced: true };
}

export const stripRules = compileStripRules([bookkeeping]);
const byDefault = createSanitizer({ defaultObjectExclusions: 'all', stripRules });

export const none: GeneratedSelection = { include: [], exclude: [] };
/** By this plugin alone; what other plugins strip is theirs to test. */
export const sanitize = (object: JsonObject, selection = none, sanitizer = byDefault): Sanitized =>
  sanitizer.sanitize(object as KubeObject, typeOf(object), selection);

export function kept(object: JsonObject, selection = none): KubeObject {
  const result = sanitize(object, selection);
  if (result.kind !== 'keep') throw new Error(`dropped: ${result.reason}`);
  return result.object;
}

/** What JSON shows of it: everything but the echo. */
export const shown = (object: JsonObject, selection = none): JsonObject =>
  Object.fromEntries(Object.entries(kept(object, selection)));
