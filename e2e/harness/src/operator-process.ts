import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { freePort, startProcess } from './processes.js';
import type { Exit, ServerProcess } from './processes.js';

export interface OperatorOptions {
  /** The bundle, `apps/operator/dist/operator.mjs`. */
  readonly bundle: string;
  /** Folder for its Git cache, configuration and log. */
  readonly dir: string;
  readonly kubeconfigFile: string;
  /** Text of the configuration file; default `version: 1`. */
  readonly config?: string;
  /** Namespace the operator believes to run in. */
  readonly namespace?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** Flags for node itself. */
  readonly nodeFlags?: readonly string[];
  /** Milliseconds until it must be ready; 0 does not wait. */
  readonly readyWithinMs?: number;
}

/** The bundled operator as a process of its own, outside the cluster. */
export class OperatorProcess implements AsyncDisposable {
  readonly process: ServerProcess;
  readonly healthUrl: string;
  readonly metricsUrl: string;

  constructor(process: ServerProcess, healthPort: number, metricsPort: number) {
    this.process = process;
    this.healthUrl = `http://127.0.0.1:${healthPort}`;
    this.metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  }

  async waitUntilReady(deadlineMs = 30_000): Promise<void> {
    await this.process.waitFor('/readyz to answer 200', async () => (await fetch(`${this.healthUrl}/readyz`)).ok, {
      deadlineMs,
      intervalMs: 50,
    });
  }

  async metrics(): Promise<string> {
    const answer = await fetch(this.metricsUrl);
    return await answer.text();
  }

  peakRssMiB(): Promise<number | undefined> {
    return this.process.peakRssMiB();
  }

  /** SIGTERM, and SIGKILL once the operator's own grace of 25 s has passed. */
  stop(graceMs = 30_000): Promise<Exit> {
    return this.process.stop(graceMs);
  }

  /** kill -9. */
  kill(): Promise<Exit> {
    return this.process.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

export async function startOperator(options: OperatorOptions): Promise<OperatorProcess> {
  const { dir, namespace = 'gitops-reverser', readyWithinMs = 30_000 } = options;
  await mkdir(join(dir, 'git-cache'), { recursive: true });
  const configFile = join(dir, 'config.yaml');
  await writeFile(configFile, options.config ?? 'version: 1\n');
  const [healthPort, metricsPort] = [await freePort(), await freePort()];
  const child = await startProcess({
    name: 'operator',
    command: process.execPath,
    logFile: join(dir, 'operator.log'),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: dir,
      TMPDIR: process.env['TMPDIR'] ?? '/tmp',
      POD_NAMESPACE: namespace,
      POD_NAME: 'operator-0',
      ...options.env,
    },
    args: [
      ...(options.nodeFlags ?? []),
      ...[options.bundle, 'run', '--kubeconfig', options.kubeconfigFile, '--config', configFile],
      ...[
        `--health-probe-bind-address=127.0.0.1:${healthPort}`,
        `--metrics-bind-address=127.0.0.1:${metricsPort}`,
        '--metrics-insecure',
      ],
      ...['--git-cache-dir', join(dir, 'git-cache'), '--insecure-allow-git-http'],
      ...(options.flags ?? []),
    ],
  });
  const operator = new OperatorProcess(child, healthPort, metricsPort);
  if (readyWithinMs > 0) {
    try {
      await operator.waitUntilReady(readyWithinMs);
    } catch (error) {
      await operator.kill();
      throw error;
    }
  }
  return operator;
}
