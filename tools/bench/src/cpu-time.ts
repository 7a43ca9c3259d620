import { readFile } from 'node:fs/promises';

/** USER_HZ, which Linux fixes at 100 for everybody. */
const ticksPerSecond = 100;

/** Seconds of CPU a process has used so far; unlike wall time they say little about what else the machine does. */
export async function cpuSeconds(pid: number): Promise<number> {
  return parseCpuSeconds(await readFile(`/proc/${pid}/stat`, 'utf8'));
}

/** @param stat text of `/proc/PID/stat` */
export function parseCpuSeconds(stat: string): number {
  // The name in parentheses may hold anything, spaces and parentheses included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields[11], fields[12]].map(Number);
  if (user === undefined || system === undefined || Number.isNaN(user + system))
    throw new Error('/proc/PID/stat does not have the fields proc(5) describes');
  return (user + system) / ticksPerSecond;
}
