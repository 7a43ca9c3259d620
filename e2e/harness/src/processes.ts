import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createWriteStream, mkdirSync } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { guardGroup, killGroup, releaseGroup } from './reaper.js';
import { poll, StopWaiting } from './waiting.js';
import type { PollOptions } from './waiting.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** Shown in errors; default: the command. */
  readonly name?: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** The whole environment of the child; default: this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Everything the child prints is appended here. */
  readonly logFile?: string;
  /** How many of the last lines are kept for errors and `lines()`. */
  readonly keepLines?: number;
}

/** A child process with a process group of its own, which never outlives this process. */
export class ServerProcess implements AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly startedAt = Date.now();
  /** Settles when the process has ended and everything it printed was read; never rejects. */
  readonly exited: Promise<Exit>;
  readonly logFile: string | undefined;
  #exit: Exit | undefined;
  readonly #lines: string[] = [];
  readonly #keepLines: number;
  #partial = '';

  constructor(child: ChildProcess & { readonly pid: number }, options: StartOptions) {
    this.name = options.name ?? options.command;
    this.pid = child.pid;
    this.logFile = options.logFile;
    this.#keepLines = options.keepLines ?? 400;
    const log = openLog(options.logFile);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        log?.write(text);
        this.#keep(text);
      });
    }
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        // A grandchild may still hold the pipes: the group ends with its leader.
        killGroup(this.pid);
        releaseGroup(this.pid);
      });
      child.once('close', (code, signal) => {
        log?.end();
        resolve(this.#exit ?? { code, signal });
      });
    });
  }

  get isRunning(): boolean {
    return this.#exit === undefined;
  }

  /** The last lines of standard output and error, oldest first. */
  lines(): readonly string[] {
    return this.#partial === '' ? [...this.#lines] : [...this.#lines, this.#partial];
  }

  /** The last lines as one text, for error messages. */
  tail(count = 20): string {
    return this.lines().slice(-count).join('\n');
  }

  /** Waits until `look` answers; fails at once, with the last lines, when the process ends before that. */
  async waitFor<T>(
    what: string,
    look: () => T | Promise<T>,
    options: PollOptions = {},
  ): Promise<Exclude<T, undefined | null | false>> {
    try {
      return await poll(
        async () => {
          if (!this.isRunning) {
            await this.exited;
            throw new StopWaiting(`it ended before that (${describeExit(this.#exit)})`);
          }
          return await look();
        },
        { ...options, what },
      );
    } catch (error) {
      const where = this.logFile === undefined ? '' : ` (whole log: ${this.logFile})`;
      throw new Error(
        `${this.name}: waiting for ${what}: ${(error as Error).message}${where}\n--- last lines\n${this.tail()}`,
        { cause: error },
      );
    }
  }

  /** Waits for a line, among those kept, that matches. */
  waitForLine(pattern: RegExp, options: PollOptions = {}): Promise<string> {
    return this.waitFor(`a line like ${pattern}`, () => this.lines().find((line) => pattern.test(line)), options);
  }

  /** Sends a signal to the whole process group. */
  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) killGroup(this.pid, signal);
  }

  /** Ends the process as a power cut would. */
  async kill(): Promise<Exit> {
    this.signal('SIGKILL');
    return await this.exited;
  }

  /**
   * Asks politely, then kills.
   *
   * @param graceMs milliseconds between SIGTERM and SIGKILL
   */
  async stop(graceMs = 5_000): Promise<Exit> {
    this.signal('SIGTERM');
    const timer = new AbortController();
    const late = sleep(graceMs, true, { signal: timer.signal }).catch(() => false);
    const isLate = await Promise.race([late, this.exited.then(() => false)]);
    timer.abort();
    return isLate ? await this.kill() : await this.exited;
  }

  /** Peak resident memory in MiB so far, from the kernel's high-water mark; `undefined` once the process has ended. */
  async peakRssMiB(): Promise<number | undefined> {
    const status = await readFile(`/proc/${this.pid}/status`, 'utf8').catch(() => '');
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #keep(text: string): void {
    const parts = (this.#partial + text).split('\n');
    this.#partial = parts.pop() ?? '';
    this.#lines.push(...parts);
    if (this.#lines.length > this.#keepLines) this.#lines.splice(0, this.#lines.length - this.#keepLines);
  }
}

function openLog(file: string | undefined): WriteStream | undefined {
  if (file === undefined) return undefined;
  mkdirSync(dirname(file), { recursive: true });
  // The folder of a test may be removed while the last lines arrive.
  return createWriteStream(file, { flags: 'a' }).on('error', () => undefined);
}

export function describeExit(exit: Exit | undefined): string {
  if (exit === undefined) return 'still running';
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}

/** Starts a child in a process group of its own. */
export async function startProcess(options: StartOptions): Promise<ServerProcess> {
  const child = spawn(options.command, options.args ?? [], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const { pid } = child;
  if (pid === undefined) {
    const reason = await new Promise<string>((resolve) => child.once('error', (error) => resolve(error.message)));
    throw new Error(`${options.name ?? options.command} could not be started: ${reason}`);
  }
  child.on('error', () => undefined);
  guardGroup(pid);
  return new ServerProcess(Object.assign(child, { pid }), options);
}

export interface Finished {
  readonly exit: Exit;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | Buffer;
  /** Milliseconds until the command is killed. */
  readonly deadlineMs?: number;
}

/** Runs a command to its end and gives what it printed, whatever its exit code. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  const child = spawn(command, args, {
    stdio: 'pipe',
    detached: true,
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const { pid } = child;
  if (pid !== undefined) guardGroup(pid);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A command may end without reading its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input);
  const { deadlineMs = 120_000 } = options;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    if (pid !== undefined) killGroup(pid);
  }, deadlineMs);
  try {
    const exit = await new Promise<Exit>((resolve, reject) => {
      child.once('error', (error) =>
        reject(new Error(`${command} could not be started: ${error.message}`, { cause: error })),
      );
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    const text = Buffer.concat(stderr).toString();
    if (isLate) throw new Error(`${command} ${args.join(' ')} did not end within ${deadlineMs} ms\n${text}`);
    return { exit, stdout: Buffer.concat(stdout), stderr: text };
  } finally {
    clearTimeout(timer);
    if (pid !== undefined) releaseGroup(pid);
  }
}

const given = new Set<number>();
/** Below what systems give to outgoing connections by themselves: one of those could take the port before its server does. */
const [lowestPort, portCount] = [20_000, 12_000];

/** A TCP port that is free on loopback now; never the same one twice in this process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowestPort + randomInt(portCount);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) =>
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true))),
  );
}

export interface TempDir extends AsyncDisposable {
  readonly path: string;
}

/** A fresh folder under the system's temporary folder, removed on disposal. */
export async function tempDir(purpose = 'e2e'): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), `gitops-reverser-${purpose}-`));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}
