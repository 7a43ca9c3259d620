import { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { createRedactor, type Clock } from '@gitops-reverser/kernel-api';
import { Agent, ProxyAgent, request, type Dispatcher } from 'undici';
import { gitError } from '../errors.js';
import { authorizationOf, secretsOf, type GitCredentials } from './credentials.js';
import { openDeadline, type Deadline } from './deadline.js';
import { faultOf, isRedirect } from './http-faults.js';
import type { GitService, Transport, TransportAnswer } from './transport.js';

export interface HttpTransportOptions {
  /** Checked by `parseRepositoryUrl` already. */
  readonly url: string;
  /** Read once a session. */
  credentials?(signal: AbortSignal): Promise<GitCredentials | undefined>;
  /** PEM; added to the system's roots. Read when the first connection after a reset is made. */
  ca?(): string | undefined;
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
  readonly proxy?: { readonly url: string; readonly username?: string; readonly password?: string };
  readonly userAgent: string;
  /** Credentials over plain http are refused without it. */
  readonly allowHttp?: boolean;
  readonly clock: Clock;
}

/** Chapter 40, 4.5. */
const CONNECT_MS = 10_000;
const FIRST_BYTE_MS = 30_000;
const BETWEEN_BYTES_MS = 60_000;
const OPERATION_MS = 600_000;
const MAX_REDIRECTS = 5;
const MAX_RETRY_AFTER_MS = 900_000;
/** Up to here a request is one buffer and so one write; above, copying would cost more than it saves. */
const ONE_WRITE_BYTES = 1024 * 1024;

/** Smart HTTP. Opens no connection before the first request. */
export class HttpTransport implements Transport {
  readonly canCallFirst = true;
  readonly displayUrl: string;
  readonly #options: HttpTransportOptions;
  #base: string;
  #agent: Dispatcher | undefined;
  #credentials: GitCredentials | undefined;
  #redact = createRedactor().redact;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.displayUrl = this.#redact(options.url);
    this.#base = options.url.replace(/\/+$/, '');
  }

  async begin(signal: AbortSignal): Promise<void> {
    this.#credentials = await this.#options.credentials?.(signal);
    const proxy = this.#options.proxy?.password;
    this.#redact = createRedactor([
      ...secretsOf(this.#credentials, new URL(this.#base).hostname),
      ...(proxy === undefined ? [] : [proxy]),
    ]).redact;
  }

  async advertise(service: GitService, protocol: 0 | 2, signal: AbortSignal): Promise<TransportAnswer> {
    let base = this.#base;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const url = `${base}/info/refs?service=${service}`;
      const answer = await this.#send(
        'GET',
        url,
        { accept: `application/x-${service}-advertisement, */*`, ...protocolHeader(protocol) },
        undefined,
        signal,
      );
      if (!isRedirect(answer.status)) {
        this.#base = base;
        return answer;
      }
      await drain(answer.body);
      base = this.#redirected(base, url, answer.location);
    }
    throw gitError('RemoteUnavailable', `${this.displayUrl}: more than ${MAX_REDIRECTS} redirects; check spec.url`);
  }

  call(
    service: GitService,
    protocol: 0 | 2,
    body: readonly Uint8Array[],
    signal: AbortSignal,
  ): Promise<TransportAnswer> {
    const headers = {
      'content-type': `application/x-${service}-request`,
      accept: `application/x-${service}-result`,
      ...protocolHeader(protocol),
    };
    return this.#send('POST', `${this.#base}/${service}`, headers, body, signal);
  }

  redact(text: string): string {
    return this.#redact(text);
  }

  async reset(): Promise<void> {
    this.#base = this.#options.url.replace(/\/+$/, '');
    this.#credentials = undefined;
    const agent = this.#agent;
    this.#agent = undefined;
    await agent?.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reset();
  }

  async #send(
    method: 'GET' | 'POST',
    url: string,
    headers: Record<string, string>,
    body: readonly Uint8Array[] | undefined,
    signal: AbortSignal,
  ): Promise<TransportAnswer & { readonly location?: string }> {
    signal.throwIfAborted();
    const { protocol, hostname } = new URL(url);
    if (protocol === 'http:' && this.#credentials !== undefined && this.#options.allowHttp !== true) {
      throw gitError(
        'InsecureTransport',
        `${this.displayUrl}: refused to send a credential over plain http; use https, or allow it for the whole install with --insecure-allow-git-http`,
      );
    }
    const deadline = openDeadline(this.#options.clock, OPERATION_MS, signal);
    try {
      const length = body?.reduce((sum, part) => sum + part.byteLength, 0) ?? 0;
      const answer = await request(url, {
        method,
        dispatcher: this.#connect(),
        signal: deadline.signal,
        headersTimeout: FIRST_BYTE_MS,
        bodyTimeout: BETWEEN_BYTES_MS,
        headers: {
          'user-agent': this.#options.userAgent,
          'cache-control': 'no-cache',
          ...headers,
          ...(this.#credentials === undefined ? {} : { authorization: authorizationOf(this.#credentials, hostname) }),
          ...(body === undefined ? {} : { 'content-length': String(length) }),
        },
        body:
          body === undefined
            ? null
            : length <= ONE_WRITE_BYTES
              ? Buffer.concat(body)
              : Readable.from(body, { objectMode: false }),
      });
      const retryAfterMs = retryAfter(answer.headers['retry-after'], this.#options.clock);
      const location = answer.headers['location'];
      return {
        status: answer.statusCode,
        contentType: String(answer.headers['content-type'] ?? ''),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(typeof location === 'string' ? { location } : {}),
        body: this.#read(answer.body, deadline, signal),
      };
    } catch (error) {
      deadline.close();
      throw this.#translate(error, deadline, signal);
    }
  }

  async *#read(body: AsyncIterable<Uint8Array>, deadline: Deadline, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw this.#translate(error, deadline, signal);
    } finally {
      deadline.close();
    }
  }

  #translate(error: unknown, deadline: Deadline, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (deadline.hasPassed)
      return gitError(
        'RemoteUnavailable',
        `${this.displayUrl}: not finished after ${OPERATION_MS / 60_000} minutes; it is tried again`,
      );
    return faultOf(error, this.displayUrl, this.#redact);
  }

  #redirected(base: string, from: string, location: string | undefined): string {
    const to = location === undefined ? undefined : URL.parse(location, from);
    const path = to === null || to === undefined ? undefined : /^(.*)\/info\/refs$/.exec(to.pathname)?.[1];
    if (to === null || to === undefined || path === undefined)
      throw gitError(
        'RepositoryNotFound',
        `${this.displayUrl}: redirected to something that is no repository; check spec.url`,
      );
    const before = new URL(base);
    const isSame = to.protocol === before.protocol && to.host === before.host;
    const isUpgrade = before.protocol === 'http:' && to.protocol === 'https:' && to.hostname === before.hostname;
    if (!isSame && !isUpgrade) {
      throw gitError(
        'RepositoryNotFound',
        `${this.displayUrl}: moved to another host (${to.protocol}//${to.host}${path}), which is not followed; set spec.url to the new address if you trust it`,
      );
    }
    return `${to.origin}${path}`;
  }

  #connect(): Dispatcher {
    if (this.#agent !== undefined) return this.#agent;
    const { clientCertificate, proxy } = this.#options;
    const ca = this.#options.ca?.();
    const tls = {
      minVersion: 'TLSv1.2' as const,
      ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      ...clientCertificate,
    };
    // Four seconds: below the five after which common servers close an idle connection under a request on its way.
    const pool = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 60_000, pipelining: 1, connections: 2 };
    if (proxy === undefined) this.#agent = new Agent({ ...pool, connect: { timeout: CONNECT_MS, ...tls } });
    else {
      const token =
        proxy.username === undefined
          ? undefined
          : `Basic ${Buffer.from(`${proxy.username}:${proxy.password ?? ''}`).toString('base64')}`;
      this.#agent = new ProxyAgent({
        ...pool,
        uri: proxy.url,
        ...(token === undefined ? {} : { token }),
        requestTls: { timeout: CONNECT_MS, ...tls },
        proxyTls: { timeout: CONNECT_MS },
      });
    }
    return this.#agent;
  }
}

async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
  const parts = body[Symbol.asyncIterator]();
  while ((await parts.next()).done !== true);
}

const protocolHeader = (protocol: 0 | 2): Record<string, string> =>
  protocol === 2 ? { 'git-protocol': 'version=2' } : {};

function retryAfter(value: string | string[] | undefined, clock: Clock): number | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - clock.now().getTime();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}
