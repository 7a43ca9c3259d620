import { jest } from '@jest/globals';
import { rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Base, BranchStore, CommitSha, Signature } from '@gitops-reverser/kernel-api';
import { startGitHost, type GitHost } from '@gitops-reverser/e2e-harness';
import { fakeLogger } from '@gitops-reverser/kernel-testing';
import { openBranchStore } from './branch-store.js';
import type { BranchStoreOptions } from './store/options.js';

/** Real git processes on a busy machine. */
jest.setTimeout(60_000);

export const signal = (): AbortSignal => new AbortController().signal;

export const author: Signature = { name: 'Ada Author', email: 'ada@example.com', at: new Date('2026-03-01T10:00:00Z') };
export const committer: Signature = {
  name: 'GitOps Reverser',
  email: 'noreply@configbutler.ai',
  at: new Date('2026-03-01T10:00:05Z'),
};

/** Time as it is, for real servers; sleeping is only ever cut short. */
export const wallClock: BranchStoreOptions['clock'] = {
  now: () => new Date(),
  sleep: (ms, stop) =>
    new Promise((resolve) => {
      if (stop.aborted) return resolve();
      const timer = setTimeout(resolve, ms);
      stop.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    }),
};

export interface Bench extends AsyncDisposable {
  readonly host: GitHost;
  readonly dir: string;
  /** Opened with defaults for tests; closed with the bench. */
  open(options: Partial<BranchStoreOptions> & { readonly url: string }): BranchStore;
}

/** A Git host and the stores that talk to it. */
export async function openBench(): Promise<Bench> {
  const dir = await mkdtemp(join(tmpdir(), 'toolkit-git-'));
  const host = await startGitHost({ dir: join(dir, 'host') });
  const stores: BranchStore[] = [];
  return {
    host,
    dir,
    open(options) {
      const store = openBranchStore({
        branch: 'main',
        version: '0.1.0',
        clock: wallClock,
        logger: fakeLogger(),
        ...options,
      });
      stores.push(store);
      return store;
    },
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await host.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export const text = (content: string): Uint8Array => new TextEncoder().encode(content);

/** Commits these files on a base; `null` removes. */
export async function commitOn(
  store: BranchStore,
  parent: CommitSha | undefined,
  files: Readonly<Record<string, string | null>>,
  message = 'Change\n',
): Promise<CommitSha> {
  const changes = new Map(
    Object.entries(files).map(([path, content]) => [path, content === null ? undefined : text(content)]),
  );
  const result = await store.commit({ parent, changes, author, committer, message });
  if (result.kind !== 'committed') throw new Error('nothing changed');
  return result.commit;
}

export const tipOf = (base: Base): CommitSha | undefined => (base.kind === 'root' ? undefined : base.commit);
