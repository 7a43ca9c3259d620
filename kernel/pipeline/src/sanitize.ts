import {
  isReverserError,
  type GeneratedSelection,
  type KubeObject,
  type ResourceType,
  type Sanitized,
  type Sanitizer,
} from '@gitops-reverser/kernel-api';

export type Cleaned = Sanitized | { readonly kind: 'failed'; readonly reason: string };

/** Each sanitizer feeds the next; the first drop ends; a fault fails closed. */
export function sanitize(
  sanitizers: readonly Sanitizer[],
  object: KubeObject,
  type: ResourceType,
  selection: GeneratedSelection,
): Cleaned {
  let current = object;
  try {
    for (const sanitizer of sanitizers) {
      const answer = sanitizer.sanitize(current, type, selection);
      if (answer.kind === 'drop') return answer;
      current = answer.object;
    }
  } catch (error) {
    // The name alone: the message of a fault may quote the object.
    return {
      kind: 'failed',
      reason: isReverserError(error) ? error.reason : error instanceof Error ? error.name : 'unknown fault',
    };
  }
  return { kind: 'keep', object: current };
}
