import type { Logger, ObjectRef, Refusal } from '@gitops-reverser/kernel-api';
import type { Lane } from './lane.js';
import { gtLabels, gvrLabels, type Meters } from './meters.js';
import { objectKey } from './order.js';
import type { PlannedCommit } from './pending.js';

/** Reasons of `placement_refusals_total` (chapter 30, 7.2). */
const PLACEMENT = new Set([
  'invalid_path',
  'sensitive_append',
  'plaintext_onto_encrypted',
  'mixed_sensitivity_new_file',
  'multi_document_target',
  'namespace_mismatch',
  'unclassified',
]);
/** Refusals of a new document that have no word of their own there. */
const UNCLASSIFIED = new Set([
  'ignore-shadows-managed',
  'ambiguous-layout',
  'unrendered-placement',
  'write-escapes-scope',
]);

/** What became of documents, as metrics and in the log. */
export class DocumentAccounts {
  readonly #meters: Meters;
  readonly #logger: Logger;

  constructor(meters: Meters, logger: Logger) {
    this.#meters = meters;
    this.#logger = logger;
  }

  /** When it was planned: nothing of these will be settled. */
  refused(lane: Lane, refused: Iterable<Refusal>): void {
    for (const { ref, code } of refused) {
      if (ref === undefined) continue;
      const labels = { ...gtLabels(lane.facts), ...gvrLabels(ref) };
      this.#meters.writeRefusals.add({ ...labels, kind: code });
      this.#meters.documents.add({ ...labels, outcome: 'refused' });
      const reason = PLACEMENT.has(code) ? code : UNCLASSIFIED.has(code) ? 'unclassified' : undefined;
      if (reason !== undefined) this.#meters.placementRefusals.add({ ...labels, reason });
    }
  }

  /** Once the remote confirmed it: what is planned again on another tip counts once. */
  settled(lane: Lane, plan: PlannedCommit): void {
    this.#documents(lane, plan);
    const gt = gtLabels(lane.facts);
    for (const { ref, code } of plan.skipped)
      if (ref !== undefined) this.#meters.documentsSkipped.add({ ...gt, ...gvrLabels(ref), reason: code });
    for (const { ref, path, placement } of plan.placements) {
      const { source, disposition, step, evidenceCount, guard } = placement;
      this.#meters.placements.add({ ...gt, ...gvrLabels(ref), source, disposition });
      this.#logger.debug(
        { gitTarget: lane.facts.id, key: objectKey(ref), path, source, disposition, step, evidenceCount, guard },
        'a new document was placed',
      );
    }
  }

  #documents(lane: Lane, plan: PlannedCommit): void {
    const { documents } = this.#meters;
    let run: { readonly ref: ObjectRef; readonly outcome: string; count: number } | undefined;
    const flush = (): void => {
      if (run !== undefined)
        documents.add({ ...gtLabels(lane.facts), ...gvrLabels(run.ref), outcome: run.outcome }, run.count);
    };
    // Equal neighbours are counted together: a snapshot has one type and few outcomes.
    for (const { ref, outcome } of plan.documents) {
      if (run !== undefined && run.outcome === outcome && isSameType(run.ref, ref)) run.count += 1;
      else {
        flush();
        run = { ref, outcome, count: 1 };
      }
    }
    flush();
  }
}

const isSameType = (a: ObjectRef, b: ObjectRef): boolean =>
  a.resource === b.resource && a.group === b.group && a.version === b.version;
