import type { FolderFile, JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { parseApiVersion } from '../identity.js';
import type { BuiltObject } from './build.js';
import { fault, unsupported, type KustomizeFeature } from './features.js';
import type { Patch } from './kustomization.js';
import { select } from './selectors.js';
import { isFields } from './shapes.js';

export interface PatchContext {
  readonly blame: (feature: KustomizeFeature) => void;
  /** A patch for no object known here may be for one of those. */
  readonly hasUnknownObjects: boolean;
  /** False when too much was done already. */
  readonly spend: (steps: number) => boolean;
  readonly open: (entry: string) => FolderFile | undefined;
}

/** What a patch does to names: it may remove objects. Whatever it says of fields is checked for directives alone. */
export function applyPatch(objects: BuiltObject[], patch: Patch, context: PatchContext): BuiltObject[] {
  const { open, spend, hasUnknownObjects } = context;
  const label = 'path' in patch ? `patch ${patch.path}` : 'a patch';
  // Of what the folder is refused for anyway only a build that fails is worth telling.
  const blame = (feature: KustomizeFeature): void => {
    if (!patch.isRefused || feature.code === 'render-failed' || feature.code === 'render-limit') context.blame(feature);
  };
  const content = 'path' in patch ? open(patch.path)?.read() : patch.text;
  if (content === undefined) {
    const code = patch.isRefused ? 'render-failed' : 'patches-outside-tree';
    blame(fault(code, `${label} is no file of the repository`));
    return objects;
  }
  const { target } = patch;
  const selectors = target === undefined ? {} : { target };
  return applyText(objects, content, { ...selectors, blame, spend, hasUnknownObjects, label });
}

interface LabelledPatch extends Pick<PatchContext, 'blame' | 'spend' | 'hasUnknownObjects'> {
  readonly label: string;
  readonly target?: JsonObject;
}

function applyText(objects: BuiltObject[], content: string | Uint8Array, patch: LabelledPatch): BuiltObject[] {
  const { blame, spend, label, target } = patch;
  const parsed = parseDocuments(content);
  if (!parsed.ok) {
    blame(fault('render-failed', `${label}: ${parsed.error.message}`));
    return objects;
  }
  let left = objects;
  const documents = parsed.value.filter(({ state }) => state !== 'empty');
  if (documents.length === 0) blame(fault('render-failed', `${label} is empty`));
  if (documents.length > 1 && target !== undefined)
    blame(fault('render-failed', `${label} holds ${documents.length} documents, and a target takes one`));
  for (const document of documents) {
    if (!spend(left.length)) return left;
    if (document.state === 'read' && Array.isArray(document.value)) blame(unsupported('patches-json6902'));
    else if (document.state === 'read' && isFields(document.value)) left = applyMerge(left, document.value, patch);
    else blame(fault('render-failed', `${label} is no manifest that can be read`));
  }
  return left;
}

function applyMerge(objects: BuiltObject[], value: JsonObject, patch: LabelledPatch): BuiltObject[] {
  const { label, target, blame, hasUnknownObjects } = patch;
  if (typeof value['sops'] === 'object') blame(fault('render-failed', `${label} is encrypted`));
  if (hasUnknownDirective(value)) blame(fault('render-failed', `${label} holds an unknown directive`));
  const isRemoval = value['$patch'] === 'delete';
  const { kind, metadata } = value;
  if (target !== undefined && (!isText(kind) || !isFields(metadata) || !isText(metadata['name'])))
    blame(fault('render-failed', `${label} has no kind or no name`));
  const matches = new Set(
    target === undefined ? matchesOf(objects, value) : selected(objects, target, isRemoval, blame),
  );
  if (target === undefined && matches.size === 0 && !hasUnknownObjects)
    blame(fault('render-failed', `${label} matches no object`));
  return isRemoval ? objects.filter((object) => !matches.has(object)) : objects;
}

function matchesOf(objects: readonly BuiltObject[], patch: JsonObject): readonly BuiltObject[] {
  const { apiVersion, kind, metadata } = patch;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isFields(metadata)) return [];
  const { group, version } = parseApiVersion(apiVersion);
  const { name, namespace } = metadata;
  const wanted = typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
  return objects.filter(
    ({ identity, names, namespaces }) =>
      identity.group === group &&
      identity.version === version &&
      identity.kind === kind &&
      names.some((each) => each === name) &&
      namespaces.some((each) => (each ?? 'default') === (wanted ?? 'default')),
  );
}

/** Which object is removed must be told by names; which is changed need not. */
function selected(
  objects: readonly BuiltObject[],
  target: JsonObject,
  isRemoval: boolean,
  blame: PatchContext['blame'],
): readonly BuiltObject[] {
  const found = select(objects, target);
  if ('problem' in found) {
    const { key, problem } = found;
    const isBroken = problem === 'invalid';
    blame(
      isBroken ? fault('render-failed', `${key} of a target is no pattern`) : unsupported('patches', `target ${key}`),
    );
    return [];
  }
  const unclear = contentSelectors.find((key) => isRemoval && isText(target[key]));
  if (unclear !== undefined) blame(unsupported('patches', `target ${unclear}`));
  return found;
}

const contentSelectors = ['labelSelector', 'annotationSelector'];

const isText = (value: JsonValue | undefined): boolean => typeof value === 'string' && value !== '';

/** `$patch: delete` and `$patch: replace` are understood, everything else that starts with `$` is not. */
function hasUnknownDirective(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item: JsonValue) => hasUnknownDirective(item));
  return Object.entries(value).some(([key, content]) => {
    if (key === '$patch') return content !== 'delete' && content !== 'replace';
    return (
      /^\$(?:retainKeys$|setElementOrder\/|deleteFromPrimitiveList\/)/.test(key) ||
      hasUnknownDirective(content as JsonValue)
    );
  });
}
