import { poll } from '@gitops-reverser/e2e-harness';

import { parseArguments, usage } from './arguments.js';
import type { DemoArguments } from './arguments.js';
import { followCommits } from './commit-feed.js';
import { renderCommit } from './commit-view.js';
import { describeConditions, isMirrored } from './conditions.js';
import { withDemo } from './demo.js';
import type { Demo } from './demo.js';
import { firstEdit, makeEdit } from './edit.js';
import { demoBranch, demoNamespace } from './objects.js';
import { choosePalette } from './palette.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const complain = (text: string): void => void process.stderr.write(`${text}\n`);
const palette = choosePalette(process.env, process.stdout.isTTY);

/** How long the commit of `--once` may take; it is there after 7 s at most when all is well. */
const onceDeadlineMs = 60_000;
const readyDeadlineMs = 60_000;

process.exitCode = await main(process.argv.slice(2));

/** Exit codes: 0 done, 1 a fault, 2 a command line to change, 130 stopped before `--once` was done. */
async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  switch (parsed.kind) {
    case 'help':
      say(usage);
      return 0;
    case 'refused':
      complain(`demo: ${parsed.problem}\n\n${usage}`);
      return 2;
    case 'run':
      return await run(parsed.options);
  }
}

async function run(options: DemoArguments): Promise<number> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // Asked twice: whoever asks does not want to wait.
      if (stop.signal.aborted) process.exit(130);
      stop.abort();
    });
  }
  // Whoever reads our output may go first.
  process.stdout.on('error', () => stop.abort());
  const { signal } = stop;
  try {
    const isDone = await withDemo({ ...options, report: complain, signal }, (demo) => tell(demo, options, signal));
    return isDone || !options.once ? 0 : 130;
  } catch (error) {
    if (signal.aborted) return options.once ? 130 : 0;
    complain(`demo: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

/** @returns whether the story was told to its end; one without `--once` has none */
async function tell(demo: Demo, options: DemoArguments, signal: AbortSignal): Promise<boolean> {
  const { before: since } = demo;
  await orStopped(waitUntilMirrored(demo), signal);
  if (signal.aborted) return false;
  if (!demo.operator.process.isRunning) throw new Error(`the operator ended by itself\n${diagnosis(demo)}`);
  say(`Ready: namespace ${demoNamespace} is mirrored to ${demo.repository.dir}, branch ${demoBranch}.`);
  const edit = firstEdit(demo.kubeconfigFile);
  if (options.once) {
    say(`\nThe edit, made as alice through the API:\n  ${edit.command}\n`);
    await makeEdit(demo.cluster, edit);
  } else {
    say(`\nEdit it, and each edit becomes a commit below (ctrl-C stops):\n${suggestions(demo).join('\n')}\n`);
  }

  const deadline = new AbortController();
  const timer = options.once ? setTimeout(() => deadline.abort(), onceDeadlineMs) : undefined;
  // A dead operator makes no commits: nothing is left to wait for.
  void demo.operator.process.exited.then(() => deadline.abort());
  try {
    const over = AbortSignal.any([signal, deadline.signal]);
    for await (const commit of followCommits(demo.repository, demoBranch, since === undefined ? {} : { since }, over)) {
      const diff = await demo.repository.git('show', '--format=', '--patch', '--no-color', '--no-renames', commit.sha);
      say(renderCommit(commit, diff, { palette, maxDiffLines: options.once ? 80 : 200 }));
      if (options.once && commit.files.some(({ path }) => path === edit.path)) return true;
    }
  } finally {
    clearTimeout(timer);
  }
  if (signal.aborted) return false;
  throw new Error(
    demo.operator.process.isRunning
      ? `no commit of ${edit.path} within ${onceDeadlineMs / 1000} s\n${diagnosis(demo)}`
      : `the operator ended by itself\n${diagnosis(demo)}`,
  );
}

async function waitUntilMirrored(demo: Demo): Promise<void> {
  const { cluster, operator } = demo;
  const isOver = (): boolean => !operator.process.isRunning || isMirrored(cluster);
  await poll(isOver, {
    deadlineMs: readyDeadlineMs,
    intervalMs: 50,
    what: 'every object of the quick start to be Ready',
  }).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}\n${diagnosis(demo)}`, { cause: error });
  });
}

function diagnosis({ cluster, operator, dir, isKept }: Demo): string {
  const log = isKept ? `whole log: ${dir}/operator/operator.log` : 'run it with `-- --dir DIR` to keep the whole log';
  return `--- conditions\n${describeConditions(cluster)}\n--- last lines of the operator (${log})\n${operator.process.tail()}`;
}

function suggestions({ kubeconfigFile }: Demo): readonly string[] {
  const kubectl = `kubectl --kubeconfig ${kubeconfigFile} -n ${demoNamespace}`;
  return [
    'create configmap hello --from-literal=a=b',
    `patch configmap hello -p '{"data":{"a":"c"}}'`,
    'scale deployment press --replicas=3',
    'label orchard north taste=sour',
    'edit service press',
    'delete configmap hello',
  ].map((command) => `  ${kubectl} ${command}`);
}

/** Waits for the work, or until somebody asks to stop. */
async function orStopped(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([work, stopped]);
}
