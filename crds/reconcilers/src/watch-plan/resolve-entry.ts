import type { ServedType, Surface } from '@gitops-reverser/kernel-api';
import { selectorFault } from '@gitops-reverser/crd-types';
import { selectorText } from './selector-text.js';
import type { DeclaredRule, RuleEntry } from './rule.js';

/** Why one entry, or part of it, resolves to nothing. First that applies wins when several entries fail. */
export const ENTRY_REASONS = ['InvalidSelector', 'AmbiguousResource', 'ResourcesNotServed', 'ResourceRefused'] as const;
export type EntryReason = (typeof ENTRY_REASONS)[number];

export interface EntryProblem {
  readonly reason: EntryReason;
  readonly message: string;
}
export interface EntryScope {
  readonly served: ServedType;
  readonly namespace?: string;
  readonly labelSelector?: string;
}
export interface ResolvedEntry {
  readonly scopes: readonly EntryScope[];
  readonly problems: readonly EntryProblem[];
  /** What a wildcard left out although the cluster serves it and policy allows it. */
  readonly notes: readonly string[];
}

/** A further reason not to follow a type, judged per target: a sensitive type without encryption. */
export type TypeJudge = (served: ServedType) => string | undefined;

/** What one entry selects of a surface. Pure. */
export function resolveEntry(
  rule: DeclaredRule,
  index: number,
  entry: RuleEntry,
  surface: Surface,
  judge: TypeJudge,
): ResolvedEntry {
  const place = `spec.rules[${index}]`;
  const fault = entry.objectSelector === undefined ? undefined : selectorFault(entry.objectSelector);
  if (fault !== undefined)
    return {
      scopes: [],
      problems: [{ reason: 'InvalidSelector', message: `${place}.objectSelector: ${fault}` }],
      notes: [],
    };
  const labelSelector = selectorText(entry.objectSelector);
  const namespace =
    rule.namespace === undefined || entry.sourceNamespace === '*'
      ? undefined
      : (entry.sourceNamespace ?? rule.namespace);

  const scopes: EntryScope[] = [];
  const problems: EntryProblem[] = [];
  const notes: string[] = [];
  for (const resource of entry.resources) {
    const found =
      resource === '*'
        ? everyType(rule, entry, surface, judge)
        : oneResource(rule, place, resource, entry, surface, judge);
    problems.push(...found.problems);
    notes.push(...(found.notes ?? []));
    for (const served of found.types) {
      scopes.push({
        served,
        ...(namespace === undefined ? {} : { namespace }),
        ...(labelSelector === undefined ? {} : { labelSelector }),
      });
    }
  }
  return { scopes, problems, notes };
}

interface Found {
  readonly types: readonly ServedType[];
  readonly problems: readonly EntryProblem[];
  readonly notes?: readonly string[];
}

const scopeFits = (rule: DeclaredRule, served: ServedType): boolean =>
  served.type.namespaced === (rule.namespace !== undefined);
const groupFits = (entry: RuleEntry, group: string): boolean =>
  entry.apiGroups === undefined ||
  entry.apiGroups.length === 0 ||
  entry.apiGroups.includes('*') ||
  entry.apiGroups.includes(group);

/** A wildcard takes what can be followed. What policy denies goes without a word, what the target cannot take with one. */
function everyType(rule: DeclaredRule, entry: RuleEntry, surface: Surface, judge: TypeJudge): Found {
  const candidates = surface.types.filter(
    (served) => groupFits(entry, served.type.group) && scopeFits(rule, served) && served.verdict !== 'refused',
  );
  const types = preferredVersions(candidates, entry);
  return {
    types: types.filter((served) => judge(served) === undefined),
    problems: [],
    notes: types.flatMap((served) => judge(served) ?? []),
  };
}

function oneResource(
  rule: DeclaredRule,
  place: string,
  resource: string,
  entry: RuleEntry,
  surface: Surface,
  judge: TypeJudge,
): Found {
  const named = surface.types.filter(
    (served) => served.type.resource === resource && groupFits(entry, served.type.group),
  );
  const groups = [...new Set(named.map((served) => served.type.group))].sort();
  if (groups.length === 0) return refused('ResourcesNotServed', `${place}: ${notServed(resource, entry, surface)}`);
  const isOpen = entry.apiGroups === undefined || entry.apiGroups.length === 0;
  if (isOpen && groups.length > 1) {
    const candidates = groups.map((group) => (group === '' ? '"" (core)' : group)).join(', ');
    return refused(
      'AmbiguousResource',
      `${place}: ${resource} is served by more than one group: ${candidates}; name one in apiGroups`,
    );
  }
  const types = preferredVersions(named, entry);
  if (types.length === 0) {
    const versions = [...new Set(named.map((served) => served.type.version))].sort().join(', ');
    return refused(
      'ResourcesNotServed',
      `${place}: ${resource} is not served in any of ${(entry.apiVersions ?? []).join(', ')}; served: ${versions}`,
    );
  }
  const problems: EntryProblem[] = [];
  const followed = types.filter((served) => {
    const why = whyRefused(rule, served, judge);
    if (why !== undefined) problems.push({ reason: 'ResourceRefused', message: `${place}: ${why}` });
    return why === undefined;
  });
  return { types: followed, problems };
}

const refused = (reason: EntryReason, message: string): Found => ({ types: [], problems: [{ reason, message }] });

function whyRefused(rule: DeclaredRule, served: ServedType, judge: TypeJudge): string | undefined {
  const { resource, group, namespaced } = served.type;
  const title = group === '' ? resource : `${resource}.${group}`;
  if (!scopeFits(rule, served)) {
    return namespaced
      ? `${title} is namespaced; select it with a WatchRule`
      : `${title} is cluster-scoped; select it with a ClusterWatchRule`;
  }
  if (served.verdict === 'refused')
    return `${title} cannot be followed: ${served.refusal?.message ?? served.refusal?.reason ?? 'refused'}`;
  return judge(served);
}

/** For each group and resource the one version to follow: the first listed that is served, else the preferred one. */
function preferredVersions(candidates: readonly ServedType[], entry: RuleEntry): readonly ServedType[] {
  const byResource = new Map<string, ServedType[]>();
  for (const served of candidates) {
    const key = `${served.type.group}/${served.type.resource}`;
    byResource.set(key, [...(byResource.get(key) ?? []), served]);
  }
  return [...byResource.values()].flatMap((versions) => {
    if (entry.apiVersions === undefined || entry.apiVersions.length === 0)
      return versions.find((served) => served.preferred) ?? versions[0] ?? [];
    for (const wanted of entry.apiVersions) {
      const served = versions.find((candidate) => candidate.type.version === wanted);
      if (served !== undefined) return served;
    }
    return [];
  });
}

function notServed(resource: string, entry: RuleEntry, surface: Surface): string {
  const word = resource.toLowerCase();
  const meant = surface.types.find(
    ({ type, singular, shortNames }) =>
      type.kind.toLowerCase() === word || singular === word || shortNames.includes(word),
  );
  if (meant !== undefined) return `${resource} is no plural name; write ${meant.type.resource}`;
  const elsewhere = [
    ...new Set(surface.types.filter(({ type }) => type.resource === resource).map(({ type }) => type.group)),
  ].sort();
  const groups = (entry.apiGroups ?? []).map((group) => (group === '' ? '"" (core)' : group)).join(', ');
  if (elsewhere.length > 0)
    return `${resource} is not served by ${groups}; served by ${elsewhere.map((group) => (group === '' ? '"" (core)' : group)).join(', ')}`;
  return groups === '' ? `${resource} is not served by the source cluster` : `${resource} is not served by ${groups}`;
}
