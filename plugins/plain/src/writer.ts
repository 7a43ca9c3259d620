import { ok, refuse, type PlanStep, type Refusal, type Result, type Writer } from '@gitops-reverser/kernel-api';
import type { FolderCache } from '@gitops-reverser/toolkit-manifests';
import {
  appendDocument,
  editDocument,
  encodeYaml,
  hasOtherContent,
  removeDocument,
} from '@gitops-reverser/toolkit-yaml';
import { checkReadable, editOptions, findDocument, isEncrypted } from './documents.js';
import { OpenedFiles } from './opened-files.js';
import {
  encrypted,
  missingSopsKey,
  nonEditable,
  notEdited,
  plaintextOntoEncrypted,
  unrepresentable,
  unsafe,
} from './refusals.js';
import { isValueStep, setValue } from './set-value.js';

type Rendered = Result<Uint8Array | 'delete-file', Refusal>;
type Put = Extract<PlanStep, { readonly kind: 'put-document' }>;
type Drop = Extract<PlanStep, { readonly kind: 'drop-document' }>;

/**
 * Edits documents where they stand; what is new is written in the one YAML style. Never encrypts.
 *
 * @param cache told of new files
 * @param files those of the layout that plans the steps
 */
export function createPlainWriter(cache: FolderCache, files = new OpenedFiles()): Writer {
  return {
    encrypts: false,
    accepts: (step) => {
      switch (step.kind) {
        case 'put-document':
          return !step.sensitive;
        case 'drop-document':
          return true;
        case 'set-value':
          return isValueStep(step);
      }
    },
    async render(step, before) {
      switch (step.kind) {
        case 'put-document':
          return put(step, before, cache, files);
        case 'drop-document':
          return drop(step, before, files);
        case 'set-value':
          return setValue(step, before, files);
      }
    },
  };
}

const sopsName = /\.sops\.ya?ml$/;

function put(step: Put, before: Uint8Array | undefined, cache: FolderCache, files: OpenedFiles): Rendered {
  const { path, ref, object } = step;
  if (sopsName.test(path)) return refuse(missingSopsKey(ref, path));
  if (before === undefined) {
    const fresh = encoded(step, (text) => text);
    // A snapshot writes thousands of these; the next plan would read every one of them back.
    if (fresh.ok && fresh.value !== 'delete-file') cache.learn(fresh.value, object);
    return fresh;
  }
  const planned = files.planned(object, before);
  if (planned !== undefined && !isEncrypted(planned.file)) return ok(files.edited(before, planned));
  const opened = files.open(path, before);
  if (!opened.ok) return opened;
  const file = opened.value;
  const { group, kind, name, namespace } = ref;
  const isBare = object.metadata.namespace === undefined;
  const named = namespace === undefined ? undefined : findDocument(file, { group, kind, name, namespace });
  const found = named ?? (isBare ? findDocument(file, { group, kind, name }) : undefined);
  if (found === undefined) {
    const readable = checkReadable(path, file);
    if (!readable.ok) return readable;
    if (isEncrypted(file)) return refuse(plaintextOntoEncrypted(ref, path));
    return encoded(step, (text) => appendDocument(file, text));
  }
  if (!found.isEditable) return refuse(nonEditable(ref, path, found.index));
  // One encryption covers all documents of a file.
  if (isEncrypted(file))
    return refuse(file.pieces.length > 1 ? unsafe(ref, path, found.index) : encrypted(ref, path, found.index));
  const edited = editDocument(file, found.index, object, editOptions(object));
  if (!edited.ok) return refuse(notEdited(ref, path, found.index, edited.error));
  return ok(files.edited(before, { file, index: found.index, edited: edited.value }));
}

function encoded({ object, ref, path }: Put, place: (text: string) => string): Rendered {
  const text = encodeYaml(object);
  return text.ok ? ok(Buffer.from(place(text.value))) : refuse(unrepresentable(ref, path, text.error.message));
}

function drop({ path, ref }: Drop, before: Uint8Array | undefined, files: OpenedFiles): Rendered {
  if (before === undefined) return ok('delete-file');
  const opened = files.open(path, before);
  if (!opened.ok) return opened;
  const { group, kind, name, namespace } = ref;
  const named = namespace === undefined ? undefined : findDocument(opened.value, { group, kind, name, namespace });
  const found = named ?? findDocument(opened.value, { group, kind, name });
  if (found === undefined) return ok(before);
  if (!found.isEditable) return refuse(nonEditable(ref, path, found.index));
  if (!hasOtherContent(opened.value, found.index)) return ok('delete-file');
  return ok(Buffer.from(removeDocument(opened.value, found.index)));
}
