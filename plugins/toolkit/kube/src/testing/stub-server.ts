import { createServer as createHttp, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Clock } from '@gitops-reverser/kernel-api';
import { openKubeConnection, type KubeConnection, type KubeConnectionOptions } from '../connection.js';
import type { KubeCredentials, TlsMaterial } from '../credentials.js';
import type { Certificate } from './certificates.js';

export interface Seen {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answerer = (request: Seen, response: ServerResponse) => void | Promise<void>;

/** A server on loopback that answers as a test says and remembers what it was asked. */
export interface StubServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Sockets opened so far. */
  readonly connections: number;
  /** Cuts every open socket, as a crash does. */
  cut(): void;
}

export async function stubServer(answer: Answerer, certificate?: Certificate): Promise<StubServer> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    void readAll(request).then(async (body) => {
      const url = new URL(request.url ?? '/', 'http://stub');
      const entry: Seen = {
        method: request.method ?? '',
        url: request.url ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body,
      };
      seen.push(entry);
      await answer(entry, response);
    });
  };
  const server: Server =
    certificate === undefined
      ? createHttp(listener)
      : createHttps({ cert: certificate.cert, key: certificate.key }, listener);
  server.on(certificate === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen,
    get connections() {
      return connections;
    },
    cut,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export const statusBody = (code: number, reason: string, message: string, details: object = {}): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason,
  message,
  code,
  details,
});

export const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

export const configMap = (name: string, resourceVersion: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion, ...more },
  data: { name },
});

export const bookmark = (resourceVersion: string, endsInitialEvents = false): string =>
  line('BOOKMARK', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      resourceVersion,
      ...(endsInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  });

/** Real time, for tests whose other end is a real socket. */
export const realClock: Clock = {
  now: () => new Date(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
    }),
};

export function staticCredentials(server: string, tls: TlsMaterial = {}, token = 'stub-token'): KubeCredentials {
  return { server, material: () => Promise.resolve({ headers: { authorization: `Bearer ${token}` }, tls }) };
}

export function connectTo(server: string, options: Partial<KubeConnectionOptions> = {}): KubeConnection {
  return openKubeConnection({ credentials: staticCredentials(server), clock: realClock, ...options });
}

export const never: AbortSignal = new AbortController().signal;

/** Waits for a real server on the other end of a real socket. */
export async function eventually(holds: () => boolean, withinMs = 2_000): Promise<void> {
  for (let turn = 0; !holds(); turn++) {
    if (turn * 5 > withinMs) throw new Error(`never came true: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
