import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import { admit, openAccess } from './git-access.js';
import type { Access } from './git-access.js';
import { GitBackend } from './git-backend.js';
import type { BackendAnswer } from './git-backend.js';
import { ActiveFault, faultName, refusalOf } from './git-faults.js';
import type { Fault, FaultHandle, FaultOptions, GitStep } from './git-faults.js';
import { describeRequest, splitPath, stepOf } from './git-requests.js';
import type { LoggedRequest, RequestEntry } from './git-requests.js';
import { createBareRepository } from './git-repository.js';
import type { CreateRepositoryOptions, GitRepository } from './git-repository.js';

export interface GitHostOptions {
  /** Folder for the repositories. */
  readonly dir: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Milliseconds an idle connection is kept open. */
  readonly keepAliveMs?: number;
}

export interface HostedRepositoryOptions extends CreateRepositoryOptions {
  /** Default: everybody may read and write. */
  readonly access?: Access;
}

interface Hosted {
  readonly repository: GitRepository;
  access: Access;
}

/** A Git host on loopback: bare repositories behind `git http-backend`, with access rules, a request log and bad days. */
export class GitHost implements AsyncDisposable {
  readonly dir: string;
  readonly port: number;
  readonly #server: Server;
  readonly #hosted = new Map<string, Hosted>();
  readonly #backends = new Set<GitBackend>();
  readonly #stopping = new AbortController();
  #requests: RequestEntry[] = [];
  #faults: ActiveFault[] = [];

  constructor(dir: string, server: Server) {
    this.dir = dir;
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (this.#stopping.signal.aborted || response.destroyed) return response.destroy();
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
        return response.end(`the test host failed: ${error instanceof Error ? error.message : String(error)}`);
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The address of a repository; with credentials in it for the git CLI. */
  urlOf(name: string, credentials?: { readonly user: string; readonly password: string }): string {
    const who =
      credentials === undefined
        ? ''
        : `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`;
    return `http://${who}127.0.0.1:${this.port}/${name}.git`;
  }

  async createRepository(name: string, options: HostedRepositoryOptions = {}): Promise<GitRepository> {
    if (this.#hosted.has(name)) throw new Error(`repository ${name} exists already`);
    const dir = join(this.dir, `${name}.git`);
    await mkdir(dirname(dir), { recursive: true });
    const repository = await createBareRepository(name, dir, options);
    this.#hosted.set(name, { repository, access: options.access ?? openAccess });
    return repository;
  }

  /** Removes a repository; requests for it are answered 404. */
  async removeRepository(name: string): Promise<void> {
    const hosted = this.#hosted.get(name);
    this.#hosted.delete(name);
    if (hosted !== undefined) await rm(hosted.repository.dir, { recursive: true, force: true });
  }

  repository(name: string): GitRepository {
    const hosted = this.#hosted.get(name);
    if (hosted === undefined)
      throw new Error(
        `there is no repository ${name} on this host; it has ${[...this.#hosted.keys()].join(', ') || 'none'}`,
      );
    return hosted.repository;
  }

  /** Changes who may do what, from the next request on. */
  setAccess(name: string, access: Access): void {
    const hosted = this.#hosted.get(name);
    if (hosted === undefined) throw new Error(`there is no repository ${name} on this host`);
    hosted.access = access;
  }

  /** All requests so far, oldest first. */
  requests(of: { readonly repository?: string; readonly step?: GitStep } = {}): readonly LoggedRequest[] {
    return this.#requests.filter(
      (entry) => (of.repository ?? entry.repository) === entry.repository && (of.step ?? entry.step) === entry.step,
    );
  }

  /** The request ledger: one short line a request. */
  ledger(repository?: string): readonly string[] {
    return this.requests(repository === undefined ? {} : { repository }).map(
      ({ step, status }) => `${step} ${status ?? 'cut'}`,
    );
  }

  clearRequests(): void {
    this.#requests = [];
  }

  /** Makes the next matching requests go wrong. The oldest fault that wants a request gets it. */
  async inject(fault: Fault, options: FaultOptions = {}): Promise<FaultHandle> {
    let frozen: string | undefined;
    if (fault.kind === 'lag') {
      if (options.repository === undefined) throw new Error('a lag needs the name of its repository');
      frozen = await this.#freeze(this.repository(options.repository));
    }
    const active = new ActiveFault(fault, options, frozen);
    this.#faults.push(active);
    return active;
  }

  clearFaults(): void {
    for (const fault of this.#faults) fault.remove();
    this.#faults = [];
  }

  /** Cuts all connections and kills every git at work, as a host that loses power. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.clearFaults();
    for (const backend of this.#backends) backend.kill();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
    await Promise.all([...this.#backends].map((backend) => backend.ended));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Copies the refs of a repository into one that shares its objects. */
  async #freeze(repository: GitRepository): Promise<string> {
    const dir = join(this.dir, '.frozen', `${this.#faults.length}-${performance.now()}`, basename(repository.dir));
    await mkdir(dirname(dir), { recursive: true });
    await cp(repository.dir, dir, {
      recursive: true,
      filter: (source) => !source.startsWith(join(repository.dir, 'objects')),
    });
    await mkdir(join(dir, 'objects', 'info'), { recursive: true });
    await writeFile(join(dir, 'objects', 'info', 'alternates'), `${join(repository.dir, 'objects')}\n`);
    return dir;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const { name, rest } = splitPath(url.pathname);
    const step = stepOf(request.method ?? 'GET', rest, url.searchParams.get('service'));
    const entry = describeRequest(request, url, name, step);
    this.#requests.push(entry);
    request.on('data', (chunk: Buffer) => (entry.requestBytes += chunk.length));
    request.pause();
    response.on('finish', () => Object.assign(entry, { status: response.statusCode, endedAt: Date.now() }));
    response.on('close', () => (entry.endedAt ??= Date.now()));

    const active = this.#faults.find((candidate) => candidate.claims(name, step));
    const fault = active?.fault;
    const hit = (): void => {
      active?.hit();
      if (fault !== undefined) entry.fault = faultName(fault);
    };
    if (fault?.kind === 'cut' && fault.at === 'request') {
      hit();
      return cut(request, response);
    }
    if (fault?.kind === 'answer') {
      hit();
      return reply(request, response, fault.status, fault.body ?? '', fault.headers);
    }

    const hosted = this.#hosted.get(name);
    const isPush = step === 'push' || step === 'push-advertisement';
    const admission = admit(hosted?.access ?? openAccess, request.headers.authorization, isPush);
    if (admission.status === 'unauthorized')
      return reply(request, response, 401, 'Unauthorized', { 'www-authenticate': 'Basic realm="Git"' });
    if (hosted === undefined) return reply(request, response, 404, 'Not found');
    if (admission.status === 'forbidden') return reply(request, response, 403, 'You may not write to this repository');

    if (fault !== undefined && 'at' in fault && fault.at === 'request') {
      hit();
      await (fault.kind === 'hold' ? active?.held() : fault.kind === 'delay' ? this.#sleep(fault.ms) : undefined);
    }
    const needsBody =
      fault !== undefined &&
      ((fault.kind === 'cut' && fault.at === 'body') ||
        fault.kind === 'require-multi-ack' ||
        fault.kind.startsWith('refuse-'));
    const body = needsBody ? await readAll(request) : undefined;
    if (fault?.kind === 'cut' && fault.at === 'body') {
      hit();
      cut(request, response);
      if (fault.server === 'stops') return;
      await this.#sleep(fault.goOnAfterMs ?? 0);
    } else if (fault !== undefined && body !== undefined) {
      const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      const refusal = refusalOf(fault, step, entry.gitProtocol, entry.isChunked, plain);
      if (refusal !== undefined) {
        hit();
        return reply(request, response, refusal.status, refusal.body);
      }
    }

    let dir = hosted.repository.dir;
    if (active?.frozenDir !== undefined && step !== 'push') {
      hit();
      dir = active.frozenDir;
    }
    const backend = this.#startBackend(dir, rest, url, request, admission.user, body);
    const answer = await backend.answer();
    answer.body.on('data', (chunk: Buffer) => (entry.responseBytes += chunk.length)).pause();
    if (response.destroyed) {
      // Git goes on without its client.
      answer.body.resume();
      return;
    }
    if (fault !== undefined && 'at' in fault && fault.at.startsWith('answer')) {
      const bytes = await readAll(answer.body);
      await backend.ended;
      hit();
      return this.#answerBadly(fault, active, { ...answer, bytes }, request, response);
    }
    return relay(answer, response);
  }

  async #answerBadly(
    fault: Fault,
    active: ActiveFault | undefined,
    answer: BackendAnswer & { readonly bytes: Buffer },
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { bytes } = answer;
    if (fault.kind === 'hold') await active?.held();
    if (fault.kind === 'delay') await this.#sleep(fault.ms);
    if (fault.kind !== 'cut') {
      response.writeHead(answer.status, answer.headers);
      response.end(bytes);
      return;
    }
    if (fault.at === 'answer') return cut(request, response);
    response.writeHead(answer.status, { ...answer.headers, 'content-length': String(bytes.length + 1) });
    const part = fault.at === 'answer-body' ? bytes.subarray(0, fault.afterBytes) : Buffer.alloc(0);
    response.flushHeaders();
    response.write(part, () => setImmediate(() => cut(request, response)));
  }

  #startBackend(
    dir: string,
    rest: string,
    url: URL,
    request: IncomingMessage,
    user: string,
    body: Buffer | undefined,
  ): GitBackend {
    const backend = new GitBackend({
      projectRoot: dirname(dir),
      path: `/${basename(dir)}${rest}`,
      query: url.search.slice(1),
      method: request.method ?? 'GET',
      user,
      contentType: request.headers['content-type'],
      contentLength: body === undefined ? request.headers['content-length'] : String(body.length),
      contentEncoding: request.headers['content-encoding'],
      gitProtocol: request.headers['git-protocol']?.toString(),
    });
    this.#backends.add(backend);
    void backend.ended.then(() => this.#backends.delete(backend));
    if (body === undefined) {
      // A client that goes away mid-body ends git's input, as a web server would.
      request.once('close', () => backend.input.end());
      request.pipe(backend.input);
    } else backend.input.end(body);
    return backend;
  }

  #sleep(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stopping.signal });
  }
}

function cut(request: IncomingMessage, response: ServerResponse): void {
  request.socket.resetAndDestroy();
  response.destroy();
}

function reply(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  // An unread body would make the connection unusable for the next request.
  request.resume();
  response.writeHead(status, {
    'content-type': 'text/plain',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  });
  response.end(body);
}

function relay(answer: BackendAnswer, response: ServerResponse): void {
  response.writeHead(answer.status, answer.headers);
  response.once('close', () => answer.body.resume());
  answer.body.pipe(response);
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Starts a Git host on loopback. */
export async function startGitHost(options: GitHostOptions): Promise<GitHost> {
  await mkdir(options.dir, { recursive: true });
  const server = createServer({ keepAliveTimeout: options.keepAliveMs ?? 65_000, requestTimeout: 0 });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve),
  );
  return new GitHost(options.dir, server);
}
