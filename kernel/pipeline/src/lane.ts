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
  /** It was retired and the last of its writes is settled: its plugins are not needed any more. */
  released(): void;
}

/** 1_000: what one status could never show; beyond it only the count of a collection's refusals would grow. */
const REFUSALS = 1_000;

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
  #verdict: FolderVerdict | undefined;
  /** Folder the verdict is about. */
  #judgedTree: string | undefined;
  /** The last judgement ended in a fault. */
  #isInDoubt = false;
  readonly #refusalsByCollection = new Map<string, Map<string, Refusal>>();
  readonly #retainedByCollection = new Map<string, Set<string>>();
  #measuredAt: Date | undefined;

  constructor(facts: LaneFacts, plugins: LanePlugins, settings: TargetSettings, events: LaneEvents, logger: Logger) {
    this.facts = facts;
    this.plugins = plugins;
    this.settings = settings;
    this.events = events;
    this.#logger = logger;
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
  judge(open: () => FolderView): JudgedFolder {
    let folder: FolderView | undefined;
    let verdict: FolderVerdict | undefined;
    this.#isInDoubt = false;
    try {
      folder = open();
      verdict =
        this.#judgedTree === folder.treeId && this.#verdict !== undefined
          ? this.#verdict
          : judgeFolder(this.plugins.layouts, folder);
    } catch (error) {
      verdict = refusedBy(error);
      if (verdict === undefined) {
        this.#isInDoubt = true;
        throw error;
      }
    }
    if (verdict !== this.#verdict) this.#judged(verdict);
    this.#judgedTree = folder?.treeId;
    if (verdict.kind === 'refused' || folder === undefined) return { kind: 'refused' };
    return { kind: 'accepted', layout: verdict.layout, folder };
  }

  #judged(verdict: FolderVerdict): void {
    const before = this.#verdict;
    this.#verdict = verdict;
    if (before?.kind !== verdict.kind || verdict.kind === 'refused') this.events.changed();
    if (verdict.kind === 'refused' && before?.kind !== 'refused') {
      this.#logger.warn(
        {
          reason: verdict.refusals[0]?.code,
          count: verdict.refusals.length,
          first: summarize(verdict.refusals),
        },
        'folder refused',
      );
    }
    if (verdict.kind === 'accepted' && before?.kind === 'refused') {
      this.#logger.info({}, 'folder accepted again');
      this.events.recovered();
    }
  }

  /** Our own commit on an accepted folder gives an accepted folder; it is not judged a second time. */
  adopt(layout: Layout, folder: FolderView): void {
    if (this.#verdict?.kind !== 'accepted' || this.#verdict.layout !== layout) return;
    this.#judgedTree = folder.treeId;
  }

  /** New plugins: what the old ones said is void. */
  replace(plugins: LanePlugins, settings: TargetSettings): void {
    this.plugins = plugins;
    this.settings = settings;
    this.#judgedTree = undefined;
    this.events.changed();
  }

  refuse(collectionKey: string, objectKey: string, refusal: Refusal): void {
    const known = this.#refusalsByCollection.get(collectionKey) ?? new Map<string, Refusal>();
    this.#refusalsByCollection.set(collectionKey, known);
    if (known.size >= REFUSALS && !known.has(objectKey)) return;
    known.set(objectKey, refusal);
    this.events.changed();
  }

  /** An accepted snapshot of a collection says all there is to say about it. */
  cleared(collectionKey: string, standing: ReadonlyMap<string, Refusal>): void {
    const had = this.#refusalsByCollection.delete(collectionKey);
    if (standing.size > 0) this.#refusalsByCollection.set(collectionKey, new Map([...standing].slice(0, REFUSALS)));
    if (had || standing.size > 0) this.events.changed();
  }

  retained(collectionKey: string, objectKeys: readonly string[], at: Date): void {
    this.#retainedByCollection.set(collectionKey, new Set(objectKeys));
    this.#measuredAt = at;
    this.events.changed();
  }

  /** One document more or fewer than the last measurement of its collection said. */
  retainedOne(collectionKey: string, objectKey: string, isRetained: boolean, at: Date): void {
    const known = this.#retainedByCollection.get(collectionKey);
    if (known === undefined || known.has(objectKey) === isRetained) return;
    if (isRetained) known.add(objectKey);
    else known.delete(objectKey);
    this.#measuredAt = at;
    this.events.changed();
  }

  /** A collection is no longer followed: nothing is known of it any more. */
  forget(collectionKey: string): void {
    const hadRefusals = this.#refusalsByCollection.delete(collectionKey);
    const wasMeasured = this.#retainedByCollection.delete(collectionKey);
    if (this.#retainedByCollection.size === 0) this.#measuredAt = undefined;
    if (hadRefusals || wasMeasured) this.events.changed();
  }

  folderStatus(): TargetStatus['folder'] {
    const verdict = this.#verdict;
    if (verdict === undefined) return { state: 'NotScanned', refusals: [] };
    return verdict.kind === 'accepted'
      ? { state: 'Accepted', refusals: [] }
      : { state: 'Refused', refusals: verdict.refusals };
  }

  refusals(): readonly Refusal[] {
    return [...this.#refusalsByCollection.values()].flatMap((known) => [...known.values()]);
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
