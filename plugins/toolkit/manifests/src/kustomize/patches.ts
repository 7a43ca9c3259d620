import type { FolderFile, JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { parseApiVersion } from '../identity.js';
import type { BuiltObject } from './build.js';
import { fault, unsupported, type KustomizeFeature } from './features.js';
import type { PatchFile, PatchSource } from './kustomization.js';
import { isFields } from './shapes.js';

export interface PatchContext {
  readonly blame: (feature: KustomizeFeature) => void;
  /** False when too much was done already. */
  readonly spend: (steps: number) => boolean;
  readonly open: (entry: string) => FolderFile | undefined;
}

/** What a patch file does to names: it may remove objects. Whatever it says of fields is checked for directives alone. */
export function applyPatch(
  objects: BuiltObject[],
  patch: PatchFile,
  { blame, open, spend }: PatchContext,
): BuiltObject[] {
  const file = open(patch.path);
  if (file === undefined) {
    blame(fault('patches-outside-tree', `patch ${patch.path} is no file of the repository`));
    return objects;
  }
  return applyText(objects, file.read(), { ...patch, blame, spend, label: `patch ${patch.path}` });
}

/** The same of a patch the folder is refused for anyway: only a build that fails is worth telling. */
export function applyRefusedPatch(objects: BuiltObject[], patch: PatchSource, context: PatchContext): BuiltObject[] {
  const { open, spend } = context;
  const blame = (feature: KustomizeFeature): void => {
    if (feature.code === 'render-failed' || feature.code === 'render-limit') context.blame(feature);
  };
  const label = 'path' in patch ? `patch ${patch.path}` : 'a patch';
  const content = 'path' in patch ? open(patch.path)?.read() : patch.text;
  if (content === undefined) {
    blame(fault('render-failed', `${label} is no file of the repository`));
    return objects;
  }
  const { target } = patch;
  return applyText(objects, content, { ...(target === undefined ? {} : { target }), blame, spend, label });
}

interface LabelledPatch extends Pick<PatchContext, 'blame' | 'spend'> {
  readonly label: string;
  readonly target?: JsonObject;
}

function applyText(objects: BuiltObject[], content: string | Uint8Array, patch: LabelledPatch): BuiltObject[] {
  const { blame, spend, label } = patch;
  const parsed = parseDocuments(content);
  if (!parsed.ok) {
    blame(fault('render-failed', `${label}: ${parsed.error.message}`));
    return objects;
  }
  let left = objects;
  for (const document of parsed.value) {
    if (document.state === 'empty') continue;
    if (!spend(left.length)) return left;
    if (document.state === 'read' && Array.isArray(document.value)) blame(unsupported('patches-json6902'));
    else if (document.state === 'read' && isFields(document.value)) left = applyMerge(left, document.value, patch);
    else blame(fault('render-failed', `${label} is no manifest that can be read`));
  }
  return left;
}

function applyMerge(objects: BuiltObject[], value: JsonObject, { label, target, blame }: LabelledPatch): BuiltObject[] {
  if (typeof value['sops'] === 'object') blame(fault('render-failed', `${label} is encrypted`));
  if (hasUnknownDirective(value)) blame(fault('render-failed', `${label} holds an unknown directive`));
  const isRemoval = value['$patch'] === 'delete';
  const matches = new Set(
    target === undefined ? matchesOf(objects, value) : selected(objects, target, isRemoval, blame),
  );
  if (target === undefined && matches.size === 0) blame(fault('render-failed', `${label} matches no object`));
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

const plainText = /^[A-Za-z0-9._/-]*$/;
const nameSelectors = new Set(['group', 'version', 'kind', 'name', 'namespace']);
const contentSelectors = new Set(['labelSelector', 'annotationSelector']);

/**
 * By literal selectors: kustomize takes them for patterns, and no foreign pattern is ever run. Which object is removed must be
 * told by names; which is changed need not.
 */
function selected(
  objects: readonly BuiltObject[],
  target: JsonObject,
  isRemoval: boolean,
  blame: PatchContext['blame'],
): readonly BuiltObject[] {
  const wanted: [string, string][] = [];
  for (const [key, value] of Object.entries(target)) {
    if (value === null || value === '') continue;
    if (contentSelectors.has(key) && !isRemoval) continue;
    if (!nameSelectors.has(key) || typeof value !== 'string' || !plainText.test(value))
      blame(unsupported('patches', `target ${key}`));
    else wanted.push([key, value]);
  }
  return objects.filter(({ identity, names, namespaces }) =>
    wanted.every(([key, value]) => {
      if (key === 'namespace') return namespaces.includes(value);
      return key === 'name' ? names.includes(value) : identity[key as 'group' | 'version' | 'kind'] === value;
    }),
  );
}

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
