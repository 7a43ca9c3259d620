import type { TargetId } from '@gitops-reverser/kernel-api';
import type { Lane } from './lane.js';
import { windowDueMs, type CommitWindow } from './window.js';

type OpenLane = Lane & { window: CommitWindow };

/** The targets of one branch: those that write, and those that left and are not settled yet. */
export class Lanes {
  readonly #byTarget = new Map<TargetId, Lane>();
  /** Retired, and not settled yet. */
  readonly #leaving = new Set<Lane>();

  get(target: TargetId): Lane | undefined {
    return this.#byTarget.get(target);
  }

  all(): Iterable<Lane> {
    return this.#byTarget.values();
  }

  add(lane: Lane): void {
    this.#byTarget.set(lane.facts.id, lane);
  }

  /** Another target of the same name may have taken its place already. */
  leave(lane: Lane): void {
    if (this.#byTarget.get(lane.facts.id) === lane) this.#byTarget.delete(lane.facts.id);
    this.#leaving.add(lane);
  }

  /** Lets go of those that left and that nothing is kept for. */
  release(isKept: (lane: Lane) => boolean): void {
    for (const lane of this.#leaving) {
      if (isKept(lane)) continue;
      this.#leaving.delete(lane);
      lane.events.released();
    }
  }

  /** Lanes with an open window, the one that is due first before the others. */
  open(): readonly OpenLane[] {
    const open = [...this.all()].filter((lane): lane is OpenLane => lane.window !== undefined);
    return open.sort((a, b) => windowDueMs(a.window) - windowDueMs(b.window) || a.window.place - b.window.place);
  }

  /** What open windows hold. */
  get heldBytes(): number {
    let bytes = 0;
    for (const { window } of this.all()) bytes += window?.bytes ?? 0;
    return bytes;
  }

  /** A folder is refused, or could not be judged. */
  get isLookNeeded(): boolean {
    for (const lane of this.all()) if (lane.isLookNeeded) return true;
    return false;
  }
}
