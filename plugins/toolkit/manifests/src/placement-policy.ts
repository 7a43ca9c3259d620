import { noStripRules, ok, refuse, type Result, type StripRules } from '@gitops-reverser/kernel-api';
import { isIdentityComplete, parsePlacementTemplate, type PlacementTemplate } from './placement-template.js';
import { isSensitive, noAdditionalSensitiveResources, type SensitiveResources } from './sensitivity.js';

/** `spec.placement` as it is declared. */
export interface PlacementSpec {
  readonly byType?: Readonly<Record<string, string>>;
  readonly default?: string;
  readonly useKustomize?: boolean;
}

/** `spec.placement` with every template parsed. */
export interface PlacementPolicy {
  /** By `version/resource` of the core group or `group/version/resource`. */
  readonly byType: ReadonlyMap<string, PlacementTemplate>;
  readonly default?: PlacementTemplate;
  readonly useKustomize: boolean;
}

export const canonicalPlacement: PlacementPolicy = { byType: new Map(), useKustomize: false };

export interface PlacementProblem {
  /** Path within the declaration: `byType["v1/secrets"]`, `default`. */
  readonly field: string;
  readonly message: string;
}

/** Checks all of it and reports every problem; a policy that passes places every object or says why not. */
export function validatePlacement(
  spec: PlacementSpec,
  additional: SensitiveResources = noAdditionalSensitiveResources,
  rules: StripRules = noStripRules,
): Result<PlacementPolicy, readonly PlacementProblem[]> {
  const problems: PlacementProblem[] = [];
  const byType = new Map<string, PlacementTemplate>();
  for (const [type, text] of Object.entries(spec.byType ?? {})) {
    const field = `byType[${JSON.stringify(type)}]`;
    const parsed = parsePlacementTemplate(text, rules);
    const typeProblem = checkType(type);
    if (typeProblem !== undefined) problems.push({ field, message: typeProblem });
    if (!parsed.ok) problems.push({ field, message: parsed.error });
    if (typeProblem !== undefined || !parsed.ok) continue;
    byType.set(type, parsed.value);
    if (isSensitiveType(type, additional) && !isIdentityComplete(parsed.value, false))
      problems.push({ field, message: `"${text}" places sensitive objects and must contain {namespace} and {name}` });
  }
  const fallback = spec.default === undefined ? undefined : parsePlacementTemplate(spec.default, rules);
  if (fallback !== undefined && !fallback.ok) problems.push({ field: 'default', message: fallback.error });
  if (
    fallback?.ok === true &&
    !isIdentityComplete(fallback.value, true) &&
    !Object.hasOwn(spec.byType ?? {}, 'v1/secrets')
  )
    problems.push({
      field: 'default',
      message: `"${spec.default ?? ''}" could put several Secrets into one file; add byType["v1/secrets"], or use {namespace}, {groupPath}, {resource} and {name}`,
    });
  if (problems.length > 0) return refuse(problems);
  const policy = { byType, useKustomize: spec.useKustomize ?? false };
  return ok(fallback?.ok === true ? { ...policy, default: fallback.value } : policy);
}

const coreVersion = /^v[1-9][0-9]*(?:(?:alpha|beta)[1-9][0-9]*)?$/;
const name = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const group = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

function checkType(type: string): string | undefined {
  const parts = type.split('/');
  const [first = '', second = '', third = ''] = parts;
  const isWellFormed =
    (parts.length === 2 && coreVersion.test(first) && name.test(second)) ||
    (parts.length === 3 && group.test(first) && name.test(second) && name.test(third));
  return isWellFormed
    ? undefined
    : `"${type}" is no type; expected version/resource for the core group (v1/configmaps) or group/version/resource (apps/v1/deployments)`;
}

function isSensitiveType(type: string, additional: SensitiveResources): boolean {
  const parts = type.split('/');
  return parts.length === 2
    ? isSensitive('', parts[1] ?? '', additional)
    : isSensitive(parts[0] ?? '', parts[2] ?? '', additional);
}
