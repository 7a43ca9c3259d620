import type { ObjectRef, Refusal } from '@gitops-reverser/kernel-api';
import { describeDocument } from '@gitops-reverser/toolkit-manifests';
import type { EditRefusal } from '@gitops-reverser/toolkit-yaml';
import type { meanings } from './meanings.js';

type Titled = Pick<ObjectRef, 'kind' | 'namespace' | 'name'>;

function refusal(code: keyof typeof meanings, ref: ObjectRef, path: string, what: string): Refusal {
  return { code, path, ref, message: `${describeDocument(ref as Titled)}: ${what}` };
}

/** The document stays as it is; others go on. @param index its place in the file, where that is known */
function skipped(
  code: keyof typeof meanings,
  ref: ObjectRef,
  path: string,
  index: number | undefined,
  what: string,
): Refusal {
  return { ...refusal(code, ref, path, what), ...(index === undefined ? {} : { index }), skip: true };
}

export const nonEditable = (ref: ObjectRef, path: string, index: number, construct?: string): Refusal => {
  const found =
    construct === undefined ? 'a construct' : /^[aeiou]/.test(construct) ? `an ${construct}` : `a ${construct}`;
  return skipped(
    'non-editable',
    ref,
    path,
    index,
    `document ${index} of ${path} holds ${found} that no edit may touch and is left as it is; write it without, or edit it in Git`,
  );
};

export const encrypted = (ref: ObjectRef, path: string, index: number): Refusal =>
  skipped(
    'encrypted',
    ref,
    path,
    index,
    `its document in ${path} is encrypted and the type is not sensitive; decrypt it, or declare the type sensitive`,
  );

export const missingSopsKey = (ref: ObjectRef, path: string, index?: number): Refusal =>
  skipped(
    'missing-sops-key',
    ref,
    path,
    index,
    `${path} is named as encrypted and is not; encrypt it, or rename the file`,
  );

export const unsafe = (ref: ObjectRef, path: string, index: number): Refusal =>
  skipped(
    'unsafe',
    ref,
    path,
    index,
    `${path} holds several documents under one encryption, and none can change alone; give each a file of its own`,
  );

export const plaintextOntoEncrypted = (ref: ObjectRef, path: string): Refusal =>
  refusal('plaintext_onto_encrypted', ref, path, `${path} is encrypted; a plain object needs another file`);

export const unrepresentable = (ref: ObjectRef, path: string, what: string): Refusal =>
  refusal('unplaceable-edit', ref, path, `${what}; change the value in the API`);

export function notEdited(ref: ObjectRef, path: string, index: number, { code, message }: EditRefusal): Refusal {
  switch (code) {
    case 'non-editable':
      return skipped(
        code,
        ref,
        path,
        index,
        `document ${index} of ${path}: ${message}; write it without, or edit it in Git`,
      );
    case 'encrypted':
      return encrypted(ref, path, index);
    case 'invalid-yaml':
      return refusal(code, ref, path, `document ${index} of ${path}: ${message}; repair or remove it`);
    case 'edit-not-verified':
      return skipped(
        code,
        ref,
        path,
        index,
        `document ${index} of ${path}: ${message}; edit it in Git and report its shape`,
      );
    case 'unrepresentable-value':
      return unrepresentable(ref, path, message);
  }
}

/** A single value stays unset, visibly; others go on. */
export function valueNotSet(code: keyof typeof meanings, path: string, pointer: string, found: string): Refusal {
  const message = `${path}: expected a value that can be set at ${JSON.stringify(pointer)}, found that ${found}; it stays as it is`;
  return { code, path, message, skip: true };
}

/** Only a layout that knows Kustomize can put a file into a list. */
export const unlisted = (ref: ObjectRef, path: string, kustomization: string): Refusal =>
  refusal(
    'unrendered-placement',
    ref,
    path,
    `spec.placement.useKustomize wants ${kustomization} to list ${path}, and no plugin that writes it is loaded; unset it, or declare a placement`,
  );
