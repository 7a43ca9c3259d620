import {
  POINT_SCOPES,
  SEES,
  nearest,
  parseOptions,
  refuse,
  ok,
  type AnyContribution,
  type Plugin,
  type PointName,
  type ReverserError,
  type Result,
  type ScopeName,
  type Token,
} from '@gitops-reverser/kernel-api';
import { coreError } from './errors.js';
import type { LoadedPlugin } from './registry.js';

/** A value some scope will hold, and who puts it there. */
export interface TokenOffer {
  readonly token: Token<unknown, ScopeName>;
  /** For messages: `the operator`, `toolkit-kube`, ... */
  readonly by?: string;
}

/** Points whose contributions an object selects by a value; one that serves nothing could never be used. */
const SELECTED: readonly PointName[] = ['source', 'applier'];

export function checkOptions(plugin: Plugin, raw: unknown, use: string): Result<unknown, ReverserError> {
  const parsed = parseOptions(plugin.options, raw);
  if (parsed.ok) return parsed;
  const problems = parsed.error.map(
    ({ path, problem }) => `${path === '' ? 'options' : `options.${path}`}: ${problem}`,
  );
  return refuse(
    coreError('PluginOptionsInvalid', {
      message: `${use}: ${problems.join('; ')}`,
      details: { package: use, plugin: plugin.id, problems },
    }),
  );
}

/** Every value the plugin needs must exist in a scope that it can see from where it lives. */
export function checkNeeds(
  plugin: Plugin,
  contributions: readonly AnyContribution[],
  offers: readonly TokenOffer[],
  use: string,
): ReverserError | undefined {
  const missing = new Set<string>();
  for (const { point, needs } of contributions) {
    const visible: readonly ScopeName[] = SEES[POINT_SCOPES[point]];
    for (const { name, scope } of Object.values(needs)) {
      const offer = offers.find(({ token }) => token.name === name && token.scope === scope);
      if (offer === undefined)
        missing.add(`${point} needs ${name} of the ${scope} scope, which nobody provides${hint(name, scope, offers)}`);
      else if (!visible.includes(scope))
        missing.add(`${point} needs ${name} of the ${scope} scope, which a ${POINT_SCOPES[point]} cannot see`);
    }
  }
  if (missing.size === 0) return undefined;
  const problems = [...missing];
  return coreError('PluginNeedsMissing', {
    message: `${use}: ${problems.join('; ')}. Upgrade the operator or correct the plugin's needs`,
    details: { package: use, plugin: plugin.id, problems },
  });
}

function hint(name: string, scope: ScopeName, offers: readonly TokenOffer[]): string {
  const elsewhere = offers.find(({ token }) => token.name === name);
  if (elsewhere !== undefined)
    return `; ${elsewhere.by ?? 'the operator'} provides it in the ${elsewhere.token.scope} scope`;
  const known = offers.filter(({ token }) => token.scope === scope).map(({ token }) => token.name);
  return known.length === 0 ? '' : `; the nearest it knows is ${nearest(name, known)}`;
}

/** @returns what is wrong with the declaration itself, or its contributions */
export function declared(plugin: Plugin, use: string): Result<readonly AnyContribution[], ReverserError> {
  const contributions = plugin.contributions();
  for (const { point, serves } of contributions) {
    if (SELECTED.includes(point) && serves.length === 0) {
      return refuse(
        coreError('PluginManifestInvalid', {
          message: `${use}: its ${point} serves nothing, so no object can select it. Name what it stands for in \`serves\``,
          details: { package: use, plugin: plugin.id, point },
        }),
      );
    }
  }
  return ok(contributions);
}

/** Two packages with one id, or two that serve one value of one point. */
export function duplicates(
  plugins: readonly LoadedPlugin[],
): readonly { readonly plugin: LoadedPlugin; readonly problem: ReverserError }[] {
  const found: { readonly plugin: LoadedPlugin; readonly problem: ReverserError }[] = [];
  const ownerByClaim = new Map<string, LoadedPlugin>();
  for (const plugin of plugins) {
    const claims = [
      { claim: `the id ${plugin.id}`, key: `id ${plugin.id}` },
      ...plugin.contributions.flatMap(({ point, serves }) =>
        serves.map((value) => ({ claim: `the ${point} of ${value}`, key: `${point} ${value}` })),
      ),
    ];
    for (const { claim, key } of claims) {
      const owner = ownerByClaim.get(key);
      if (owner === undefined) ownerByClaim.set(key, plugin);
      else if (owner !== plugin || !key.startsWith('id '))
        found.push({ plugin, problem: duplicate(owner, plugin, claim) });
    }
  }
  return found;
}

function duplicate(first: LoadedPlugin, second: LoadedPlugin, claim: string): ReverserError {
  const message =
    first.use === second.use
      ? `${second.use} is ${claim} twice; configure it once`
      : `${first.use} and ${second.use} both are ${claim}; remove one of them from the configuration`;
  return coreError('PluginDuplicate', { message, details: { packages: [first.use, second.use], claim } });
}
