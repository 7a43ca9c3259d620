import { runCommand } from './processes.js';
import type { Finished } from './processes.js';

export interface KubectlOptions {
  readonly binary: string;
  readonly kubeconfigFile: string;
  /** Folder for kubectl's discovery cache. */
  readonly cacheDir: string;
}

export interface KubectlRunOptions {
  readonly input?: string;
  readonly deadlineMs?: number;
}

/** A kubectl bound to one cluster and one user. */
export class Kubectl {
  readonly #options: KubectlOptions;

  constructor(options: KubectlOptions) {
    this.#options = options;
  }

  /** The stock kubectl as another user of the same cluster. */
  as(kubeconfigFile: string): Kubectl {
    return new Kubectl({ ...this.#options, kubeconfigFile });
  }

  /** Runs kubectl and answers whatever its exit code. */
  try(args: readonly string[], options: KubectlRunOptions = {}): Promise<Finished> {
    const { binary, kubeconfigFile, cacheDir } = this.#options;
    return runCommand(binary, ['--kubeconfig', kubeconfigFile, '--cache-dir', cacheDir, ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: cacheDir, LC_ALL: 'C.UTF-8' },
      deadlineMs: options.deadlineMs ?? 60_000,
      ...(options.input === undefined ? {} : { input: options.input }),
    });
  }

  /** @throws Error with kubectl's own words */
  async run(args: readonly string[], options: KubectlRunOptions = {}): Promise<string> {
    const { exit, stdout, stderr } = await this.try(args, options);
    if (exit.code !== 0)
      throw new Error(`kubectl ${args.join(' ')} failed (${exit.code ?? exit.signal}): ${stderr.trim()}`);
    return stdout.toString();
  }

  /** Applies manifests given as text. */
  apply(manifests: string, ...flags: readonly string[]): Promise<string> {
    return this.run(['apply', ...flags, '-f', '-'], { input: manifests });
  }

  /** Reads objects as JSON. */
  async get<T = Record<string, unknown>>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.run(['get', ...args, '-o', 'json'])) as T;
  }
}
