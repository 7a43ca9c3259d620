import type { ServedType } from '@gitops-reverser/kernel-api';
import type { DiscoveredResource, DiscoveryScan } from '@gitops-reverser/toolkit-kube';
import type { ResourcePolicy } from './policy.js';

/** How long a type may be absent from complete scans before it is taken for removed. */
export const REMOVAL_GRACE_MS = 60_000;
const REQUIRED_VERBS = ['get', 'list', 'watch'];

interface Known {
  readonly facts: DiscoveredResource;
  /** How many kinds its plural was served with when last seen; only one of them is kept. */
  readonly kinds: number;
  /** False: last known facts of a group that could not be scanned, or an absence within its grace. */
  readonly trusted: boolean;
  readonly absentSince?: number;
}

export interface RegistryChange {
  readonly types: readonly ServedType[];
  /** Edges worth a log line. */
  readonly wobbling: readonly string[];
  readonly recovered: readonly string[];
  readonly removed: readonly string[];
}

/** Owns every judgement about types across scans; a scan is only a fact about one moment. Pure state, no I/O. */
export class TypeRegistry {
  readonly #policy: ResourcePolicy;
  #known = new Map<string, Known>();

  constructor(policy: ResourcePolicy) {
    this.#policy = policy;
  }

  /** Takes a scan, or `undefined` for one that failed as a whole: then everything is carried unchanged. */
  take(scan: DiscoveryScan | undefined, now: Date): RegistryChange {
    const next = new Map<string, Known>();
    const edges = { wobbling: [] as string[], recovered: [] as string[], removed: [] as string[] };
    if (scan === undefined) return { types: this.#judge(), ...edges };
    const kindsByPlural = new Map<string, Set<string>>();
    for (const facts of scan.entries) {
      const key = keyOf(facts);
      const kinds = kindsByPlural.get(key) ?? new Set();
      kindsByPlural.set(key, kinds.add(facts.kind));
      if (this.#known.get(key)?.trusted === false) edges.recovered.push(key);
      next.set(key, { facts, kinds: kinds.size, trusted: true });
    }
    const failed = new Set(scan.failed.map(({ groupVersion }) => groupVersion));
    const scanned = new Set(scan.scanned);
    for (const [key, known] of this.#known) {
      if (next.has(key)) continue;
      const carried = carry(known, failed, scanned, scan.complete, now.getTime());
      if (carried === undefined) edges.removed.push(key);
      else {
        if (known.trusted && !carried.trusted) edges.wobbling.push(key);
        next.set(key, carried);
      }
    }
    this.#known = next;
    return { types: this.#judge(), ...edges };
  }

  #judge(): readonly ServedType[] {
    const all = [...this.#known.values()];
    const pluralsByKind = groupBy(all, ({ facts }) => `${groupVersion(facts)}/${facts.kind}`);
    return all.map(({ facts, kinds, trusted }): ServedType => {
      const { group, version, resource, kind, namespaced = false, singular, shortNames, preferred } = facts;
      const shared = { type: { group, version, resource, kind, namespaced }, singular, shortNames, preferred };
      const refusal = this.#refusal(facts, pluralsByKind.get(`${groupVersion(facts)}/${kind}`) ?? 0, kinds);
      if (refusal !== undefined) return { ...shared, verdict: 'refused', refusal };
      return { ...shared, verdict: trusted ? 'followable' : 'retained' };
    });
  }

  /** The one reason, in the order of chapter 20, section 12. */
  #refusal(facts: DiscoveredResource, plurals: number, kinds: number): ServedType['refusal'] {
    if (plurals > 1)
      return {
        reason: 'gvk-not-unique',
        message: `kind ${facts.kind} is served under more than one plural of ${groupVersion(facts)}`,
        silent: false,
      };
    if (kinds > 1)
      return {
        reason: 'gvr-not-unique',
        message: `${facts.resource} is served with more than one kind in ${groupVersion(facts)}`,
        silent: false,
      };
    if (facts.namespaced === undefined)
      return {
        reason: 'scope-unknown',
        message: `the server does not say whether ${facts.resource} of ${groupVersion(facts)} have namespaces`,
        silent: false,
      };
    const missing = REQUIRED_VERBS.filter((verb) => !facts.verbs.includes(verb));
    if (missing.length > 0)
      return { reason: 'missing-verb', message: `missing required verb: ${missing.join(', ')}`, silent: true };
    const denied = this.#policy.denies(facts.group, facts.resource);
    return denied === undefined ? undefined : { reason: 'denied-by-policy', message: denied, silent: true };
  }
}

/** What becomes of a type the scan does not show; undefined: it is removed. */
function carry(
  known: Known,
  failed: ReadonlySet<string>,
  scanned: ReadonlySet<string>,
  complete: boolean,
  now: number,
): Known | undefined {
  const where = groupVersion(known.facts);
  // A running removal grace is neither reset nor extended by a scan that could not look.
  if (failed.has(where)) return { ...known, trusted: false };
  if (!scanned.has(where) && !complete) return known;
  const absentSince = known.absentSince ?? now;
  return now - absentSince >= REMOVAL_GRACE_MS ? undefined : { ...known, trusted: false, absentSince };
}

const groupVersion = ({ group, version }: DiscoveredResource): string =>
  group === '' ? version : `${group}/${version}`;
const keyOf = (facts: DiscoveredResource): string => `${groupVersion(facts)}/${facts.resource}`;

function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}
