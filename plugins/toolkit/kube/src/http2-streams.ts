import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import { isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Readable } from 'node:stream';
import type { Clock } from '@gitops-reverser/kernel-api';
import { linkAbort } from './abort.js';
import type { TlsMaterial } from './credentials.js';
import { tlsOptions, type TransportTimeouts } from './dispatchers.js';
import { toTransportError, transportError } from './transport-error.js';

export interface Http2Options {
  readonly origin: URL;
  readonly tls: TlsMaterial;
  readonly timeouts: TransportTimeouts;
  readonly clock: Clock;
}

/** What a server that answered a GET left open. */
export interface OpenedStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readable;
  /** After the body ended: true when the end was not the server's own. */
  wasCut(): boolean;
  close(): void;
}

interface Session {
  readonly http2: ClientHttp2Session;
  /** Streams the server allows at a time. */
  limit: number;
  open: number;
}

// 100: what kube-apiserver announces, and what is assumed of a server that announces nothing (30, SC-18).
const ASSUMED_LIMIT = 100;
const UNANNOUNCED = 0xffff_ffff;
// 262_144: the stream window kube-apiserver uses. One paused reader can hold that much of the connection's window.
const STREAM_WINDOW = 262_144;
const MAX_WINDOW = 0x7fff_ffff;
const TCP_KEEP_ALIVE_MS = 30_000;

/** At most nine tenths of the announced streams, at least one (30, SC-18). */
export const usableStreams = (limit: number): number => Math.max(1, Math.floor(limit * 0.9));

/**
 * Long GETs on as few HTTP/2 connections as the server's stream limit allows. Node queues a stream above that limit without
 * any error until another ends, so streams are counted here and a further connection is opened in time.
 */
export class Http2Streams {
  readonly #options: Http2Options;
  readonly #sessions = new Set<Session>();
  #placing: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: Http2Options) {
    this.#options = options;
  }

  get connections(): number {
    return this.#sessions.size;
  }

  /** @returns `undefined` when the server does not offer HTTP/2 by ALPN */
  async open(
    path: string,
    headers: Readonly<Record<string, string | readonly string[]>>,
    asked: string,
    signal: AbortSignal,
  ): Promise<OpenedStream | undefined> {
    const session = await this.#place(asked, signal);
    if (session === undefined) return undefined;
    let stream: ClientHttp2Stream;
    try {
      stream = session.http2.request(
        { ...(headers as Record<string, string | string[]>), ':method': 'GET', ':path': path },
        { endStream: true },
      );
    } catch (thrown) {
      this.#leave(session);
      throw toTransportError(asked, thrown);
    }
    stream.once('close', () => this.#leave(session));
    return await answered(stream, asked, signal);
  }

  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.http2.destroy();
    this.#sessions.clear();
  }

  /** Takes a place on a connection, one caller at a time so that two of them never open a connection for one place. */
  #place(asked: string, signal: AbortSignal): Promise<Session | undefined> {
    const mine = this.#placing.then(async () => {
      signal.throwIfAborted();
      if (this.#closed) throw transportError(asked, 'ConnectionClosed');
      for (const session of this.#sessions) {
        if (session.open < usableStreams(session.limit)) return taken(session);
      }
      const opened = await this.#connect(asked, signal);
      return opened === undefined ? undefined : taken(opened);
    });
    this.#placing = mine.catch(() => undefined);
    return mine;
  }

  #leave(session: Session): void {
    session.open -= 1;
    // One idle connection is kept for the next watch; a second one is not worth its memory.
    if (session.open === 0 && this.#sessions.size > 1) {
      this.#sessions.delete(session);
      session.http2.close();
    }
  }

  async #connect(asked: string, signal: AbortSignal): Promise<Session | undefined> {
    const { clock, timeouts } = this.#options;
    using link = linkAbort(signal);
    const attempt = this.#dial(asked, link.signal);
    const late = clock.sleep(timeouts.connectMs, link.signal).then(() => {
      if (!link.signal.aborted) link.abort(transportError(asked, 'ConnectTimeout'));
    });
    try {
      return await attempt;
    } finally {
      link.abort();
      await late;
    }
  }

  async #dial(asked: string, signal: AbortSignal): Promise<Session | undefined> {
    const { origin, tls } = this.#options;
    const socket = await secureSocket(origin, tls, asked, signal);
    if (socket.alpnProtocol !== 'h2') {
      socket.destroy();
      return undefined;
    }
    const http2 = connectHttp2(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    });
    const session: Session = { http2, limit: ASSUMED_LIMIT, open: 0 };
    const forget = (): void => void this.#sessions.delete(session);
    http2.on('error', forget).on('close', forget).on('goaway', forget);
    http2.on('remoteSettings', (settings) => {
      const said = settings.maxConcurrentStreams;
      session.limit = said === undefined || said === UNANNOUNCED ? ASSUMED_LIMIT : said;
      // A paused reader must not hold up the others: room for every stream's own window.
      http2.setLocalWindowSize(Math.min(MAX_WINDOW, (usableStreams(session.limit) + 1) * STREAM_WINDOW));
    });
    await settled(http2, asked, signal);
    this.#sessions.add(session);
    return session;
  }
}

function taken(session: Session): Session {
  session.open += 1;
  return session;
}

function secureSocket(origin: URL, tls: TlsMaterial, asked: string, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const host = origin.hostname.replace(/^\[|\]$/g, '');
    const socket = connectTls({
      host,
      port: Number(origin.port || 443),
      ALPNProtocols: ['h2', 'http/1.1'],
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...tlsOptions(tls),
    });
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    const done = (): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError).off('secureConnect', onSecure);
    };
    const onAbort = (): void => {
      done();
      socket.on('error', () => undefined).destroy();
      reject(signal.reason);
    };
    const onError = (error: Error): void => {
      done();
      socket.destroy();
      reject(toTransportError(asked, error));
    };
    const onSecure = (): void => {
      done();
      resolve(socket);
    };
    socket.on('error', onError).on('secureConnect', onSecure);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** The server's SETTINGS are its first frame; before them its stream limit is a guess. */
function settled(http2: ClientHttp2Session, asked: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal.removeEventListener('abort', onAbort);
      http2.off('remoteSettings', onSettings).off('close', onClose).off('error', onError);
    };
    const fail = (error: unknown): void => {
      done();
      http2.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason);
    const onClose = (): void => fail(transportError(asked, 'ConnectionCut'));
    const onError = (error: Error): void => fail(toTransportError(asked, error));
    const onSettings = (): void => {
      done();
      resolve();
    };
    http2.on('remoteSettings', onSettings).on('close', onClose).on('error', onError);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function answered(stream: ClientHttp2Stream, asked: string, signal: AbortSignal): Promise<OpenedStream> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal.removeEventListener('abort', onAbort);
      stream.off('response', onResponse).off('close', onClose);
    };
    const fail = (error: unknown): void => {
      done();
      stream.close(constants.NGHTTP2_CANCEL);
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason);
    const onClose = (): void => fail(transportError(asked, 'ConnectionCut'));
    const onResponse = (headers: IncomingHttpHeaders & { ':status'?: number }): void => {
      done();
      resolve({
        status: headers[':status'] ?? 0,
        headers: plainHeaders(headers),
        body: stream,
        // A cut connection closes the stream without an error and without an end.
        wasCut: () => !stream.readableEnded || stream.rstCode !== constants.NGHTTP2_NO_ERROR,
        close: () => stream.destroy(),
      });
    };
    // Stays for the life of the stream: the reader sees the error through the body.
    stream.on('error', (error) => fail(toTransportError(asked, error)));
    stream.on('response', onResponse).on('close', onClose);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value?.toString()]),
  );
}
