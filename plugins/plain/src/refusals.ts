import type { ObjectRef, Refusal } from '@gitops-reverser/kernel-api';
import { describeDocument } from '@gitops-reverser/toolkit-manifests';
import type { EditRefusal } from '@gitops-reverser/toolkit-yaml';

/** Every code that layout or writer may give, with its cause and its remedy. */
export const reasons = {
  'invalid-yaml': 'A file of the folder does not parse as YAML; repair or remove it.',
  'non-krm-yaml': 'A YAML file holds no Kubernetes manifest; remove it or name it in .gittargetignore.',
  'impure-managed-file': 'A file mixes manifests with other or empty documents; split it.',
  'mixed-managed-allowlisted': 'A manifest stands in a file with another purpose; move it.',
  'duplicate-identity': 'Two documents are the same object; remove one.',
  'foreign-file': 'A file is no manifest; remove it or name it in .gittargetignore.',
  'foreign-symlink': 'Symbolic links are never followed; remove it or name it in .gittargetignore.',
  'foreign-submodule': 'Submodules are never read; remove it.',
  'ignore-shadows-managed': 'A pattern of .gittargetignore hides manifests; narrow it.',
  'too-many-files': 'The folder holds more files than one target may; split it.',
  'multiple-source-namespaces':
    'With serializeNamespace: false a folder stands for one namespace and more are followed; follow one, or write namespaces.',
  'non-editable':
    'The document holds an anchor, alias, merge key, tag, directive or duplicate key; write it without, or edit it in Git.',
  encrypted: 'The document of a plain object is encrypted; decrypt it in Git, or declare the type sensitive.',
  'missing-sops-key': 'A file named as encrypted is not; encrypt it, or rename it.',
  unsafe: 'One file holds several encrypted documents and none can change alone; give each a file of its own.',
  'edit-not-verified': 'No edit of the document reads back as the object; edit it in Git and report its shape.',
  'unplaceable-edit': 'A value of the object cannot be written as YAML; change it in the API.',
  invalid_path: 'The placement gives no usable path for this object; change the template.',
  sensitive_append: 'A sensitive object may join no other file; give it a template of its own.',
  plaintext_onto_encrypted: 'A plain object may not join an encrypted file; change the template.',
  mixed_sensitivity_new_file: 'A sensitive and a plain object would share a file; change the template.',
  multi_document_target: 'The file to append to holds something other than editable manifests.',
  unclassified: 'The object cannot be placed; the message says why.',
  'missing-document': 'A value was to be set in a document that is not there; nothing is made for it.',
  'no-such-value': 'A value was to be set at a place its document does not have; the message names it.',
} as const;

type Titled = Pick<ObjectRef, 'kind' | 'namespace' | 'name'>;

function refusal(code: keyof typeof reasons, ref: ObjectRef, path: string, what: string): Refusal {
  return { code, path, ref, message: `${describeDocument(ref as Titled)}: ${what}` };
}

/** The document stays as it is; others go on. */
function skipped(code: keyof typeof reasons, ref: ObjectRef, path: string, what: string): Refusal {
  return { ...refusal(code, ref, path, what), skip: true };
}

export const nonEditable = (ref: ObjectRef, path: string, index: number, construct?: string): Refusal => {
  const found =
    construct === undefined ? 'a construct' : /^[aeiou]/.test(construct) ? `an ${construct}` : `a ${construct}`;
  return skipped(
    'non-editable',
    ref,
    path,
    `document ${index} of ${path} holds ${found} that no edit may touch and is left as it is; write it without, or edit it in Git`,
  );
};

export const encrypted = (ref: ObjectRef, path: string): Refusal =>
  skipped(
    'encrypted',
    ref,
    path,
    `its document in ${path} is encrypted and the type is not sensitive; decrypt it, or declare the type sensitive`,
  );

export const missingSopsKey = (ref: ObjectRef, path: string): Refusal =>
  skipped('missing-sops-key', ref, path, `${path} is named as encrypted and is not; encrypt it, or rename the file`);

export const unsafe = (ref: ObjectRef, path: string): Refusal =>
  skipped(
    'unsafe',
    ref,
    path,
    `${path} holds several documents under one encryption, and none can change alone; give each a file of its own`,
  );

export const plaintextOntoEncrypted = (ref: ObjectRef, path: string): Refusal =>
  refusal('plaintext_onto_encrypted', ref, path, `${path} is encrypted; a plain object needs another file`);

export const unrepresentable = (ref: ObjectRef, path: string, what: string): Refusal =>
  refusal('unplaceable-edit', ref, path, `${what}; change the value in the API`);

export function notEdited(ref: ObjectRef, path: string, index: number, { code, message }: EditRefusal): Refusal {
  switch (code) {
    case 'non-editable':
      return skipped(code, ref, path, `document ${index} of ${path}: ${message}; write it without, or edit it in Git`);
    case 'encrypted':
      return encrypted(ref, path);
    case 'invalid-yaml':
      return refusal(code, ref, path, `document ${index} of ${path}: ${message}; repair or remove it`);
    case 'edit-not-verified':
      return skipped(code, ref, path, `document ${index} of ${path}: ${message}; edit it in Git and report its shape`);
    case 'unrepresentable-value':
      return unrepresentable(ref, path, message);
  }
}

/** A single value stays unset, visibly; others go on. */
export function valueNotSet(code: keyof typeof reasons, path: string, pointer: string, found: string): Refusal {
  const message = `${path}: expected a value that can be set at ${JSON.stringify(pointer)}, found that ${found}; it stays as it is`;
  return { code, path, message, skip: true };
}

export function severalNamespaces(namespaces: readonly string[], ref?: ObjectRef): Refusal {
  const message = `expected one source namespace because serializeNamespace is false, found ${namespaces.join(', ')}; follow one of them, or let documents carry their namespace`;
  return { code: 'multiple-source-namespaces', message, ...(ref === undefined ? {} : { ref }) };
}
