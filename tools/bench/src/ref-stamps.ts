import { poll } from '@gitops-reverser/e2e-harness';
import type { GitRepository, RefStamp } from '@gitops-reverser/e2e-harness';

/** Waits for the first ref update after the `seen` known ones. */
export async function nextStamp(repository: GitRepository, seen: number, what: string): Promise<RefStamp> {
  return await poll(async () => (await repository.refStamps())[seen], { what, deadlineMs: 60_000, intervalMs: 20 });
}

/** Milliseconds of the epoch. */
export const stampMs = ({ at }: RefStamp): number => Number(at / 1_000n) / 1_000;
