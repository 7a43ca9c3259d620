import type { RefusalMeaning } from '@gitops-reverser/kernel-api';

const inTarget = { clearedBy: 'platform-operator' } as const;

/** What the river itself refuses; layouts and writers declare theirs. */
export const pipelineRefusals = {
  UnsupportedContent: {
    ...{ level: 'folder', ...inTarget },
    cause: 'No layout plugin knows the folder, or it cannot be read',
    remedy: 'do what the message says: clean the folder, choose another, or load the plugin that knows it',
  },
  'ambiguous-layout': {
    ...{ level: 'folder', ...inTarget },
    cause:
      'More than one layout takes the folder for its own, or it has several render roots and no template says which takes a new document',
    remedy: 'separate the contents, unload one of the plugins the message names, or declare a placement',
  },
  'write-escapes-scope': {
    ...{ level: 'object', ...inTarget },
    cause: 'A plan leads out of the folder of the target, through a link, or onto what is no file',
    remedy: 'choose another placement; if no template says so, report it to the author of the layout plugin',
  },
  'encryption-missing': {
    ...{ level: 'object', ...inTarget },
    cause: 'A sensitive object is to be written and nothing is there that encrypts',
    remedy: 'configure encryption on the target, or do not select the type',
  },
  'no-writer': {
    ...{ level: 'object', ...inTarget },
    cause: 'A layout planned a step that no loaded writer takes',
    remedy: 'load the plugin that writes such files',
  },
  'plaintext-in-git': {
    ...{ level: 'document', ...inTarget },
    cause: 'Git holds plain text of a sensitive object, and older commits keep it whatever is written now',
    remedy: 'rotate the value; configure encryption, which replaces the document',
  },
  SanitizerFailed: {
    level: 'object',
    cause: 'A sanitizer failed on the object, and what is not reduced to intent is not written',
    remedy: 'report it to the author of the plugin',
  },
  CommitFailed: {
    level: 'object',
    cause: 'Planning or writing failed several times for a reason nobody foresaw, and a snapshot is taken instead',
    remedy: 'look into the log, and report what it says',
  },
} as const satisfies Readonly<Record<string, RefusalMeaning>>;
