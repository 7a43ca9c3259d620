import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * Reads `+ group` and `- group` lines; once its input ends, because the parent ended in whatever way (`kill -9`
 * included), it kills the groups still listed. Exit handlers would not do: Jest gives tests a copy of `process`
 * whose handlers never run.
 */
const script = `
trap '' INT TERM HUP
groups=' '
while read -r op group; do
  case $op in
    +) groups="$groups$group " ;;
    -) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

let reaper: ChildProcess | undefined;

function tell(line: string): void {
  if (reaper?.exitCode !== null || reaper.signalCode !== null) {
    reaper = spawn('/bin/sh', ['-c', script], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: { PATH: process.env['PATH'] ?? '' },
    });
    reaper.unref();
    (reaper.stdin as unknown as { unref?: () => void } | null)?.unref?.();
    reaper.stdin?.on('error', () => undefined);
    reaper.on('error', () => undefined);
  }
  reaper.stdin?.write(`${line}\n`);
}

/** From now on the process group does not outlive this process. */
export const guardGroup = (group: number): void => tell(`+ ${group}`);

/** The group has ended; its number may be given to somebody else. */
export const releaseGroup = (group: number): void => tell(`- ${group}`);

/** Kills a whole process group; one that has ended already is fine. */
export function killGroup(group: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
