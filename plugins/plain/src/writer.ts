import {
  ok,
  refuse,
  ReverserError,
  type PlanStep,
  type Refusal,
  type Result,
  type Writer,
} from '@gitops-reverser/kernel-api';
import { describeDocument } from '@gitops-reverser/toolkit-manifests';
import { deepEqual, encodeYaml } from '@gitops-reverser/toolkit-yaml';
import { appendDocument, dropDocument, findDocument, openFile, replaceDocument } from './document-text.js';

type Rendered = Result<Uint8Array | 'delete-file', Refusal>;

/** Writes whole documents in the one YAML style; the other documents of a file keep every byte. */
export function createPlainWriter(): Writer {
  return {
    encrypts: false,
    accepts: (step) => (step.kind === 'put-document' && !step.sensitive) || step.kind === 'drop-document',
    async render(step, before) {
      switch (step.kind) {
        case 'put-document':
          return put(step, before);
        case 'drop-document':
          return drop(step, before);
        case 'set-value':
          throw new ReverserError({
            reason: 'StepNotAccepted',
            retry: 'never',
            message: `${step.path}: the plain writer sets no single values`,
          });
      }
    },
  };
}

function put(step: Extract<PlanStep, { readonly kind: 'put-document' }>, before: Uint8Array | undefined): Rendered {
  const encoded = encodeYaml(step.object);
  if (!encoded.ok) {
    return refuse({
      code: 'unplaceable-edit',
      path: step.path,
      ref: step.ref,
      message: `${describeDocument(step.ref)}: ${encoded.error.message}; change the value in the API`,
    });
  }
  if (before === undefined) return ok(Buffer.from(encoded.value));
  const opened = openFile(step.path, before);
  if (!opened.ok) return opened;
  const file = opened.value;
  const identity = { ...step.ref, ...(step.object.metadata.namespace === undefined ? { namespace: undefined } : {}) };
  const document = findDocument(file, withoutUndefined(identity));
  if (document === undefined) return ok(Buffer.from(appendDocument(file.text, encoded.value)));
  if (document.state === 'read' && deepEqual(document.value, step.object)) return ok(before);
  return ok(Buffer.from(replaceDocument(file, document, encoded.value)));
}

function drop(step: Extract<PlanStep, { readonly kind: 'drop-document' }>, before: Uint8Array | undefined): Rendered {
  if (before === undefined) return ok('delete-file');
  const opened = openFile(step.path, before);
  if (!opened.ok) return opened;
  const file = opened.value;
  const { namespace: _, ...bare } = step.ref;
  const document = findDocument(file, step.ref) ?? findDocument(file, bare);
  if (document === undefined) return ok(before);
  const text = dropDocument(file, document);
  return ok(text === undefined ? 'delete-file' : Buffer.from(text));
}

function withoutUndefined<T extends object>(value: T): { readonly [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    readonly [K in keyof T]: Exclude<T[K], undefined>;
  };
}
