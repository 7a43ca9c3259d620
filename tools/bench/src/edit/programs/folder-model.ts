import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitSha, FolderView, Logger } from '@gitops-reverser/kernel-api';
import { openBranchStore } from '@gitops-reverser/toolkit-git';

import { digestOf } from '../identities.js';
import { runProgram, timed } from './child.js';
import { openPlainFolder } from './plain.js';

export interface FolderModelAsk {
  readonly url: string;
  readonly path: string;
  /** Files that are changed one after the other, each in a commit of its own. */
  readonly changes: readonly { readonly path: string; readonly text: string }[];
}

export interface FolderModelAnswer {
  /** Nothing of the folder was read before; objects are packed in memory, as after a fetch. */
  readonly coldMs: number;
  readonly coldCpuMs: number;
  readonly warmMs: readonly number[];
  readonly afterFetchMiB: number;
  /** With another cache in the same process: the engine has compiled what is run. */
  readonly againMs: number;
  readonly documents: number;
  readonly digest: string;
}

const logger: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger };
const clock = {
  now: () => new Date(),
  sleep: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined),
};

await runProgram(async ({ url, path, changes }: FolderModelAsk): Promise<FolderModelAnswer> => {
  await using store = openBranchStore({ url, branch: 'main', version: 'bench', clock, logger, allowHttp: true });
  const base = await store.observe(new AbortController().signal);
  if (base.kind !== 'branch') throw new Error('the repository is empty');
  const { layout } = await openPlainFolder();
  const { layout: another } = await openPlainFolder();
  const afterFetchMiB = process.memoryUsage.rss() / 2 ** 20;
  const cold = timed(() => layout.recognise(store.folder(base.commit, path)));
  if (cold.value.kind !== 'mine') throw new Error(`the folder is not accepted: ${JSON.stringify(cold.value)}`);
  const documents = layout.documents(store.folder(base.commit, path));
  const warmMs: number[] = [];
  let parent: CommitSha = base.commit;
  for (const change of changes) {
    const bytes = Buffer.from(change.text);
    const person = { name: 'Bench', email: 'bench@example.com', at: new Date(0) };
    const draft = { parent, author: person, committer: person, message: 'Change\n' };
    const made = await store.commit({ ...draft, changes: new Map([[`${path}/${change.path}`, bytes]]) });
    if (made.kind !== 'committed') throw new Error(`${change.path} did not change`);
    parent = made.commit;
    const folder: FolderView = store.folder(parent, path);
    const warm = timed(() => layout.recognise(folder));
    if (warm.value.kind !== 'mine') throw new Error('the folder is not accepted after a change');
    warmMs.push(warm.ms);
  }
  const after = layout.documents(store.folder(parent, path));
  if (digestOf(after) !== digestOf(documents)) throw new Error('identities changed with a file that kept its own');
  return {
    coldMs: cold.ms,
    coldCpuMs: cold.cpuMs,
    warmMs,
    againMs: timed(() => another.recognise(store.folder(base.commit, path))).ms,
    afterFetchMiB,
    documents: documents.length,
    digest: digestOf(documents),
  };
});
