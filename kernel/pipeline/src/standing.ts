import type { Refusal, StandingRefusal } from '@gitops-reverser/kernel-api';

/** 1_000: what one status could never show; beyond it only the count of a collection's refusals would grow. */
const MOST = 1_000;

/** A refusal as it arises: who wrote what it is about, and whether the cause is gone with the same commit. */
export type Found = Refusal & { readonly author?: string; readonly isReplaced?: boolean };
type Held = Found & Pick<StandingRefusal, 'since'>;

/** What holds of single objects, by collection. Whoever changes it is told whether anything differs. */
export class Standing {
  readonly #byCollection = new Map<string, Map<string, Held>>();

  set(collectionKey: string, objectKey: string, found: Found, at: Date): boolean {
    const known = this.#byCollection.get(collectionKey) ?? new Map<string, Held>();
    this.#byCollection.set(collectionKey, known);
    const before = known.get(objectKey);
    if (before === undefined && known.size >= MOST) return false;
    known.set(objectKey, held(found, before, at));
    return true;
  }

  clear(collectionKey: string, objectKey: string): boolean {
    return this.#byCollection.get(collectionKey)?.delete(objectKey) === true;
  }

  /** All there is to say about a collection. What held before and holds again keeps its time. */
  replace(collectionKey: string, all: ReadonlyMap<string, Found>, at: Date): boolean {
    const before = this.#byCollection.get(collectionKey);
    this.#byCollection.delete(collectionKey);
    if (all.size === 0) return (before?.size ?? 0) > 0;
    const entries = [...all].slice(0, MOST);
    this.#byCollection.set(
      collectionKey,
      new Map(entries.map(([key, found]) => [key, held(found, before?.get(key), at)])),
    );
    return true;
  }

  forget(collectionKey: string): boolean {
    return this.replace(collectionKey, new Map(), new Date(0));
  }

  all(): readonly Held[] {
    return [...this.#byCollection.values()].flatMap((known) => [...known.values()]);
  }
}

/** A snapshot names no author, so what it finds again stays whose it was. */
function held(found: Found, before: Held | undefined, at: Date): Held {
  const isSame =
    before !== undefined &&
    before.code === found.code &&
    (found.author === undefined || found.author === before.author);
  if (!isSame) return { ...found, since: at };
  return { ...found, since: before.since, ...(before.author === undefined ? {} : { author: before.author }) };
}
