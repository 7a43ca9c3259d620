import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@gitops-reverser/kernel-api';

/** Longest timer Node keeps; longer sleeps are taken in parts. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => new Date(),
  async sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal.aborted; left -= LONGEST_MS) {
      try {
        await delay(Math.min(left, LONGEST_MS), undefined, { signal });
      } catch {
        return;
      }
    }
  },
};
