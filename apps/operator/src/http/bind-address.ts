import { ReverserError } from '@gitops-reverser/kernel-api';
import type { Server } from 'node:net';

/** `:8081`, `127.0.0.1:8081` or `[::1]:8081`; `0` means off. */
export function parseBindAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  if (text === '0') return undefined;
  const at = text.lastIndexOf(':');
  const host = text.slice(0, at).replace(/^\[|\]$/g, '');
  return { host: host === '' ? '::' : host, port: Number(text.slice(at + 1)) };
}

/** Listens, or says which setting to change. IPv6 off: `::` falls back to `0.0.0.0`. */
export async function listen(
  server: Server,
  address: { readonly host: string; readonly port: number },
  setting: string,
): Promise<number> {
  try {
    return await attempt(server, address.host, address.port);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    if (address.host === '::' && (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL'))
      return attempt(server, '0.0.0.0', address.port);
    throw new ReverserError({
      reason: 'ListenFailed',
      retry: 'when-changed',
      message: `cannot listen on ${address.host}:${address.port} (${code}); free the port or set ${setting}`,
      cause,
    });
  }
}

function attempt(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

export function closeServer(server: Server & { closeAllConnections?: () => void }): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections?.();
  });
}
