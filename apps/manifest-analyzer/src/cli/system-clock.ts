import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@gitops-reverser/kernel-api';

/** The time of the machine. Nothing here sleeps longer than one timer can. */
export const systemClock: Clock = {
  now: () => new Date(),
  async sleep(ms, signal) {
    try {
      await delay(Math.min(ms, 2 ** 31 - 1), undefined, { signal });
    } catch {
      // Asked to stop.
    }
  },
};
