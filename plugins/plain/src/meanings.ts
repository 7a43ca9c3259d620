import type { RefusalMeaning } from '@gitops-reverser/kernel-api';
import { folderRefusals, placementRefusals } from '@gitops-reverser/toolkit-manifests';

const skipped = { level: 'document', clearedBy: 'repository-author' } as const;

/** Every code that layout or writer may give. */
export const meanings = {
  ...folderRefusals,
  ...placementRefusals,
  'multiple-source-namespaces': {
    ...{ level: 'target', clearedBy: 'platform-operator' },
    cause: 'With serializeNamespace: false a folder stands for one namespace, and the rules follow more',
    remedy: 'follow one of them, or let documents carry their namespace',
  },
  'non-editable': {
    ...skipped,
    cause: 'The document holds an anchor, alias, merge key, tag, directive or duplicate key that no edit may touch',
    remedy: 'write it without, or edit it in Git',
  },
  encrypted: {
    ...skipped,
    cause: 'The document of a plain object is encrypted',
    remedy: 'decrypt it in Git, or declare the type sensitive',
  },
  'missing-sops-key': {
    ...skipped,
    cause: 'A file named as encrypted is not',
    remedy: 'encrypt it, or rename it',
  },
  unsafe: {
    ...skipped,
    cause: 'One file holds several documents under one encryption, and none can change alone',
    remedy: 'give each document a file of its own',
  },
  'edit-not-verified': {
    ...skipped,
    cause: 'No edit of the document reads back as the object',
    remedy: 'edit it in Git and report its shape',
  },
  'missing-document': {
    ...skipped,
    cause: 'A value was to be set in a document that is not there',
    remedy: 'put the document back; nothing is made for a single value',
  },
  'no-such-value': {
    ...skipped,
    cause: 'A value was to be set at a place that its document does not have',
    remedy: 'compare the document with the place the message names',
  },
  'unplaceable-edit': {
    level: 'object',
    cause: 'A value of the object cannot be written as YAML',
    remedy: 'change the value in the API',
  },
} as const satisfies Readonly<Record<string, RefusalMeaning>>;
