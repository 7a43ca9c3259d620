import { createHash } from 'node:crypto';
import type { FolderFile, FolderView, Layout, PlanStep } from '@gitops-reverser/kernel-api';

import { deployments, namespaceOf, toFile, toObject, type BenchDeployment } from '../deployments.js';
import { cpuMsSince, runProgram, timed } from './child.js';
import { openPlainFolder } from './plain.js';

export interface EditFileAsk {
  readonly documents: number;
  readonly warmUps: number;
  readonly samples: number;
}

export interface EditFileAnswer {
  readonly fileBytes: number;
  /** Plan and render in a folder whose model is there. */
  readonly editMs: readonly number[];
  readonly editCpuMs: readonly number[];
  /** Model of the folder as the edit left it. */
  readonly modelMs: readonly number[];
}

const path = 'apps/deployments.yaml';
const type = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' } as const;

await runProgram(async ({ documents, warmUps, samples }: EditFileAsk): Promise<EditFileAnswer> => {
  const { layout, writer } = await openPlainFolder();
  const { signal } = new AbortController();
  const current = [...deployments(documents)];
  let folder = folderOf(Buffer.from(toFile(current)));
  const fileBytes = folder.file(path)?.read().length ?? 0;
  layout.recognise(folder);
  const editMs: number[] = [];
  const editCpuMs: number[] = [];
  const modelMs: number[] = [];
  for (let nth = 0; nth < warmUps + samples; nth++) {
    // A stride that meets every document before any a second time.
    const at = (nth * 257) % documents;
    const edited = editOf(current[at] as BenchDeployment, nth);
    current[at] = edited;
    const object = toObject(edited);
    const ref = { ...type, namespace: namespaceOf(edited), name: object.metadata.name };

    const cpuBefore = process.cpuUsage();
    const beganMs = performance.now();
    const [planned] = layout.plan([{ kind: 'upsert', ref, object, sensitive: false }], folder);
    const step = onlyStep(planned);
    const rendered = await writer.render(step, folder.file(step.path)?.read(), signal);
    const tookMs = performance.now() - beganMs;
    const tookCpuMs = cpuMsSince(cpuBefore);

    if (!rendered.ok || rendered.value === 'delete-file') throw new Error(`edit ${nth} was not rendered`);
    if (!Buffer.from(toFile(current)).equals(rendered.value))
      throw new Error(`edit ${nth} did not change its one line, or changed more`);
    folder = folderOf(rendered.value);
    const model = timed(() => layout.recognise(folder));
    if (model.value.kind !== 'mine') throw new Error(`the folder is not accepted after edit ${nth}`);
    if (nth < warmUps) continue;
    editMs.push(tookMs);
    editCpuMs.push(tookCpuMs);
    modelMs.push(model.ms);
  }
  return { fileBytes, editMs, editCpuMs, modelMs };
});

/** In turn a number with a comment behind it, and the end of a string. */
function editOf(deployment: BenchDeployment, nth: number): BenchDeployment {
  return nth % 2 === 0
    ? { ...deployment, replicas: deployment.replicas + 1 }
    : { ...deployment, tag: `${deployment.tag}-rc${nth}` };
}

function onlyStep(planned: ReturnType<Layout['plan']>[number] | undefined): PlanStep {
  const [step, ...others] = planned?.ok === true ? planned.value : [];
  if (step === undefined || others.length > 0) throw new Error('the edit was not planned as one step');
  return step;
}

/** A folder of this one file, named as Git names it. */
function folderOf(bytes: Uint8Array): FolderView {
  const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  const file: FolderFile = { path, oid, mode: 'file', read: () => bytes };
  return { path: '.', treeId: `tree of ${oid}`, files: () => [file], file: (at) => (at === path ? file : undefined) };
}
