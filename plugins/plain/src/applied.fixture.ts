import type { DesiredChange, KubeObject, ObjectRef, Refusal } from '@gitops-reverser/kernel-api';
import { deepFreeze, memoryFolder } from '@gitops-reverser/kernel-testing';
import { builtInType, FolderCache, parseApiVersion } from '@gitops-reverser/toolkit-manifests';
import { createPlainLayout, type PlainLayoutOptions } from './layout.js';
import { createPlainWriter } from './writer.js';

export type Files = Readonly<Record<string, string>>;
type Settings = Partial<PlainLayoutOptions['settings']>;

/** Plural of a kind of our own making: what a registry would say. */
const pluralOf = (group: string, kind: string): string =>
  builtInType(group, kind)?.resource ?? `${kind.toLowerCase()}s`;

export function refTo({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): ObjectRef {
  const type = parseApiVersion(apiVersion);
  const ref = { ...type, resource: pluralOf(type.group, kind), kind, name };
  return namespace === undefined ? ref : { ...ref, namespace };
}
export const upsert = (object: KubeObject): DesiredChange =>
  deepFreeze({ kind: 'upsert', ref: refTo(object), object, sensitive: object.kind === 'Secret' });
export const removal = (object: KubeObject): DesiredChange => deepFreeze({ kind: 'delete', ref: refTo(object) });

export interface Applied {
  readonly files: Files;
  /** In the order of the changes; undefined where all went well. */
  readonly refusals: readonly (Refusal | undefined)[];
  /** Paths of steps that this writer leaves to one that encrypts. */
  readonly sealed: readonly string[];
}

/** One batch on a folder that nobody has looked at before, as after a restart. */
export async function applied(
  before: Files,
  changes: readonly DesiredChange[],
  settings: Settings = {},
): Promise<Applied> {
  const layout = createPlainLayout({
    cache: new FolderCache(),
    settings: { placement: { byType: {}, useKustomize: false }, ...settings },
  });
  const writer = createPlainWriter(new FolderCache());
  const folder = memoryFolder(before);
  const recognition = layout.recognise(folder);
  if (recognition.kind !== 'mine') throw new Error(JSON.stringify(recognition));
  const files = new Map(Object.entries(before));
  const sealed: string[] = [];
  const refusals: (Refusal | undefined)[] = [];
  for (const answer of layout.plan(changes, folder)) {
    let refusal = answer.ok ? undefined : answer.error;
    for (const step of answer.ok ? answer.value : []) {
      if (!writer.accepts(step)) {
        sealed.push(step.path);
        continue;
      }
      const old = files.get(step.path);
      const bytes = old === undefined ? undefined : Buffer.from(old);
      const rendered = await writer.render(step, bytes, new AbortController().signal);
      if (!rendered.ok) refusal = rendered.error;
      else if (rendered.value === 'delete-file') files.delete(step.path);
      else files.set(step.path, Buffer.from(rendered.value).toString());
    }
    refusals.push(refusal);
  }
  return { files: Object.fromEntries(files), refusals, sealed };
}

const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** What a checkout on Windows would choke on. */
export function isValidOnWindows(path: string): boolean {
  return path
    .split('/')
    .every(
      (segment) =>
        segment !== '' &&
        !/[\\:*?"<>|\x00-\x1f]|[. ]$/.test(segment) &&
        !deviceName.test(segment) &&
        Buffer.byteLength(segment) <= 255,
    );
}
