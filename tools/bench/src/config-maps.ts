export interface BenchConfigMap {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly data: Readonly<Record<string, string>>;
}

/** Bytes of `data`, keys and values. */
export const dataBytes = 400;
const entries = 5;
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789-./ ';

/** The same objects on every run: `count` ConfigMaps, spread evenly over the namespaces. */
export function configMaps(count: number, namespaces: number): readonly BenchConfigMap[] {
  const random = seeded(7);
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `settings-${String(index).padStart(5, '0')}`, namespace: namespaceName(index % namespaces) },
    data: payload(random),
  }));
}

export const namespaceName = (index: number): string => `bench-${String(index).padStart(2, '0')}`;
export const keyOf = ({ metadata }: Pick<BenchConfigMap, 'metadata'>): string =>
  `${metadata.namespace}/${metadata.name}`;

function payload(random: () => number): Readonly<Record<string, string>> {
  const data: Record<string, string> = {};
  for (let i = 0; i < entries; i++) {
    const key = `setting.${i}`;
    const length = dataBytes / entries - key.length;
    // No value is a number, and none begins or ends with a space: content, not the art of quoting.
    let value = 'v';
    while (value.length < length - 1) value += alphabet[Math.floor(random() * alphabet.length)] ?? '';
    data[key] = `${value}z`;
  }
  return data;
}

/** mulberry32: small, fast, the same everywhere. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
