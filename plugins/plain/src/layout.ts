import {
  ok,
  refuse,
  type DesiredChange,
  type FolderView,
  type KubeObject,
  type Layout,
  type ManagedDocument,
  type ObjectRef,
  type PlanStep,
  type Recognition,
  type Refusal,
  type Result,
  type TargetSettings,
} from '@gitops-reverser/kernel-api';
import {
  describeDocument,
  FolderCache,
  judgePlainFolder,
  placeAll,
  readFolder,
  validatePlacement,
  type FolderContents,
  type FolderDocument,
  type PlacementPolicy,
  type PlacementSubject,
} from '@gitops-reverser/toolkit-manifests';
import { deepEqual } from '@gitops-reverser/toolkit-yaml';
import { findDocument, openFile } from './document-text.js';

export interface PlainLayoutOptions {
  readonly settings: Pick<TargetSettings, 'placement' | 'serializeNamespace'>;
  readonly cache: FolderCache;
}

type Answer = Result<readonly PlanStep[], Refusal>;

/** A folder of plain manifests: a document is edited where it lies, a new one goes to its template's or its canonical path. */
export function createPlainLayout({ settings, cache }: PlainLayoutOptions): Layout {
  const parsed = validatePlacement(settings.placement);
  const writesNamespace = settings.serializeNamespace !== false;

  return {
    recognise(folder: FolderView): Recognition {
      const contents = readFolder(folder, cache);
      // A folder that Kustomize builds is for a layout that knows Kustomize.
      if (contents.kustomizations.length > 0) return { kind: 'not-mine' };
      const { issues } = judgePlainFolder(folder, contents);
      return issues.length > 0 ? { kind: 'refused', refusals: issues } : { kind: 'mine' };
    },

    documents(folder: FolderView): readonly ManagedDocument[] {
      return readFolder(folder, cache).documents.map(({ identity: { group, kind, namespace, name }, path }) => ({
        group,
        kind,
        name,
        path,
        ...(namespace === undefined ? {} : { namespace }),
      }));
    },

    plan(changes: readonly DesiredChange[], folder: FolderView): readonly Answer[] {
      const contents = readFolder(folder, cache);
      const answers: (Answer | undefined)[] = changes.map((change) => {
        const found = contents.find(inGit(change.ref, writesNamespace));
        if (change.kind === 'delete') return found === undefined ? ok([]) : remove(change.ref, found);
        return found === undefined ? undefined : edit(change, found, folder, writesNamespace);
      });
      if (answers.every((answer) => answer !== undefined)) return answers;
      return place(changes, answers, contents, parsed, writesNamespace);
    },
  };
}

/** How a document in Git names the object. */
function inGit(ref: ObjectRef, writesNamespace: boolean): Pick<ObjectRef, 'group' | 'kind' | 'namespace' | 'name'> {
  const { group, kind, name, namespace } = ref;
  return { group, kind, name, ...(namespace === undefined || !writesNamespace ? {} : { namespace }) };
}

function written(object: KubeObject, writesNamespace: boolean): KubeObject {
  if (writesNamespace || object.metadata.namespace === undefined) return object;
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([key]) => key !== 'namespace'));
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, key === 'metadata' ? metadata : value]),
  ) as KubeObject;
}

function remove(ref: ObjectRef, found: FolderDocument): Answer {
  const refusal = untouchable(ref, found);
  return refusal === undefined ? ok([{ kind: 'drop-document', path: found.path, ref }]) : refuse(refusal);
}

function edit(
  change: Extract<DesiredChange, { readonly kind: 'upsert' }>,
  found: FolderDocument,
  folder: FolderView,
  writesNamespace: boolean,
): Answer {
  const object = written(change.object, writesNamespace);
  const refusal = untouchable(change.ref, found);
  if (refusal !== undefined) return refuse(refusal);
  const step: PlanStep = {
    kind: 'put-document',
    path: found.path,
    ref: change.ref,
    object,
    sensitive: change.sensitive,
  };
  // A sensitive document is never taken for unchanged by what its plain text says.
  if (change.sensitive) return ok([step]);
  const file = folder.file(found.path);
  const opened = file === undefined ? undefined : openFile(found.path, file.read());
  if (opened?.ok === false) return opened;
  const document = opened === undefined ? undefined : findDocument(opened.value, inGit(change.ref, writesNamespace));
  return document?.state === 'read' && deepEqual(document.value, object) ? ok([]) : ok([step]);
}

/** A document whose text no edit of ours can keep right. */
function untouchable(ref: ObjectRef, found: FolderDocument): Refusal | undefined {
  const title = describeDocument(ref);
  if (found.nature === 'non-editable') {
    return {
      code: 'unplaceable-edit',
      path: found.path,
      ref,
      message: `${title}: its document in ${found.path} holds ${found.construct ?? 'a construct'} that no edit may touch; write it without, or edit the file in Git`,
    };
  }
  if (found.nature !== 'encrypted') return undefined;
  return {
    code: 'unplaceable-edit',
    path: found.path,
    ref,
    message: `${title}: its document in ${found.path} is encrypted, and no loaded writer can encrypt; load one, or remove the file`,
  };
}

/** Places what has no document, all in one batch, so that answers do not depend on their order. */
function place(
  changes: readonly DesiredChange[],
  answers: readonly (Answer | undefined)[],
  contents: FolderContents,
  policy: ReturnType<typeof validatePlacement>,
  writesNamespace: boolean,
): readonly Answer[] {
  if (!policy.ok) {
    const message = policy.error.map((problem) => problem.message).join('; ');
    return answers.map((answer) => answer ?? refuse({ code: 'invalid_path', message: `spec.placement: ${message}` }));
  }
  const fresh = changes.flatMap((change, index) =>
    answers[index] === undefined && change.kind === 'upsert' ? [{ change, index }] : [],
  );
  const placed = placeFresh(
    fresh.map(({ change }) => change),
    contents,
    policy.value,
  );
  const complete = [...answers];
  fresh.forEach(({ change, index }, at) => {
    const placement = placed[at];
    if (placement === undefined) return;
    if (!placement.ok) complete[index] = placement;
    else
      complete[index] = ok([
        {
          kind: 'put-document',
          path: placement.value.path,
          ref: change.ref,
          object: written(change.object, writesNamespace),
          sensitive: change.sensitive,
        },
      ]);
  });
  return complete.map((answer) => answer ?? ok([]));
}

function placeFresh(
  changes: readonly Extract<DesiredChange, { readonly kind: 'upsert' }>[],
  contents: FolderContents,
  policy: PlacementPolicy,
) {
  const subjects = changes.map(({ ref, object, sensitive }): PlacementSubject => ({
    ref,
    labels: object.metadata.labels ?? {},
    sensitive,
  }));
  return placeAll(subjects, policy, contents);
}
