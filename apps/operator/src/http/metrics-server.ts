import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { closeServer, listen, parseBindAddress } from './bind-address.js';

export interface MetricsServerOptions {
  readonly bindAddress: string;
  /** Certificate of the listener; absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Whether a bearer token may read metrics; absent: everyone may. */
  authorize?(token: string): Promise<boolean>;
  readonly contentType: string;
  scrape(): Promise<string>;
  readonly buildInfo: Readonly<Record<string, string>>;
}

/** Serves `/metrics` and `/build-info`. */
export async function startMetricsServer(
  options: MetricsServerOptions,
): Promise<(AsyncDisposable & { readonly port: number }) | undefined> {
  const address = parseBindAddress(options.bindAddress);
  if (address === undefined) return undefined;
  const handle: RequestListener = (request, response) => {
    void answer(options, request.url ?? '', request.headers.authorization).then(({ status, type, text }) => {
      response.writeHead(status, { 'content-type': type });
      response.end(text);
    });
  };
  const limits = { requestTimeout: 10_000, headersTimeout: 5_000 };
  const server: Server =
    options.tls === undefined
      ? createHttp(limits, handle)
      : createHttps({ ...limits, ...options.tls, minVersion: 'TLSv1.2' }, handle);
  const port = await listen(server, address, '--metrics-bind-address');
  return { port, [Symbol.asyncDispose]: () => closeServer(server) };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}
const plain = (status: number, text: string): Answer => ({
  status,
  type: 'text/plain; charset=utf-8',
  text: `${text}\n`,
});

async function answer(options: MetricsServerOptions, url: string, authorization: string | undefined): Promise<Answer> {
  const path = url.split('?')[0];
  if (path !== '/metrics' && path !== '/build-info') return plain(404, 'not found; try /metrics or /build-info');
  try {
    if (options.authorize !== undefined) {
      const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
      if (token === undefined) return plain(401, 'a bearer token is needed');
      if (!(await options.authorize(token))) return plain(403, 'this token may not get /metrics');
    }
    if (path === '/build-info')
      return { status: 200, type: 'application/json', text: JSON.stringify(options.buildInfo) };
    return { status: 200, type: options.contentType, text: await options.scrape() };
  } catch {
    return plain(503, 'the token could not be checked or the metrics not be gathered; try again');
  }
}
