import { writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';

import { parseArguments, usage } from './arguments.js';
import type { BenchArguments } from './arguments.js';
import { folder } from './declarations.js';
import type { EditResult } from './edit/report.js';
import { measureEdit } from './edit/workload.js';
import { renderSingleEdit, renderSnapshot, toJson } from './report.js';
import type { BenchResult } from './report.js';
import { measureSingleEdits } from './single-edit.js';
import { measureSnapshot } from './snapshot.js';
import { withStage } from './stage.js';
import type { BenchStage } from './stage.js';
import { compareContent } from './verification.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const report = (text: string): void => void process.stderr.write(`${text}\n`);

process.exitCode = await main(process.argv.slice(2));

/** Exit codes: 0 measured (whatever the figures), 1 a fault or wrong content, 2 a command line to change. */
async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  switch (parsed.kind) {
    case 'help':
      say(usage);
      return 0;
    case 'refused':
      report(`bench: ${parsed.problem}\n\n${usage}`);
      return 2;
    case 'run':
      break;
  }
  const { options } = parsed;
  try {
    const { workloads } = options;
    const needsStage = workloads.has('W1') || workloads.has('W2');
    const result: BenchResult = {
      ...(needsStage ? await withStage(options, report, (stage) => measure(stage, options)) : {}),
      ...(workloads.has('edit') ? { edit: await measureFiles(options) } : {}),
    };
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(toJson(result))}\n`);
    return 0;
  } catch (error) {
    report(`bench: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

function machine(): string {
  return `Node ${process.version}, ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), load ${loadavg()[0]?.toFixed(1)}`;
}

async function measureFiles(options: BenchArguments): Promise<EditResult> {
  say(`without a cluster; ${machine()}`);
  return await measureEdit(options, report, say);
}

async function measure(stage: BenchStage, options: BenchArguments): Promise<BenchResult> {
  const { workloads } = options;
  say(`against ${stage.what}; ${machine()}`);
  // Without its snapshot there are no files to edit.
  const snapshot = await measureSnapshot(stage);
  if (workloads.has('W1')) say(renderSnapshot(snapshot, options.objects));
  await verify(stage);
  if (!workloads.has('W2')) return { snapshot };
  const singleEdit = await measureSingleEdits(stage, options.samples ?? 40, report);
  say(renderSingleEdit(singleEdit, options.objects));
  await verify(stage);
  return workloads.has('W1') ? { snapshot, singleEdit } : { singleEdit };
}

/** @throws Error when Git does not hold exactly what the cluster holds */
async function verify({ repository, objects }: BenchStage): Promise<void> {
  const tree = [...(await repository.readTree('main'))].filter(
    ([path]) => path.startsWith(`${folder}/`) && path.endsWith('.yaml'),
  );
  const problems = compareContent(objects, new Map(tree));
  if (problems.length > 0)
    throw new Error(`the content is wrong in ${problems.length} places:\n${problems.slice(0, 20).join('\n')}`);
  await repository.fsck();
  say(`    content verified: ${objects.size} objects in ${tree.length} files; git fsck --strict is clean`);
}
