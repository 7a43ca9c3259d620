import { join } from 'node:path';

import { git, runCommand } from '@gitops-reverser/e2e-harness';
import type { GitRepository } from '@gitops-reverser/e2e-harness';

const root = join(import.meta.dirname, '..', '..', '..');

/** A fresh clone, as somebody makes one to look at a repository. */
export async function cloneInto(dir: string, repository: GitRepository): Promise<string> {
  await git(['clone', '--quiet', '--config', 'core.autocrlf=false', repository.dir, dir]);
  return dir;
}

/** `manifest-analyzer` as its README starts it. */
export async function analyze(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly text: string }> {
  const cli = join(root, 'apps', 'manifest-analyzer', 'src', 'cli', 'main.ts');
  const flags = ['--import', 'tsx', '--conditions=@gitops-reverser/source', cli];
  const { exit, stdout, stderr } = await runCommand(process.execPath, [...flags, ...args], { cwd: root });
  if (exit.code !== 0 && exit.code !== 1) throw new Error(`manifest-analyzer ${args.join(' ')} failed: ${stderr}`);
  return { code: exit.code, text: stdout.toString() };
}

/** What `scan-folder` says against a folder: `code path`, and its exit code under the policy `refuse`. */
export async function refusalsOf(
  folder: string,
): Promise<{ readonly code: number | null; readonly issues: readonly string[] }> {
  const { code, text } = await analyze('--mode', 'scan-folder', '--policy', 'refuse', '--format', 'json', folder);
  const { status } = JSON.parse(text) as { status: { issues: { kind: string; path: string }[] } };
  return { code, issues: status.issues.map(({ kind, path }) => `${kind} ${path}`) };
}
