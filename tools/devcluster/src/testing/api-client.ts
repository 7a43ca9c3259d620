import http from 'node:http';
import https from 'node:https';
import type { Devcluster } from '../cluster.js';
import type { JsonObject } from '../object.js';

export interface Answer {
  readonly code: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body, read as JSON. */
  readonly json: JsonObject;
}
export interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly user?: string;
}

/** A raw client for tests: what goes over the wire is what the test wrote. */
export function callApi(
  cluster: Devcluster,
  path: string,
  { method = 'GET', body, type = 'application/json', headers = {}, user }: Call = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const data =
      body === undefined
        ? undefined
        : Buffer.isBuffer(body)
          ? body
          : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const request = send(
      cluster,
      path,
      method,
      user,
      { ...(data === undefined ? {} : { 'content-type': type, 'content-length': String(data.length) }), ...headers },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            code: response.statusCode ?? 0,
            headers: response.headers,
            text,
            get json() {
              return JSON.parse(text) as JsonObject;
            },
          });
        });
      },
    );
    request.on('error', reject);
    request.end(data);
  });
}

export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** An open watch whose events are taken one by one. */
export class WatchReader {
  readonly #events: WatchEvent[] = [];
  readonly #waiting: (() => void)[] = [];
  #ended: 'open' | 'end' | 'reset' = 'open';
  readonly status: number;
  readonly #response: http.IncomingMessage;

  constructor(response: http.IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    let rest = '';
    response.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') this.#events.push(JSON.parse(line) as WatchEvent);
      this.#wake();
    });
    response.on('end', () => this.#finish('end'));
    response.on('error', () => this.#finish('reset'));
    response.on('close', () => this.#finish('reset'));
  }

  /** How the stream ended, once it has. */
  get state(): 'open' | 'end' | 'reset' {
    return this.#ended;
  }

  /** The next event; `undefined` when the stream ended. */
  async next(): Promise<WatchEvent | undefined> {
    while (this.#events.length === 0 && this.#ended === 'open')
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#events.shift();
  }

  async take(count: number): Promise<WatchEvent[]> {
    const found: WatchEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) {
      found.push(event);
      if (found.length === count) break;
    }
    return found;
  }

  /** What has arrived, without waiting. */
  pending(): readonly WatchEvent[] {
    return this.#events;
  }

  async ended(): Promise<'end' | 'reset'> {
    while (this.#ended === 'open') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#ended;
  }

  close(): void {
    this.#response.destroy();
  }

  #finish(how: 'end' | 'reset'): void {
    if (this.#ended === 'open') this.#ended = how;
    this.#wake();
  }
  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export function openWatchOn(
  cluster: Devcluster,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WatchReader> {
  return new Promise((resolve, reject) => {
    const request = send(cluster, path, 'GET', undefined, headers, (response) => resolve(new WatchReader(response)));
    request.on('error', reject);
    request.end();
  });
}

function send(
  cluster: Devcluster,
  path: string,
  method: string,
  user: string | undefined,
  headers: Readonly<Record<string, string>>,
  onResponse: (response: http.IncomingMessage) => void,
): http.ClientRequest {
  const options = {
    host: cluster.host,
    port: cluster.port,
    path,
    method,
    agent: false as const,
    headers: { authorization: `Bearer ${cluster.token(user)}`, 'user-agent': 'e2e/1.0', ...headers },
  };
  return cluster.ca === undefined
    ? http.request(options, onResponse)
    : https.request({ ...options, ca: cluster.ca }, onResponse);
}

export function configMap(
  name: string,
  namespace = 'default',
  data: Readonly<Record<string, string>> = { k: 'v' },
  labels?: Readonly<Record<string, string>>,
) {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, ...(labels === undefined ? {} : { labels }) },
    data,
  };
}
