import type { RefusalMeaning } from '@gitops-reverser/kernel-api';
import type { IssueCode } from './acceptance.js';
import type { PlacementRefusalReason } from './placement.js';

const inRepository = { clearedBy: 'repository-author' } as const;
const inTarget = { clearedBy: 'platform-operator' } as const;

/** What the codes of folders say; whoever hands them on as refusals of its own declares them. */
export const folderRefusals: Readonly<Record<IssueCode, RefusalMeaning>> = {
  'invalid-yaml': {
    ...{ level: 'folder', ...inRepository },
    cause: 'A file or a document does not parse as YAML, is not UTF-8, or is beyond a limit of size, depth or number',
    remedy: 'repair it at the line the message names, split it, or remove it',
  },
  'non-krm-yaml': {
    ...{ level: 'folder', ...inRepository },
    cause: 'A YAML file holds no Kubernetes manifest (apiVersion, kind and metadata.name)',
    remedy: 'remove it, split a List into documents, or name the file in .gittargetignore',
  },
  'impure-managed-file': {
    ...{ level: 'folder', ...inRepository },
    cause: 'A file of manifests also holds a document that is empty, does not parse or is no manifest',
    remedy: 'take that document out of the file',
  },
  'mixed-managed-allowlisted': {
    ...{ level: 'folder', ...inRepository },
    cause: 'A manifest stands in a file with another purpose, such as kustomization.yaml or .sops.yaml',
    remedy: 'move it to a file of its own',
  },
  'duplicate-identity': {
    ...{ level: 'folder', ...inRepository },
    cause: 'Two documents are the same object: equal group, kind, namespace and name, whatever the version',
    remedy: 'keep one of the two places the message names',
  },
  'foreign-file': {
    ...{ level: 'folder', ...inRepository },
    cause: 'A file is no manifest and nothing that may lie beside manifests',
    remedy: 'remove it or name it in .gittargetignore',
  },
  'foreign-symlink': {
    ...{ level: 'folder', ...inRepository },
    cause: 'An entry is a symbolic link, and links are never followed',
    remedy: 'remove it or name it in .gittargetignore',
  },
  'foreign-submodule': {
    ...{ level: 'folder', ...inRepository },
    cause: 'An entry is a submodule, and submodules are never read',
    remedy: 'remove it, or choose a folder without it',
  },
  'ignore-shadows-managed': {
    ...{ level: 'folder', ...inRepository },
    cause: 'A pattern of .gittargetignore hides every manifest, or the place where a new document would go',
    remedy: 'narrow the pattern, or place the object elsewhere',
  },
  'too-many-files': {
    ...{ level: 'folder', ...inRepository },
    cause: 'The folder holds more files than one target may',
    remedy: 'split it into several targets, or name what is not needed in .gittargetignore',
  },
};

/** The same of placements. A place that is ignored is one more and a folder's code, several render roots the kernel's. */
export const placementRefusals: Readonly<
  Record<Exclude<PlacementRefusalReason, 'ignore-shadows-managed' | 'ambiguous-layout'>, RefusalMeaning>
> = {
  invalid_path: {
    ...{ level: 'object', ...inTarget },
    cause:
      'The placement gives no usable path: too long, through a file or a link, named as encrypted for a plain object, or not telling sensitive objects apart',
    remedy: 'change spec.placement of the target',
  },
  sensitive_append: {
    ...{ level: 'object', ...inTarget },
    cause: 'A sensitive object would join an existing file, or another sensitive object in a new one',
    remedy: 'place it by a template that gives each object a file: {namespace}, {name} and {sensitiveSuffix}',
  },
  plaintext_onto_encrypted: {
    ...{ level: 'object', ...inTarget },
    cause: 'A plain object would join a file that is encrypted, or named as such',
    remedy: 'place it elsewhere',
  },
  mixed_sensitivity_new_file: {
    ...{ level: 'object', ...inTarget },
    cause: 'A sensitive and a plain object of one write would share a new file',
    remedy: 'give the sensitive type a template of its own',
  },
  multi_document_target: {
    ...{ level: 'object', ...inRepository },
    cause: 'The file that a new document would join holds something that is no editable plain manifest',
    remedy: 'repair that file, or place the object elsewhere',
  },
  namespace_mismatch: {
    ...{ level: 'object', ...inTarget },
    cause: 'The kustomization that would build a new document puts everything into another namespace',
    remedy: 'place it by a template where another root builds it',
  },
  'unrendered-placement': {
    ...{ level: 'object', ...inTarget },
    cause: 'No kustomization that is written builds what lies at the place of a new document',
    remedy: 'place it below one, or do without spec.placement.useKustomize',
  },
  unclassified: {
    ...{ level: 'object', ...inTarget },
    cause: 'The path that is chosen where no template is declared belongs to another object',
    remedy: 'move that file, or declare a placement for the type',
  },
};

/** Codes that scans give and no layout of this program. */
export const scanRefusals = {
  'unsupported-kustomize': {
    ...{ level: 'folder', ...inRepository },
    cause: 'A kustomization of the folder has a fault, or uses a feature that no edit can be led back through',
    remedy: 'repair what the message names; a feature that is not supported has to go, or the folder stays as it is',
  },
  'refused-structural': {
    ...{ level: 'candidate', ...inRepository },
    cause: 'What Kustomize builds there, or reads to build it, has a fault or uses a feature that is not supported',
    remedy: 'repair what the detail names; a feature that is not supported has to go, or the folder stays as it is',
  },
  'no-layout': {
    ...{ level: 'folder', ...inRepository },
    cause: 'No layout takes the folder on',
    remedy: 'scan the folder of one target',
  },
} as const satisfies Readonly<Record<string, RefusalMeaning>>;
