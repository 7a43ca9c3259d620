import {
  definePlugin,
  ok,
  refuse,
  type DesiredChange,
  type FolderView,
  type KubeObject,
  type Layout,
  type ManagedDocument,
  type ObjectRef,
  type PlanStep,
  type Refusal,
  type Result,
  type Writer,
} from '@gitops-reverser/kernel-api';
import { toBytes, toText } from '../git-objects.js';

/**
 * A layout and a writer for folders of `.jsonl` files: one object a line, keys sorted. Small enough to be read whole, and all
 * a pipeline needs.
 */
export const jsonLines = definePlugin(
  {
    id: 'json-lines',
    kernelApi: '^1.0',
    options: {},
    reasons: { 'unreadable-line': 'a line of a .jsonl file is no Kubernetes object in JSON; repair or remove it' },
  },
  (on) => {
    on.layout({ needs: {}, create: createJsonLinesLayout });
    on.writer({ needs: {}, create: createJsonLinesWriter });
  },
);

/** JSON with sorted keys, so that equal objects give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'bigint') return each.toString();
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

interface Line {
  readonly path: string;
  readonly object: KubeObject;
}
const groupOf = (object: KubeObject): string =>
  object.apiVersion.includes('/') ? (object.apiVersion.split('/')[0] ?? '') : '';
const isAbout = (object: KubeObject, ref: ObjectRef): boolean =>
  object.kind === ref.kind &&
  groupOf(object) === ref.group &&
  object.metadata.name === ref.name &&
  object.metadata.namespace === ref.namespace;

function parseLine(text: string): KubeObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
    return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string'
      ? (value as KubeObject)
      : undefined;
  } catch {
    return undefined;
  }
}

const linesOf = (bytes: Uint8Array): readonly string[] =>
  toText(bytes)
    .split('\n')
    .filter((line) => line !== '');

function read(folder: FolderView): { readonly lines: readonly Line[]; readonly refusals: readonly Refusal[] } {
  const lines: Line[] = [];
  const refusals: Refusal[] = [];
  for (const file of folder.files()) {
    if (!file.path.endsWith('.jsonl')) continue;
    linesOf(file.read()).forEach((text, index) => {
      const object = parseLine(text);
      if (object === undefined) refusals.push(unreadable(file.path, index));
      else lines.push({ path: file.path, object });
    });
  }
  return { lines, refusals };
}

function unreadable(path: string, index: number): Refusal {
  return {
    code: 'unreadable-line',
    path,
    message: `${path}: line ${index + 1} is no Kubernetes object in JSON; repair or remove it`,
  };
}

function createJsonLinesLayout(): Layout {
  return {
    recognise(folder) {
      const files = [...folder.files()];
      if (files.length > 0 && !files.some(({ path }) => path.endsWith('.jsonl'))) return { kind: 'not-mine' };
      const { refusals } = read(folder);
      return refusals.length > 0 ? { kind: 'refused', refusals } : { kind: 'mine' };
    },
    documents: (folder) => read(folder).lines.map(toDocument),
    plan(changes, folder) {
      const { lines } = read(folder);
      return changes.map((change) => ok(stepsFor(change, lines)));
    },
  };
}

function toDocument({ path, object }: Line): ManagedDocument {
  const { namespace, name } = object.metadata;
  return { group: groupOf(object), kind: object.kind, name, path, ...(namespace === undefined ? {} : { namespace }) };
}

function stepsFor(change: DesiredChange, lines: readonly Line[]): readonly PlanStep[] {
  const { ref } = change;
  const existing = lines.find(({ object }) => isAbout(object, ref));
  if (change.kind === 'delete')
    return existing === undefined ? [] : [{ kind: 'drop-document', path: existing.path, ref }];
  const { object, sensitive } = change;
  if (existing !== undefined && canonicalJson(existing.object) === canonicalJson(object)) return [];
  const path = existing?.path ?? `${ref.namespace ?? '_cluster'}/${ref.kind.toLowerCase()}-${ref.name}.jsonl`;
  return [{ kind: 'put-document', path, ref, object, sensitive }];
}

function createJsonLinesWriter(): Writer {
  return {
    encrypts: false,
    accepts: (step) =>
      step.kind !== 'set-value' && step.path.endsWith('.jsonl') && !(step.kind === 'put-document' && step.sensitive),
    render: (step, before, signal) =>
      signal.aborted ? Promise.reject(signal.reason as Error) : Promise.resolve(rendered(step, before)),
  };
}

function rendered(step: PlanStep, before: Uint8Array | undefined): Result<Uint8Array | 'delete-file', Refusal> {
  if (step.kind === 'set-value')
    throw new TypeError('json-lines sets no single values; it does not accept such a step');
  const lines = before === undefined ? [] : linesOf(before);
  const objects = lines.map(parseLine);
  const bad = objects.indexOf(undefined);
  if (bad >= 0) return refuse(unreadable(step.path, bad));
  const at = objects.findIndex((object) => object !== undefined && isAbout(object, step.ref));
  const text = step.kind === 'put-document' ? [canonicalJson(step.object)] : [];
  const next = at < 0 ? [...lines, ...text] : [...lines.slice(0, at), ...text, ...lines.slice(at + 1)];
  return ok(next.length === 0 ? 'delete-file' : toBytes(`${next.join('\n')}\n`));
}
