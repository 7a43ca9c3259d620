import {
  ReverserError,
  type GeneratedSelection,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type ResourceType,
  type Sanitized,
  type Sanitizer,
} from '@gitops-reverser/kernel-api';
import { isMap } from './json.js';
import { applyKindRules } from './kinds.js';
import { desiredMetadata, withoutNullTimestamps } from './metadata.js';
import { provenance } from './provenance.js';

export interface SanitizerOptions {
  /** `none` turns every filter that is on by default off. */
  readonly defaultObjectExclusions: 'all' | 'none';
}

/**
 * Reduces a live object to intent: a deny list, so that fields nobody told us of survive. API-server defaults stay: what the
 * API holds is the truth.
 */
export function createSanitizer(options: SanitizerOptions): Sanitizer {
  return {
    sanitize(object: KubeObject, type: ResourceType, selection: GeneratedSelection): Sanitized {
      requireIdentity(object);
      const desired = desiredObject(object, type);
      const filter = provenance(object, type, desired, selection, options.defaultObjectExclusions);
      return filter === undefined ? { kind: 'keep', object: desired as KubeObject } : { kind: 'drop', reason: filter };
    },
  };
}

function desiredObject(object: KubeObject, type: ResourceType): JsonObject {
  const fields: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object)) {
    if (key === 'status') continue;
    fields.push([key, key === 'metadata' ? desiredMetadata(object, type) : withoutNullTimestamps(value)]);
  }
  return applyKindRules(Object.fromEntries(fields), object, type);
}

function requireIdentity(object: KubeObject): void {
  const metadata: unknown = object.metadata;
  const name = isMap(metadata as JsonValue) ? (metadata as JsonObject)['name'] : undefined;
  const missing =
    typeof object.apiVersion !== 'string'
      ? 'apiVersion'
      : typeof object.kind !== 'string'
        ? 'kind'
        : typeof name !== 'string'
          ? 'metadata.name'
          : undefined;
  if (missing === undefined) return;
  throw new ReverserError({
    reason: 'NotAnObject',
    retry: 'when-changed',
    message: `expected an object with apiVersion, kind and metadata.name; ${missing} is not text`,
    details: { missing },
  });
}
