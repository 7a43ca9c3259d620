import { parseDuration, type TargetSettings } from '@gitops-reverser/kernel-api';
import { applyDefaults, type GitTargetSpec } from '@gitops-reverser/crd-types';

/** The parsed, defaulted form of a target's declaration. */
export function settingsOf(stored: GitTargetSpec): TargetSettings {
  const spec = applyDefaults('GitTarget', stored);
  const { liveTemplate, requestTemplate, reconcileTemplate } = spec.commit.message ?? {};
  return {
    path: spec.path,
    window: {
      idleMs: milliseconds(spec.commit.window.idleTimeout),
      maxMs: milliseconds(spec.commit.window.maxDuration),
    },
    messages: {
      ...(liveTemplate === undefined ? {} : { live: liveTemplate }),
      ...(requestTemplate === undefined ? {} : { request: requestTemplate }),
      ...(reconcileTemplate === undefined ? {} : { reconcile: reconcileTemplate }),
    },
    placement: {
      byType: spec.placement?.byType ?? {},
      ...(spec.placement?.default === undefined ? {} : { default: spec.placement.default }),
      useKustomize: spec.placement?.useKustomize ?? false,
    },
    ...(spec.serializeNamespace === undefined ? {} : { serializeNamespace: spec.serializeNamespace }),
    // A value this version does not know prunes nothing: the stricter reading is the safe one.
    prune: spec.prune.mode === 'Always' || spec.prune.mode === 'OnEvent' ? spec.prune.mode : 'Never',
    suspend: spec.suspend,
    generated: { include: spec.includeGenerated ?? [], exclude: spec.excludeGenerated ?? [] },
    ...(spec.encryption === undefined ? {} : { encryption: { provider: spec.encryption.provider } }),
  };
}

function milliseconds(duration: string): number {
  const ms = parseDuration(duration);
  if (ms === undefined) throw new TypeError(`not a duration: ${duration.length} characters`);
  return ms;
}

/** Equal, or one inside the other. */
export function foldersNest(a: string, b: string): boolean {
  if (a === '.' || b === '.' || a === b) return true;
  return a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}
