import { runCommand } from './processes.js';
import type { Finished } from './processes.js';

export interface GitOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
}

/**
 * The environment of every git command here: nothing of the machine's or the user's configuration, no prompts,
 * English texts, UTC.
 */
export function cleanGitEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    ...extra,
  };
}

/** Runs the stock git CLI and answers whatever its exit code. */
export function tryGit(args: readonly string[], options: GitOptions = {}): Promise<Finished> {
  return runCommand('git', args, {
    env: cleanGitEnv(options.env),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.input === undefined ? {} : { input: options.input }),
  });
}

/** Runs the stock git CLI and gives its standard output. */
export async function git(args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { exit, stdout, stderr } = await tryGit(args, options);
  if (exit.code !== 0) throw new Error(`git ${args.join(' ')} failed (${exit.code ?? exit.signal}): ${stderr.trim()}`);
  return stdout.toString();
}
