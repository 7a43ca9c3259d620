import { ReverserError } from '@gitops-reverser/kernel-api';

/** `resource` alone means any group; `group/resource` one, where `core` is the empty group. */
export interface ResourcePolicy {
  /** Undefined when rules may name the type. `silent`: a wildcard skips it without a word. */
  denies(group: string, resource: string): string | undefined;
}

/** Types nobody authors, or that change without anybody editing (chapter 30, DC-10). */
const DENIED: readonly (readonly [group: string, resource: string])[] = [
  ['', 'pods'],
  ['', 'events'],
  ['events.k8s.io', 'events'],
  ['', 'endpoints'],
  ['discovery.k8s.io', 'endpointslices'],
  ['coordination.k8s.io', 'leases'],
  ['apps', 'controllerrevisions'],
  ['flowcontrol.apiserver.k8s.io', 'flowschemas'],
  ['flowcontrol.apiserver.k8s.io', 'prioritylevelconfigurations'],
  ['batch', 'jobs'],
];
/** Mirroring these would write a commit a second. */
const NEVER_ALLOWED = ['events', 'leases'];

/** @throws ReverserError OptionsInvalid when `events` or `leases` are to be allowed */
export function resourcePolicy(allowed: readonly string[], denied: readonly string[]): ResourcePolicy {
  const forbidden = allowed.find((item) => NEVER_ALLOWED.includes(parse(item).resource));
  if (forbidden !== undefined) {
    throw new ReverserError({
      reason: 'OptionsInvalid',
      retry: 'when-changed',
      message: `allowedResources: ${forbidden} can never be mirrored; remove it from the list`,
    });
  }
  const named = (list: readonly string[], group: string, resource: string): boolean =>
    list.some((item) => {
      const wanted = parse(item);
      return wanted.resource === resource && (wanted.group === undefined || wanted.group === group);
    });
  return {
    denies(group, resource) {
      if (named(denied, group, resource)) return 'this operator denies it (--denied-resources)';
      if (!DENIED.some(([deniedGroup, deniedResource]) => deniedGroup === group && deniedResource === resource))
        return undefined;
      if (named(allowed, group, resource)) return undefined;
      return NEVER_ALLOWED.includes(resource)
        ? 'it is never mirrored'
        : 'it is excluded by default (--allowed-resources changes that)';
    },
  };
}

function parse(item: string): { readonly group: string | undefined; readonly resource: string } {
  const [first, second] = item.toLowerCase().split('/');
  if (second === undefined) return { group: undefined, resource: first ?? '' };
  return { group: first === 'core' ? '' : first, resource: second };
}
