import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { groupDiscovery, rootDiscovery, versionDiscovery } from '../discovery/discovery.js';
import { openApiDocument, openApiIndex } from '../discovery/open-api.js';
import { ApiError, refuse } from '../status.js';
import type { User } from '../auth/users.js';
import type { Fault } from '../faults.js';
import { type ParseYaml, mediaTypeOf, readBytes } from './body-reader.js';
import { Reply } from './reply.js';
import { type PathRequest, type RequestInfo, type ResourceRequest, parseRequest } from './request-info.js';
import type { RequestLog } from './request-log.js';
import { type ResourceServices, handleResource } from './resource-handler.js';

export interface FrontOptions {
  readonly port: number;
  readonly host: string;
  readonly tls: { readonly certificate: string; readonly key: string } | undefined;
  readonly version: string;
  readonly loadYaml: () => Promise<ParseYaml>;
}

/** Listens, tells requests apart, and turns every refusal into a Status. */
export class Front {
  readonly #services: ResourceServices;
  readonly #log: RequestLog;
  readonly #options: FrontOptions;
  readonly #sockets = new Set<Socket>();
  readonly #inFlight = new Set<Promise<void>>();
  #server: http.Server | https.Server;
  #port: number;
  #isClosing = false;

  constructor(services: ResourceServices, log: RequestLog, options: FrontOptions) {
    this.#services = services;
    this.#log = log;
    this.#options = options;
    this.#port = options.port;
    this.#server = this.#makeServer();
  }

  get port(): number {
    return this.#port;
  }

  #makeServer(): http.Server | https.Server {
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      const done = this.#handle(request, response);
      this.#inFlight.add(done);
      void done.finally(() => this.#inFlight.delete(done));
    };
    const { tls } = this.#options;
    const server =
      tls === undefined
        ? http.createServer(listener)
        : https.createServer({ cert: tls.certificate, key: tls.key }, listener);
    // Watches live for minutes and are silent most of the time.
    server.requestTimeout = 0;
    server.keepAliveTimeout = 180_000;
    server.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    return server;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, this.#options.host, () => {
        this.#server.off('error', reject);
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  /** Ends every connection and gives the port back. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#shut();
    await Promise.allSettled(this.#inFlight);
  }

  #shut(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async refuseConnections(): Promise<void> {
    await this.#shut();
  }

  async acceptConnections(): Promise<void> {
    if (this.#server.listening || this.#isClosing) return;
    this.#server = this.#makeServer();
    await this.listen();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://devcluster');
    const info = parseRequest(request.method ?? 'GET', url);
    const userAgent = request.headers['user-agent'] ?? '';
    const known = this.#log.record(request.method ?? 'GET', request.url ?? '/', info, userAgent);
    const reply = new Reply(request, response, (status) => known({ status }), url);
    response.on('error', () => response.destroy());
    try {
      const body = await readBytes(request);
      const user = isOpenToAll(info) ? undefined : this.#services.users.authenticate(request.headers);
      if (user !== undefined) known({ user: user.name });
      if (!(await this.#bad(request, reply, info, url, user))) return;
      if (info.kind === 'resource' && user !== undefined) {
        const mediaType = mediaTypeOf(request);
        const parseYaml = mediaType.includes('yaml') ? await this.#options.loadYaml() : notYaml;
        handleResource(
          this.#services,
          {
            info,
            query: url.searchParams,
            user,
            userAgent,
            accept: request.headers.accept,
            mediaType,
            body,
            parseYaml,
          },
          reply,
        );
        return;
      }
      this.#path(info as PathRequest, request, reply);
    } catch (fault) {
      if (response.destroyed) return;
      reply.refuse(
        fault instanceof ApiError ? fault : refuse.internal(fault instanceof Error ? fault.message : 'unknown fault'),
      );
    }
  }

  /** @returns whether the request goes on as usual */
  async #bad(
    request: IncomingMessage,
    reply: Reply,
    info: RequestInfo,
    url: URL,
    user: User | undefined,
  ): Promise<boolean> {
    const fault = this.#services.faults.take(info, url.pathname, user);
    if (fault === undefined) return true;
    switch (fault.kind) {
      case 'delay':
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, fault.delayMs);
          request.socket.once('close', () => {
            clearTimeout(timer);
            resolve();
          });
        });
        return !reply.response.destroyed;
      case 'hang':
        return false;
      case 'reset':
        request.socket.destroy();
        return false;
      case 'error-event': {
        const error = new ApiError(fault);
        reply.stream('application/json').end(`${JSON.stringify({ type: 'ERROR', object: error.body })}\n`);
        return false;
      }
      case 'status':
        throw statusOf(fault, info, user);
    }
  }

  #path(info: PathRequest, request: IncomingMessage, reply: Reply): void {
    const { catalog } = this.#services.core;
    const { faults } = this.#services;
    const path = info.path.length > 1 ? info.path.replace(/\/+$/, '') : info.path;
    if (info.verb !== 'get' && info.verb !== 'head') throw refuse.methodNotAllowed();
    if (path === '/readyz' || path === '/livez' || path === '/healthz') return reply.text(200, 'ok');
    if (path === '/version') return reply.json(200, versionBody(this.#options.version));
    if (path === '/api' || path === '/apis') {
      const { body, contentType } = rootDiscovery(catalog, path, request.headers.accept, faults);
      return reply.json(200, body, contentType);
    }
    const openApi = /^\/openapi\/v3(?:\/(api|apis)\/(.+))?$/.exec(path);
    if (openApi !== null) {
      const rest = openApi[2]?.split('/') ?? [];
      if (openApi[1] === undefined) return reply.json(200, openApiIndex(catalog));
      return reply.json(
        200,
        openApi[1] === 'api'
          ? openApiDocument(catalog, '', rest[0] ?? '')
          : openApiDocument(catalog, rest[0] ?? '', rest[1] ?? ''),
      );
    }
    const core = /^\/api\/([^/]+)$/.exec(path);
    if (core !== null) return reply.json(200, versionDiscovery(catalog, '', core[1] ?? '', faults));
    const group = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path);
    if (group !== null)
      return reply.json(
        200,
        group[2] === undefined
          ? groupDiscovery(catalog, group[1] ?? '')
          : versionDiscovery(catalog, group[1] ?? '', group[2], faults),
      );
    if (path === '/')
      return reply.json(200, { paths: ['/api', '/apis', '/livez', '/openapi/v3', '/readyz', '/version'] });
    throw refuse.pageNotFound();
  }
}

const notYaml: ParseYaml = () => {
  throw new SyntaxError('the content type says JSON');
};

/** Probes and the version need no token, as by the default RBAC of a real server. */
function isOpenToAll(info: RequestInfo): boolean {
  return info.kind === 'path' && /^\/(readyz|livez|healthz|version)\/?$/.test(info.path);
}

function versionBody(version: string): object {
  const [major = '1', minor = '36'] = version.replace(/^v/, '').split('.');
  return {
    major,
    minor,
    gitVersion: version,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'none',
    platform: 'embedded/devcluster',
  };
}

function statusOf(fault: Extract<Fault, { kind: 'status' }>, info: RequestInfo, user: User | undefined): ApiError {
  if (fault.code === 401) return refuse.unauthorized();
  if (fault.code === 403 && fault.message === undefined) return forbidden(info, user);
  if (fault.code === 429) return refuse.tooManyRequests(fault.retryAfterSeconds ?? 1);
  return new ApiError({
    code: fault.code,
    reason: fault.reason ?? reasonByCode[fault.code] ?? '',
    message: fault.message ?? 'the devcluster was told to fail this request',
    ...(fault.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: fault.retryAfterSeconds }),
  });
}

const reasonByCode: Readonly<Record<number, string>> = {
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function forbidden(info: RequestInfo, user: User | undefined): ApiError {
  const name = user?.name ?? 'system:anonymous';
  if (info.kind === 'path')
    return new ApiError({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User ${JSON.stringify(name)} cannot ${info.verb} path ${JSON.stringify(info.path)}`,
      details: {},
    });
  const { verb, resource, subresource, group, namespace } = info as ResourceRequest;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return refuse.forbidden(
    { group, plural: resource, kind: resource },
    info.name,
    `User ${JSON.stringify(name)} cannot ${verb} resource ${JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`)} in API group ${JSON.stringify(group)} ${where}`,
  );
}
