import type { KubeObject, Sanitizer } from '@gitops-reverser/kernel-api';

/** Keeps annotations of these prefixes out of Git, and drops objects labelled as nothing but notes. */
export function createNoteStripper(prefixes: readonly string[]): Sanitizer {
  const isNote = (key: string): boolean => prefixes.some((prefix) => key.startsWith(prefix));
  return {
    sanitize(object) {
      if (object.metadata.labels?.['example.test/notes-only'] === 'true') return { kind: 'drop', reason: 'NotesOnly' };
      const { annotations, ...metadata } = object.metadata;
      const kept = Object.entries(annotations ?? {}).filter(([key]) => !isNote(key));
      const shown = kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) };
      return { kind: 'keep', object: { ...object, metadata: shown } as KubeObject };
    },
  };
}
