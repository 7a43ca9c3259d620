import {
  noStripRules,
  ok,
  refuse,
  type BootstrapFile,
  type DesiredChange,
  type FolderView,
  type Layout,
  type ManagedDocument,
  type PlanStep,
  type Recognition,
  type Refusal,
  type Result,
  type StepPlacement,
  type StripRules,
  type TargetSettings,
} from '@gitops-reverser/kernel-api';
import {
  judgePlainFolder,
  placeAll,
  readFolder,
  validatePlacement,
  type FolderCache,
  type FolderContents,
  type FolderDocument,
  type Placement,
  type PlacementSubject,
} from '@gitops-reverser/toolkit-manifests';
import { editDocument, type SplitText } from '@gitops-reverser/toolkit-yaml';
import { missingFiles } from './bootstrap.js';
import { editOptions } from './documents.js';
import { NamespaceRule } from './namespaces.js';
import { OpenedFiles } from './opened-files.js';
import { encrypted, missingSopsKey, nonEditable, notEdited, unlisted, unsafe } from './refusals.js';
import { twinsIn } from './twins.js';

export interface PlainLayoutOptions {
  readonly settings: Pick<TargetSettings, 'placement' | 'serializeNamespace' | 'sourceNamespaces'>;
  readonly cache: FolderCache;
  /** Shared with the writer of the steps. */
  readonly files?: OpenedFiles;
  /** A template may read no label that never reaches Git. Default: every label does. */
  readonly stripRules?: StripRules;
}

/** Word of `status.placement.mode`. */
const PLAIN = { mode: 'Plain' } as const;

interface Opened {
  readonly bytes: Uint8Array;
  readonly file: Result<SplitText, Refusal>;
}
type Answer = Result<readonly PlanStep[], Refusal>;
type Upsert = Extract<DesiredChange, { readonly kind: 'upsert' }>;
type PutStep = Extract<PlanStep, { readonly kind: 'put-document' }>;
type PutFacts = Pick<PutStep, 'placement' | 'replacesPlaintext'>;

/** Preconditions over a whole plan (chapter 20, 1.3). */
const WHOLE: ReadonlySet<string> = new Set(['ignore-shadows-managed', 'ambiguous-layout']);

/** The plain text that a sensitive object leaves behind in the history. */
const leak = (old: FolderDocument | undefined): PutFacts =>
  old?.nature === 'manifest' ? { replacesPlaintext: true } : {};

const placementOf = ({ source, disposition, inference }: Placement): StepPlacement => ({
  source,
  disposition,
  ...inference,
});

/**
 * A folder of plain manifests: a document is edited where it lies; a new one goes where its template says, else beside its
 * siblings, else to the canonical path.
 */
export function createPlainLayout({
  settings,
  cache,
  files = new OpenedFiles(),
  stripRules = noStripRules,
}: PlainLayoutOptions): Layout {
  const policy = validatePlacement(settings.placement, undefined, stripRules);
  const namespaces = new NamespaceRule(settings);

  return {
    recognise(folder: FolderView): Recognition {
      const contents = readFolder(folder, cache);
      // A folder that Kustomize builds is for a layout that knows Kustomize.
      const [kustomization] = contents.kustomizations;
      if (kustomization !== undefined) return { kind: 'not-mine', why: `${kustomization} is built with Kustomize` };
      const refusal = namespaces.refusal();
      const { issues } = judgePlainFolder(folder, contents, cache);
      const twins = twinsIn(contents, namespaces.bare);
      const refusals = [...issues, ...twins, ...(refusal === undefined ? [] : [refusal])];
      return refusals.length > 0 ? { kind: 'refused', refusals, shape: PLAIN } : { kind: 'mine', shape: PLAIN };
    },

    documents(folder: FolderView): readonly ManagedDocument[] {
      return readFolder(folder, cache).documents.map(({ identity: { group, kind, namespace, name }, path }) => ({
        ...{ group, kind, name, path },
        ...(namespace === undefined ? {} : { namespace }),
      }));
    },

    plan(changes: readonly DesiredChange[], folder: FolderView): readonly Answer[] {
      return new Plan(changes, folder, readFolder(folder, cache), files, namespaces, policy).answers();
    },

    bootstrap(folder: FolderView): readonly BootstrapFile[] {
      return missingFiles(readFolder(folder, cache));
    },
  };
}

class Plan {
  private readonly changes: readonly DesiredChange[];
  private readonly folder: FolderView;
  private readonly contents: FolderContents;
  private readonly namespaces: NamespaceRule;
  private readonly policy: ReturnType<typeof validatePlacement>;
  private readonly files: OpenedFiles;
  private readonly opened = new Map<string, Opened | undefined>();
  /** Where each object stands in Git. */
  private readonly found: readonly (FolderDocument | undefined)[];

  constructor(
    changes: readonly DesiredChange[],
    folder: FolderView,
    contents: FolderContents,
    files: OpenedFiles,
    namespaces: NamespaceRule,
    policy: ReturnType<typeof validatePlacement>,
  ) {
    this.changes = changes;
    this.folder = folder;
    this.contents = contents;
    this.files = files;
    this.namespaces = namespaces;
    this.policy = policy;
    this.found = changes.map(({ ref }) => this.find(ref));
  }

  answers(): readonly Answer[] {
    /** What needs a new place, and what is to be taken out of its old one. */
    const homeless: { readonly at: number; readonly change: Upsert; readonly old?: FolderDocument }[] = [];
    const answers = this.changes.map((change, at): Answer => {
      const refusal = this.namespaces.refusal(change.ref);
      if (refusal !== undefined) return refuse(refusal);
      const found = this.found[at];
      if (change.kind === 'delete') return found === undefined ? ok([]) : this.remove(change, found);
      if (found === undefined) homeless.push({ at, change });
      else if (change.sensitive) {
        const answer = this.hide(change, found);
        if (answer !== undefined) return answer;
        homeless.push({ at, change, old: found });
      } else return this.edit(change, found);
      return ok([]);
    });
    if (homeless.length === 0) return answers;
    if (!this.policy.ok) {
      const message = this.policy.error
        .map(({ field, message: text }) => `spec.placement.${field}: ${text}`)
        .join('; ');
      for (const { at, change } of homeless) answers[at] = refuse({ code: 'invalid_path', ref: change.ref, message });
      return answers;
    }
    const subjects = homeless.map(({ change: { ref, object, sensitive } }): PlacementSubject => ({
      ref,
      labels: object.metadata.labels ?? {},
      sensitive,
    }));
    const placed = placeAll(subjects, this.policy.value, this.contents, this.namespaces.bare);
    homeless.forEach(({ at, change, old }, order) => {
      const place = placed[order];
      if (place === undefined) return;
      const drop: readonly PlanStep[] =
        old === undefined ? [] : [{ kind: 'drop-document', path: old.path, ref: change.ref }];
      if (place.ok && place.value.registersIn !== undefined)
        answers[at] = refuse(unlisted(change.ref, place.value.path, place.value.registersIn));
      else
        answers[at] = place.ok
          ? ok([this.put(change, place.value.path, { placement: placementOf(place.value), ...leak(old) }), ...drop])
          : refuse(WHOLE.has(place.error.code) ? { ...place.error, whole: true } : place.error);
    });
    return answers;
  }

  private find(ref: DesiredChange['ref']): FolderDocument | undefined {
    for (const identity of this.namespaces.identities(ref)) {
      const found = this.contents.find(identity);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private put({ ref, object, sensitive }: Upsert, path: string, more: PutFacts = {}): PutStep {
    return { kind: 'put-document', path, ref, object: this.namespaces.written(object), sensitive, ...more };
  }

  private edit(change: Upsert, { path, index, nature, construct, siblings }: FolderDocument): Answer {
    const { ref } = change;
    if (nature === 'non-editable') return refuse(nonEditable(ref, path, index, construct));
    if (nature === 'encrypted') return refuse(siblings > 1 ? unsafe(ref, path, index) : encrypted(ref, path, index));
    if (/\.sops\.ya?ml$/.test(path)) return refuse(missingSopsKey(ref, path, index));
    const opened = this.open(path);
    if (opened === undefined) return ok([this.put(change, path)]);
    const { bytes, file } = opened;
    if (!file.ok) return file;
    const step = this.put(change, path);
    const edited = editDocument(file.value, index, step.object, editOptions(step.object));
    if (!edited.ok) return refuse(notEdited(ref, path, index, edited.error));
    if (edited.value.outcome === 'unchanged') return ok([]);
    this.files.plan(step.object, { bytes, file: file.value, index, edited: edited.value });
    return ok([step]);
  }

  /** Never taken for unchanged by what its text says. Undefined: its document must move to a file of its own. */
  private hide(change: Upsert, found: FolderDocument): Answer | undefined {
    const { path, index, nature, construct, siblings } = found;
    if (nature === 'non-editable') return refuse(nonEditable(change.ref, path, index, construct));
    if (siblings === 1) return ok([this.put(change, path, leak(found))]);
    return nature === 'encrypted' ? refuse(unsafe(change.ref, path, index)) : undefined;
  }

  private remove({ ref }: DesiredChange, { path, index, nature, construct, siblings }: FolderDocument): Answer {
    if (nature === 'non-editable') return refuse(nonEditable(ref, path, index, construct));
    if (nature === 'encrypted' && siblings > 1 && this.removedFrom(path) < siblings)
      return refuse(unsafe(ref, path, index));
    return ok([{ kind: 'drop-document', path, ref }]);
  }

  private removedFrom(path: string): number {
    return this.found.filter((each, at) => each?.path === path && this.changes[at]?.kind === 'delete').length;
  }

  private open(path: string): Opened | undefined {
    const known = this.opened.get(path);
    if (known !== undefined) return known;
    const bytes = this.folder.file(path)?.read();
    const opened = bytes === undefined ? undefined : { bytes, file: this.files.open(path, bytes) };
    this.opened.set(path, opened);
    return opened;
  }
}
