import { runCommand, startProcess } from './processes.js';
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
  /** Beside kubectl's own, such as the editor of `kubectl edit`. */
  readonly env?: Readonly<Record<string, string>>;
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
      env: { ...this.#env, ...options.env },
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

  /** Serves the cluster's API on loopback over plain HTTP, as this user: for many small requests. */
  async proxy(): Promise<{ readonly url: string } & AsyncDisposable> {
    const child = await startProcess({
      name: 'kubectl proxy',
      command: this.#options.binary,
      args: ['--kubeconfig', this.#options.kubeconfigFile, 'proxy', '--port=0'],
      env: this.#env,
    });
    const line = await child.waitForLine(/^Starting to serve on /);
    return {
      url: `http://${line.replace('Starting to serve on ', '')}`,
      [Symbol.asyncDispose]: async () => void (await child.kill()),
    };
  }

  /** Reads objects as JSON. */
  async get<T = Record<string, unknown>>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.run(['get', ...args, '-o', 'json'])) as T;
  }

  get #env(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: this.#options.cacheDir, LC_ALL: 'C.UTF-8' };
  }
}
