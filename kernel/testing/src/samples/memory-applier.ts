import { definePlugin, token, type Applier, type CommitSha } from '@gitops-reverser/kernel-api';
import { bell } from './bell.js';

/** A tool that applies commits, in memory: suspended or not, by whom, and what it has applied. */
export interface MemoryTool {
  readonly state: { readonly isSuspended: boolean; readonly heldBy?: string; readonly note?: string };
  readonly applied: readonly CommitSha[];
  set(state: MemoryTool['state']): void;
  apply(commit: CommitSha): 'applied' | 'failed';
  failNext(): void;
  /** Resolves when anything changes, or on abort. */
  changed(signal: AbortSignal): Promise<void>;
}

export const memoryToolEnd = token<MemoryTool, 'branch'>('memory-tool', 'branch');

export function memoryTool(
  initial: MemoryTool['state'] = { isSuspended: false, note: 'set by its owner' },
): MemoryTool {
  let state = initial;
  let failures = 0;
  const applied: CommitSha[] = [];
  const changes = bell();
  return {
    get state() {
      return state;
    },
    applied,
    set(next) {
      state = next;
      changes.ring();
    },
    apply(commit) {
      if (failures > 0) {
        failures -= 1;
        return 'failed';
      }
      applied.push(commit);
      changes.ring();
      return 'applied';
    },
    failNext: () => void (failures += 1),
    changed: changes.rung,
  };
}

/** An applier over a {@link MemoryTool}; serves the claim kind `MemoryClaim`. */
export const memoryApplier = definePlugin(
  {
    id: 'memory-applier',
    kernelApi: '^1.0',
    options: {},
    reasons: { ApplyFailed: 'the tool refused the commit; look at what the tool says, fix the commit and push again' },
  },
  (on) => {
    on.applier({
      serves: ['MemoryClaim'],
      needs: { tool: memoryToolEnd },
      create: ({ needs }) => createMemoryApplier(needs.tool),
    });
  },
);

const OURS = 'gitops-reverser/';

function createMemoryApplier(tool: MemoryTool): Applier {
  // The state before the hold is kept in the tool itself, so that a later life finds it.
  const originals = (): string => tool.state.heldBy?.slice(tool.state.heldBy.indexOf('#') + 1) ?? '';
  const isOurs = (): boolean => tool.state.heldBy?.startsWith(OURS) === true;
  return {
    async *observe(signal) {
      for (let told = ''; !signal.aborted;) {
        const applied = tool.applied.at(-1);
        const seen = { busy: false, held: isOurs(), ...(applied === undefined ? {} : { applied }) };
        const text = JSON.stringify(seen);
        if (text === told) await tool.changed(signal);
        else {
          told = text;
          yield seen;
        }
      }
    },
    async hold(owner, signal) {
      signal.throwIfAborted();
      const { heldBy } = tool.state;
      if (heldBy !== undefined && !heldBy.startsWith(`${OURS}${owner.uid}#`)) {
        return { kind: 'contested', by: heldBy, message: `held by ${heldBy}; release it there first` };
      }
      const original = heldBy === undefined ? JSON.stringify(tool.state) : originals();
      tool.set({
        ...(JSON.parse(original) as MemoryTool['state']),
        isSuspended: true,
        heldBy: `${OURS}${owner.uid}#${original}`,
      });
      return { kind: 'held', original };
    },
    async apply(request, window, signal) {
      signal.throwIfAborted();
      await window.opened();
      try {
        signal.throwIfAborted();
        if (tool.apply(request.commit) === 'applied') return { kind: 'applied', commit: request.commit };
        return { kind: 'failed', reason: 'ApplyFailed', message: `the tool refused ${request.commit}` };
      } finally {
        await window.closed();
      }
    },
    async release(policy, original, signal) {
      signal.throwIfAborted();
      if (!isOurs()) return { kind: 'not-ours', message: 'the tool is not held by us; nothing was changed' };
      const before = JSON.parse(original) as MemoryTool['state'];
      if (policy === 'Restore') tool.set(before);
      if (policy === 'Resume') tool.set({ ...before, isSuspended: false });
      return { kind: 'released' };
    },
  };
}
