import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { git } from '@gitops-reverser/e2e-harness';
import type { GitHost, GitRepository } from '@gitops-reverser/e2e-harness';

import { nextStamp, stampMs } from './ref-stamps.js';

const name = 'rival';

/** The stock git CLI with a clone it keeps: edit a file, commit, push to a copy of the repository on the same host. */
export class GitCli {
  readonly #repository: GitRepository;
  readonly #clone: string;
  readonly #paths: ReadonlyMap<string, string>;
  #pushes = 0;

  constructor(repository: GitRepository, clone: string, paths: ReadonlyMap<string, string>) {
    this.#repository = repository;
    this.#clone = clone;
    this.#paths = paths;
  }

  /** @returns milliseconds from before the file is written until the ref is visible */
  async edit(key: string, before: string, after: string): Promise<number> {
    const path = this.#paths.get(key);
    if (path === undefined) throw new Error(`${key} is in no file of the clone`);
    const file = join(this.#clone, path);
    const text = await readFile(file, 'utf8');
    const edited = text.replace(before, after);
    if (edited === text) throw new Error(`${path} does not hold the value to edit`);
    const beganMs = Date.now();
    await writeFile(file, edited);
    await this.#git('commit', '--quiet', '--message', `edit ${key}`, '--', path);
    await this.#git('push', '--quiet', 'origin', 'main');
    const stamp = await nextStamp(this.#repository, this.#pushes, 'the push of the git CLI');
    this.#pushes += 1;
    return stampMs(stamp) - beganMs;
  }

  #git(...args: readonly string[]): Promise<string> {
    return git(args, { cwd: this.#clone });
  }
}

/** @param paths file of each object */
export async function openGitCli(
  host: GitHost,
  original: GitRepository,
  dir: string,
  paths: ReadonlyMap<string, string>,
): Promise<GitCli> {
  const repository = await host.createRepository(name);
  await repository.git('fetch', '--quiet', original.dir, 'refs/heads/main:refs/heads/main');
  await repository.stampRefs();
  await mkdir(dir, { recursive: true });
  const clone = join(dir, 'clone');
  await git(['clone', '--quiet', host.urlOf(name), clone]);
  const identity = { 'user.name': 'Rival', 'user.email': 'rival@example.com', 'gc.auto': '0' };
  for (const [key, value] of Object.entries(identity)) await git(['config', key, value], { cwd: clone });
  return new GitCli(repository, clone, paths);
}
