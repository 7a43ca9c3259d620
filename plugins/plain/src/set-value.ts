import { ok, refuse, type JsonValue, type PlanStep, type Refusal, type Result } from '@gitops-reverser/kernel-api';
import { identifyDocuments, setDocumentValue, type SplitText } from '@gitops-reverser/toolkit-yaml';
import { findDocument, isEncrypted, type Found } from './documents.js';
import type { OpenedFiles } from './opened-files.js';
import { valueNotSet } from './refusals.js';
import { parseValuePointer, type ValuePointer } from './value-pointer.js';

type SetValue = Extract<PlanStep, { readonly kind: 'set-value' }>;

export const isValueStep = ({ path, pointer }: SetValue): boolean =>
  /\.ya?ml$/.test(path) && parseValuePointer(pointer) !== undefined;

/** One value in place. Nothing is made that is not there, and what cannot be edited in place stays as it is. */
export function setValue(
  { path, pointer, value }: SetValue,
  before: Uint8Array | undefined,
  files: OpenedFiles,
): Result<Uint8Array, Refusal> {
  const target = parseValuePointer(pointer);
  if (target === undefined)
    return refuse(valueNotSet('no-such-value', path, pointer, 'it is no pointer into a document'));
  if (before === undefined) return refuse(valueNotSet('missing-document', path, pointer, 'there is no such file'));
  const opened = files.open(path, before);
  if (!opened.ok) return opened;
  const file = opened.value;
  if (/\.sops\.ya?ml$/.test(path) || isEncrypted(file))
    return refuse(valueNotSet('encrypted', path, pointer, 'the file is encrypted'));
  const found = documentOf(file, target);
  if (typeof found === 'string') return refuse(valueNotSet('missing-document', path, pointer, found));
  if (!found.isEditable)
    return refuse(valueNotSet('non-editable', path, pointer, `document ${found.index} holds what no edit may touch`));
  const edited = setDocumentValue(file, found.index, target.path, value as JsonValue);
  if (edited.ok) return ok(files.edited(before, { file, index: found.index, edited: edited.value }));
  const { code, message } = edited.error;
  switch (code) {
    case 'no-such-place':
      return refuse(valueNotSet('no-such-value', path, pointer, `document ${found.index}: ${message}`));
    case 'unrepresentable-value':
      return refuse(valueNotSet('unplaceable-edit', path, pointer, message));
    default:
      return refuse(valueNotSet(code, path, pointer, `document ${found.index}: ${message}`));
  }
}

/** The document that is named, or the only one; else why there is none. */
function documentOf(file: SplitText, { document }: ValuePointer): Found | string {
  if (document !== undefined) return findDocument(file, document) ?? 'the file holds no such document';
  const read = identifyDocuments(file.text);
  const all = read.ok ? read.value : [];
  const editable = all.filter(({ identity }) => identity !== undefined);
  const [only, another] = editable;
  if (another !== undefined) return `the file holds ${editable.length} documents and the pointer names none`;
  if (only !== undefined) return { index: only.index, isEditable: true };
  const claimed = all.find(({ state }) => state === 'non-editable');
  return claimed === undefined ? 'the file holds no manifest' : { index: claimed.index, isEditable: false };
}
