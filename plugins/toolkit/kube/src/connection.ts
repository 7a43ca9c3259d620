import type { Clock } from '@gitops-reverser/kernel-api';
import type { Dispatcher } from 'undici';
import { linkAbort, onAbort } from './abort.js';
import { readBody } from './answer-body.js';
import type { AuthMaterial, KubeCredentials } from './credentials.js';
import { Dispatchers, tlsKey, type TransportTimeouts } from './dispatchers.js';
import { Http2Streams, type OpenedStream } from './http2-streams.js';
import { toQueryString, type Query } from './paths.js';
import { RateLimiter, type RateLimit } from './rate-limiter.js';
import { toTransportError, transportError } from './transport-error.js';

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's own prefix: `/api/v1/namespaces`. */
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole request, body included; absent: only the connect and headers timeouts hold. */
  readonly timeoutMs?: number;
}

export interface KubeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Whole and decompressed. */
  readonly body: Buffer;
}

/** One API server, one credential. Requests and watches use connections of their own. */
export interface KubeConnection extends AsyncDisposable {
  /** For messages: the server's URL, with its path prefix. */
  readonly server: string;
  /** Namespace of the kubeconfig's context or of the service account. */
  readonly namespace: string | undefined;
  readonly clock: Clock;
  /** @throws KubeError when there was no answer; any HTTP status but a redirect is an answer */
  request(request: KubeRequest, signal: AbortSignal): Promise<KubeAnswer>;
  /** A GET whose body is read as it comes. Only its opening counts against the rate limit (30, SC-14). */
  openStream(request: Pick<KubeRequest, 'path' | 'query' | 'headers'>, signal: AbortSignal): Promise<OpenedStream>;
  close(): Promise<void>;
}

export interface KubeConnectionOptions {
  readonly credentials: KubeCredentials;
  readonly clock: Clock;
  /** Absent: no limit, as for the in-cluster connection (30, SC-14). */
  readonly rateLimit?: RateLimit;
  /** Watches over HTTP/2 where the server offers it by ALPN; without it each watch has its own connection. Default false. */
  readonly allowH2?: boolean;
  /** TCP and TLS together. Default 15_000 (30, SC-15). */
  readonly connectTimeoutMs?: number;
  /** From the request to the first byte of the answer. Default 30_000 (30, SC-18). */
  readonly headersTimeoutMs?: number;
  /** Largest body of one answer, decompressed. Default 256 MiB. */
  readonly maxBodyBytes?: number;
  /** Default `gitops-reverser`. It names us in managedFields and in audit logs. */
  readonly userAgent?: string;
}

const MIB = 1024 * 1024;
// Far above what a page of 500 objects needs; a list that large without pages is a mistake.
const MAX_BODY = 256 * MIB;
// Requests at a time; more would only wait in the server's own queues (API priority and fairness).
const REQUEST_CONNECTIONS = 32;

export function openKubeConnection(options: KubeConnectionOptions): KubeConnection {
  return new HttpConnection(options);
}

type Headers = Record<string, string | readonly string[]>;

class HttpConnection implements KubeConnection {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly #credentials: KubeCredentials;
  readonly #base: URL;
  readonly #prefix: string;
  readonly #timeouts: TransportTimeouts;
  readonly #limiter: RateLimiter | undefined;
  readonly #requests: Dispatchers;
  readonly #watches: Dispatchers;
  readonly #maxBodyBytes: number;
  readonly #userAgent: string;
  #http2: { readonly key: string; readonly streams: Http2Streams } | undefined;
  #retired: Http2Streams[] = [];
  #mayH2: boolean;
  #closed = false;

  constructor(options: KubeConnectionOptions) {
    const { credentials, clock } = options;
    this.#credentials = credentials;
    this.clock = clock;
    this.namespace = credentials.namespace;
    this.#base = new URL(credentials.server);
    // FC-KCP-1: every request stays below the path of the server URL.
    this.#prefix = this.#base.pathname.replace(/\/+$/, '');
    this.server = `${this.#base.origin}${this.#prefix}`;
    this.#timeouts = { connectMs: options.connectTimeoutMs ?? 15_000, headersMs: options.headersTimeoutMs ?? 30_000 };
    this.#limiter = options.rateLimit === undefined ? undefined : new RateLimiter(options.rateLimit, clock);
    const transport = { origin: this.#base.origin, proxyUrl: credentials.proxyUrl, timeouts: this.#timeouts };
    this.#requests = new Dispatchers({ ...transport, connections: REQUEST_CONNECTIONS });
    this.#watches = new Dispatchers(transport);
    this.#maxBodyBytes = options.maxBodyBytes ?? MAX_BODY;
    this.#userAgent = options.userAgent ?? 'gitops-reverser';
    this.#mayH2 = options.allowH2 === true && this.#base.protocol === 'https:' && credentials.proxyUrl === undefined;
  }

  async request(request: KubeRequest, signal: AbortSignal): Promise<KubeAnswer> {
    const asked = this.#asked(request);
    return await this.#within(request.timeoutMs, asked, signal, async (inner) => {
      const { headers, tls } = await this.#admitted(request, asked, inner);
      const answer = await this.#dispatch(this.#requests.for(tls), request, headers, inner);
      const plain = plainHeaders(answer.headers);
      refuseRedirect(answer.statusCode, asked, () => answer.body.on('error', () => undefined).destroy());
      return {
        status: answer.statusCode,
        headers: plain,
        body: await readBody(answer.body, plain['content-encoding'], this.#maxBodyBytes, asked),
      };
    });
  }

  async openStream(
    request: Pick<KubeRequest, 'path' | 'query' | 'headers'>,
    signal: AbortSignal,
  ): Promise<OpenedStream> {
    const get: KubeRequest = { ...request, method: 'GET' };
    const asked = this.#asked(get);
    const opened = await this.#headersWithin(asked, signal, async (inner) => {
      const material = await this.#admitted(get, asked, inner);
      return (await this.#openHttp2(get, material, asked, inner)) ?? (await this.#openHttp1(get, material, inner));
    });
    refuseRedirect(opened.status, asked, () => opened.close());
    const follow = onAbort(signal, () => opened.close());
    return { ...opened, close: () => (follow[Symbol.dispose](), opened.close()) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#http2?.streams.close();
    for (const streams of this.#retired) streams.close();
    await Promise.all([this.#requests.destroy(), this.#watches.destroy()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #asked(request: KubeRequest): string {
    return `${request.method} ${request.path} on ${this.server}`;
  }

  /** Waits for the rate limit, then for the credential. */
  async #admitted(
    request: KubeRequest,
    asked: string,
    signal: AbortSignal,
  ): Promise<AuthMaterial & { readonly headers: Headers }> {
    if (this.#closed) throw transportError(asked, 'ConnectionClosed');
    await this.#limiter?.take(signal);
    const material = await this.#credentials.material();
    const own: Headers = { accept: 'application/json', 'user-agent': this.#userAgent, ...request.headers };
    return { ...material, headers: { ...own, ...material.headers } };
  }

  #dispatch(
    dispatcher: Dispatcher,
    request: KubeRequest,
    headers: Headers,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    return dispatcher.request({
      origin: this.#base.origin,
      path: this.#target(request),
      method: request.method,
      headers: headers as Record<string, string | string[]>,
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
  }

  #target(request: KubeRequest): string {
    return `${this.#prefix}${request.path}${toQueryString(request.query ?? {})}`;
  }

  async #openHttp2(
    request: KubeRequest,
    material: AuthMaterial,
    asked: string,
    signal: AbortSignal,
  ): Promise<OpenedStream | undefined> {
    if (!this.#mayH2) return undefined;
    const opened = await this.#http2For(material).open(this.#target(request), material.headers, asked, signal);
    if (opened === undefined) this.#mayH2 = false;
    return opened;
  }

  #http2For({ tls }: AuthMaterial): Http2Streams {
    const key = tlsKey(tls);
    if (this.#http2?.key === key) return this.#http2.streams;
    if (this.#http2 !== undefined)
      this.#retired = [...this.#retired.filter((streams) => streams.connections > 0), this.#http2.streams];
    const streams = new Http2Streams({ origin: this.#base, tls, timeouts: this.#timeouts, clock: this.clock });
    this.#http2 = { key, streams };
    return streams;
  }

  async #openHttp1(request: KubeRequest, material: AuthMaterial, opening: AbortSignal): Promise<OpenedStream> {
    // `opening` ends with the headers; the stream goes on.
    const abort = new AbortController();
    const late = onAbort(opening, (reason) => abort.abort(reason));
    const asking = this.#dispatch(this.#watches.for(material.tls), request, material.headers, abort.signal);
    const answer = await asking.finally(() => late[Symbol.dispose]());
    answer.body.on('error', () => undefined);
    return {
      status: answer.statusCode,
      headers: plainHeaders(answer.headers),
      body: answer.body,
      wasCut: () => false,
      close: () => (answer.body.destroy(), abort.abort()),
    };
  }

  /** Runs `work` with a signal that also aborts after `ms`. */
  async #within<T>(
    ms: number | undefined,
    asked: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    using link = linkAbort(signal);
    if (ms !== undefined)
      void this.#abortAfter(ms, link, () => transportError(asked, 'RequestTimeout', { found: `${ms} ms` }));
    return await settle(work(link.signal), asked, signal, link.signal);
  }

  /** 30, SC-18: a watch whose response headers are not there in time is closed as failed, never left queued. */
  async #headersWithin<T>(asked: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ms = this.#timeouts.headersMs;
    using link = linkAbort(signal);
    void this.#abortAfter(ms, link, () => transportError(asked, 'HeadersTimeout', { found: `${ms} ms` }));
    return await settle(work(link.signal), asked, signal, link.signal);
  }

  async #abortAfter(
    ms: number,
    link: { readonly signal: AbortSignal; abort(reason: unknown): void },
    reason: () => unknown,
  ): Promise<void> {
    await this.clock.sleep(ms, link.signal);
    if (!link.signal.aborted) link.abort(reason());
  }
}

/** The outcome of `work`; whatever it threw after an abort is that abort's reason, ours or the caller's. */
async function settle<T>(work: Promise<T>, asked: string, caller: AbortSignal, inner: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    if (caller.aborted) throw caller.reason;
    if (inner.aborted) throw inner.reason;
    throw toTransportError(asked, thrown);
  }
}

function refuseRedirect(status: number, asked: string, close: () => void): void {
  if (status < 300 || status >= 400) return;
  close();
  throw transportError(asked, 'RedirectRefused', { found: `status ${status}` });
}

function plainHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );
}
