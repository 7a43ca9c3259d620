import { createServer } from 'node:http';
import { closeServer, listen, parseBindAddress } from './bind-address.js';

/** One thing that must have happened once before the pod is ready. */
export interface ReadinessCheck {
  readonly name: string;
  /** Undefined when fine, else what is missing. */
  check(): string | undefined;
}

export interface HealthServer extends AsyncDisposable {
  readonly port: number;
  /** From now on `/readyz` says no: the process is leaving. */
  leave(): void;
}

/** `/healthz` answers while the event loop does; `/readyz` when every check passes. Neither asks anybody else. */
export async function startHealthServer(
  bindAddress: string,
  checks: readonly ReadinessCheck[],
): Promise<HealthServer | undefined> {
  const address = parseBindAddress(bindAddress);
  if (address === undefined) return undefined;
  let isLeaving = false;
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000 }, (request, response) => {
    const path = (request.url ?? '').split('?')[0];
    const answer = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(request.method === 'HEAD' ? undefined : `${text}\n`);
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'use GET');
    if (path === '/healthz') return answer(200, 'ok');
    if (path !== '/readyz') return answer(404, 'not found; try /healthz or /readyz');
    const missing = [
      ...(isLeaving ? ['stopping'] : []),
      ...checks.flatMap(({ name, check }) => (check() === undefined ? [] : [`${name}: ${check()}`])),
    ];
    return missing.length === 0 ? answer(200, 'ok') : answer(503, missing.join('\n'));
  });
  const port = await listen(server, address, '--health-probe-bind-address');
  return {
    port,
    leave: () => {
      isLeaving = true;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}
