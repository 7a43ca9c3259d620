import { ok, refuse, type Result } from '@gitops-reverser/kernel-api';

/** Types, beside core `secrets`, whose objects must never be written in the clear. */
export type SensitiveResources = ReadonlySet<string>;

export const noAdditionalSensitiveResources: SensitiveResources = new Set();

/** By group and resource alone; versions and contents do not matter. Can be widened, never narrowed. */
export function isSensitive(
  group: string,
  resource: string,
  additional: SensitiveResources = noAdditionalSensitiveResources,
): boolean {
  return (group === '' && resource === 'secrets') || additional.has(`${group}/${resource}`);
}

const resourcePattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const groupPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Reads a comma-separated list of `resource` (core) and `group/resource`, in any case.
 *
 * @returns the types, or one message for every malformed item
 */
export function parseSensitiveResources(list: string): Result<SensitiveResources, readonly string[]> {
  if (list.trim() === '') return ok(noAdditionalSensitiveResources);
  const types = new Set<string>();
  const problems: string[] = [];
  for (const item of list.split(',')) {
    const parts = item.trim().toLowerCase().split('/');
    const [group, resource] = parts.length === 1 ? ['', parts[0] ?? ''] : [parts[0] ?? '', parts[1] ?? ''];
    const isWellFormed =
      parts.length <= 2 && resourcePattern.test(resource) && (parts.length === 1 || groupPattern.test(group));
    if (isWellFormed) types.add(`${group}/${resource}`);
    else problems.push(`"${item.trim()}" is no resource: expected resource or group/resource, without a version`);
  }
  return problems.length === 0 ? ok(types) : refuse(problems);
}
