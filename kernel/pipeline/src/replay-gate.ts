/** Bounds how many replays run at the same time, in all and for each cluster. First come, first served. */
export interface ReplayGate {
  /** Resolves with the way to give the place back; undefined when `signal` aborted first. */
  enter(cluster: string, signal: AbortSignal): Promise<(() => void) | undefined>;
}

export function replayGate(limits: { readonly replays: number; readonly replaysPerCluster: number }): ReplayGate {
  let running = 0;
  const runningByCluster = new Map<string, number>();
  const waiting: { readonly cluster: string; enter(): void }[] = [];

  const hasRoom = (cluster: string): boolean =>
    running < limits.replays && (runningByCluster.get(cluster) ?? 0) < limits.replaysPerCluster;
  const take = (cluster: string): (() => void) => {
    running += 1;
    runningByCluster.set(cluster, (runningByCluster.get(cluster) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running -= 1;
      const left = (runningByCluster.get(cluster) ?? 1) - 1;
      if (left === 0) runningByCluster.delete(cluster);
      else runningByCluster.set(cluster, left);
      admit();
    };
  };
  const admit = (): void => {
    for (let index = 0; index < waiting.length;) {
      const next = waiting[index];
      if (next !== undefined && hasRoom(next.cluster)) {
        waiting.splice(index, 1);
        next.enter();
      } else index += 1;
    }
  };

  return {
    enter(cluster, signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      if (hasRoom(cluster)) return Promise.resolve(take(cluster));
      return new Promise((resolve) => {
        const leave = (): void => {
          waiting.splice(waiting.indexOf(entry), 1);
          resolve(undefined);
        };
        const entry = {
          cluster,
          enter: () => {
            signal.removeEventListener('abort', leave);
            resolve(take(cluster));
          },
        };
        waiting.push(entry);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
