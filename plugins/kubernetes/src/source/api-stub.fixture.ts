import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept: string;
  readonly verb: 'watch' | 'list' | 'other';
}

/** Answers one request, at once or over time. */
export type Answer = (reply: Reply, asked: Asked) => void;

/** An API server that says what a test tells it to say, and remembers what it was asked. */
export interface ApiStub extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Requests that are answered at present. */
  readonly open: number;
  /** Cuts every open connection. */
  cut(): void;
}

/** What goes over the wire, and when. */
export class Reply {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  json(code: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }

  refuse(code: number, reason: string, message = reason, headers: Readonly<Record<string, string>> = {}): void {
    this.json(code, statusBody(code, reason, message), headers);
  }

  list(items: readonly object[], resourceVersion: string, more = ''): void {
    const metadata = { resourceVersion, ...(more === '' ? {} : { continue: more }) };
    this.json(200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items });
  }

  /** Lines of a watch; it stays open. */
  say(...lines: readonly string[]): this {
    if (!this.#response.headersSent)
      this.#response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    for (const line of lines) this.#response.write(line);
    return this;
  }

  /** As a server does at its time-out. */
  end(): void {
    this.#response.end();
  }

  /** In the middle of whatever was being said. */
  cut(): void {
    this.#response.destroy();
  }

  /** Bytes that wait for the reader on the other side. */
  get backlog(): number {
    return this.#response.writableLength;
  }

  get isClosed(): boolean {
    return this.#response.closed || this.#response.destroyed;
  }
}

export async function apiStub(answer: Answer): Promise<ApiStub> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let open = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://stub');
    const query = Object.fromEntries(url.searchParams);
    const isCollection = /\/v1\//.test(url.pathname);
    const entry: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      query,
      accept: request.headers.accept ?? '',
      verb: query['watch'] === 'true' ? 'watch' : isCollection ? 'list' : 'other',
    };
    asked.push(entry);
    open += 1;
    response.on('close', () => (open -= 1)).on('error', () => undefined);
    answer(new Reply(response), entry);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    get open() {
      return open;
    },
    cut,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

/** One answer for each request, in their order; any request after them is refused in words a test will show. */
export function inOrder(...answers: readonly Answer[]): Answer {
  let next = 0;
  return (reply, asked) => {
    const answer = answers[next];
    next += 1;
    if (answer === undefined) reply.refuse(501, 'NotScripted', `request ${next} is not in the script`);
    else answer(reply, asked);
  };
}

export const statusBody = (code: number, reason: string, message: string, details?: object): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason,
  message,
  code,
  ...(details === undefined ? {} : { details }),
});

export const aMap = (name: string, resourceVersion: string, metadata: object = {}): object => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion, ...metadata },
  data: { name },
});

/** Metadata of an object that waits for its finalizer. */
export const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.test/guard'] };

const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
export const added = (name: string, resourceVersion: string, metadata: object = {}): string =>
  line('ADDED', aMap(name, resourceVersion, metadata));
export const modified = (name: string, resourceVersion: string, metadata: object = {}): string =>
  line('MODIFIED', aMap(name, resourceVersion, metadata));
export const deleted = (name: string, resourceVersion: string, metadata: object = {}): string =>
  line('DELETED', aMap(name, resourceVersion, metadata));
export const bookmark = (resourceVersion: string): string =>
  line('BOOKMARK', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion } });
export const endMark = (resourceVersion: string): string =>
  line('BOOKMARK', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
  });
export const errorEvent = (code: number, reason: string, message: string, details?: object): string =>
  line('ERROR', statusBody(code, reason, message, details));
/** As kube-apiserver words it. */
export const expired = errorEvent(410, 'Expired', 'too old resource version: 1 (22065)');
