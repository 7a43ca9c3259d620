import {
  refKey as keyOf,
  type BranchStore,
  type Clock,
  type CommitSha,
  type DesiredChange,
  type FolderView,
  type Layout,
  type Logger,
  type PlanStep,
  type Refusal,
} from '@gitops-reverser/kernel-api';
import { authorOf, safe } from './author.js';
import { bootstrapFiles } from './bootstrap.js';
import type { SnapshotObject } from './item.js';
import type { Lane, StandingFindings } from './lane.js';
import { liveMessage, reconcileMessage, type Message } from './message.js';
import { messageEntry, reconcileFacts } from './message-data.js';
import type { DocumentCount, DocumentOutcome, PendingWrite, PlannedCommit } from './pending.js';
import { inKeyOrder } from './order.js';
import { planBatch } from './plan.js';
import { plaintextIn } from './plaintext.js';
import { slices as startSlices, type Slices } from './slices.js';
import type { Found } from './standing.js';
import { orphansOf, removesOnEvent } from './sweep.js';
import { renderWork, type FileChanges, type Work } from './write.js';

export interface Planning {
  readonly store: BranchStore;
  readonly clock: Clock;
  readonly logger: Logger;
  isSensitive(group: string, resource: string): boolean;
  readonly committer: () => { readonly name: string; readonly email: string };
}

export type Planned =
  | {
      readonly kind: 'planned';
      readonly plan: PlannedCommit;
      readonly found: StandingFindings;
      readonly problem: string | undefined;
    }
  | { readonly kind: 'folder-refused' }
  | { readonly kind: 'refused'; readonly found: StandingFindings };

/** Three: a snapshot is planned again this often without what was refused; then it is refused as a whole. */
const REDUCTIONS = 3;

/** Plans one write on a commit and makes its commit there. A plan lives in memory: a refused or failed one leaves no trace. */
export async function planWrite(
  planning: Planning,
  write: PendingWrite,
  onto: CommitSha | undefined,
  signal: AbortSignal,
): Promise<Planned> {
  const { lane } = write;
  const slices = startSlices();
  const judged = lane.judge(() => planning.store.folder(onto, lane.settings.path), onto);
  if (judged.kind === 'refused') return { kind: 'folder-refused' };
  const { folder, layout } = judged;
  const attempt: Attempt = { planning, lane, folder, onto, layout, signal, slices };
  return write.kind === 'window' ? planWindow(attempt, write) : planSnapshot(attempt, write);
}

interface Attempt {
  readonly planning: Planning;
  readonly lane: Lane;
  readonly folder: FolderView;
  readonly onto: CommitSha | undefined;
  readonly layout: Layout;
  readonly signal: AbortSignal;
  readonly slices: Slices;
}
type WindowWrite = PendingWrite & { readonly kind: 'window' };
type SnapshotWrite = PendingWrite & { readonly kind: 'snapshot' };

interface Change {
  readonly refKey: string;
  readonly desired: DesiredChange;
  readonly isSweep: boolean;
}
interface Written {
  readonly files: FileChanges;
  /** Steps by object; empty: the folder meant it already. */
  readonly steps: ReadonlyMap<string, readonly PlanStep[]>;
  readonly leftOut: ReadonlyMap<string, Refusal>;
  readonly found: StandingFindings;
}

/** A live window is one intention: one refused object refuses it; what cannot be encrypted, or is skipped, is left out. */
async function planWindow(attempt: Attempt, write: WindowWrite): Promise<Planned> {
  const { planning, lane } = attempt;
  const mayRemove = removesOnEvent(lane.pruneOf(write.prune));
  const changes: Change[] = [];
  for (const { ref, refKey, object } of write.entries) {
    if (object !== undefined)
      changes.push({
        refKey,
        isSweep: false,
        desired: { kind: 'upsert', ref, object, sensitive: planning.isSensitive(ref.group, ref.resource) },
      });
    else if (mayRemove) changes.push({ refKey, isSweep: false, desired: { kind: 'delete', ref } });
  }
  const written = await writeChanges(
    attempt,
    changes,
    ({ desired }, refusal) => refusal.skip === true || (desired.kind === 'upsert' && desired.sensitive),
  );
  if ('whole' in written) return { kind: 'refused', found: written.whole };

  const kept = write.entries.filter(({ operation, isBornHere, refKey }) => {
    if (written.leftOut.has(refKey)) return false;
    // Born and gone within the window: nothing to tell unless Git had such a document.
    return !(operation === 'DELETE' && isBornHere && (written.steps.get(refKey)?.length ?? 0) === 0);
  });
  const author = write.author.outcome === 'resolved' ? write.author.actor.username : '';
  const message = liveMessage(write.messages, {
    author,
    gitTarget: lane.facts.name,
    entries: kept.map(messageEntry),
    requestMessage: '',
  });
  const documents = write.entries
    .filter(({ refKey }) => !written.leftOut.has(refKey))
    .map(({ ref, refKey, operation }): DocumentCount => {
      if (operation === 'DELETE' && !mayRemove) return { ref, outcome: 'retained' };
      const done = operation === 'DELETE' ? 'deleted_live' : 'written';
      return { ref, outcome: outcomeOf(written.steps.get(refKey), done) };
    });
  return commit(attempt, write, written, message, documents);
}

/** A snapshot leaves refused objects out and converges on the rest. */
async function planSnapshot(attempt: Attempt, write: SnapshotWrite): Promise<Planned> {
  const { planning, lane, layout, folder } = attempt;
  const { snapshot } = write;
  const prune = lane.pruneOf(write.prune);
  const orphans = orphansOf(snapshot, layout.documents(folder));
  const changes: Change[] = snapshot.objects.map(({ ref, refKey, object }: SnapshotObject) => ({
    refKey,
    isSweep: false,
    desired: { kind: 'upsert', ref, object, sensitive: planning.isSensitive(ref.group, ref.resource) },
  }));
  if (prune === 'Always')
    for (const ref of orphans) changes.push({ refKey: keyOf(ref), isSweep: true, desired: { kind: 'delete', ref } });
  const written = await writeChanges(attempt, changes, () => true);
  if ('whole' in written) return { kind: 'refused', found: written.whole };

  const { type, namespace } = snapshot.collection;
  const message = reconcileMessage(
    write.messages,
    reconcileFacts(type, {
      count: changes.length - written.leftOut.size,
      gitTarget: lane.facts.name,
      namespace: namespace ?? '',
      resourceVersion: snapshot.resourceVersion,
    }),
  );
  const documents = changes
    .filter(({ refKey }) => !written.leftOut.has(refKey))
    .map(({ desired: { ref }, refKey, isSweep }): DocumentCount => ({
      ref,
      outcome: outcomeOf(written.steps.get(refKey), isSweep ? 'deleted_sweep' : 'written'),
    }));
  const kept = prune === 'Always' ? [] : orphans;
  for (const ref of kept) documents.push({ ref, outcome: 'retained' });
  const planned = await commit(attempt, write, written, message, documents);
  lane.retained(snapshot.collectionKey, kept.map(keyOf));
  return planned;
}

const outcomeOf = (steps: readonly PlanStep[] | undefined, done: DocumentOutcome): DocumentOutcome =>
  (steps?.length ?? 0) === 0 ? 'unchanged' : done;

function placementsIn(stepsByObject: ReadonlyMap<string, readonly PlanStep[]>): PlannedCommit['placements'] {
  return [...stepsByObject.values()].flat().flatMap((step) => {
    if (step.kind !== 'put-document' || step.placement === undefined) return [];
    const { ref, path, placement } = step;
    return [{ ref, path, placement }];
  });
}

/**
 * Plans and renders in key order, leaving out what may be left out, at most three times.
 * @returns what was written, or what refuses it as a whole
 */
async function writeChanges(
  attempt: Attempt,
  given: readonly Change[],
  mayLeaveOut: (change: Change, refusal: Refusal) => boolean,
): Promise<Written | { readonly whole: StandingFindings }> {
  const { lane, layout, folder, signal, slices } = attempt;
  const changes = inKeyOrder(given);
  const leftOut = new Map<string, Refusal>();
  const plaintext = new Map<string, Found>();
  const root = rootOf(attempt);
  for (let reductions = 0; ; reductions += 1) {
    const current = leftOut.size === 0 ? changes : changes.filter(({ refKey }) => !leftOut.has(refKey));
    const answers = await planBatch(
      layout,
      current.map(({ desired }) => desired),
      folder,
      slices,
    );
    const refused = new Map<string, Refusal>();
    const work: Work[] = [];
    const steps = new Map<string, readonly PlanStep[]>();
    current.forEach(({ refKey, desired: { ref } }, index) => {
      const answer = answers[index];
      if (answer === undefined) return;
      if (!answer.ok) refused.set(refKey, { ...answer.error, ref: answer.error.ref ?? ref });
      else if (answer.value.length > 0) {
        steps.set(refKey, answer.value);
        work.push({ refKey, steps: answer.value });
        const exposed = plaintextIn(answer.value);
        if (exposed !== undefined) plaintext.set(refKey, exposed);
      }
    });
    const rendered =
      refused.size > 0 ? undefined : await renderWork(lane.plugins.writers, work, folder, root, signal, slices);
    for (const [key, refusal] of rendered?.refused ?? []) refused.set(key, refusal);
    if (rendered !== undefined && refused.size === 0)
      return { files: rendered.files, steps, leftOut, found: findings(leftOut, plaintext, true) };
    const isWhole =
      reductions >= REDUCTIONS ||
      current.some((change) => {
        const refusal = refused.get(change.refKey);
        return refusal !== undefined && (refusal.whole === true || !mayLeaveOut(change, refusal));
      });
    if (isWhole) return { whole: findings(new Map([...leftOut, ...refused]), plaintext, false) };
    for (const [key, refusal] of refused) leftOut.set(key, refusal);
  }
}

function findings(
  leftOut: ReadonlyMap<string, Refusal>,
  plaintext: ReadonlyMap<string, Found>,
  isWritten: boolean,
): StandingFindings {
  const part = (isSkip: boolean) => new Map([...leftOut].filter(([, { skip }]) => (skip === true) === isSkip));
  return {
    refused: part(false),
    skipped: part(true),
    plaintext: new Map(
      [...plaintext].map(([key, found]) => [key, { ...found, isReplaced: isWritten && !leftOut.has(key) }]),
    ),
  };
}

const rootOf = ({ planning, folder, onto }: Attempt): FolderView =>
  folder.path === '.' ? folder : planning.store.folder(onto, '.');

/** Nothing while a refusal stands: a folder is set up once everything of it can be written. */
function bootstrapOf(attempt: Attempt, written: Written): FileChanges {
  const { planning, lane, folder, layout } = attempt;
  if (written.found.refused.size > 0) return new Map();
  const { files, rejected } = bootstrapFiles(layout, lane.plugins.writers, folder, rootOf(attempt), written.files);
  for (const { path, found } of rejected)
    planning.logger.warn(
      { gitTarget: lane.facts.id, path, found },
      'a file that a plugin wants beside the documents cannot be written; it was left out',
    );
  return files;
}

async function commit(
  attempt: Attempt,
  write: PendingWrite,
  written: Written,
  message: Message,
  documents: readonly DocumentCount[],
): Promise<Planned> {
  const { planning, folder, onto } = attempt;
  const committer = planning.committer();
  const { signature: author, kind: authorKind } = authorOf(write.author, committer, write.authoredAt);
  const { found } = written;
  const plan = { authorKind, messageSource: message.source, documents, skipped: [...found.skipped.values()] };
  const nothing: Planned = {
    kind: 'planned',
    plan: { ...plan, commit: undefined, placements: [] },
    found,
    problem: undefined,
  };
  if (written.files.size === 0) return nothing;
  const prefix = folder.path === '.' ? '' : `${folder.path}/`;
  const changes = new Map<string, Uint8Array | undefined>();
  for (const [path, bytes] of written.files) changes.set(prefix + path, bytes);
  const beside = bootstrapOf(attempt, written);
  for (const [path, bytes] of beside) changes.set(prefix + path, bytes);
  const made = await planning.store.commit({
    parent: onto,
    changes,
    author,
    committer: { ...safe(committer), at: planning.clock.now() },
    message: message.text,
  });
  if (made.kind === 'unchanged') return nothing;
  return {
    kind: 'planned',
    plan: { ...plan, commit: made.commit, placements: placementsIn(written.steps) },
    found,
    problem: message.problem,
  };
}
