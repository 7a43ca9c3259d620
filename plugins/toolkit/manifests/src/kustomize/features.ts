/** Why a Kustomize folder is not taken on (chapter 20, 8.2). */
export interface KustomizeFeature {
  readonly code: string;
  readonly solvable: boolean;
  /** Never file content, which may be a Secret. */
  readonly cause?: string;
}

/** Nothing unsupported: something is wrong, and its author can put it right. */
const faults = new Set([
  'unparseable',
  'malformed-images',
  'malformed-replicas',
  'patches-outside-tree',
  'render-failed',
]);

export function fault(
  code: 'unparseable' | 'malformed-images' | 'malformed-replicas' | 'patches-outside-tree' | 'render-failed',
  cause: string,
): KustomizeFeature {
  return { code, cause, solvable: true };
}

export function unsupported(code: string, cause?: string): KustomizeFeature {
  return cause === undefined ? { code, solvable: false } : { code, cause, solvable: false };
}

/** The one refusal of a generator that its author can clear: switch the hash off. */
export const hashSuffix: KustomizeFeature = {
  code: 'configMapGenerator',
  cause: 'the name suffix hash is on; set disableNameSuffixHash',
  solvable: true,
};

/** One of each code, sorted. A code is solvable when everything behind it is. */
export function mergeFeatures(features: readonly KustomizeFeature[]): readonly KustomizeFeature[] {
  const byCode = new Map<string, KustomizeFeature>();
  for (const feature of features) {
    const known = byCode.get(feature.code);
    // What cannot be cleared says more than what can.
    if (known === undefined || (known.solvable && !feature.solvable)) byCode.set(feature.code, feature);
  }
  return [...byCode.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}

/** The detail text of a refusal. */
export function describeFeatures(features: readonly KustomizeFeature[]): string {
  const merged = mergeFeatures(features);
  const isFault = merged.every(({ code }) => faults.has(code));
  const list = merged.map(({ code, cause }) => (cause === undefined ? code : `${code} (${cause})`)).join(', ');
  return isFault
    ? `kustomization has a fault that can be fixed in the repository: ${list}`
    : `kustomization uses unsupported feature(s): ${list}`;
}

export function isSolvable(features: readonly KustomizeFeature[]): boolean {
  return features.every(({ solvable }) => solvable);
}
