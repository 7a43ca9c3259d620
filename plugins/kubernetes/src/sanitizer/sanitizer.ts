import {
  echoOf,
  ReverserError,
  withEcho,
  withoutStripped,
  type GeneratedSelection,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type ResourceType,
  type Sanitized,
  type Sanitizer,
  type StripRules,
} from '@gitops-reverser/kernel-api';
import { isList, isMap } from './json.js';
import { applyKindRules } from './kinds.js';
import { desiredMetadata, withoutNullTimestamps } from './metadata.js';
import { provenance } from './provenance.js';

export interface SanitizerOptions {
  /** `none` turns every filter that is on by default off. */
  readonly defaultObjectExclusions: 'all' | 'none';
  /** Of every plugin: what others will take away is no content when an object is judged as a whole. */
  readonly stripRules: StripRules;
}

/**
 * Reduces a live object to intent: a deny list, so that fields nobody told us of survive. API-server defaults stay: what the
 * API holds is the truth.
 */
export function createSanitizer({ defaultObjectExclusions, stripRules }: SanitizerOptions): Sanitizer {
  return {
    sanitize(object: KubeObject, type: ResourceType, selection: GeneratedSelection): Sanitized {
      requireIdentity(object);
      const desired = desiredObject(object, type);
      const inTheEnd = (): JsonObject => withoutStripped(desired as KubeObject, stripRules);
      const filter = provenance(object, type, inTheEnd, selection, defaultObjectExclusions);
      if (filter !== undefined) return { kind: 'drop', reason: filter };
      return {
        kind: 'keep',
        object: withEcho(desired as KubeObject, { ...echoOf(object), finalizers: finalizersOf(object) }),
      };
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

/** Never written, but what Git holds of them may stay while it is live. What was sanitized before says so itself. */
function finalizersOf(object: KubeObject): readonly string[] {
  const live = object.metadata['finalizers'];
  if (isList(live)) return live.filter((item): item is string => typeof item === 'string');
  return echoOf(object)?.finalizers ?? [];
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
