import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Readable } from 'node:stream';

import { cleanGitEnv } from './git-command.js';
import { guardGroup, killGroup, releaseGroup } from './reaper.js';

export interface BackendRequest {
  readonly projectRoot: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly user: string;
  readonly contentType?: string | undefined;
  readonly contentLength?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly gitProtocol?: string | undefined;
}

export interface BackendAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends when git has ended. */
  readonly body: Readable;
}

/** One `git http-backend` for one request, spoken to over CGI. */
export class GitBackend {
  readonly #child: ChildProcessWithoutNullStreams;
  /** Settles when git and all its children have ended. */
  readonly ended: Promise<void>;
  #stderr = '';

  constructor(request: BackendRequest) {
    const optional = {
      CONTENT_TYPE: request.contentType,
      CONTENT_LENGTH: request.contentLength,
      HTTP_CONTENT_ENCODING: request.contentEncoding,
      GIT_PROTOCOL: request.gitProtocol,
    };
    const given = Object.entries(optional).filter((entry): entry is [string, string] => entry[1] !== undefined);
    this.#child = spawn('git', ['http-backend'], {
      detached: true,
      env: cleanGitEnv({
        GIT_PROJECT_ROOT: request.projectRoot,
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: request.method,
        PATH_INFO: request.path,
        QUERY_STRING: request.query,
        REMOTE_USER: request.user,
        REMOTE_ADDR: '127.0.0.1',
        SERVER_PROTOCOL: 'HTTP/1.1',
        ...Object.fromEntries(given),
      }),
    });
    const { pid } = this.#child;
    if (pid !== undefined) guardGroup(pid);
    this.#child.stdin.on('error', () => undefined);
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#stderr = (this.#stderr + chunk.toString()).slice(-4_096)));
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        if (pid !== undefined) releaseGroup(pid);
        resolve();
      };
      this.#child.once('close', end);
      this.#child.once('error', (error) => {
        this.#stderr += error.message;
        if (pid === undefined) end();
      });
    });
  }

  /** What git printed on standard error, at most the last 4 KiB. */
  get stderr(): string {
    return this.#stderr;
  }

  get input(): ChildProcessWithoutNullStreams['stdin'] {
    return this.#child.stdin;
  }

  /** Ends git and its children at once; a push that has not moved its ref never will. */
  kill(): void {
    const { pid } = this.#child;
    if (pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) killGroup(pid);
  }

  /** Reads the CGI header; the rest of the output is the body. */
  async answer(): Promise<BackendAnswer> {
    const { stdout } = this.#child;
    let head = Buffer.alloc(0);
    for (;;) {
      const chunk = (await nextChunk(stdout)) as Buffer | undefined;
      if (chunk === undefined) {
        await this.ended;
        return { status: 500, headers: { 'content-type': 'text/plain' }, body: stdout };
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) continue;
      const rest = head.subarray(end + 4);
      if (rest.length > 0) stdout.unshift(rest);
      return { ...parseHead(head.toString('latin1', 0, end)), body: stdout };
    }
  }
}

function nextChunk(stream: Readable): Promise<unknown> {
  return new Promise((resolve) => {
    const look = (): void => {
      const chunk: unknown = stream.read();
      if (chunk !== null) done(chunk);
      else if (stream.readableEnded || stream.destroyed) done(undefined);
    };
    const done = (chunk: unknown): void => {
      stream.off('readable', look).off('end', look).off('close', look);
      resolve(chunk);
    };
    stream.on('readable', look).on('end', look).on('close', look);
    look();
  });
}

function parseHead(head: string): { status: number; headers: Record<string, string> } {
  const headers: Record<string, string> = {};
  let status = 200;
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'status') status = Number(value.split(' ')[0]);
    else headers[name] = value;
  }
  return { status, headers };
}
