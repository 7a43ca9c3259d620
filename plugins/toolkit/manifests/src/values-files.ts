import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { parseApiVersion } from './identity.js';

/** Entries of values files that documents of one blob name, as they are written there, by document index. */
export type NamedValuesFiles = ReadonlyMap<number, readonly string[]>;

/** Kinds that name Helm values beside themselves (chapter 20, 10.3). */
export function namesValues(group: string, kind: string): boolean {
  return (
    (group === 'argoproj.io' && kind === 'Application') ||
    (group === 'helm.toolkit.fluxcd.io' && kind === 'HelmRelease')
  );
}

export function readValuesFiles(bytes: Uint8Array): NamedValuesFiles {
  const named = new Map<number, readonly string[]>();
  const parsed = parseDocuments(bytes);
  if (!parsed.ok) return named;
  for (const document of parsed.value) {
    if (document.state !== 'read') continue;
    const [apiVersion, kind] = [at(document.value, 'apiVersion'), at(document.value, 'kind')];
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') continue;
    const entries = namesValues(parseApiVersion(apiVersion).group, kind) ? entriesOf(document.value, kind) : [];
    if (entries.length > 0) named.set(document.index, entries);
  }
  return named;
}

function entriesOf(manifest: JsonValue, kind: string): readonly string[] {
  const spec = at(manifest, 'spec');
  if (kind === 'HelmRelease') return textsOf(at(spec, 'chart', 'spec', 'valuesFiles'));
  const sources = at(spec, 'sources');
  const several = Array.isArray(sources) ? (sources as readonly JsonValue[]) : [];
  return [at(spec, 'source'), ...several].flatMap((source) => textsOf(at(source, 'helm', 'valueFiles')));
}

function textsOf(list: JsonValue | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((entry): entry is string => typeof entry === 'string') : [];
}

function at(value: JsonValue | undefined, ...keys: readonly string[]): JsonValue | undefined {
  let current = value;
  for (const key of keys) {
    if (typeof current !== 'object' || current === null || Array.isArray(current)) return undefined;
    const fields = current as JsonObject;
    if (!Object.hasOwn(fields, key)) return undefined;
    current = fields[key];
  }
  return current;
}
