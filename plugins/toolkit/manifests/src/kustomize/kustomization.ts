import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { fault, hashSuffix, unsupported, type KustomizeFeature } from './features.js';
import { readImages, readReplicas, type ImageEntry, type ReplicaEntry } from './entries.js';
import { readGenerators, type ConfigMapGenerator, type GeneratedName } from './generators.js';
import { checkSchema, schemas, selectorSchema } from './schema.js';
import { isEmptyValue, isFields, optionalText, Shape, textList } from './shapes.js';

/** Where a patch stands: in a file of its own, or in the kustomization itself. */
export type Patch = ({ readonly path: string } | { readonly text: string }) & {
  /** Literal selectors; a patch without one is for the object it names. */
  readonly target?: JsonObject;
  /** In a shape the folder is refused for. It is followed all the same, to tell what the folder holds. */
  readonly isRefused: boolean;
};

/** One kustomization file: what of it we understand, and why that may not be enough. */
export interface Kustomization {
  /** It may hold objects, remote ones or those of a plugin, that nobody knows before they are fetched or run. */
  readonly hasUnknownObjects: boolean;
  readonly isComponent: boolean;
  /** Local files and directories, `bases` folded in. */
  readonly resources: readonly string[];
  /** Local directories. */
  readonly components: readonly string[];
  readonly namespace?: string;
  readonly namePrefix: string;
  readonly nameSuffix: string;
  readonly images: readonly ImageEntry[];
  readonly replicas: readonly ReplicaEntry[];
  readonly generators: readonly ConfigMapGenerator[];
  /** Of `secretGenerator`: nothing but what it makes is of interest. */
  readonly secrets: readonly GeneratedName[];
  /** In the order in which they are applied. */
  readonly patches: readonly Patch[];
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

const objectMakers = ['generators', 'helmCharts', 'helmChartInflationGenerator'];

const nothing = {
  ...{ resources: [], components: [], namePrefix: '', nameSuffix: '', images: [], replicas: [], generators: [] },
  ...{ secrets: [], patches: [], hasUnknownObjects: false, isComponent: false },
};

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
  for (const [key, schema] of Object.entries(schemas)) checkSchema(value[key], schema, key, shape);
  checkOrder(value['sortOptions'], shape);
  if (Object.entries(value).every(([key, content]) => isNothing(key, content)))
    shape.add(fault('render-failed', 'it holds nothing but its type'));
  const references = [...textList(value, 'resources', shape), ...textList(value, 'bases', shape)];
  const components = isEmptyValue(value['components']) ? [] : textList(value, 'components', shape);
  const hasRemote = [...references, ...components].some(isRemote);
  if (hasRemote) shape.add(unsupported('remote-base'));
  const namespace = optionalText(value, 'namespace', shape);
  checkLabels(value['labels'], shape);
  const generators = readGenerators(value, shape);
  const patches = readPatches(value, shape);
  if (generators.some(({ hasHash }) => hasHash)) shape.add(hashSuffix);
  return {
    hasUnknownObjects: hasRemote || objectMakers.some((key) => !isEmptyValue(value[key])),
    isComponent: value['kind'] === 'Component',
    resources: references.filter((entry) => !isRemote(entry)),
    components: components.filter((entry) => !isRemote(entry)),
    ...(namespace === undefined ? {} : { namespace }),
    namePrefix: textOf(value['namePrefix']) ?? '',
    nameSuffix: textOf(value['nameSuffix']) ?? '',
    images: readImages(value, shape),
    replicas: readReplicas(value, shape),
    generators,
    secrets: readSecretNames(value['secretGenerator']),
    patches,
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
  for (const entry of listOf(labels))
    if (isFields(entry) && !isEmptyValue(entry['fields'])) shape.add(unsupported('labels', 'fields'));
}

function checkOrder(options: JsonValue | undefined, shape: Shape): void {
  if (!isFields(options)) return;
  const { order, legacySortOptions } = options;
  if (order !== 'fifo' && order !== 'legacy') shape.wrongType('order of sortOptions', 'fifo or legacy');
  else if (order === 'fifo' && isFields(legacySortOptions))
    shape.add(fault('unparseable', 'legacySortOptions are for the order legacy'));
}

const foldedLists = new Set(['bases', 'imageTags', 'helmChartInflationGenerator']);

/** As kustomize tells an empty file: it looks at what was decoded, and folds old lists into new ones before. */
function isNothing(key: string, content: JsonValue): boolean {
  if (key === 'apiVersion' || key === 'kind' || content === null || content === '') return true;
  return foldedLists.has(key) && isEmptyValue(content);
}

function readPatches(fields: JsonObject, shape: Shape): readonly Patch[] {
  const patches: Patch[] = [];
  for (const entry of shape.maps(fields['patches'], 'patches')) {
    const unknown = Object.keys(entry).find((key) => !['path', 'patch', 'target', 'options'].includes(key));
    if (unknown !== undefined) shape.unknownKey(unknown, 'patches');
    if (!isEmptyValue(entry['options'])) shape.add(unsupported('patches', 'options'));
    const target = entry['target'];
    const isSelector = checkSchema(target, selectorSchema, 'target of a patch', shape);
    const selectors = isSelector && isFields(target) && !isEmptyValue(target) ? { target } : {};
    if (!isEmptyValue(entry['patch'])) {
      shape.add(unsupported('patches-inline'));
      const text = textOf(entry['patch']);
      if (text !== undefined) patches.push({ text, ...selectors, isRefused: true });
      continue;
    }
    const path = optionalText(entry, 'path', shape);
    if (path === undefined) shape.add(fault('unparseable', 'a patch without path'));
    else patches.push({ path, ...selectors, isRefused: false });
  }
  return [...readMergePatches(fields), ...patches, ...readOperations(fields)];
}

/** Of `patchesStrategicMerge`, whatever has a shape that can be followed. Kustomize applies these before `patches`. */
function readMergePatches(fields: JsonObject): readonly Patch[] {
  return listOf(fields['patchesStrategicMerge']).flatMap((entry): readonly Patch[] => {
    const text = textOf(entry);
    if (text === undefined) return [];
    return [text.includes('\n') ? { text, isRefused: true } : { path: text, isRefused: true }];
  });
}

function readOperations(fields: JsonObject): readonly Patch[] {
  return listOf(fields['patchesJson6902']).flatMap((entry): readonly Patch[] => {
    const path = isFields(entry) ? textOf(entry['path']) : undefined;
    return path === undefined ? [] : [{ path, isRefused: true }];
  });
}

function readSecretNames(value: JsonValue | undefined): readonly GeneratedName[] {
  return listOf(value).flatMap((entry, index) => {
    const name = isFields(entry) ? textOf(entry['name']) : undefined;
    const namespace = isFields(entry) ? textOf(entry['namespace']) : undefined;
    return name === undefined ? [] : [{ index, name, ...(namespace === undefined ? {} : { namespace }) }];
  });
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : [];

const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
