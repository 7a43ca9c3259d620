import type { IncomingMessage } from 'node:http';

import { schemeOf } from './git-access.js';
import type { AuthorizationScheme } from './git-access.js';
import type { GitStep } from './git-faults.js';

/** One request as the host saw it; never a credential. */
export interface LoggedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly repository: string;
  readonly step: GitStep;
  readonly authorization: AuthorizationScheme;
  readonly userAgent: string;
  readonly gitProtocol?: string;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly isChunked: boolean;
  /** The client's port: requests with equal ports shared a connection. */
  readonly connection: number;
  readonly fault?: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Undefined while unanswered, and for ever after a cut. */
  readonly status?: number;
  readonly endedAt?: number;
}

export type RequestEntry = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };

/** A request for the log; what is known only at its end is filled in later. */
export function describeRequest(request: IncomingMessage, url: URL, repository: string, step: GitStep): RequestEntry {
  const { headers } = request;
  const entry: RequestEntry = {
    at: Date.now(),
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.search.slice(1),
    repository,
    step,
    authorization: schemeOf(headers.authorization),
    userAgent: headers['user-agent'] ?? '',
    isChunked: headers['transfer-encoding'] !== undefined,
    connection: request.socket.remotePort ?? 0,
    requestBytes: 0,
    responseBytes: 0,
  };
  if (headers['git-protocol'] !== undefined) entry.gitProtocol = headers['git-protocol'].toString();
  if (headers['content-type'] !== undefined) entry.contentType = headers['content-type'];
  if (headers['content-encoding'] !== undefined) entry.contentEncoding = headers['content-encoding'];
  return entry;
}

/** `/team/app.git/info/refs` is repository `team/app` and the rest `/info/refs`; `.git` may be left out. */
export function splitPath(path: string): { name: string; rest: string } {
  const match = /^\/(.+?)(?:\.git)?(\/(?:info\/refs|git-upload-pack|git-receive-pack|HEAD|objects\/.*))$/.exec(
    decodeURIComponent(path),
  );
  return match === null
    ? { name: path.replace(/^\/|(\.git)?\/?$/g, ''), rest: '' }
    : { name: match[1] ?? '', rest: match[2] ?? '' };
}

export function stepOf(method: string, rest: string, service: string | null): GitStep {
  if (method === 'GET' && rest === '/info/refs') {
    if (service === 'git-upload-pack') return 'fetch-advertisement';
    if (service === 'git-receive-pack') return 'push-advertisement';
  }
  if (method === 'POST' && rest === '/git-upload-pack') return 'fetch';
  if (method === 'POST' && rest === '/git-receive-pack') return 'push';
  return 'other';
}
