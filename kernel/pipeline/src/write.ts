import type { FolderView, Placed, PlanStep, Refusal } from '@gitops-reverser/kernel-api';
import { jailOf } from './jail.js';
import type { Slices } from './slices.js';

/** Bytes by path within the folder; `undefined` removes the file. */
export type FileChanges = ReadonlyMap<string, Uint8Array | undefined>;

/** The steps of one object, in order. */
export interface Work {
  readonly refKey: string;
  readonly steps: readonly PlanStep[];
}

export interface Rendered {
  readonly files: FileChanges;
  /** By object: nothing of these may be kept, and neither may `files` while there are any. */
  readonly refused: ReadonlyMap<string, Refusal>;
}

/** Renders all work onto one folder. Later steps see what earlier ones wrote; nothing leaves memory. */
export async function renderWork(
  writers: readonly Placed<'writer'>[],
  work: readonly Work[],
  folder: FolderView,
  root: FolderView,
  signal: AbortSignal,
  slices: Slices,
): Promise<Rendered> {
  const overlay = new Map<string, Uint8Array | undefined>();
  const refused = new Map<string, Refusal>();
  const jail = jailOf(folder, root);
  for (const { refKey, steps } of work) {
    for (const step of steps) {
      const found = jail(step.path);
      const refusal =
        found === undefined ? await renderStep(writers, step, folder, overlay, signal) : escape(step, found);
      if (refusal === undefined) continue;
      refused.set(refKey, refusal);
      break;
    }
    if (slices.spent()) await slices.rest();
    signal.throwIfAborted();
  }
  return { files: differing(overlay, folder), refused };
}

async function renderStep(
  writers: readonly Placed<'writer'>[],
  step: PlanStep,
  folder: FolderView,
  overlay: Map<string, Uint8Array | undefined>,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const mustEncrypt = step.kind === 'put-document' && step.sensitive;
  const writer = writers.find(({ instance }) => (!mustEncrypt || instance.encrypts) && instance.accepts(step));
  if (writer === undefined) return mustEncrypt ? noEncryption(step) : noWriter(step, writers);
  const before = overlay.has(step.path) ? overlay.get(step.path) : folder.file(step.path)?.read();
  const rendered = await writer.instance.render(step, before, signal);
  if (!rendered.ok) return rendered.error;
  overlay.set(step.path, rendered.value === 'delete-file' ? undefined : rendered.value);
  return undefined;
}

/** Only what really differs from the folder. */
function differing(overlay: ReadonlyMap<string, Uint8Array | undefined>, folder: FolderView): FileChanges {
  const files = new Map<string, Uint8Array | undefined>();
  for (const [path, bytes] of overlay) {
    const before = folder.file(path);
    if (bytes === undefined ? before === undefined : before !== undefined && Buffer.compare(before.read(), bytes) === 0)
      continue;
    files.set(path, bytes);
  }
  return files;
}

const refOf = (step: PlanStep): Pick<Refusal, 'ref'> => (step.kind === 'set-value' ? {} : { ref: step.ref });
const escape = (step: PlanStep, found: string): Refusal => ({
  code: 'write-escapes-scope',
  message: `${JSON.stringify(step.path)}: expected a file inside the folder, found that ${found}; nothing was written: choose another placement`,
  path: step.path,
  ...refOf(step),
});
const noEncryption = (step: PlanStep): Refusal => ({
  code: 'encryption-missing',
  message: `${step.path}: expected a writer that encrypts for a sensitive object, found none; configure encryption on the target, or do not select the type${step.kind === 'put-document' && step.replacesPlaintext === true ? '; its plain text stands in Git and stays in the history: rotate it' : ''}`,
  path: step.path,
  ...refOf(step),
});
const noWriter = (step: PlanStep, writers: readonly Placed<'writer'>[]): Refusal => ({
  code: 'no-writer',
  message: `${step.path}: expected a writer that accepts a ${step.kind} step, found ${writers.length === 0 ? 'none loaded' : `that ${writers.map(({ plugin }) => plugin).join(', ')} declined`}; load the plugin that writes such files`,
  path: step.path,
  ...refOf(step),
});
