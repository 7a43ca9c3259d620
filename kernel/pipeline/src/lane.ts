import {
  summarize,
  type CommitSha,
  type FolderView,
  type Layout,
  type Logger,
  type Placed,
  type PruneMode,
  type Refusal,
  type TargetId,
  type TargetSettings,
  type TargetStatus,
} from '@gitops-reverser/kernel-api';
import { judgeFolder, refusedBy, type FolderVerdict } from './accept.js';
import { Standing, type Found } from './standing.js';
import { stricter } from './sweep.js';
import type { CommitWindow } from './window.js';

/** What a branch needs of one target. The branch's loop alone changes it. */
export interface LaneFacts {
  readonly id: TargetId;
  readonly namespace: string;
  readonly name: string;
  readonly sourceCluster: string;
}
export interface LanePlugins {
  readonly layouts: readonly Placed<'layout'>[];
  readonly writers: readonly Placed<'writer'>[];
}
export interface LaneEvents {
  /** Its status may differ. */
  changed(): void;
  /** State is owed to Git: these collections need a fresh snapshot. */
  snapshotOwed(collectionKeys: readonly string[]): void;
  /** The folder can be used again: every collection owes a snapshot, and the mirror is not whole before. */
  recovered(): void;
  /** A folder was read and judged. */
  judged(durationMs: number): void;
  /** It was retired and the last of its writes is settled: its plugins are not needed any more. */
  released(): void;
}

/** 600_000: people are told once in ten minutes (chapter 40, 3.10). */
const WORDING_MS = 600_000;

/** 100: what a log line still carries easily. */
const ISSUES_PER_LINE = 100;

/** What planning found out about one object, or about all of a collection. */
export interface ObjectFindings {
  readonly skip: Found | undefined;
  readonly plaintext: Found | undefined;
}
export interface StandingFindings {
  readonly refused: ReadonlyMap<string, Found>;
  readonly skipped: ReadonlyMap<string, Found>;
  readonly plaintext: ReadonlyMap<string, Found>;
}

/** The verdict, with the folder to plan in where there is one. */
export type JudgedFolder =
  { readonly kind: 'accepted'; readonly layout: Layout; readonly folder: FolderView } | { readonly kind: 'refused' };

export class Lane {
  readonly facts: LaneFacts;
  readonly events: LaneEvents;
  plugins: LanePlugins;
  settings: TargetSettings;
  window: CommitWindow | undefined;
  /** Retired: nothing new is written for it, and what is replayed removes nothing. */
  isGone = false;
  lastCommit: CommitSha | undefined;
  readonly #logger: Logger;
  readonly #now: () => Date;
  #verdict: FolderVerdict | undefined;
  /** Folder the verdict is about. */
  #judgedTree: string | undefined;
  /** The last judgement ended in a fault. */
  #isInDoubt = false;
  readonly #refused = new Standing();
  readonly #skipped = new Standing();
  readonly #plaintext = new Standing();
  readonly #retainedByCollection = new Map<string, Set<string>>();
  #measuredAt: Date | undefined;
  #resolved: TargetStatus['folder']['resolved'];
  #wording: TargetStatus['wording'];

  constructor(
    facts: LaneFacts,
    plugins: LanePlugins,
    settings: TargetSettings,
    events: LaneEvents,
    logger: Logger,
    now: () => Date,
  ) {
    this.facts = facts;
    this.plugins = plugins;
    this.settings = settings;
    this.events = events;
    this.#logger = logger;
    this.#now = now;
  }

  /** The folder is refused, or could not be judged: only another look at the remote can tell more. */
  get isLookNeeded(): boolean {
    return this.#isInDoubt || this.#verdict?.kind === 'refused';
  }

  /**
   * Asks the layouts, unless this very folder was judged before. A folder that cannot be read until Git changes is refused; one
   * that is accepted again owes a snapshot.
   *
   * @throws what opening or reading the folder throws, when time may cure it
   */
  judge(open: () => FolderView, commit: CommitSha | undefined): JudgedFolder {
    let folder: FolderView | undefined;
    let verdict: FolderVerdict | undefined;
    this.#isInDoubt = false;
    try {
      folder = open();
      verdict = this.#judgedTree === folder.treeId && this.#verdict !== undefined ? this.#verdict : this.#look(folder);
    } catch (error) {
      verdict = refusedBy(error);
      if (verdict === undefined) {
        this.#isInDoubt = true;
        throw error;
      }
    }
    if (verdict !== this.#verdict) this.#judged(verdict, commit);
    this.#judgedTree = folder?.treeId;
    if (verdict.kind === 'refused' || folder === undefined) return { kind: 'refused' };
    return { kind: 'accepted', layout: verdict.layout, folder };
  }

  #look(folder: FolderView): FolderVerdict {
    const startedAtMs = this.#now().getTime();
    const verdict = judgeFolder(this.plugins.layouts, folder);
    this.events.judged(Math.max(0, this.#now().getTime() - startedAtMs));
    return verdict;
  }

  #judged(verdict: FolderVerdict, commit: CommitSha | undefined): void {
    const before = this.#verdict;
    this.#verdict = verdict;
    const isResolvedAnew = this.#resolve(verdict, commit);
    if (before?.kind !== verdict.kind || verdict.kind === 'refused' || isResolvedAnew) this.events.changed();
    if (verdict.kind === 'refused' && !isSameRefusal(before, verdict)) this.#tellRefused(verdict.refusals);
    if (verdict.kind === 'accepted' && before?.kind === 'refused') {
      this.#logger.info({}, 'folder accepted again');
      this.events.recovered();
    }
  }

  /** All of it: a condition has room for the first only. Never more than the folder may have files. */
  #tellRefused(refusals: readonly Refusal[]): void {
    this.#logger.warn(
      { reason: refusals[0]?.code, count: refusals.length, first: summarize(refusals) },
      'folder refused',
    );
    for (let from = 0; refusals.length > 1 && from < refusals.length; from += ISSUES_PER_LINE) {
      const issues = refusals.slice(from, from + ISSUES_PER_LINE).map(({ code, message }) => `${code}: ${message}`);
      this.#logger.warn({ from, count: refusals.length, issues }, 'why the folder is refused');
    }
  }

  /** Dates the resolution, not the last look: the same kind of folder seen again keeps its commit and time. */
  #resolve({ shape }: FolderVerdict, commit: CommitSha | undefined): boolean {
    const before = this.#resolved;
    if (JSON.stringify(before?.shape) === JSON.stringify(shape)) return false;
    this.#resolved =
      shape === undefined ? undefined : { shape, at: this.#now(), ...(commit === undefined ? {} : { commit }) };
    return true;
  }

  /** New plugins: what the old ones said is void. */
  replace(plugins: LanePlugins, settings: TargetSettings): void {
    if (JSON.stringify(settings.messages) !== JSON.stringify(this.settings.messages)) this.#wording = undefined;
    this.plugins = plugins;
    this.settings = settings;
    this.#judgedTree = undefined;
    this.events.changed();
  }

  refuse(collectionKey: string, objectKey: string, refusal: Found): void {
    if (this.#refused.set(collectionKey, objectKey, refusal, this.#now())) this.events.changed();
  }

  /** What a live write met beside what refused it: of these objects alone something is known. */
  met(collectionKey: string, objectKey: string, met: ObjectFindings): void {
    const at = this.#now();
    const changed = [
      met.skip === undefined
        ? this.#skipped.clear(collectionKey, objectKey)
        : this.#skipped.set(collectionKey, objectKey, met.skip, at),
      met.plaintext === undefined
        ? this.#plaintext.clear(collectionKey, objectKey)
        : this.#plaintext.set(collectionKey, objectKey, met.plaintext, at),
    ];
    if (changed.includes(true)) this.events.changed();
  }

  /** An accepted snapshot of a collection says all there is to say about it. */
  cleared(collectionKey: string, standing: StandingFindings): void {
    const at = this.#now();
    const changed = [
      this.#refused.replace(collectionKey, standing.refused, at),
      this.#skipped.replace(collectionKey, standing.skipped, at),
      this.#plaintext.replace(collectionKey, standing.plaintext, at),
    ];
    if (changed.includes(true)) this.events.changed();
  }

  retained(collectionKey: string, objectKeys: readonly string[]): void {
    this.#retainedByCollection.set(collectionKey, new Set(objectKeys));
    this.#measuredAt = this.#now();
    this.events.changed();
  }

  /** One document more or fewer than the last measurement of its collection said. */
  retainedOne(collectionKey: string, objectKey: string, isRetained: boolean): void {
    const known = this.#retainedByCollection.get(collectionKey);
    if (known === undefined || known.has(objectKey) === isRetained) return;
    if (isRetained) known.add(objectKey);
    else known.delete(objectKey);
    this.#measuredAt = this.#now();
    this.events.changed();
  }

  /** A collection is no longer followed: nothing is known of it any more. */
  forget(collectionKey: string): void {
    const changed = [this.#refused, this.#skipped, this.#plaintext].map((standing) => standing.forget(collectionKey));
    const wasMeasured = this.#retainedByCollection.delete(collectionKey);
    if (this.#retainedByCollection.size === 0) this.#measuredAt = undefined;
    if (changed.includes(true) || wasMeasured) this.events.changed();
  }

  folderStatus(): TargetStatus['folder'] {
    const verdict = this.#verdict;
    if (verdict === undefined) return { state: 'NotScanned', refusals: [] };
    const resolved = this.#resolved === undefined ? {} : { resolved: this.#resolved };
    return verdict.kind === 'accepted'
      ? { state: 'Accepted', refusals: [], ...resolved }
      : { state: 'Refused', refusals: verdict.refusals, ...resolved };
  }

  /** A message template failed on real changes; the built-in wording stood in. */
  misworded(problem: string): void {
    const at = this.#now();
    if (this.#wording !== undefined && at.getTime() - this.#wording.since.getTime() < WORDING_MS) return;
    this.#wording = { problem, since: at };
    this.events.changed();
  }

  /** What stands of single objects, and of the wording of commits. */
  findings(): Pick<TargetStatus, 'refused' | 'skipped' | 'plaintext' | 'wording'> {
    return {
      ...(this.#wording === undefined ? {} : { wording: this.#wording }),
      refused: this.#refused.all(),
      skipped: this.#skipped.all(),
      plaintext: this.#plaintext.all().map((found) => ({ ...found, isReplaced: found.isReplaced === true })),
    };
  }

  /** The stricter of what was captured and what holds now; a target that is gone removes nothing. */
  pruneOf(captured: PruneMode): PruneMode {
    return this.isGone ? 'Never' : stricter(captured, this.settings.prune);
  }

  retention(): { readonly mode: PruneMode; readonly retainedDocuments: number; readonly observedAt: Date } | undefined {
    if (this.settings.suspend || this.#measuredAt === undefined) return undefined;
    let retainedDocuments = 0;
    for (const known of this.#retainedByCollection.values()) retainedDocuments += known.size;
    return { mode: this.settings.prune, retainedDocuments, observedAt: this.#measuredAt };
  }
}

function isSameRefusal(
  before: FolderVerdict | undefined,
  { refusals }: { readonly refusals: readonly Refusal[] },
): boolean {
  if (before?.kind !== 'refused' || before.refusals.length !== refusals.length) return false;
  return refusals.every(({ message }, at) => before.refusals[at]?.message === message);
}
