import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { fault, hashSuffix, unsupported, type KustomizeFeature } from './features.js';
import { readImages, readReplicas, type ImageEntry, type ReplicaEntry } from './entries.js';
import { readGenerators, type ConfigMapGenerator } from './generators.js';
import { isEmptyValue, isFields, optionalText, Shape, textList } from './shapes.js';

export interface PatchFile {
  readonly path: string;
  /** Literal selectors; a patch without one is for the object it names. */
  readonly target?: JsonObject;
}

/** One kustomization file: what of it we understand, and why that may not be enough. */
export interface Kustomization {
  /** Local files and directories, `bases` folded in. */
  readonly resources: readonly string[];
  /** Local directories; never built, but no render roots either. */
  readonly components: readonly string[];
  readonly namespace?: string;
  readonly images: readonly ImageEntry[];
  readonly replicas: readonly ReplicaEntry[];
  readonly generators: readonly ConfigMapGenerator[];
  readonly patches: readonly PatchFile[];
  readonly features: readonly KustomizeFeature[];
}

const supportedKeys = new Set([
  ...['apiVersion', 'kind', 'metadata', 'resources', 'bases', 'namespace', 'images', 'imageTags', 'replicas'],
  ...['configMapGenerator', 'generatorOptions', 'patches', 'commonLabels', 'labels', 'commonAnnotations'],
  ...['buildMetadata', 'sortOptions'],
]);
const unsupportedKeys = new Set([
  ...['components', 'secretGenerator', 'generators', 'transformers', 'validators', 'replacements', 'vars'],
  ...['namePrefix', 'nameSuffix', 'patchesStrategicMerge', 'patchesJson6902', 'helmCharts', 'helmGlobals'],
  ...['helmChartInflationGenerator', 'configurations', 'crds', 'openapi'],
]);

const nothing = { resources: [], components: [], images: [], replicas: [], generators: [], patches: [] };

/** Reads a kustomization file. Never throws for what it holds: everything wrong is a feature. */
export function parseKustomization(bytes: Uint8Array): Kustomization {
  const parsed = parseDocuments(bytes);
  if (!parsed.ok) return { ...nothing, features: [fault('unparseable', parsed.error.message)] };
  const documents = parsed.value.filter(({ state }) => state !== 'empty');
  const [first] = documents;
  if (first === undefined) return { ...nothing, features: [fault('render-failed', 'the file is empty')] };
  if (documents.length > 1) return { ...nothing, features: [fault('unparseable', 'more than one document')] };
  if (first.state === 'invalid') return { ...nothing, features: [fault('unparseable', first.problem.message)] };
  if (first.state === 'non-editable')
    return { ...nothing, features: [fault('unparseable', `it holds ${first.construct}; write it without`)] };
  if (first.state !== 'read' || !isFields(first.value))
    return { ...nothing, features: [fault('unparseable', 'it is no map')] };
  return readFields(first.value);
}

function readFields(value: JsonObject): Kustomization {
  const shape = new Shape();
  checkType(value, shape);
  for (const [key, content] of Object.entries(value)) {
    if (supportedKeys.has(key)) continue;
    if (!unsupportedKeys.has(key)) shape.add(fault('unparseable', `unknown key ${key}`));
    else if (!isEmptyValue(content)) shape.add(unsupported(key));
  }
  const isBare = Object.keys(value).every((key) => ['apiVersion', 'kind', 'metadata'].includes(key));
  if (isBare) shape.add(fault('render-failed', 'it holds nothing but its type'));
  const references = [...textList(value, 'resources', shape), ...textList(value, 'bases', shape)];
  const components = isEmptyValue(value['components']) ? [] : textList(value, 'components', shape);
  if ([...references, ...components].some(isRemote)) shape.add(unsupported('remote-base'));
  const namespace = optionalText(value, 'namespace', shape);
  checkLabels(value['labels'], shape);
  const generators = readGenerators(value, shape);
  if (generators.some(({ hasHash }) => hasHash)) shape.add(hashSuffix);
  return {
    resources: references.filter((entry) => !isRemote(entry)),
    components: components.filter((entry) => !isRemote(entry)),
    ...(namespace === undefined ? {} : { namespace }),
    images: readImages(value, shape),
    replicas: readReplicas(value, shape),
    generators,
    patches: readPatches(value['patches'], shape),
    features: shape.features,
  };
}

function checkType({ apiVersion, kind }: JsonObject, shape: Shape): void {
  const isAbsent = (field: JsonValue | undefined): boolean => field === undefined || field === null || field === '';
  if (kind === 'Component') {
    shape.add(unsupported('components'));
    return;
  }
  if (!isAbsent(kind) && kind !== 'Kustomization') shape.add(fault('unparseable', 'its kind is not Kustomization'));
  else if (!isAbsent(apiVersion) && apiVersion !== 'kustomize.config.k8s.io/v1beta1')
    shape.add(fault('unparseable', 'its apiVersion is not kustomize.config.k8s.io/v1beta1'));
}

/** Found before anything is built: nothing is ever fetched. */
export function isRemote(entry: string): boolean {
  return entry.includes('://') || entry.includes('git@') || /^(?:github\.com|gitlab\.com|bitbucket\.org)\//.test(entry);
}

function checkLabels(labels: JsonValue | undefined, shape: Shape): void {
  for (const entry of shape.maps(labels, 'labels'))
    if (!isEmptyValue(entry['fields'])) shape.add(unsupported('labels', 'fields'));
}

function readPatches(value: JsonValue | undefined, shape: Shape): readonly PatchFile[] {
  const patches: PatchFile[] = [];
  for (const entry of shape.maps(value, 'patches')) {
    const unknown = Object.keys(entry).find((key) => !['path', 'patch', 'target', 'options'].includes(key));
    if (unknown !== undefined) shape.add(fault('unparseable', `unknown key ${unknown} in patches`));
    if (!isEmptyValue(entry['options'])) shape.add(unsupported('patches', 'options'));
    if (!isEmptyValue(entry['patch'])) {
      shape.add(unsupported('patches-inline'));
      continue;
    }
    const path = optionalText(entry, 'path', shape);
    const target = entry['target'];
    if (path === undefined) shape.add(fault('unparseable', 'a patch without path'));
    else if (isEmptyValue(target)) patches.push({ path });
    else if (isFields(target)) patches.push({ path, target });
    else shape.add(fault('unparseable', 'target of a patch is no map'));
  }
  return patches;
}
