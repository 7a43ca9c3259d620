import { open, readFile, rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Held by one process at a time; a holder that died does not count. */
export interface BuildLock extends AsyncDisposable {
  /** Whether somebody else held it first: what was to be built may be there now. */
  readonly hasWaited: boolean;
}

/**
 * @param file the lock file; its folder must exist
 * @param onWait called once, with the pid of the holder, when the lock is held by somebody else
 */
export async function takeBuildLock(file: string, onWait: (pid: number) => void = () => undefined): Promise<BuildLock> {
  for (let hasWaited = false; ; hasWaited = true) {
    try {
      const handle = await open(file, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      return { hasWaited, [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    if (holder > 0 && !isAlive(holder)) {
      // Renaming has one winner: a lock taken anew in between is not removed.
      const stale = `${file}.${process.pid}.stale`;
      await rename(file, stale).catch(() => undefined);
      if (Number(await readFile(stale, 'utf8').catch(() => holder)) === holder) await rm(stale, { force: true });
      continue;
    }
    if (!hasWaited && holder > 0) onWait(holder);
    await sleep(200);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
