import { createHash } from 'node:crypto';
import { Pool, ProxyAgent, type Dispatcher } from 'undici';
import type { TlsMaterial } from './credentials.js';

/** Timeouts of one connection, milliseconds. */
export interface TransportTimeouts {
  readonly connectMs: number;
  readonly headersMs: number;
}

export interface DispatcherOptions {
  readonly origin: string;
  readonly proxyUrl?: string | undefined;
  readonly timeouts: TransportTimeouts;
  /** Sockets at most; absent: as many as there are requests at a time. */
  readonly connections?: number;
}

// 30 s: shorter than the idle limits of usual load balancers (60 s), as client-go does.
const KEEP_ALIVE_MS = 30_000;

/**
 * One pool of sockets per TLS material: client-node opens a TLS connection for every request, a shared pool needs two for 200.
 * When the material changes the old pool finishes what runs on it and closes.
 */
export class Dispatchers {
  readonly #options: DispatcherOptions;
  #current: { readonly key: string; readonly dispatcher: Dispatcher } | undefined;
  readonly #retired = new Set<Dispatcher>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  for(tls: TlsMaterial): Dispatcher {
    const key = tlsKey(tls);
    if (this.#current?.key === key) return this.#current.dispatcher;
    if (this.#current !== undefined) this.#retire(this.#current.dispatcher);
    const dispatcher = openDispatcher(this.#options, tls);
    this.#current = { key, dispatcher };
    return dispatcher;
  }

  async destroy(): Promise<void> {
    const open = [...this.#retired, ...(this.#current === undefined ? [] : [this.#current.dispatcher])];
    this.#current = undefined;
    await Promise.allSettled(open.map((dispatcher) => dispatcher.destroy()));
  }

  #retire(dispatcher: Dispatcher): void {
    this.#retired.add(dispatcher);
    const forget = (): void => void this.#retired.delete(dispatcher);
    dispatcher.close().then(forget, forget);
  }
}

/** SHA-256 over everything that makes a TLS session ours; a new token alone keeps the connections. */
export function tlsKey(tls: TlsMaterial): string {
  const hash = createHash('sha256');
  for (const part of [tls.ca, tls.cert, tls.key, tls.servername, String(tls.rejectUnauthorized)]) {
    const bytes = Buffer.from(part ?? '');
    hash.update(`${part === undefined ? '-' : bytes.length}:`).update(bytes);
  }
  return hash.digest('hex');
}

/** The options of `tls.connect`; undici and `node:tls` take the same. */
export function tlsOptions(tls: TlsMaterial): {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  servername?: string;
  rejectUnauthorized?: boolean;
} {
  return { ...tls };
}

function openDispatcher(options: DispatcherOptions, tls: TlsMaterial): Dispatcher {
  const { timeouts, connections } = options;
  const shared = {
    headersTimeout: timeouts.headersMs,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS * 2,
    allowH2: false,
    ...(connections === undefined ? {} : { connections }),
  };
  const connect = { timeout: timeouts.connectMs, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
  if (options.proxyUrl !== undefined) {
    return new ProxyAgent({
      ...shared,
      uri: options.proxyUrl,
      requestTls: { ...connect, ...tlsOptions(tls) },
      connect,
    });
  }
  return new Pool(options.origin, { ...shared, connect: { ...connect, ...tlsOptions(tls) } });
}
