import { collectionKey, type Collection } from '@gitops-reverser/kernel-api';

export interface PlanDiff {
  readonly keep: readonly string[];
  readonly start: ReadonlyMap<string, Collection>;
  /** The served version changed: the stream starts over with a replay. */
  readonly restart: ReadonlyMap<string, Collection>;
  readonly stop: readonly string[];
}

/** How the running streams become the wanted ones. Identity is the collection's; the served version is data. */
export function diffPlan(
  running: ReadonlyMap<string, { readonly collection: Collection }>,
  wanted: ReadonlyMap<string, Collection>,
): PlanDiff {
  const keep: string[] = [];
  const start = new Map<string, Collection>();
  const restart = new Map<string, Collection>();
  for (const [key, collection] of wanted) {
    const stream = running.get(key);
    if (stream === undefined) start.set(key, collection);
    else if (
      stream.collection.type.version === collection.type.version &&
      stream.collection.type.kind === collection.type.kind
    )
      keep.push(key);
    else restart.set(key, collection);
  }
  return { keep, start, restart, stop: [...running.keys()].filter((key) => !wanted.has(key)) };
}

export const byKey = (collections: readonly Collection[]): ReadonlyMap<string, Collection> =>
  new Map(collections.map((collection) => [collectionKey(collection), collection]));

/** When a dirty plan is due: after a quiet time, but not for ever later; at once for a target that never had streams. */
export function planDueMs(
  dirty: { readonly firstAtMs: number; readonly lastAtMs: number },
  isFirst: boolean,
  limits: { readonly planQuietMs: number; readonly planLatestMs: number },
): number {
  if (isFirst) return dirty.firstAtMs;
  return Math.min(dirty.lastAtMs + limits.planQuietMs, dirty.firstAtMs + limits.planLatestMs);
}
